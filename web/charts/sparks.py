"""Small lines of the last ratings of many bots, one for each row of a table, as inline SVG."""

from collections.abc import Sequence

from league.models import Ladder
from league.ratings.ledger import round_entries
from league.ratings.standings import public_rounds

ROUNDS = 20
"""A line has the ratings after so many of the ladder's last rating rounds."""
WIDTH, HEIGHT = 80, 24
_EDGE = 2


def sparks_of(ladder: Ladder, bots: Sequence[int]) -> dict[int, str]:
    """Return the points of an SVG polyline by bot, for bots with two ratings. Costs two queries.

    All lines have one scale, so a long way up is a large gain. The widest line fills the height,
    and the others lie in the middle. The column beside it has the number.

    Args:
        ladder: with its rating rounds.
        bots: ids.
    """
    rounds = list(public_rounds(ladder).values_list("pk", "applied_number")[:ROUNDS])
    at = {pk: len(rounds) - 1 - number for number, (pk, _) in enumerate(rounds)}
    ratings: dict[int, dict[int, int]] = {}
    entries = round_entries(ladder).filter(bot__in=bots, round__in=at).order_by()
    for bot, round_, rating in entries.values_list("bot", "round", "rating_after"):
        ratings.setdefault(bot, {})[at[round_]] = rating
    lines = {bot: line for bot, line in ratings.items() if len(line) > 1}
    widest = max((max(line.values()) - min(line.values()) for line in lines.values()), default=0)
    return {bot: _points(line, len(rounds), max(1, widest)) for bot, line in lines.items()}


def _points(line: dict[int, int], count: int, span: int) -> str:
    low = (min(line.values()) + max(line.values()) - span) / 2
    return " ".join(
        f"{_EDGE + at * (WIDTH - 2 * _EDGE) / (count - 1):.1f},"
        f"{HEIGHT - _EDGE - (rating - low) * (HEIGHT - 2 * _EDGE) / span:.1f}"
        for at, rating in sorted(line.items())
    )
