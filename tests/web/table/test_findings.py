"""The findings of an analysis, and the headline that they make."""

from dataclasses import replace

import pytest

from engine.analysis import Analysis, Chance, Decision, Total
from web.table.findings import at_step, change_of, findings_of, headline_of

_STEPS = [(1, "round 1, trick 1"), (2, "round 1, trick 2")]
_NAMES = ("ada", "bea")


def _analysis(decision: Decision, before: float, after: float, result: float) -> Analysis:
    chances = [Chance(ply, (each, 1 - each)) for ply, each in ((0, 0.5), (1, before), (2, after))]
    totals = [
        Total(seat, 0, 0, 0, 0, each, 0, 0, 0.5) for seat, each in enumerate((result, 1 - result))
    ]
    return Analysis(1, 8, tuple(chances), (decision,), tuple(totals))


@pytest.mark.parametrize(
    ("mark", "before", "after", "result", "headline"),
    [
        ("blunder", 0.8, 0.3, 0.0, "ada throws the win away in round 1"),
        ("blunder", 0.8, 0.3, 1.0, "ada blunders in round 1"),  # ada won all the same
        ("blunder", 0.4, 0.1, 0.0, "ada blunders in round 1"),
        ("mistake", 0.4, 0.1, 0.0, "ada makes a mistake in round 1"),
        ("fine", 0.8, 0.3, 0.0, "No bot makes a mistake"),
    ],
)
def test_the_headline_tells_what_the_worst_decision_did(
    mark: str, before: float, after: float, result: float, headline: str
) -> None:
    decision = Decision(1, 0, "lead", "play 1", "play 2", 0.5, 0, mark, False, None, {})
    found = _analysis(decision, before, after, result)
    assert headline_of(found, findings_of(found, _STEPS, _NAMES)) == headline


@pytest.mark.parametrize(
    ("after", "said"),
    [(0.3, "ada’s chance falls from 80 to 30\N{NO-BREAK SPACE}%."), (0.76, ""), (0.9, "")],
)
def test_the_lead_states_the_change_of_a_chance_if_it_fell(after: float, said: str) -> None:
    decision = Decision(1, 0, "lead", "play 1", "play 2", 0.5, 0, "blunder", False, None, {})
    found = _analysis(decision, 0.8, after, 0.0)
    assert change_of(found, findings_of(found, _STEPS, _NAMES)) == said


def test_a_day_has_another_preposition_than_a_round() -> None:
    assert [at_step("day 3"), at_step("round 1, trick 2")] == ["on day 3", "in round 1, trick 2"]


def test_the_headline_names_a_seat_that_could_still_win() -> None:
    lost = Decision(0, 1, "lead", "play 1", "play 2", 0.9, 0, "blunder", False, None, {})
    open_still = Decision(1, 0, "lead", "play 1", "play 2", 0.3, 0, "blunder", False, None, {})
    chances = tuple(Chance(ply, (each, 1 - each)) for ply, each in ((0, 0.97), (1, 0.96), (2, 0.6)))
    totals = tuple(Total(seat, 0, 0, 0, 0, seat, 0, 0, 0.5) for seat in (0, 1))
    found = Analysis(1, 8, chances, (lost, open_still), totals)
    findings = findings_of(found, _STEPS, _NAMES)
    assert [each.name for each in findings] == ["ada", "bea"]
    assert headline_of(found, findings) == "ada blunders in round 1"
    assert change_of(found, findings) == "ada’s chance falls from 96 to 60\N{NO-BREAK SPACE}%."


@pytest.mark.parametrize(
    ("is_alone", "after", "said", "change"),
    [
        (True, 0.3, "ada’s chance falls from 80 to 30 %", ""),
        (True, 0.9, "ada ends 0.5 places lower on average", ""),
        (
            False,
            0.3,
            "ada ends 0.5 places lower on average",
            "After the moves of all seats, its chance falls from 80 to 30 %.",
        ),
    ],
)
def test_a_finding_states_the_chance_that_a_decision_alone_cost(
    is_alone: bool, after: float, said: str, change: str
) -> None:
    bad = Decision(1, 0, "lead", "play 1", "play 2", 0.5, 0, "blunder", False, None, {})
    other = Decision(1, 1, "lead", "play 1", "play 1", 0.0, 0, "best", False, None, {})
    found = _analysis(bad, 0.8, after, 0.0)
    if not is_alone:
        found = replace(found, decisions=(bad, other))
    finding = findings_of(found, _STEPS, _NAMES)[0]
    shown = (finding.said, finding.change)
    assert tuple(each.replace("\N{NO-BREAK SPACE}", " ") for each in shown) == (said, change)


def test_the_headline_names_the_largest_loss_that_cost_a_chance() -> None:
    """The first decision lost more places, but its seat was as likely to win after it."""
    costless = Decision(0, 0, "lead", "play 1", "play 2", 0.9, 0, "blunder", False, None, {})
    costly = Decision(1, 1, "lead", "play 1", "play 2", 0.3, 0, "blunder", False, None, {})
    found = replace(_analysis(costly, 0.5, 0.9, 1.0), decisions=(costless, costly))
    findings = findings_of(found, _STEPS, _NAMES)
    assert headline_of(found, findings) == "bea blunders in round 1"
    assert change_of(found, findings) == "bea’s chance falls from 50 to 10\N{NO-BREAK SPACE}%."
