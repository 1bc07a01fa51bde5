"""What rated blocks came to besides ratings: matches, wins and points, and who beats whom."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from django.db import connection

from engine.rating import elo
from engine.rating.blocks import half_points
from league.models import Ladder


@dataclass(slots=True)
class Tallies:
    """Sums over some rounds.

    Attributes:
        bots: by id, ``matches``, ``pairs``, ``half_wins`` and ``points``, as a standing has them.
        pairs: by bot and opponent, how often they met.
        half_wins: by bot and opponent, 2 for a win of the bot and 1 for a tie.
    """

    bots: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    pairs: Counter[tuple[int, int]] = field(default_factory=Counter)
    half_wins: Counter[tuple[int, int]] = field(default_factory=Counter)

    def add(self, other: "Tallies") -> None:
        """Add the sums of other rounds."""
        for bot, counts in other.bots.items():
            self.bots[bot].update(counts)
        self.pairs.update(other.pairs)
        self.half_wins.update(other.half_wins)


def tally(finished: elo.Round) -> Tallies:
    """Return what a round adds up to, whose results have their scores."""
    sums = Tallies()
    for block in finished.blocks:
        if block.void or not block.rated:
            continue
        for result in block.results:
            for seat, bot in enumerate(result.seating):
                place = result.places[seat]
                for other, opponent in enumerate(result.seating):
                    if other != seat:
                        theirs = result.places[other]
                        sums.pairs[bot, opponent] += 1
                        sums.half_wins[bot, opponent] += half_points(place, theirs)
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


def add_head_to_head(ladder: Ladder, sums: Tallies) -> None:
    """Add to who beats whom; call it once a round, in the transaction that applies it."""
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
