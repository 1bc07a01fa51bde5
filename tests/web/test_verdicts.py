"""The analysis beside the table: verdicts on phases, turning points, and the chances."""

from dataclasses import replace

import pytest

from engine.analysis import Analysis, Decision
from engine.analysis.results import Chance
from web.table.findings import findings_of
from web.table.turning_points import turns_of
from web.table.verdicts import (
    chance_lines,
    chances_by_step,
    for_browser,
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
    assert first.text == "ada should have given 12, not 3: it ends 0.04 places lower on average."


def test_the_worst_of_several_faults_comes_first() -> None:
    worse = decision("blunder", 1, 1, move="give 5", best="give 7", loss=0.2)
    [first, *_] = verdicts_of(analysis(GIVE, worse), STEPS, NAMES)
    assert first.mark == "blunder"
    said = "bo should have given 7, not 5: it ends 0.2 places lower on average."
    assert first.text == f"{said} ada lost 0.04 places."


def test_the_decisions_that_lost_most_are_the_findings() -> None:
    worst = decision("blunder", 4, 1, move="play 5 5", best="pass", loss=0.2, fault="timeout")
    fine = decision("fine", 1, 1, loss=0.9)
    awards = decision("mistake", 2, 1, move="award 0", best="award 1", loss=0.03)
    first, second = findings_of(analysis(GIVE, fine, awards, worst), STEPS, NAMES, 2)
    assert (first.number, first.mark, first.name) == (1, "blunder", "bo")
    assert first.said == "bo ends 0.2 places lower on average"
    assert (first.when, first.query, first.phase) == ("day 2", "step=2&ply=6", 3)
    assert (first.cards, first.better, first.by_referee) == ([5, 5], [], True)
    assert (second.name, second.cards, second.better, second.by_referee) == (
        "ada",
        [3],
        [12],
        False,
    )
    [*_, third] = findings_of(analysis(GIVE, awards, worst), STEPS, NAMES)
    assert (third.query, third.cards) == ("step=1&ply=4", [])  # an award is no card


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
    assert verdicts[0].text == (
        "ada should have awarded the points to bo, not the points to ada: "
        "its chance of the first place went from 50\N{NO-BREAK SPACE}% to 46\N{NO-BREAK SPACE}%."
    )
    assert for_browser([0.5, 0.5], verdicts)["phases"][0][4] == []


def test_the_table_of_chances_rounds_them_once() -> None:
    found = with_chances(analysis(), 2, seats=(0.61463, 0.38537))
    [row, *_] = chances_by_step(verdicts_of(found, STEPS, NAMES), NAMES)
    assert [f"{chance:.0f}" for chance in row.chances] == ["61", "39"]


def turned(
    found: Analysis, names: list[str] = NAMES, game: str = "twelve-days"
) -> list[tuple[str, str, str]]:
    """Return label, mark and sentence of each turning point."""
    turns = turns_of(found, verdicts_of(found, STEPS, names), names, STEPS, game)
    return [
        (
            turn.label,
            turn.mark,
            f"{turn.cause}: {turn.change} {'rises' if turn.rises else 'falls'} from "
            f"{turn.before:.0f} to {turn.after:.0f}",
        )
        for turn in turns
    ]


def test_a_turning_point_begins_with_the_bot_that_decided() -> None:
    fault = decision("blunder", 2, 0, move="play 7", best="play 3")
    found = with_chances(analysis(fault, decision("best", 3, 1)), 2, decider=0)
    assert turned(found)[0] == (
        "Day 1",
        "blunder",
        "ada plays 7 instead of 3: its chance falls from 46 to 20",
    )


def test_a_good_move_turns_the_match_without_a_mark() -> None:
    found = with_chances(analysis(decision("best", 3, 1, move="play 0")), 2, decider=1)
    assert turned(found)[0] == ("Day 1", "", "bo plays a Claus: its chance rises from 54 to 80")


def test_a_fault_that_helped_its_own_seat_is_no_cause() -> None:
    """A mistake of bo by what it knew: with the true cards its own chance rose."""
    found = with_chances(analysis(decision("mistake", 3, 1, move="play 2")), 2, decider=1)
    assert turned(found)[0][1:] == ("", "bo plays 2: its chance rises from 54 to 80")


def test_a_good_move_after_which_the_chance_falls_is_explained_by_hidden_cards() -> None:
    fine = analysis(decision("best", 2, 0, move="play 7", loss=0.0))
    [turn, *_] = turns_of(
        with_chances(fine, 2, decider=0), verdicts_of(fine, STEPS, NAMES), NAMES, STEPS, "partridge"
    )
    assert (turn.rises, turn.mark, turn.is_unseen) == (False, "", True)
    fault = analysis(decision("fine", 2, 0, move="play 7", loss=0.3))  # within a large error
    [turn, *_] = turns_of(
        with_chances(fault, 2, decider=0),
        verdicts_of(fault, STEPS, NAMES),
        NAMES,
        STEPS,
        "partridge",
    )
    assert not turn.is_unseen


def test_moves_of_which_none_explains_the_change_are_named_together() -> None:
    found = analysis(decision("best", 2, 0), decision("best", 3, 1))
    assert turned(found)[0][2].startswith("The moves of all seats together: ada’s chance falls")


@pytest.mark.parametrize(
    ("game", "cause"),
    [("twelve-days", "The cards drawn (luck)"), ("partridge", "The new deal (luck)")],
)
def test_luck_and_decision_of_one_phase_are_two_turning_points(game: str, cause: str) -> None:
    found = analysis(decision("blunder", 2, 0, move="pass", best="play 8 8"))
    found = with_chances(found, 2, before_cards=(0.6, 0.4), decider=0)
    assert turned(found, game=game)[:2] == [
        ("Day 1", "", "ada passes: its chance rises from 46 to 60"),
        ("Start of day 2", "", f"{cause}: ada’s chance falls from 60 to 20"),
    ]


def test_a_link_to_a_turning_point_names_the_step_and_the_decision() -> None:
    found = with_chances(analysis(), 2, before_cards=(0.6, 0.4))
    turns = turns_of(found, verdicts_of(found, STEPS, NAMES), NAMES, STEPS, "twelve-days")
    assert [turn.query for turn in turns] == ["step=1&ply=4", "step=2&cards=4", "step=2&ply=6"]


def with_chances(found: Analysis, at: int, **fields: object) -> Analysis:
    """Return an analysis whose chances after a phase have other fields."""
    chances = list(found.chances)
    chances[at] = replace(chances[at], **fields)  # type: ignore[arg-type]
    return replace(found, chances=tuple(chances))


def test_the_browser_receives_the_cards_of_better_moves() -> None:
    follow = decision("mistake", 2, 1, phase="follow", move="pass", best="play 8 8")
    data = for_browser([0.5, 0.5], verdicts_of(analysis(GIVE, follow), STEPS, NAMES))
    assert [phase[4] for phase in data["phases"]] == [[[0, [12]]], [[1, [8, 8]]], []]
    assert data["texts"][data["phases"][0][3]].startswith("ada should have given 12")


def test_the_result_of_a_day_shows_faults_of_all_its_phases() -> None:
    later = decision("mistake", 2, 1, move="play 2", best="play 10")
    verdicts = verdicts_of(analysis(GIVE, later), STEPS, NAMES)
    shown = verdict_at(verdicts, 1)
    assert shown is not None
    assert shown.text == f"{verdicts[1].text} Earlier in this step: {verdicts[0].text}"
    first, _ = chances_by_step(verdicts, NAMES)
    assert sorted(first.blamed) == [("ada", "mistake"), ("bo", "mistake")]


def test_the_mark_of_a_step_is_that_of_the_sentence_behind_it() -> None:
    blunder = replace(GIVE, mark="blunder")
    later = decision("mistake", 2, 1, move="play 2", best="play 10")
    verdicts = verdicts_of(analysis(blunder, later), STEPS, NAMES)
    shown = verdict_at(verdicts, 1)
    assert shown is not None
    assert shown.mark == "blunder"
    assert shown.text == f"{verdicts[0].text} Later in this step: {verdicts[1].text}"


def test_without_javascript_a_step_shows_its_worst_verdict_and_its_last_chances() -> None:
    verdicts = verdicts_of(analysis(GIVE, decision("best", 2, 1)), STEPS, NAMES)
    shown = verdict_at(verdicts, 1)
    assert shown is not None
    assert shown.mark == "mistake"
    assert shown.text.startswith("Earlier in this step: ada should")
    at_plays, at_gifts = (verdict_at(verdicts, 1, ply) for ply in (4, 2))
    assert at_plays == shown  # the result of the day
    assert at_gifts is verdicts[0]
    assert verdict_at(verdicts, 3) is None
    first, second = chances_by_step(verdicts, NAMES)
    assert (first.step, first.when, first.chances) == (1, "day 1", [20.0, 80.0])
    assert first.fault is verdicts[0]
    assert first.blamed == [("ada", "mistake")]
    assert (second.fault, second.blamed) == (None, [])
    assert chance_lines([0.5, 0.5], verdicts)[1] == "0.0,50 333.3,46 666.7,20 1000.0,0"
