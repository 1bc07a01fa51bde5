"""The analysis beside the table: verdicts on phases, turning points, and the chances."""

from dataclasses import replace

import pytest

from engine.analysis import Analysis, Decision
from engine.analysis.results import Chance
from web.table.verdicts import (
    chance_lines,
    chances_by_step,
    for_browser,
    turns_of,
    verdict_at,
    verdicts_of,
)

NAMES = ["ada", "bo"]
STEPS = [(1, "day 1")] * 4 + [(2, "day 2")] * 2
GIVE = Decision(
    ply=0,
    seat=0,
    phase="give",
    move="give 3",
    best="give 12",
    loss=0.041,
    error=0.01,
    mark="mistake",
    is_exact=False,
    fault=None,
    results={"give 3": 0.5, "give 12": 0.541},
)


def decision(mark: str, ply: int, seat: int, **fields: object) -> Decision:
    return replace(GIVE, ply=ply, seat=seat, mark=mark, **fields)  # type: ignore[arg-type]


def analysis(*decisions: Decision) -> Analysis:
    chances = (
        Chance(0, (0.5, 0.5)),
        Chance(2, (0.46, 0.54)),
        Chance(4, (0.2, 0.8)),
        Chance(6, (0.0, 1.0)),
    )
    return Analysis(1, 240, chances, decisions, ())


def test_a_verdict_says_what_a_move_gave_up_and_what_was_best() -> None:
    [first, *_] = verdicts_of(analysis(GIVE, decision("best", 1, 1)), STEPS, NAMES)
    assert first.mark == "mistake"
    assert first.text == "ada gave up 4 points of chance with “give 3”; best was “give 12”."


def test_the_worst_of_several_faults_comes_first() -> None:
    worse = decision("blunder", 1, 1, move="give 5", best="give 7", loss=0.2)
    [first, *_] = verdicts_of(analysis(GIVE, worse), STEPS, NAMES)
    assert first.mark == "blunder"
    assert first.text.startswith("bo gave up 20 points of chance with “give 5”")
    assert first.text.endswith("ada gave up 4.")


@pytest.mark.parametrize(
    ("marks", "mark", "text"),
    [
        (["best", "best"], "best", "All seats found the best move."),
        (["best", "fine"], "fine", "No mistake: all moves were close to the best."),
        (["best"], "best", "ada found the best move."),
        (["fine"], "fine", "ada chose a move close to the best."),
        ([], "", "No choice: there was one legal move."),
    ],
)
def test_a_phase_without_a_mistake_has_a_verdict_too(
    marks: list[str], mark: str, text: str
) -> None:
    made = [decision(each, seat, seat) for seat, each in enumerate(marks)]
    [first, *_] = verdicts_of(analysis(*made), STEPS, NAMES)
    assert (first.mark, first.text) == (mark, text)


def test_an_award_names_the_seat_that_receives_it() -> None:
    award = decision("blunder", 0, 0, phase="award", move="award 0", best="award 1")
    verdicts = verdicts_of(analysis(award), STEPS, NAMES)
    assert "“award to ada”; best was “award to bo”" in verdicts[0].text
    assert for_browser([0.5, 0.5], verdicts)["phases"][0][4] == []


def test_turning_points_are_the_large_changes_in_order() -> None:
    found = analysis(decision("blunder", 2, 0), decision("blunder", 4, 1))
    turns = turns_of(found, verdicts_of(found, STEPS, NAMES), NAMES)
    assert [(turn.verdict.when, turn.name) for turn in turns] == [
        ("day 1", "ada"),
        ("day 2", "ada"),
    ]
    assert (round(turns[0].before), round(turns[0].after), turns[0].rises) == (46, 20, False)
    # Only a fault of the seat itself explains that its chance fell.
    assert [turn.mark for turn in turns] == ["blunder", ""]


def test_the_browser_receives_the_cards_of_better_moves() -> None:
    follow = decision("mistake", 2, 1, phase="follow", move="pass", best="play 8 8")
    data = for_browser([0.5, 0.5], verdicts_of(analysis(GIVE, follow), STEPS, NAMES))
    assert [phase[4] for phase in data["phases"]] == [[[0, [12]]], [[1, [8, 8]]], []]
    assert data["texts"][data["phases"][0][3]].startswith("ada gave up 4")


def test_without_javascript_a_step_shows_its_worst_verdict_and_its_last_chances() -> None:
    verdicts = verdicts_of(analysis(GIVE, decision("best", 2, 1)), STEPS, NAMES)
    shown = verdict_at(verdicts, 1)
    assert shown is not None
    assert shown.mark == "mistake"
    assert verdict_at(verdicts, 3) is None
    first, second = chances_by_step(verdicts)
    assert (first.step, first.when, first.chances) == (1, "day 1", [20.0, 80.0])
    assert first.fault is shown
    assert second.fault is None
    assert chance_lines([0.5, 0.5], verdicts)[1] == "0.0,50 333.3,46 666.7,20 1000.0,0"
