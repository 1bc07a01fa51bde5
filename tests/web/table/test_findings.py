"""The findings of an analysis, and the headline that they make."""

import pytest

from engine.analysis import Analysis, Chance, Decision, Total
from web.table.findings import findings_of, headline_of

_STEPS = [(1, "round 1, trick 1"), (2, "round 1, trick 2")]
_NAMES = ("ada", "bea")


@pytest.mark.parametrize(
    ("mark", "before", "after", "result", "headline"),
    [
        ("blunder", 0.8, 0.3, 0.0, "ada throws the win away in round 1"),
        ("blunder", 0.8, 0.3, 1.0, "ada blunders in round 1"),  # ada won all the same
        ("blunder", 0.4, 0.1, 0.0, "ada blunders in round 1"),
        ("mistake", 0.4, 0.1, 0.0, "ada loses most in round 1"),
        ("fine", 0.8, 0.3, 0.0, "No bot makes a mistake"),
    ],
)
def test_the_headline_tells_what_the_worst_decision_did(
    mark: str, before: float, after: float, result: float, headline: str
) -> None:
    decision = Decision(1, 0, "lead", "play 1", "play 2", 0.5, 0, mark, False, None, {})
    chances = [Chance(ply, (each, 1 - each)) for ply, each in ((0, 0.5), (1, before), (2, after))]
    totals = [
        Total(seat, 0, 0, 0, 0, each, 0, 0, 0.5) for seat, each in enumerate((result, 1 - result))
    ]
    found = Analysis(1, 8, tuple(chances), (decision,), tuple(totals))
    assert headline_of(found, findings_of(found, _STEPS, _NAMES)) == headline
