"""Totals of rated blocks besides ratings: matches, pairs, half points, points, head to head."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from django.db import connection

from engine.rating import elo
from engine.rating.results import half_points
from league.models import Ladder


@dataclass(slots=True)
class Totals:
    """Sums over some rounds.

    Attributes:
        bots: by id, ``matches``, ``pairs``, ``half_wins`` and ``points``, as in a standing.
        pairs: by bot and opponent, the number of matches in which they met.
        half_wins: by bot and opponent, 2 for a win of the bot and 1 for a tie.
    """

    bots: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    pairs: Counter[tuple[int, int]] = field(default_factory=Counter)
    half_wins: Counter[tuple[int, int]] = field(default_factory=Counter)

    def add(self, other: "Totals") -> None:
        """Add the sums of other rounds."""
        for bot, counts in other.bots.items():
            self.bots[bot].update(counts)
        self.pairs.update(other.pairs)
        self.half_wins.update(other.half_wins)


def totals_of(finished: elo.Round) -> Totals:
    """Return the sums over a round's rated blocks; its results must have scores."""
    sums = Totals()
    for block in finished.blocks:
        if block.void or not block.rated:
            continue
        for result in block.results:
            for seat, bot in enumerate(result.seating):
                place = result.places[seat]
                for other, opponent in enumerate(result.seating):
                    if other != seat:
                        sums.pairs[bot, opponent] += 1
                        sums.half_wins[bot, opponent] += half_points(place, result.places[other])
                sums.bots[bot]["matches"] += 1
                sums.bots[bot]["points"] += result.scores[seat]
    for (bot, opponent), met in sums.pairs.items():
        sums.bots[bot]["pairs"] += met
        sums.bots[bot]["half_wins"] += sums.half_wins[bot, opponent]
    return sums


_ADD = """
INSERT INTO league_headtohead (ladder_id, bot_id, opponent_id, pairs, half_wins)
SELECT %s, * FROM unnest(%s::bigint[], %s::bigint[], %s::int[], %s::int[])
ON CONFLICT (ladder_id, bot_id, opponent_id) DO UPDATE SET
    pairs = league_headtohead.pairs + EXCLUDED.pairs,
    half_wins = league_headtohead.half_wins + EXCLUDED.half_wins
"""


def add_head_to_head(ladder: Ladder, sums: Totals) -> None:
    """Add the sums to the ladder's head-to-head rows.

    Call it once a round, in the transaction that applies the round.
    """
    pairs = sorted(sums.pairs)
    with connection.cursor() as cursor:
        cursor.execute(
            _ADD,
            [
                ladder.pk,
                [bot for bot, _ in pairs],
                [opponent for _, opponent in pairs],
                [sums.pairs[pair] for pair in pairs],
                [sums.half_wins[pair] for pair in pairs],
            ],
        )
