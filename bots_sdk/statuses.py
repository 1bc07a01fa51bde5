"""Statuses of a match."""

UNFINISHED = ("waiting", "playing")
"""The statuses of a match that is neither finished nor void."""
