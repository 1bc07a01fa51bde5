"""The table: a match as people see it, live and as a replay."""
