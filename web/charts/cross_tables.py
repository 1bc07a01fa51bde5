"""Cross tables of a ladder: the win share of each bot against each opponent."""

from collections.abc import Sequence
from typing import NamedTuple

from league.models import HeadToHead, Ladder, Standing
from league.ratings.standings import who_beats_whom

_SHADES = 5


class Cell(NamedTuple):
    """A bot's result against one opponent.

    Attributes:
        share: win share, 0 to 1.
        pairs: number of matches in which they met.
        shade: 0 for the lowest to 4 for the highest share.
    """

    share: float
    pairs: int
    shade: int


class Line(NamedTuple):
    """A bot, and a cell for each bot of the table; None for itself and for bots it never met."""

    row: Standing
    cells: list[tuple[Standing, Cell | None]]


def cell(met: HeadToHead) -> Cell:
    """Return a bot's result against an opponent."""
    share = met.win_share
    return Cell(share, met.pairs, min(int(share * _SHADES), _SHADES - 1))


def cross_table(ladder: Ladder, rows: Sequence[Standing]) -> list[Line]:
    """Return the cross table of some bots; empty if no two of them have met. Costs one query."""
    met = who_beats_whom(ladder, [row.bot_id for row in rows])
    if not met:
        return []
    cells = {pair: cell(row) for pair, row in met.items()}
    return [Line(row, [(to, cells.get((row.bot_id, to.bot_id))) for to in rows]) for row in rows]
