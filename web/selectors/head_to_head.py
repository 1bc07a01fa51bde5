"""Two bots against each other: all rated matches by ladder, the last ones by seat and version."""

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from engine.rating.intervals import wilson
from league.models import Bot, HeadToHead, Match, MatchSeat
from league.visibility import public_results
from web.selectors.matches import matches_listed

_MATCHES = 1000


class Score(NamedTuple):
    """Results of a bot against another.

    Attributes:
        label: what the matches have in common.
        matches: their number.
        share: the bot's win share, a tie as half a win.
        low, high: its 95 % interval.
    """

    label: str
    matches: int
    share: float
    low: float
    high: float


class Meetings(NamedTuple):
    """The last matches of two bots.

    Attributes:
        matches: their ids, the newest first; at most 1 000.
        seats: scores by the bot's seat.
        versions: scores by both versions.
    """

    matches: list[int]
    seats: list[Score]
    versions: list[Score]


def scores_by_ladder(bot: Bot, other: Bot) -> list[tuple[HeadToHead, Score]]:
    """Return a bot's rated results against another, by ladder; costs one query."""
    rows = HeadToHead.objects.filter(bot=bot, opponent=other).select_related("ladder")
    return [
        (row, _score(row.ladder.title, row.pairs, row.half_wins))
        for row in rows.order_by("ladder__slug")
    ]


def last_meetings(bot: Bot, other: Bot) -> Meetings:
    """Return the last public matches of two bots; costs two queries."""
    common = Match.objects.without_players().filter(public_results())
    common = common.with_bots(bot.pk, other.pk).order_by("-pk")
    matches = list(common.values_list("pk", flat=True)[:_MATCHES])
    rows = MatchSeat.objects.filter(match__in=matches, bot__in=[bot, other]).values_list(
        "match", "bot", "seat", "place", "version__number"
    )
    by_match: dict[int, dict[int, tuple[int, int, int]]] = {}
    for match, player, seat, place, version in rows:
        by_match.setdefault(match, {})[player] = (seat, place or 0, version)
    seats, versions = [], []
    for both in by_match.values():
        seat, place, version = both[bot.pk]
        _, others_place, others_version = both[other.pk]
        half_wins = 1 + (place < others_place) - (place > others_place)
        seats.append((seat, half_wins))
        versions.append(((version, others_version), half_wins))
    return Meetings(
        matches,
        [_score(f"seat {seat}", *sums) for seat, sums in sorted(_sums(seats).items())],
        [
            _score(f"version {own} against version {others}", *sums)
            for (own, others), sums in sorted(_sums(versions).items(), reverse=True)
        ],
    )


def matches_of(numbers: Iterable[int]) -> list[Match]:
    """Return matches by their ids, with what a list shows, the newest first."""
    return list(matches_listed().filter(pk__in=list(numbers)).order_by("-pk"))


Key = TypeVar("Key")


def _sums(results: Iterable[tuple[Key, int]]) -> dict[Key, tuple[int, int]]:
    sums: dict[Key, tuple[int, int]] = {}
    for key, half_wins in results:
        matches, total = sums.get(key, (0, 0))
        sums[key] = (matches + 1, total + half_wins)
    return sums


def _score(label: str, matches: int, half_wins: int) -> Score:
    share = half_wins / (2 * matches)
    return Score(label, matches, share, *wilson(share, matches))
