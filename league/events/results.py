"""How a tournament stands: read only."""

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction

from league.models import Bot, MatchSeat, Tournament


@dataclass(slots=True)
class Row:
    """A bot's result so far.

    Attributes:
        bot: whose.
        score: sum over its blocks of the mean share of opponents beaten, ties half.
        wins: matches in first place alone.
        matches: played.
        points: in all of them.
    """

    bot: Bot
    score: Fraction = Fraction()
    wins: int = 0
    matches: int = 0
    points: int = 0

    @property
    def mean_points(self) -> float:
        """Points a match."""
        return self.points / self.matches


def tournament_standings(tournament: Tournament) -> list[Row]:
    """Return the bots that have played, best first: by score, then wins, then mean points."""
    places = defaultdict(list)
    seats = MatchSeat.objects.filter(
        match__block__round__tournament=tournament, match__status="finished"
    ).select_related("bot")
    for seat in seats:
        places[seat.match_id].append(seat)
    rows: dict[int, Row] = {}
    for table in places.values():
        for seat in table:
            row = rows.setdefault(seat.bot_id, Row(seat.bot))
            others = [other.place or 0 for other in table if other is not seat]
            place = seat.place or 0
            halves = sum((other > place) + (other >= place) for other in others)
            # A block has as many matches as seats, so its mean is the sum of these.
            row.score += Fraction(halves, 2 * len(others) * len(table))
            row.wins += place == 1 and 1 not in others
            row.matches += 1
            row.points += seat.score or 0
    return sorted(rows.values(), key=lambda r: (-r.score, -r.wins, -r.mean_points, r.bot.name))
