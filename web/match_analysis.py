"""The analysis of a match on the match's own page: its state, and what to show beside the table."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.analysis import Analysis
from engine.playback import steps_of
from engine.record import Record
from league import analyses
from league.models import Match, MatchAnalysis
from web.analysis_page import SeatSum, seat_sums
from web.table.findings import Finding, findings_of
from web.table.turning_points import Turn, turns_of
from web.table.verdicts import (
    StepChances,
    Verdict,
    chance_lines,
    chances_by_step,
    for_browser,
    verdict_at,
    verdicts_of,
)


@dataclass(frozen=True, slots=True)
class Beside:
    """The analysis beside the table.

    Attributes:
        state: ``none``, ``waiting``, ``failed`` or ``done``.
        moves: number of moves of the match.
        moves_done: number of moves that are analysed.
        lines: of the chances, by seat: points of SVG polylines. This and the rest need a result.
        verdict: on the step that the server shows; None without one.
        worst: the decision that lost most; None without a mistake.
        turns: turning points, in order.
        rows: chances after each step.
        seats: luck and play of each seat.
        middle: the place in the middle.
        data: for the browser.
    """

    state: str
    moves: int
    moves_done: int = 0
    lines: list[str] = field(default_factory=list)
    verdict: Verdict | None = None
    worst: Finding | None = None
    turns: list[Turn] = field(default_factory=list)
    rows: list[StepChances] = field(default_factory=list)
    seats: list[SeatSum] = field(default_factory=list)
    middle: float = 0.0
    data: dict[str, Any] = field(default_factory=dict)


def analysis_beside(
    match: Match, names: Sequence[str], step: int, ply: int | None = None, cards: int | None = None
) -> Beside:
    """Return the analysis of an open match for its page.

    Args:
        match: its record is public.
        names: of the players, by seat.
        step: number of the step that the server shows.
        ply: the link leads to the phase that ends after so many moves.
        cards: the link leads to the cards that came after so many moves.
    """
    row = analyses.find(match)
    record = match.record
    if row is None:
        return Beside("none", len(record.moves))
    found = analyses.result_of(row, record)
    if found is None:
        return Beside(row.state.value, len(record.moves), row.moves_done)
    return beside_of(found, record, names, step, ply, has_cards=cards is not None)


def beside_of(
    found: Analysis,
    record: Record,
    names: Sequence[str],
    step: int,
    ply: int | None = None,
    *,
    has_cards: bool = False,
) -> Beside:
    """Return a finished analysis for the page of its match.

    Args:
        found: the analysis.
        record: of the match.
        names: of the players, by seat.
        step: number of the step that the server shows.
        ply: the link leads to the phase that ends after so many moves.
        has_cards: whether the link leads to new cards, which have no verdict.
    """
    steps = steps_of(record)
    verdicts = verdicts_of(found, steps, names)
    first = found.chances[0].seats
    return Beside(
        state=MatchAnalysis.State.DONE.value,
        moves=len(record.moves),
        moves_done=len(record.moves),
        lines=chance_lines(first, verdicts),
        verdict=None if has_cards else verdict_at(verdicts, step, ply),
        worst=next(iter(findings_of(found, steps, names, 1)), None),
        turns=turns_of(found, verdicts, names, steps, record.game),
        rows=chances_by_step(verdicts, names),
        seats=seat_sums(found, names),
        middle=(len(names) + 1) / 2,
        data=for_browser(first, verdicts),
    )
