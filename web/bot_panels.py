"""The places and panels of a bot's pages: one for each ladder that has rated the bot."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.core.paginator import Page

from engine.pairing import blocks_to_halve_error
from league.competitions import describe_next_block
from league.models import Bot, BotVersion, HeadToHead, Ladder, Match, Standing
from league.ratings.habits import Habits, habits_on
from league.ratings.hiding import why_hidden
from league.ratings.last_matches import (
    RatedMatch,
    VersionSpan,
    best_and_worst,
    last_rated,
    version_spans,
)
from league.ratings.standings import StandingRow, standing_rows
from web.charts.cross_tables import Cell, cell
from web.charts.lines import Chart
from web.charts.ratings import History, chart_of_bot, chart_of_ladder
from web.selectors.form import result_mark
from web.selectors.matches import matches_listed

_FORM = 10


class Result(NamedTuple):
    """A rated match of a bot.

    Attributes:
        match: with its seats and what its headline needs.
        rated: its result and the prediction.
        mark: ``W`` for a win, ``D`` for a shared first place; else ``L`` at tables of two, and the
            place at larger ones.
        words: the mark in words.
        kind: of the mark, as `web.selectors.form.Mark` has it.
    """

    match: Match
    rated: RatedMatch
    mark: str
    words: str
    kind: str


@dataclass(frozen=True, slots=True)
class Panel:
    """A bot on a ladder.

    Attributes:
        row: its standing, with rank and trend.
        margin: half the length of the 95 % interval of its performance; None without error bar.
        halve: about how many more blocks halve the margin.
        hidden: why it is hidden and what shows it again; "" if it is shown.
        history: of rating and performance; None before there are two points to draw.
        best: of its last `counted` matches the one with the most beyond the prediction.
        worst: the one with the least.
        counted: the number of these matches.
        habits: of its current version; None before its first match.
        page: a page of its opponents; those that it has met most come first.
        opponents: of that page, each with the bot's win share.
    """

    row: StandingRow
    margin: float | None
    halve: int
    hidden: str
    history: History | None
    best: Result | None
    worst: Result | None
    counted: int
    habits: Habits | None
    page: Page[Any]
    opponents: list[tuple[HeadToHead, Cell]]

    @property
    def opponents_page(self) -> str:
        """The query parameter of the page of opponents."""
        return opponents_page(self.row.standing.ladder)


@dataclass(frozen=True, slots=True)
class Place:
    """A bot on a ladder, in short.

    Attributes:
        row: its standing, with rank and trend.
        hidden: why it is hidden and what shows it again; "" if it is shown.
        due: when it plays next, as a sentence.
        curve: of its rating; None before there are two points to draw.
        form: its last rated matches, the oldest first.
    """

    row: StandingRow
    hidden: str
    due: str
    curve: Chart | None
    form: list[Result]


@dataclass(frozen=True, slots=True)
class FirstBlocks:
    """A bot on a ladder that has not rated it yet.

    Attributes:
        ladder: that it has entered.
        due: when it plays next, as a sentence.
    """

    ladder: Ladder
    due: str


def first_blocks(bot: Bot) -> list[FirstBlocks]:
    """Return the ladders that a bot has entered and that have not rated it yet."""
    rated = Standing.objects.filter(bot=bot).values("ladder")
    ladders = Ladder.objects.filter(entries__bot=bot).exclude(pk__in=rated).order_by("slug")
    return [
        FirstBlocks(ladder, describe_next_block(Standing(ladder=ladder, bot=bot, blocks=0)))
        for ladder in ladders
    ]


def place(standing: Standing) -> Place:
    """Return the place of a standing, which has its ladder and bot."""
    [row] = standing_rows(standing.ladder, [standing])
    rated = last_rated(standing, _FORM)
    matches = matches_listed().in_bulk([one.match for one in rated])
    return Place(
        row=row,
        hidden=why_hidden(standing, standing.ladder),
        due=describe_next_block(standing),
        curve=chart_of_ladder(standing.ladder, [standing.bot]),
        form=[_result(one, matches) for one in reversed(rated)],
    )


def panel(standing: Standing, page: Page[Any]) -> Panel:
    """Return the panel of a standing.

    Args:
        standing: with its ladder and bot.
        page: of the rows of `league.ratings.standings.opponents`.
    """
    [row] = standing_rows(standing.ladder, [standing])
    rated = last_rated(standing)
    best, worst = best_and_worst(rated)
    shown = [one for one in (best, worst) if one is not None]
    matches = matches_listed().in_bulk([one.match for one in shown])
    return Panel(
        row=row,
        margin=standing.performance_margin,
        halve=blocks_to_halve_error(standing.performance_blocks),
        hidden=why_hidden(standing, standing.ladder),
        history=chart_of_bot(standing),
        best=best and _result(best, matches),
        worst=worst and _result(worst, matches),
        counted=len(rated),
        habits=habits_on(standing),
        page=page,
        opponents=[(met, cell(met)) for met in page],
    )


def changes_by_version(
    standings: Sequence[Standing], versions: Sequence[BotVersion]
) -> dict[int, list[tuple[Ladder, VersionSpan]]]:
    """Return what each version of a bot did to its rating, ladder by ladder, by version.

    Args:
        standings: of the bot, with their ladders.
        versions: of the bot.
    """
    changes: dict[int, list[tuple[Ladder, VersionSpan]]] = {}
    for standing in standings:
        spans = version_spans(standing, [version.pk for version in versions])
        for version, span in spans.items():
            changes.setdefault(version, []).append((standing.ladder, span))
    return changes


def importance(row: StandingRow) -> tuple[bool, int, int]:
    """Return the key that sorts a bot's places: the best rank, then the most blocks."""
    standing = row.standing
    return standing.hidden != "", row.rank or 1_000_000_000, -standing.blocks


def opponents_page(ladder: Ladder) -> str:
    """Return the query parameter of the page of opponents on a ladder."""
    return f"met-{ladder.slug}"


def _result(rated: RatedMatch, matches: dict[int, Match]) -> Result:
    mark = result_mark(rated.place, rated.seats, tied=rated.tied)
    return Result(matches[rated.match], rated, *mark)
