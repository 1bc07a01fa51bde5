"""The history of ratings on a ladder as charts, in the order in which rounds were applied.

A chart of a long ladder draws about a hundred or three hundred rounds, evenly spaced. For each of
them a query finds the bot's last change up to that round by an index, so a ladder of a million
rounds costs no more time.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.db.models import Case, Count, Max, OuterRef, QuerySet, Subquery, When

from engine.rating.elo import START
from engine.rating.intervals import margin
from league.models import Block, BlockBot, Bot, Ladder, Performance, RoundEntry, Standing
from league.ratings.ledger import round_entries
from league.ratings.standings import public_entries, public_performances, public_rounds
from league.ratings.twins import Twins
from web.charts.lines import Chart, Values, chart

_POINTS = 299
"""Rounds in the chart of one bot, at most."""
_MARKS = 60
"""Maximum number of points with a text in the chart of one bot."""
_POINTS_OF_MANY = 99
"""Rounds in the chart of several bots, at most: with more the page becomes slow."""


class _Span(NamedTuple):
    """Applied numbers of the first and the last round in which a bot was rated."""

    first: int
    last: int


class _Axis(NamedTuple):
    """The rounds of a chart.

    Attributes:
        first: applied number of the first round.
        drawn: applied numbers of the rounds that are drawn, ascending, with the last round.
    """

    first: int
    drawn: range


def chart_of_ladder(ladder: Ladder, bots: Sequence[Bot]) -> Chart | None:
    """Return the ratings of some bots round by round; None without any. Costs three queries."""
    spans = _spans(ladder, bots)
    axis = _axis(ladder, spans, _POINTS_OF_MANY)
    if axis is None:
        return None
    entries = round_entries(ladder)
    ratings = {
        f"bot_{bot}": _as_of(entries.filter(bot=bot), "rating_after", axis, span)
        for bot, span in spans.items()
    }
    values = _values(ladder, axis, ratings)
    lines = [(bot.name, _points(values[f"bot_{bot.pk}"])) for bot in bots if bot.pk in spans]
    return chart(lines, *_labels(axis))


def chart_of_gap(ladder: Ladder, twins: Twins) -> Chart | None:
    """Return the gap between the ratings of twins round by round. Costs three queries."""
    spans = _spans(ladder, [twins.bot, twins.twin])
    axis = _axis(ladder, spans, _POINTS)
    if axis is None or len(spans) < 2:
        return None
    entries = round_entries(ladder)
    values = _values(
        ladder,
        axis,
        {
            f"bot_{bot}": _as_of(entries.filter(bot=bot), "rating_after", axis, span)
            for bot, span in spans.items()
        },
    )
    gaps: list[float | None] = [
        None if one is None or other is None else abs(one - other)
        for one, other in zip(*map(_points, values.values()), strict=True)
    ]
    return chart([("gap", gaps)], *_labels(axis))


class RatedRound(NamedTuple):
    """A round that rated a bot.

    Attributes:
        entry: the change of the rating, with its round.
        version: number of the version that played.
        matches: the bot's matches in the round.
    """

    entry: RoundEntry
    version: int
    matches: int

    @property
    def text(self) -> str:
        """The round in words."""
        before, after = self.entry.rating_before, self.entry.rating_after
        change = f"{(after - before) / 1000:+.0f}".replace("-", "−")
        matches = f"{self.matches} match{'' if self.matches == 1 else 'es'}"
        return (
            f"Rating round {self.entry.round.number}: {after / 1000:.0f} ({change}), "
            f"version {self.version}, {matches}"
        )


class History(NamedTuple):
    """How a bot's rating went.

    Attributes:
        chart: of rating and performance, with the interval of performance.
        rounds: those of the chart's marks, in the order of application.
    """

    chart: Chart
    rounds: list[RatedRound]


def chart_of_bot(standing: Standing) -> History | None:
    """Return a bot's rating and performance round by round, with the interval of performance.

    Costs five queries. The standing has its ladder and bot.
    """
    ladder, spans = standing.ladder, _spans(standing.ladder, [standing.bot])
    axis = _axis(ladder, spans, _POINTS)
    if axis is None:
        return None
    [span] = spans.values()
    entries = round_entries(ladder).filter(bot=standing.bot_id)
    fits = public_performances(standing)
    values = _values(
        ladder,
        axis,
        {
            "rating": _as_of(entries, "rating_after", axis, span),
            "entry": _as_of(entries, "pk", axis, span),
            "performance": _as_of(fits, "elo", axis, span),
            "error": _as_of(fits, "error", axis, span),
            "fitted_blocks": _as_of(fits, "blocks", axis, span),
        },
    )
    margins = [
        margin(error, int(blocks or 0))
        for error, blocks in zip(values["error"], values["fitted_blocks"], strict=True)
    ]
    fitted = list(zip(values["performance"], margins, strict=True))
    lines = [
        ("Elo", _points(values["rating"])),
        ("performance, 95 % interval", _carried([None, *values["performance"]])),
    ]
    rounds = _rated_rounds(standing, values["entry"])
    drawn = chart(
        lines,
        *_labels(axis),
        _bands(fitted),
        marks={at: one.text for at, one in rounds.items()},
        begins=_first_rounds(rounds),
    )
    return None if drawn is None else History(drawn, list(rounds.values()))


def _rated_rounds(standing: Standing, entries: Sequence[float | None]) -> dict[int, RatedRound]:
    """Return some of the rounds that rated a bot, by their index in the line of its rating.

    Args:
        standing: of the bot.
        entries: id of the last row of the ledger at each point that is drawn.
    """
    # The line begins with the rating that every bot begins with, so its rounds count from 1.
    at = [(index, int(pk)) for index, pk in enumerate(entries, 1) if pk is not None]
    every = -(-len(at) // _MARKS)
    at = at[::-1][::every][::-1]
    rows = RoundEntry.objects.select_related("round").in_bulk([pk for _, pk in at])
    played = (
        BlockBot.objects.filter(
            bot=standing.bot_id,
            block__round__in={row.round_id for row in rows.values()},
            block__state=Block.State.FINISHED,
        )
        .values("block__round")
        .annotate(version=Max("version__number"), matches=Count("block__matches"))
        .values_list("block__round", "version", "matches")
    )
    by_round = {round_: (version, matches) for round_, version, matches in played}
    return {
        index: RatedRound(rows[pk], *by_round[rows[pk].round_id])
        for index, pk in at
        if rows[pk].round_id in by_round
    }


def _first_rounds(rounds: Mapping[int, RatedRound]) -> dict[int, str]:
    """Return the index of each round in which a new version plays first, with its name."""
    changes = {}
    version = None
    for index, one in rounds.items():
        if version is not None and one.version != version:
            changes[index] = f"v{one.version}"
        version = one.version
    return changes


def _bands(
    fitted: Sequence[tuple[float | None, float | None]],
) -> list[tuple[Values, Values]]:
    """Return the intervals around performance as lower and upper bounds, a band for each stretch.

    A new version has no error bar at first, so there the band has a gap.

    Args:
        fitted: performance, and half the length of its interval, where a fit has counted the bot.
    """
    bands: list[tuple[list[float | None], list[float | None]]] = []
    elo: float | None = None
    half: float | None = None
    for at, (new_elo, new_half) in enumerate(fitted, 1):
        had = half is not None
        if new_elo is not None:
            elo, half = new_elo, new_half
        if elo is None or half is None:
            continue
        if not had:
            bands.append(([None] * at, [None] * at))
        low, high = bands[-1]
        low.append(elo - half)
        high.append(elo + half)
    return [(low, high) for low, high in bands]


def _spans(ladder: Ladder, bots: Sequence[Bot]) -> dict[int, _Span]:
    """Return the span of each bot that was rated on a ladder, by its id."""
    entries = public_entries(ladder).filter(bot=OuterRef("pk"))
    number = entries.values("applied_number")
    found = Bot.objects.filter(pk__in=[bot.pk for bot in bots]).annotate(
        first=Subquery(number.order_by("applied_number")[:1]),
        last=Subquery(number.order_by("-applied_number")[:1]),
    )
    rows = found.values_list("pk", "first", "last")
    return {bot: _Span(first, last) for bot, first, last in rows if first is not None}


def _axis(ladder: Ladder, spans: Mapping[int, _Span], most: int) -> _Axis | None:
    """Return the axis from the first round of the spans to the ladder's last; None without any."""
    last = public_rounds(ladder).values_list("applied_number", flat=True).first()
    if not spans or last is None:
        return None
    first = min(span.first for span in spans.values())
    apart = -(-(last - first + 1) // most)
    return _Axis(first, range(last, first - 1, -apart)[::-1])


def _as_of(
    rows: "QuerySet[RoundEntry] | QuerySet[Performance]", field: str, axis: _Axis, span: _Span
) -> Case:
    """Return the expression for a field of a bot's last row up to a round.

    It is null if the bot was not rated after the previous round that is drawn.
    """
    since = OuterRef("applied_number") - axis.drawn.step
    until = rows.filter(
        round__applied_number__lte=OuterRef("applied_number"), round__applied_number__gt=since
    )
    there = When(
        applied_number__gte=span.first,
        applied_number__lt=span.last + axis.drawn.step,
        then=Subquery(until.order_by("-round__applied_number").values(field)[:1]),
    )
    return Case(there)


def _values(
    ladder: Ladder, axis: _Axis, expressions: Mapping[str, Case]
) -> dict[str, list[float | None]]:
    """Return the value of each expression, by its name, after each round that is drawn."""
    rounds = ladder.rounds.filter(applied_number__in=axis.drawn).order_by("applied_number")
    rows = list(rounds.annotate(**expressions).values_list(*expressions))
    return dict(zip(expressions, map(list, zip(*rows, strict=True)), strict=True))


def _points(ratings: Sequence[float | None]) -> Values:
    """Return ratings in Elo points, with the initial rating before the first one."""
    begins = next(at for at, rating in enumerate(ratings) if rating is not None)
    known = [START, *ratings[begins:]]
    points = [None if rating is None else rating / 1000 for rating in known]
    return [None] * begins + _carried(points)


def _carried(values: Sequence[float | None]) -> list[float | None]:
    """Return values, with each gap filled by the value before it."""
    carried: list[float | None] = []
    for value in values:
        carried.append(value if value is not None or not carried else carried[-1])
    return carried


def _labels(axis: _Axis) -> tuple[str, str]:
    return f"before rating round {axis.first}", f"after rating round {axis.drawn[-1]}"
