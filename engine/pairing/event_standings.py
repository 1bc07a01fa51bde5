"""How an event stands: its ranked rows, and who took what from whom."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from engine.pairing.event import (
    Entrant,
    EventSettings,
    Format,
    PlayedRound,
    awarded,
    finished_blocks,
)
from engine.pairing.stages import reached
from engine.pairing.tiebreaks import PlayedMatch, Row, rank_entrants
from engine.rating.blocks import MatchResult, pair_results


class Met(NamedTuple):
    """What a bot took from an opponent.

    Attributes:
        blocks: finished, at one table.
        taken: the sum over them of the share of matches in which it came before, ties half.
    """

    blocks: int
    taken: Fraction


def rank_event(
    settings: EventSettings,
    entrants: Sequence[Entrant],
    rounds: Sequence[PlayedRound],
    *,
    over: bool,
) -> list[Row]:
    """Return the standings, best first.

    Extra blocks of a knockout decide places at their table and count for nothing else: they would
    lift those who went out there above those who went out elsewhere as early and as close.

    Who withdrew is ranked by what it played. Who was disqualified has no rank and stands after all
    others, but counts as an opponent with what it made, so nobody else's score changes.

    Args:
        settings: of the event.
        entrants: all of them.
        rounds: in the order in which they were opened; blocks still in play count for nobody yet.
        over: whether nothing will be played any more.
    """
    came = given = None
    if settings.format == Format.KNOCKOUT:
        blocks = _regular_blocks(settings, entrants, rounds)
        came = reached(settings, entrants, rounds, over=over)
    else:
        blocks = finished_blocks(rounds)
        given = awarded(rounds)

    def rows(*, disqualified: bool) -> list[Row]:
        bots = [one.bot for one in entrants if one.disqualified == disqualified]
        return rank_entrants(bots, blocks, settings.seed, awarded=given, reached=came)

    unranked = (replace(row, rank=None, decided_by=None) for row in rows(disqualified=True))
    return [*rows(disqualified=False), *unranked]


def _regular_blocks(
    settings: EventSettings, entrants: Iterable[Entrant], rounds: Iterable[PlayedRound]
) -> list[tuple[PlayedMatch, ...]]:
    """Return the matches of the blocks that every table of a knockout's round has alike.

    They are the first so many that were finished: an extra block stands in for one given up.
    """
    entered = {one.bot for one in entrants}
    counted: Counter[tuple[int, int]] = Counter()
    found = []
    for round_ in rounds:
        for block in round_.blocks:
            here = [(round_.number, bot) for bot in block.bots if bot in entered]
            if block.matches and all(counted[seat] < settings.blocks for seat in here):
                counted.update(here)
                found.append(block.matches)
    return found


def cross_table(rounds: Iterable[PlayedRound]) -> dict[int, dict[int, Met]]:
    """Return by bot and opponent what the first took from the second in all finished blocks."""
    table: dict[int, dict[int, Met]] = defaultdict(dict)
    for matches in finished_blocks(rounds):
        results = pair_results([MatchResult(of.seating, of.places) for of in matches])
        for (bot, other), s_ij in results.items():
            before = table[bot].get(other, Met(0, Fraction()))
            table[bot][other] = Met(before.blocks + 1, before.taken + s_ij)
    return dict(table)
