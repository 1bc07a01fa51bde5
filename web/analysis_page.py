"""The analysis of a match as its page shows it."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.analysis import MARKS, Analysis, Decision, Total
from engine.analysis.results import (
    BLUNDER,
    BLUNDER_LOSS,
    ERRORS,
    MISTAKE,
    MISTAKE_LOSS,
    places,
    signed,
)
from engine.playback import steps_of
from engine.record import Record
from engine.sentences import move_in_words
from web.charts.lines import Chart, chart
from web.table.findings import Finding, change_of, findings_of, headline_of
from web.table.verdicts import ranks

_ERROR_BARS = 2
"""Half of an error bar of a sum in standard errors; that of a loss is `ERRORS`."""


@dataclass(frozen=True, slots=True)
class Row:
    """A decision in the list.

    Attributes:
        step: number of the step of the replay in which it was made, from 1.
        when: name of that step.
        name: of the bot.
        move: the move that was made, in words.
        cards: its ranks.
        best: the best one.
        better: the ranks of its cards.
        decision: the decision.
        loss: in places.
        error: half of the error bar, in places.
        results: texts and expected places of all legal moves: first the best move, then the move
            made, then the others in the order of their places.
    """

    step: int
    when: str
    name: str
    move: str
    cards: list[int]
    best: str
    better: list[int]
    decision: Decision
    loss: float
    error: float
    results: list[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class SeatSum:
    """A seat's totals, in places.

    The summary is a sentence about the seat without its name. Parts are texts with a sign, + for a
    better place. Errors are halves of error bars. ``place`` is
    the seat's own; tied seats share the mean of their places.
    """

    name: str
    summary: str
    luck: str
    luck_error: float
    play: str
    play_error: float
    others: str
    place: float
    loss: float
    marks: list[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class AnalysisPage:
    """What the page of an analysis shows.

    Attributes:
        headline: what happened, by the decision that lost most.
        change: how far the chance of that decision's seat fell; "" if it hardly fell.
        findings: the decisions that lost most.
        chart: of the chances, with an upright line at each finding.
        seats: totals, by seat.
        rows: decisions.
        decisions: number of all decisions.
        playouts: number of simulated matches that compare two moves.
        exact: number of decisions whose losses are exact.
        mistake: the smallest loss of a mistake, in places.
        blunder: the smallest loss of a blunder, in places.
    """

    headline: str
    change: str
    findings: list[Finding]
    chart: Chart | None
    seats: list[SeatSum]
    rows: list[Row]
    decisions: int
    playouts: int
    exact: int
    mistake: float
    blunder: float


def analysis_page(
    record: Record, found: Analysis, names: Sequence[str], *, show_all: bool
) -> AnalysisPage:
    """Return the numbers of the page.

    Args:
        record: of the match.
        found: its analysis.
        names: of the bots, by seat.
        show_all: whether to list all decisions, not only mistakes and blunders.
    """
    steps = steps_of(record)
    listed = [each for each in found.decisions if show_all or each.mark in (MISTAKE, BLUNDER)]
    lines = [
        (name, [100 * chance.seats[seat] for chance in found.chances])
        for seat, name in enumerate(names)
    ]
    findings = findings_of(found, steps, names)
    marked: dict[int, str] = {}
    for each in findings:  # two of them can be of one phase
        marked[each.phase] = ", ".join(filter(None, [marked.get(each.phase), str(each.number)]))
    return AnalysisPage(
        headline=headline_of(found, findings),
        change=change_of(found, findings),
        findings=findings,
        chart=chart(lines, "deal", "end", begins=marked),
        seats=seat_sums(found, names),
        rows=[_row(each, *steps[each.ply], names) for each in listed],
        decisions=len(found.decisions),
        playouts=found.playouts,
        exact=sum(each.is_exact for each in found.decisions),
        mistake=places(MISTAKE_LOSS, len(names)),
        blunder=places(BLUNDER_LOSS, len(names)),
    )


def _row(decision: Decision, step: int, when: str, names: Sequence[str]) -> Row:
    seats = len(names)
    return Row(
        step=step,
        when=when,
        name=names[decision.seat],
        move=move_in_words(decision.move, names),
        cards=ranks(decision.move),
        best=move_in_words(decision.best, names),
        better=ranks(decision.best),
        decision=decision,
        loss=places(decision.loss, seats),
        error=places(ERRORS * decision.error, seats),
        results=[
            (move_in_words(move, names), 1 + places(1 - value, seats))
            for move, value in _best_first(decision)
        ],
    )


def _best_first(decision: Decision) -> list[tuple[str, float]]:
    """Return the results of all moves: of the best move, of the move made, then of the others.

    The others have rough results, so one of them may seem better than the best move.
    """
    compared = (decision.best, decision.move)
    return sorted(
        decision.results.items(),
        key=lambda each: (each[0] != decision.best, each[0] not in compared, -each[1]),
    )


def seat_sums(found: Analysis, names: Sequence[str]) -> list[SeatSum]:
    """Return the totals of each seat of an analysis, in the order of seats."""
    return [_seat_sum(total, found, names[total.seat]) for total in found.totals]


def _seat_sum(total: Total, found: Analysis, name: str) -> SeatSum:
    seats = len(found.totals)
    marks = [each.mark for each in found.decisions if each.seat == total.seat]
    parts = {
        "luck": total.luck,
        "its own moves": total.play,
        "the moves of others": total.others,
    }
    return SeatSum(
        name=name,
        summary=found.in_words(total, parts).replace("(-", "(−"),
        luck=_signed(places(total.luck, seats)),
        luck_error=places(_ERROR_BARS * total.luck_error, seats),
        play=_signed(places(total.play, seats)),
        play_error=places(_ERROR_BARS * total.play_error, seats),
        others=_signed(places(total.others, seats)),
        place=1 + places(1 - total.result, seats),
        loss=places(total.loss, seats),
        marks=[(mark, marks.count(mark)) for mark in MARKS],
    )


def _signed(gained: float) -> str:
    return signed(gained).replace("-", "−")
