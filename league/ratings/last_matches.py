"""A bot's last rated matches on a ladder: what it got, and what the ratings predicted.

The rating that predicts is the one before the round, as in the ledger. The win share of a match is
the mean of the bot's pair results: 1 for each opponent that it finished before, 1/2 for a tie.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Count, Max, Min

from engine.rating.results import half_points, win_share
from league.models import Block, MatchSeat, RoundEntry, Standing
from league.models.matches import MatchSeatQuerySet
from league.ratings.ledger import round_entries
from league.ratings.standings import up_to_public

MATCHES = 200
"""So many of a bot's last rated matches are read."""


class RatedMatch(NamedTuple):
    """A rated match of a bot.

    Attributes:
        match: its id.
        seats: number of bots at the table.
        place: of the bot, as rated.
        tied: whether another bot has the same place.
        share: the bot's win share.
        expected: the win share that the ratings before the round predict.
    """

    match: int
    seats: int
    place: int
    tied: bool
    share: float
    expected: float

    @property
    def surplus(self) -> float:
        """What the bot got beyond the prediction."""
        return self.share - self.expected


def last_rated(standing: Standing, count: int = MATCHES) -> list[RatedMatch]:
    """Return a bot's last rated matches on a ladder, the newest first.

    Costs three queries, and one more if there was a correction.

    Args:
        standing: with its ladder.
        count: at most so many matches.
    """
    own = rated_seats(standing).of_bot(standing.bot_id).order_by("-match_id")
    matches = list(own.values_list("match", flat=True)[:count])
    rows = MatchSeat.objects.filter(match__in=matches, place__isnull=False)
    seats: dict[int, dict[int, int]] = {}
    rounds: dict[int, int] = {}
    for match, round_, bot, place in rows.values_list(
        "match", "match__block__round", "bot", "place"
    ):
        seats.setdefault(match, {})[bot] = place or 0
        rounds[match] = round_ or 0
    ratings = _ratings_before(standing, set(rounds.values()))
    found = []
    for match in matches:
        places, before = seats[match], ratings.get(rounds[match], {})
        place = places.pop(standing.bot_id)
        rated = [(other, before[bot]) for bot, other in places.items() if bot in before]
        if not rated or standing.bot_id not in before:
            continue
        own_rating = before[standing.bot_id]
        half_wins = sum(half_points(place, other) for other, _ in rated)
        expected = sum(_expectation(own_rating, rating) for _, rating in rated)
        found.append(
            RatedMatch(
                match,
                len(places) + 1,
                place,
                place in places.values(),
                win_share(half_wins, len(rated)),
                expected / len(rated),
            )
        )
    return found


def rated_seats(standing: Standing) -> MatchSeatQuerySet:
    """Return the seats of all bots in the rated matches that made a ladder's public ratings."""
    return MatchSeat.objects.filter(
        up_to_public(standing.ladder, "match__block__round__applied_number"),
        match__block__round__ladder=standing.ladder,
        match__block__round__applied_at__isnull=False,
        match__block__state=Block.State.FINISHED,
        match__block__rated=True,
    )


def best_and_worst(
    matches: Sequence[RatedMatch],
) -> tuple[RatedMatch | None, RatedMatch | None]:
    """Return the match with the largest surplus and the one with the largest lack.

    Of equal ones it is the newest. None stands for no match above, or below, the prediction.

    Args:
        matches: the newest first.
    """
    best = max(matches, key=lambda one: one.surplus, default=None)
    worst = min(matches, key=lambda one: one.surplus, default=None)
    return (
        best if best is not None and best.surplus > 0 else None,
        worst if worst is not None and worst.surplus < 0 else None,
    )


def _ratings_before(standing: Standing, rounds: set[int]) -> dict[int, dict[int, int]]:
    """Return the ratings before each round, in thousandths, by round and bot."""
    entries: dict[int, dict[int, int]] = {}
    rows = round_entries(standing.ladder).filter(round__in=rounds)
    for round_, bot, rating in rows.values_list("round", "bot", "rating_before"):
        entries.setdefault(round_, {})[bot] = rating
    return entries


def _expectation(rating: int, other: int) -> float:
    """Return the expected pair result, as `engine.rating.elo.expectation` does, but as a float."""
    return 1 / (1 + math.pow(10, (other - rating) / 400_000))


class VersionSpan(NamedTuple):
    """What a version of a bot did to its rating on a ladder.

    Attributes:
        blocks: the rated blocks of the version.
        before: the rating before its first rated round, in thousandths.
        after: the rating after its last one.
    """

    blocks: int
    before: int
    after: int

    @property
    def change(self) -> int:
        """The rating gained, in thousandths."""
        return self.after - self.before


def version_spans(standing: Standing, versions: Sequence[int]) -> dict[int, VersionSpan]:
    """Return by version what it did to a bot's rating on a ladder; versions without a block lack.

    Costs two queries, and one more if there was a correction.

    Args:
        standing: with its ladder.
        versions: ids of versions of the standing's bot.
    """
    counted = (
        Block.objects.counting()
        .filter(
            up_to_public(standing.ladder),
            round__ladder=standing.ladder,
            bots__version__in=versions,
        )
        .values("bots__version")
        .annotate(
            blocks=Count("pk"),
            first=Min("round__applied_number"),
            last=Max("round__applied_number"),
        )
        .order_by()
        .values_list("bots__version", "blocks", "first", "last")
    )
    spans = list(counted)
    ends = {number for _, _, first, last in spans for number in (first, last)}
    entries = round_entries(standing.ladder).filter(bot=standing.bot_id, applied_number__in=ends)
    by_number: dict[int, RoundEntry] = {entry.applied_number: entry for entry in entries}
    return {
        version: VersionSpan(blocks, by_number[first].rating_before, by_number[last].rating_after)
        for version, blocks, first, last in spans
        if first in by_number and last in by_number
    }
