"""How a tournament stands: read only."""

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction

from league.models import Block, Bot, MatchSeat, Tournament

_Table = list[tuple[int, int, int]]


@dataclass(slots=True)
class Row:
    """A bot's result so far.

    Attributes:
        bot: whose.
        score: S, the sum over its finished blocks of the mean share of opponents beaten, ties half.
        blocks: finished.
        wins: matches in first place alone.
        matches: played in finished blocks.
        points: in all of them.
        rank: 1 and those that stand before it; equal in all that counts, it is shared.
    """

    bot: Bot
    score: Fraction = Fraction()
    blocks: int = 0
    wins: int = 0
    matches: int = 0
    points: int = 0
    rank: int = 0

    @property
    def mean_points(self) -> float:
        """Points a match."""
        return self.points / self.matches if self.matches else 0.0

    @property
    def merit(self) -> tuple[Fraction, int, float]:
        """What it stands by: S, then outright wins, then mean points."""
        return self.score, self.wins, self.mean_points


def tournament_standings(tournament: Tournament) -> list[Row]:
    """Return how the entrants stand, best first, by the blocks that are finished.

    A void block counts for nobody. Costs two queries, however many matches there are.
    """
    entries = tournament.entries.select_related("bot__owner")
    rows = {entry.bot_id: Row(entry.bot) for entry in entries}
    blocks: dict[int, dict[int, _Table]] = defaultdict(lambda: defaultdict(list))
    seats = MatchSeat.objects.filter(
        match__block__round__tournament=tournament, match__block__state=Block.State.FINISHED
    ).values_list("match__block", "match", "bot", "place", "score")
    for block, match, bot, place, score in seats:
        blocks[block][match].append((bot, place or 0, score or 0))
    for matches in blocks.values():
        _add_block(rows, list(matches.values()))
    ordered = sorted(rows.values(), key=lambda row: row.bot.name)
    ordered.sort(key=lambda row: row.merit, reverse=True)
    for number, row in enumerate(ordered, 1):
        above = ordered[number - 2] if number > 1 else None
        row.rank = above.rank if above and above.merit == row.merit else number
    return ordered


def _add_block(rows: dict[int, Row], matches: list[_Table]) -> None:
    for bot, _, _ in matches[0]:
        rows[bot].blocks += 1
    for table in matches:
        places = [place for _, place, _ in table]
        for bot, place, score in table:
            row = rows[bot]
            # A win counts 2 halves, a tie 1; the seat ties with itself, which is taken off.
            halves = sum((other > place) + (other >= place) for other in places) - 1
            row.score += Fraction(halves, 2 * (len(table) - 1) * len(matches))
            row.wins += place == 1 and places.count(1) == 1
            row.matches += 1
            row.points += score
