"""Errors of the arena."""


class ArenaError(Exception):
    """The arena can't play; the message gives the reason and a remedy."""
