"""Visibility: who may see what.

Cards and seeds stay secret as long as somebody could still use them.
"""

from league.models import Block, Match, Round, Tournament


def is_open_to_all(match: Match) -> bool:
    """Return whether everything about a match may be known: its cards, its moves, its seed.

    The matches of a duplicate block have one deal, as the two of a comparison's swap block have,
    so none is open before all are played.
    """
    if match.status != Match.Status.FINISHED:
        return False
    if match.swap_block is not None:
        under_way = (Match.Status.WAITING, Match.Status.PLAYING)
        return all(twin.status not in under_way for twin in match.swap_block.matches.all())
    block = match.block
    return block is None or not block.duplicate or block.state != Block.State.PLAYING


def may_show_seed(round_: Round) -> bool:
    """Return whether a round's seed gives nothing away any more.

    A tournament's rounds share its seed, so it is secret until the last of them is applied.
    """
    if round_.tournament is not None:
        return round_.tournament.state == Tournament.State.FINISHED
    return round_.applied_at is not None
