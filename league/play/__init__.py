"""Running matches: the one door through which a match changes."""

from league.play.hosted import play_match, take_due, void_block
from league.play.opening import open_match

__all__ = ["open_match", "play_match", "take_due", "void_block"]
