"""Pictures of challenges, comparisons and analyses: the headline of the page, and its numbers."""

from typing import Any, NamedTuple

from django.template.loader import render_to_string

from engine.analysis.results import BLUNDER, MISTAKE
from engine.games.titles import title
from league import analyses
from league.competitions import challenges
from league.competitions.comparisons import Progress
from league.models import Challenge, Comparison, Match, MatchAnalysis
from league.play.headlines import headline, seat_names
from web.analysis_page import analysis_page
from web.charts.evidence import evidence_chart
from web.charts.lines import Chart, Line
from web.pictures.events import standings_svg
from web.pictures.text import Fitted, fitted
from web.result_story import (
    challenge_result,
    challenge_state,
    comparison_headline,
    comparison_state,
)

_COLOURS = (
    "#84d5b0",
    "#f3a790",
    "#9cc8ff",
    "#f2cb6c",
    "#c9b0ee",
    "#f7efdd",
    "#7fd0dd",
    "#b0b7c4",
)
_LEGEND_LEFT, _LEGEND_WIDTH = 60, 1090


class Series(NamedTuple):
    """A line of a chart with its colour, and where its name stands in the legend."""

    line: Line
    colour: str
    x: float
    name: Fitted


def challenge_svg(challenge: Challenge) -> str:
    """Return the picture of a challenge as SVG: its state, and the results against each opponent.

    Args:
        challenge: with its bot, and with `bots` and their bots prefetched.
    """
    result = challenges.result(challenge)
    rows = [
        (
            "",
            pair.opponent,
            f"{100 * pair.low:.0f} to {100 * pair.high:.0f} %",
            f"{100 * pair.share:.0f} %",
        )
        for pair in result.pairs
    ]
    return standings_svg(
        kicker=f"Challenge · {title(challenge.game, challenge.rules)}",
        called=challenge_result(challenge, result),
        state=challenge_state(challenge, result),
        rows=rows,
    )


def comparison_svg(comparison: Comparison, progress: Progress) -> str:
    """Return the picture of a comparison as SVG: its verdict and its evidence.

    Args:
        comparison: with its bot, ladder and versions.
        progress: of it.
    """
    return _chart_svg(
        kicker=f"Comparison of two versions · {comparison.ladder.title}",
        called=comparison_headline(comparison),
        state=comparison_state(comparison, len(progress.steps)),
        chart=evidence_chart(progress),
        nothing="No block is finished yet.",
    )


def analysis_svg(match: Match, found: MatchAnalysis | None) -> str:
    """Return the picture of the analysis of a match as SVG: its mistakes and the chances.

    Args:
        match: with `seating` and its bots; its record is public.
        found: its analysis; None if nobody has asked for one.
    """
    state, chart = "", None
    analysis = None if found is None else analyses.result_of(found, match.record)
    if analysis is not None:
        marks = [each.mark for each in analysis.decisions]
        page = analysis_page(match.record, analysis, seat_names(match), show_all=False)
        chart = page.chart
        state = (
            f"{_count(marks.count(MISTAKE), MISTAKE)} and {_count(marks.count(BLUNDER), BLUNDER)} "
            f"in {len(marks)} decisions. The chances of each bot, in percent:"
        )
    return _chart_svg(
        kicker=f"Analysis · {title(match.game, match.rules)}",
        called=headline(match),
        state=state,
        chart=chart,
        nothing="This match is not analysed yet.",
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _chart_svg(*, kicker: str, called: str, state: str, chart: Chart | None, nothing: str) -> str:
    context: dict[str, Any] = {
        "kicker": fitted(kicker, 880, 24),
        "title": fitted(called, 1120, 52, 28),
        "state": fitted(state, 1120, 28, 20),
        "chart": chart,
        "series": [] if chart is None else _series(chart),
        "nothing": nothing,
    }
    return render_to_string("web/pictures/chart.svg", context)


def _series(chart: Chart) -> list[Series]:
    room = _LEGEND_WIDTH / len(chart.lines)
    return [
        Series(
            line,
            _COLOURS[at % len(_COLOURS)],
            _LEGEND_LEFT + at * room,
            fitted(line.name, room - 44, 22, 16),
        )
        for at, line in enumerate(chart.lines)
    ]
