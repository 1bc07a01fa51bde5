"""The moves of ``twelve-days``: action ids, hands as counts, and tables of legal moves.

A hand is a list of counts by rank. A **mask** has a bit for each rank held; rank ``r`` is bit
``r``. Giving rank ``r`` is action ``r``, playing it is ``PLAY_ID + r``, and awarding the pot to
seat ``s`` is ``AWARD_ID + s``.
"""

from engine.games.game import MoveTable

RANKS = 13
"""Ranks are 0, the Claus cards, to 12."""
MOST_SEATS = 8

PLAY_ID = RANKS
AWARD_ID = 2 * RANKS
BIT = [1 << rank for rank in range(RANKS)]
MOVES = MoveTable(
    [f"give {rank}" for rank in range(RANKS)]
    + [f"play {rank}" for rank in range(RANKS)]
    + [f"award {seat}" for seat in range(MOST_SEATS)]
)


def _ids_by_mask(first_id: int) -> list[tuple[int, ...]]:
    """Return, for each mask, the ids that choose one of its ranks; ``first_id`` is rank 0's."""
    table: list[tuple[int, ...]] = [()]
    for rank in range(RANKS):
        table += [(*ids, first_id + rank) for ids in table]
    return table


GIVES = _ids_by_mask(0)
PLAYS = _ids_by_mask(PLAY_ID)


def cards_in(hand: list[int]) -> list[int]:
    """Return the ranks in a hand, ascending, each as often as it is held."""
    return [rank for rank, count in enumerate(hand) for _ in range(count)]
