"""The standings and the cross table of an event."""

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
    awarded_scores,
    finished_blocks,
)
from engine.pairing.knockout_stages import knockout_results
from engine.pairing.tiebreaks import EventStanding, rank_entrants
from engine.rating.results import MatchResult, pair_results


class OpponentScore(NamedTuple):
    """A cell of the cross table: a bot's score against one opponent.

    Attributes:
        blocks: the number of finished blocks of both bots.
        score: the sum of the bot's mean pair results in these blocks, 0 to ``blocks``.
    """

    blocks: int
    score: Fraction


def rank_event(
    settings: EventSettings,
    entrants: Sequence[Entrant],
    rounds: Sequence[PlayedRound],
    *,
    over: bool,
) -> list[EventStanding]:
    """Return the standings of an event, best first.

    The extra blocks of a knockout decide places at their table and count for nothing else. If they
    counted, bots that go out there would rank above bots that go out as early and as closely at
    other tables.

    Withdrawn bots are ranked by their finished blocks. Disqualified bots have no rank and come
    last; they still count as opponents with their scores, so no other bot's score changes.

    Args:
        settings: the settings of the event.
        entrants: all bots ever entered.
        rounds: all rounds, in the order of their opening. Unfinished blocks do not count.
        over: whether the event is finished.
    """
    results = awarded = None
    if settings.format == Format.KNOCKOUT:
        blocks = _regular_blocks(settings, entrants, rounds)
        results = knockout_results(settings, entrants, rounds, over=over)
    else:
        blocks = finished_blocks(rounds)
        awarded = awarded_scores(rounds)

    def standings(*, disqualified: bool) -> list[EventStanding]:
        bots = [entrant.bot for entrant in entrants if entrant.disqualified == disqualified]
        return rank_entrants(bots, blocks, settings.seed, awarded=awarded, knockout_results=results)

    unranked = (replace(row, rank=None, decided_by=None) for row in standings(disqualified=True))
    return [*standings(disqualified=False), *unranked]


def _regular_blocks(
    settings: EventSettings, entrants: Iterable[Entrant], rounds: Iterable[PlayedRound]
) -> list[tuple[MatchResult, ...]]:
    """Return the match results of each knockout block that counts for the score.

    At each table these are its first finished blocks, as many as a table plays in a round. So an
    extra block counts if it replaces a void block.
    """
    entered = {entrant.bot for entrant in entrants}
    counted: Counter[tuple[int, int]] = Counter()
    found = []
    for round_ in rounds:
        for block in round_.blocks:
            here = [(round_.number, bot) for bot in block.bots if bot in entered]
            if block.matches and all(counted[key] < settings.blocks for key in here):
                counted.update(here)
                found.append(block.matches)
    return found


def cross_table(rounds: Iterable[PlayedRound]) -> dict[int, dict[int, OpponentScore]]:
    """Return by bot and opponent the bot's score against the opponent in all finished blocks."""
    table: dict[int, dict[int, OpponentScore]] = defaultdict(dict)
    for matches in finished_blocks(rounds):
        for (bot, other), s_ij in pair_results(matches).items():
            before = table[bot].get(other, OpponentScore(0, Fraction()))
            table[bot][other] = OpponentScore(before.blocks + 1, before.score + s_ij)
    return dict(table)
