"""Two bots against each other: all rated matches by ladder, the last ones by seat and so on."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from django.db.models import Q, Sum

from engine.games.titles import title
from engine.rating.intervals import wilson
from engine.rating.results import win_share
from league.models import Bot, HeadToHead, Ladder, Match, MatchSeat, Standing
from league.ratings.standings import StandingRow, public_standing, standing_rows
from league.visibility import counting_results

_MATCHES = 1000
_RIVALS = 100
"""Number of opponents, those that a bot met most, among which the best and worst are found."""
_ENOUGH = 4
"""Minimum number of matches against an opponent that counts."""
_OFFERED = 40
"""So many bots are offered to compare a bot with."""


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

    @property
    def others(self) -> float:
        """The opponent's win share."""
        return 1 - self.share


class Meeting(NamedTuple):
    """A match of two bots, from the view of one of them.

    Attributes:
        match: its id.
        half_wins: 2 if the bot finished before the other, 1 if they tied.
        own, others: their scores.
        forfeited: whether one of the two forfeited.
        game: by name.
        won: whether one of the two won the match, alone or with others.
    """

    match: int
    half_wins: int
    own: int
    others: int
    forfeited: bool
    game: str
    won: bool

    @property
    def mark(self) -> str:
        """``W``, ``D`` or ``L``."""
        return "LDW"[self.half_wins]

    @property
    def words(self) -> str:
        """The result in words. At a larger table, a third bot may have won the match."""
        verb = ("had the worse place", "tied", "had the better place")[self.half_wins]
        return f"{verb}, {self.score}"

    @property
    def score(self) -> str:
        """Both scores, the bot's first."""
        return f"{self.own}-{self.others}".replace("--", "-−")


class Meetings(NamedTuple):
    """The last matches of two bots.

    Attributes:
        results: the newest first; at most 1 000.
        seats: scores by the bot's seat.
        presets: scores by game and preset.
        versions: scores by both versions.
    """

    results: list[Meeting]
    seats: list[Score]
    presets: list[Score]
    versions: list[Score]

    @property
    def matches(self) -> list[int]:
        """The ids of the matches, the newest first."""
        return [one.match for one in self.results]

    @property
    def extremes(self) -> tuple[Meeting, Meeting] | None:
        """The most one-sided match and the closest one that one of the two won.

        Both are of the game that they play most. Of equal ones it is the newest; None if there are
        no two such matches without a forfeit.
        """
        games = Counter(one.game for one in self.results)
        game = max(games, key=lambda name: games[name], default="")
        of_game = (one for one in self.results if one.game == game)
        won = [one for one in of_game if one.won and not one.forfeited]
        if len(won) < 2:
            return None
        widest = max(won, key=_gap)
        return widest, min((one for one in won if one != widest), key=_gap)


class Rival(NamedTuple):
    """An opponent of a bot, over all ladders.

    Attributes:
        name: of the opponent.
        matches: in which they met.
        share: the bot's win share.
    """

    name: str
    matches: int
    share: float


def scores_by_ladder(bot: Bot, other: Bot) -> list[tuple[HeadToHead, Score]]:
    """Return a bot's rated results against another, by ladder; costs one query."""
    rows = HeadToHead.objects.filter(bot=bot, opponent=other).select_related("ladder")
    return [
        (row, _score(row.ladder.title, row.pairs, row.half_wins))
        for row in rows.order_by("ladder__slug")
    ]


def common_places(
    bot: Bot, other: Bot, count: int
) -> list[tuple[Ladder, tuple[StandingRow, StandingRow]]]:
    """Return the places of two bots on the ladders that have rated both.

    The ladders where both have most matches come first. Costs one query, and four for each ladder.

    Args:
        bot: whose place comes first.
        other: whose place comes second.
        count: maximum number of ladders.
    """
    by_ladder: dict[int, dict[int, Standing]] = {}
    for row in Standing.objects.filter(bot__in=[bot, other]).select_related("ladder", "bot"):
        by_ladder.setdefault(row.ladder_id, {})[row.bot_id] = row
    both = [(rows[bot.pk], rows[other.pk]) for rows in by_ladder.values() if len(rows) == 2]
    both.sort(key=lambda rows: (-min(row.matches for row in rows), rows[0].ladder.slug))
    return [(first.ladder, (_place(first), _place(second))) for first, second in both[:count]]


def total(scores: Sequence[Score]) -> Score | None:
    """Return the sum of scores; None without any."""
    matches = sum(score.matches for score in scores)
    half_wins = round(sum(2 * score.share * score.matches for score in scores))
    return _score("all", matches, half_wins) if matches else None


