"""`make up`: the league on one machine, with servers from wheels instead of installed ones."""
