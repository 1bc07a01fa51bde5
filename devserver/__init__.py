"""The league on one machine, with nothing installed: servers from wheels."""
