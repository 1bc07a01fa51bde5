"""``twelfth-night ab`` and its swap blocks: one deal, two seats exchanged, one verdict."""

import json
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots_sdk.arena.contestants import PlayerFactory, contestant, field_of
from bots_sdk.arena.matches import MatchType, PlayedMatch, play_fixture
from bots_sdk.arena.swaps import NEW, OLD, SwapTest, blocks_in_order, gain
from engine.rating import sprt
from tests.bots_sdk.conftest import Home

SOME = ("--against", "thumb", "--seed", "x", "--jobs", 2)


QUICK = ("random", "thumb", "random-2", "thumb-2")
"""Opponents of matches that are played; `house` would add the search, which takes long."""


def swap_test(
    new: str, old: str, seats: int = 4, blocks: int = 3, field: tuple[str, ...] = ("house",)
) -> SwapTest:
    return SwapTest(
        table=MatchType("partridge", "eagle-short", seats),
        new=contestant(new),
        old=contestant(old),
        field=field_of(field),
        plan=sprt.Plan(seats, max_blocks=blocks, min_blocks=1),
        seed=bytes(32),
    )


@given(seats=st.integers(2, 8))
def test_in_a_block_the_versions_exchange_seats_and_all_else_stays(seats: int) -> None:
    fixtures = list(swap_test("thumb", "random", seats, blocks=6).fixtures())
    assert [each.number for each in fixtures] == list(range(1, 13))
    for first, second in zip(fixtures[::2], fixtures[1::2], strict=True):
        assert first.deal_seed == second.deal_seed
        assert first.bots == second.bots
        assert first.seating.index(NEW) == second.seating.index(OLD)
        assert first.seating.index(OLD) == second.seating.index(NEW)
        assert [bot for bot in first.seating if bot > OLD] == [
            bot for bot in second.seating if bot > OLD
        ]
    assert len({each.deal_seed for each in fixtures}) == 6
    assert len({each.seating for each in fixtures}) > (2 if seats > 2 else 1)


def played(test: SwapTest) -> list[PlayedMatch]:
    factory = PlayerFactory(test.contestants)
    names = [each.name for each in test.contestants]
    return [play_fixture(factory, test.table, each, names) for each in test.fixtures()]


@given(seed=st.integers(0, 1000))
def test_blocks_come_in_order_however_their_matches_end(seed: int) -> None:
    shuffled = list(PLAYED)
    Random(seed).shuffle(shuffled)
    assert list(blocks_in_order(shuffled)) == list(blocks_in_order(PLAYED))


PLAYED = played(swap_test("thumb", "random", field=QUICK))


def test_exchanging_the_versions_negates_the_difference() -> None:
    ahead = [block.difference for block in blocks_in_order(PLAYED)]
    exchanged = played(swap_test("random", "thumb", field=QUICK))
    behind = [block.difference for block in blocks_in_order(exchanged)]
    assert any(ahead)
    assert ahead == [-difference for difference in behind]


def test_a_gain_in_elo_is_that_of_the_mean_difference() -> None:
    plan = sprt.Plan(4)
    elo, width = gain(plan, [plan.expected_difference(20.0)] * 8)
    assert elo == pytest.approx(20.0)
    assert width == 0.0
    assert gain(plan, [0.5])[1] is None


def test_a_better_version_is_called_better(home: Home) -> None:
    result = home("ab", "first.py", "house-counting", *SOME, "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["verdict"] == "better"
    assert found["llr"][-1] > found["bounds"][1] > found["llr"][-2]
    assert len(found["llr"]) == found["blocks"] >= 16
    assert found["elo"] - found["elo_error"] > 0


def test_a_worse_version_is_not_better(home: Home) -> None:
    result = home("ab", "house-counting", "first.py", *SOME)
    assert result.exit_code == 1
    assert "\nnot better\nevidence -" in result.stdout


def test_equal_versions_with_random_moves_show_no_difference(home: Home, tmp_path: Path) -> None:
    for name in ("old.py", "new.py"):
        source = "import random\ndef choose(o): return random.choice(o['legal_moves'])\n"
        (tmp_path / name).write_text(source)
    result = home("ab", "old.py", "new.py", *SOME)
    assert result.exit_code == 1
    assert "no difference in behaviour" in result.stdout
    assert "The versions made the same moves in all blocks." in result.stdout


def test_the_verdict_is_the_same_for_any_number_of_processes(home: Home) -> None:
    found = []
    for jobs in (1, 3):
        result = home("ab", "first.py", "last.py", *SOME[:-1], jobs, "--json")
        found.append(json.loads(result.stdout))
        for version in found[-1]["versions"].values():
            version.pop("seconds_a_move")
    assert found[0] == found[1]


def test_too_few_blocks_are_undecided_and_each_versions_faults_are_printed(
    home: Home,
) -> None:
    result = home("ab", "crash.py", "first.py", *SOME, "--max-blocks", 2)
    assert result.exit_code == 1
    assert "undecided\nevidence " in result.stdout
    assert 'crash.py", line 2, in choose' in result.stderr
    assert "faults       12 crash\nforfeits     4 matches: after three faults" in result.stdout


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["first.py", "first.py"], "are the same file"),
        (["first.py", "no.py"], "There is no file no.py"),
        (["first.py"], "Missing argument"),
        (["first.py", "last.py", "--max-blocks", -1], "Invalid value for '--max-blocks'"),
        (["first.py", "last.py", "--seats", 1], "takes 3 to 5 seats, not 1"),
    ],
)
def test_wrong_arguments_name_a_remedy(home: Home, words: list[str], found: str) -> None:
    result = home("ab", *words, "--json")
    assert result.exit_code == 2
    assert found in json.loads(result.stderr)["detail"]
