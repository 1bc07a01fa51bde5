"""How ratings on a ladder came about, as charts: over all rounds, thinned out where they are many.

Of a long ladder some hundred rounds are looked at, evenly spaced, and where a bot stood after each.
Its last change is found from there backwards by an index, so that a million rounds take no longer,
but for those that a bot sat out in between.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.db.models import Case, OuterRef, QuerySet, Subquery, When

from engine.rating.elo import START
from engine.rating.intervals import Z_95
from league.models import Bot, Ladder, Performance, RoundEntry, Standing
from league.ratings.ledger import round_entries
from league.ratings.standings import performances_shown, rounds_shown
from web.charts import Chart, Values, chart

_POINTS = 299
"""Rounds that are looked at for a bot."""
_POINTS_OF_MANY = 99
"""The same for each of several bots: a page is to be answered soon, and lines are short anyway."""


class _Span(NamedTuple):
    """Numbers of the first and the last round in which a bot was rated."""

    first: int
    last: int


class _Axis(NamedTuple):
    """What a chart goes over.

    Attributes:
        first: number of its first round.
        looked_at: numbers of the rounds that are drawn, ascending, the last of all the last.
    """

    first: int
    looked_at: range


def chart_of_ladder(ladder: Ladder, bots: Sequence[Bot]) -> Chart | None:
    """Return how some bots got to their ratings; None if nothing is rated. Costs three queries."""
    spans = _spans(ladder, bots)
    axis = _axis(ladder, spans, _POINTS_OF_MANY)
    if axis is None:
        return None
    entries = round_entries(ladder)
    ratings = {
        f"bot_{bot}": _as_of(entries.filter(bot=bot), "rating_after", axis, span)
        for bot, span in spans.items()
    }
    told = _told(ladder, axis, ratings)
    lines = [(bot.name, _points(told[f"bot_{bot.pk}"])) for bot in bots if bot.pk in spans]
    return chart(lines, *_labels(axis))


def chart_of_bot(standing: Standing) -> Chart | None:
    """Return how a bot got to its rating and its performance, with that one's interval.

    Costs three queries. The standing needs its ladder and bot.
    """
    ladder, spans = standing.ladder, _spans(standing.ladder, [standing.bot])
    axis = _axis(ladder, spans, _POINTS)
    if axis is None:
        return None
    [span] = spans.values()
    entries = round_entries(ladder).filter(bot=standing.bot_id)
    fits = performances_shown(standing)
    told = _told(
        ladder,
        axis,
        {
            "rating": _as_of(entries, "rating_after", axis, span),
            "performance": _as_of(fits, "elo", axis, span),
            "error": _as_of(fits, "error", axis, span),
        },
    )
    lows, highs = [], []
    for elo, error in zip(told["performance"], told["error"], strict=True):
        known = elo is not None and error is not None
        lows.append(elo - Z_95 * error if known else None)
        highs.append(elo + Z_95 * error if known else None)
    lines = [
        ("Elo", _points(told["rating"])),
        ("performance, 95 % interval", _carried([None, *told["performance"]])),
    ]
    band = (_carried([None, *lows]), _carried([None, *highs]))
    return chart(lines, *_labels(axis), [band])


def _spans(ladder: Ladder, bots: Sequence[Bot]) -> dict[int, _Span]:
    """Return by bot when it was rated on a ladder; without those that never were."""
    entries = round_entries(ladder).filter(bot=OuterRef("pk"))
    if ladder.alarm:
        entries = entries.filter(round__number__lte=ladder.frozen_round or 0)
    number = entries.values("round__number")
    found = Bot.objects.filter(pk__in=[bot.pk for bot in bots]).annotate(
        first=Subquery(number.order_by("round_id")[:1]),
        last=Subquery(number.order_by("-round_id")[:1]),
    )
    rows = found.values_list("pk", "first", "last")
    return {bot: _Span(first, last) for bot, first, last in rows if first is not None}


def _axis(ladder: Ladder, spans: Mapping[int, _Span], most: int) -> _Axis | None:
    """Return the axis from the first round of all these to the ladder's last, if there are any."""
    last = rounds_shown(ladder).values_list("number", flat=True).first()
    if not spans or last is None:
        return None
    first = min(span.first for span in spans.values())
    apart = -(-(last - first + 1) // most)
    return _Axis(first, range(last, first - 1, -apart)[::-1])


def _as_of(
    rows: "QuerySet[RoundEntry] | QuerySet[Performance]", field: str, axis: _Axis, span: _Span
) -> Case:
    """Return the expression for what a bot's last row up to a round has in a field.

    It has none where the bot sat out all since the round looked at before.
    """
    since = OuterRef("number") - axis.looked_at.step
    until = rows.filter(round__number__lte=OuterRef("number"), round__number__gt=since)
    there = When(
        number__gte=span.first,
        number__lt=span.last + axis.looked_at.step,
        then=Subquery(until.order_by("-round__number").values(field)[:1]),
    )
    return Case(there)


def _told(ladder: Ladder, axis: _Axis, wanted: Mapping[str, Case]) -> dict[str, list[float | None]]:
    """Return the wanted, by name, after each round that is looked at."""
    rounds = ladder.rounds.filter(number__in=axis.looked_at).order_by("number")
    rows = list(rounds.annotate(**wanted).values_list(*wanted))
    return dict(zip(wanted, map(list, zip(*rows, strict=True)), strict=True))


def _points(ratings: Sequence[float | None]) -> Values:
    """Return ratings in Elo points, from the start that is before a bot's first."""
    begins = next(at for at, rating in enumerate(ratings) if rating is not None)
    known = [START, *ratings[begins:]]
    points = [None if rating is None else rating / 1000 for rating in known]
    return [None] * begins + _carried(points)


def _carried(values: Sequence[float | None]) -> list[float | None]:
    """Return values, each kept until the next that there is."""
    carried: list[float | None] = []
    for value in values:
        carried.append(value if value is not None or not carried else carried[-1])
    return carried


def _labels(axis: _Axis) -> tuple[str, str]:
    return f"before round {axis.first}", f"round {axis.looked_at[-1]}"
