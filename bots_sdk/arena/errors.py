"""What can go wrong in the arena."""


class ArenaError(Exception):
    """What was asked for can't be played; the message says why and what would do."""