def last_meetings(bot: Bot, other: Bot) -> Meetings:
    """Return the last public matches of two bots that count; costs two queries."""
    common = Match.objects.without_players().filter(counting_results())
    common = common.with_bots(bot.pk, other.pk).order_by("-pk")
    last = list(common.values_list("pk", "game", "rules")[:_MATCHES])
    rows = MatchSeat.objects.filter(match__in=[pk for pk, _, _ in last], bot__in=[bot, other])
    by_match: dict[int, dict[int, _Seat]] = {}
    fields = ("seat", "place", "version__number", "score", "forfeited")
    for match, player, seat, place, version, score, forfeited in rows.values_list(
        "match", "bot", *fields
    ):
        found = _Seat(seat, place or 0, version, score or 0, forfeited)
        by_match.setdefault(match, {})[player] = found
    results, seats, presets, versions = [], [], [], []
    for pk, game, rules in last:
        own, others = by_match[pk][bot.pk], by_match[pk][other.pk]
        half_wins = 1 + (own.place < others.place) - (own.place > others.place)
        forfeited = own.forfeited or others.forfeited
        won = min(own.place, others.place) == 1
        results.append(Meeting(pk, half_wins, own.score, others.score, forfeited, game, won))
        seats.append((own.seat, half_wins))
        presets.append((title(game, rules), half_wins))
        versions.append(((own.version, others.version), half_wins))
    return Meetings(
        results,
        [_score(f"seat {seat}", *sums) for seat, sums in sorted(_sums(seats).items())],
        [_score(preset, *sums) for preset, sums in _sums(presets).items()],
        [
            _score(f"version {first} against version {second}", *sums)
            for (first, second), sums in sorted(_sums(versions).items(), reverse=True)
        ],
    )


def rivals(bot: Bot, count: int) -> tuple[list[Rival], list[Rival]]:
    """Return the opponents that a bot beats most often, and those that it beats least often.

    No opponent is in both lists. Both are empty if no opponent has enough matches. Of the
    opponents that the bot met most, those with at least `_ENOUGH` matches count. A tie is half a
    win. Costs one query.
    """
    sums = HeadToHead.objects.filter(bot=bot).values("opponent__name")
    sums = sums.annotate(matches=Sum("pairs"), won=Sum("half_wins")).filter(matches__gte=_ENOUGH)
    most = sums.order_by("-matches", "opponent__name")[:_RIVALS]
    found = [
        Rival(name, matches, win_share(won, matches))
        for name, matches, won in most.values_list("opponent__name", "matches", "won")
    ]
    best = sorted(found, key=lambda one: (-one.share, -one.matches, one.name))
    beaten = [one for one in best if one.share > 1 / 2][:count]
    worst = sorted(found, key=lambda one: (one.share, -one.matches, one.name))
    return beaten, [one for one in worst if one not in beaten][:count]


def comparable(bot: Bot) -> list[str]:
    """Return names of bots to compare a bot with: they share a game with it.

    Costs three queries at most. The opponents that it met most come first, then the
    best bots of the ladders of its games.
    """
    met = HeadToHead.objects.filter(bot=bot, opponent__retired_at=None)
    met = met.order_by("-pairs", "opponent__name")
    names = list(met.values_list("opponent__name", flat=True)[:_OFFERED])
    if len({*names}) < _OFFERED:
        same = Standing.objects.filter(ladder__game__in=games_of(bot), bot__retired_at=None)
        best = same.exclude(bot=bot).order_by("-rating")
        names += best.values_list("bot__name", flat=True)[:_OFFERED]
    return list(dict.fromkeys(names))[:_OFFERED]


def games_of(bot: Bot) -> set[str]:
    """Return the games of the ladders that a bot has entered, or that have rated it."""
    known = Q(entries__bot=bot) | Q(standings__bot=bot)
    return set(Ladder.objects.filter(known).values_list("game", flat=True))


Key = TypeVar("Key")


class _Seat(NamedTuple):
    seat: int
    place: int
    version: int
    score: int
    forfeited: bool


def _place(standing: Standing) -> StandingRow:
    [row] = standing_rows(standing.ladder, [public_standing(standing)])
    return row


def _gap(meeting: Meeting) -> int:
    return abs(meeting.own - meeting.others)


def _sums(results: Iterable[tuple[Key, int]]) -> dict[Key, tuple[int, int]]:
    sums: dict[Key, tuple[int, int]] = {}
    for key, half_wins in results:
        matches, total = sums.get(key, (0, 0))
        sums[key] = (matches + 1, total + half_wins)
    return sums


def _score(label: str, matches: int, half_wins: int) -> Score:
    share = win_share(half_wins, matches)
    return Score(label, matches, share, *wilson(share, matches))
