"""Cross tables: what each of some bots took from each other."""

from collections.abc import Sequence
from typing import NamedTuple

from league.models import HeadToHead, Ladder, Standing
from league.ratings.standings import who_beats_whom

_SHADES = 5


class Cell(NamedTuple):
    """What a bot took from another.

    Attributes:
        share: 0 to 1.
        pairs: how many matches it is of.
        shade: 0 for the worst to 4 for the best.
    """

    share: float
    pairs: int
    shade: int


class Line(NamedTuple):
    """A bot, and a cell for each bot of the table: None for itself and where they never met."""

    row: Standing
    cells: list[tuple[Standing, Cell | None]]


def cell(met: HeadToHead) -> Cell:
    """Return what a bot took from an opponent."""
    share = met.half_wins / (2 * met.pairs)
    return Cell(share, met.pairs, min(int(share * _SHADES), _SHADES - 1))


def cross_table(ladder: Ladder, rows: Sequence[Standing]) -> list[Line]:
    """Return a table of some bots of a ladder; none where nobody has met. Costs one query."""
    met = who_beats_whom(ladder, [row.bot_id for row in rows])
    if not met:
        return []
    cells = {pair: cell(row) for pair, row in met.items()}
    return [Line(row, [(to, cells.get((row.bot_id, to.bot_id))) for to in rows]) for row in rows]
