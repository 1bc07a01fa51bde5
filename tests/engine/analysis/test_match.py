"""The analysis of whole matches: parts that add up, repetition, portions, and marks."""

import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.analysis import MARKS, Analysis, Work, analyse, mark
from engine.analysis.exact import win_shares
from engine.cli import simulate
from engine.record import Fault, Record, fallback
from tests.engine.tables import CASES

GAMES = [("twelve-days", "eight-nights", 3), ("partridge", "eagle-short", 2)]


SHORT = [case for case in CASES if case[1] not in ("eagle", "mathpickle") and case[2] < 6]
"""Matches that take less than a second to analyse; larger tables follow the same code."""


def played(game: str, rules: str, seats: int, seed: int = 0) -> Record:
    rng = Random(seed)
    return simulate(game, rules, seats, rng.randbytes(32), rng.choice, "random")


@settings(derandomize=True, max_examples=4, deadline=None)
@given(
    st.sampled_from(SHORT),
    st.integers(0, 5),
)
def test_the_parts_add_up_to_the_result(case: tuple[str, str, int], seed: int) -> None:
    record = played(*case, seed)
    found = analyse(record, playouts=8)
    wanted = win_shares(record.scores)
    for total, result in zip(found.totals, wanted, strict=True):
        parts = 0.5 + total.luck + total.play + total.others
        assert parts == pytest.approx(total.result, abs=1e-9)
        assert total.result == pytest.approx(result)
    assert found.chances[-1].ply == len(record.moves)
    for chance in found.chances:
        assert sum(chance.seats) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("case", GAMES)
def test_every_decision_with_a_choice_is_judged_once(case: tuple[str, str, int]) -> None:
    record = played(*case)
    found = analyse(record, playouts=8)
    state = record.start()
    wanted = []
    for ply, (seat, text) in enumerate(record.moves):
        if len(state.legal(seat)) > 1:
            wanted.append((ply, seat, text, state.legal_texts(seat)))
        state.step_unchecked({seat: state.moves.ids[text]})
    judged = [(each.ply, each.seat, each.move, list(each.results)) for each in found.decisions]
    assert judged == wanted
    for each in found.decisions:
        assert each.mark in MARKS
        assert each.loss >= 0
        assert (each.best == each.move) == (each.loss == 0)
        assert each.mark in ("best", "fine") or each.loss > 2 * each.error


@pytest.mark.parametrize("case", GAMES)
def test_portions_give_the_same_analysis_as_one_go(case: tuple[str, str, int]) -> None:
    record = played(*case)
    whole = analyse(record, playouts=8)
    work = Work(record, playouts=8)
    portions = 0
    while not work.is_done:
        work.advance(lambda: False)
        work = Work.resume(record, json.loads(json.dumps(work.as_json())))
        portions += 1
    assert portions > 10
    assert work.result() == whole


def test_an_analysis_survives_json() -> None:
    found = analyse(played(*GAMES[0]), playouts=8)
    assert Analysis.from_json(json.loads(json.dumps(found.as_json()))) == found


def test_work_of_another_version_is_refused() -> None:
    record = played(*GAMES[0])
    work = Work(record, playouts=8)
    work.advance(lambda: False)
    with pytest.raises(ValueError, match="version 0 of the analysis"):
        Work.resume(record, {**work.as_json(), "version": 0})


def test_unfinished_work_has_no_result() -> None:
    work = Work(played(*GAMES[0]), playouts=8)
    with pytest.raises(ValueError, match=r"only 0 of \d+ moves"):
        work.result()


@pytest.mark.parametrize("playouts", [0, 7, 100_001])
def test_a_number_of_playouts_out_of_range_is_refused(playouts: int) -> None:
    with pytest.raises(ValueError, match=f"not {playouts}"):
        Work(played(*GAMES[0]), playouts)


def test_a_move_of_the_referee_is_named_with_its_fault() -> None:
    seed = bytes(32)
    plies = iter(range(1000))

    def choose(legal: tuple[int, ...]) -> int:
        return fallback(seed, next(plies), legal)

    record = simulate("twelve-days", "eight-nights", 3, seed, choose, "fallback")
    faulty = Record(
        **{
            **{name: getattr(record, name) for name in record.__dataclass_fields__},
            "faults": (Fault(0, 0, "timeout"),),
        }
    )
    first, second, *_ = analyse(faulty, playouts=8).decisions
    assert (first.fault, second.fault) == ("timeout", None)


@pytest.mark.parametrize(
    ("loss", "error", "wanted"),
    [
        (-0.01, 0.0, "best"),
        (0.0, 0.0, "best"),
        (0.02, 0.0, "fine"),
        (0.05, 0.0, "mistake"),
        (0.05, 0.03, "fine"),
        (0.2, 0.01, "blunder"),
        (0.2, 0.1, "fine"),
    ],
)
def test_a_loss_within_its_error_is_no_mistake(loss: float, error: float, wanted: str) -> None:
    assert mark(loss, error) == wanted
