"""The kernel and plain Python return the same numbers, from every position of every preset."""

from itertools import islice
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.games import catalogue
from engine.games.game import State
from engine.playouts import (
    UNIFORM,
    NewMatch,
    Policy,
    Position,
    evaluate,
    is_fast,
    play,
    rule_of_thumb,
)
from tests.engine.tables import CASES, played, start

if not is_fast():
    pytest.skip("the extra `fast` is not installed", allow_module_level=True)


def policy_for(game: str, rules: str, is_table: bool) -> Policy:
    return rule_of_thumb(game, rules) if is_table else UNIFORM


def somewhere(case: tuple[str, str, int], rng: Random) -> State:
    """Return a match at a random ply before its end, some of a phase's choices made."""
    seed = rng.randrange(1 << 32)
    luck = rng.random()
    length = sum(1 for _ in played(start(*case, seed), Random(luck))) - 1
    return next(islice(played(start(*case, seed), Random(luck)), rng.randrange(length), None))


def assert_equal_play(position: Position, policy: Policy, seed: int, this_round: bool) -> None:
    fast, plain = (
        play(position, 2, policy, seed, this_round=this_round, in_kernel=in_kernel)
        for in_kernel in (True, False)
    )
    assert fast == plain


@pytest.mark.parametrize("is_table", [False, True], ids=["uniform", "table"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_new_matches_are_equal(case: tuple[str, str, int], is_table: bool) -> None:
    policy = policy_for(*case[:2], is_table)
    for seed in range(3):
        assert_equal_play(NewMatch(*case), policy, seed, this_round=False)


@given(st.sampled_from(CASES), st.integers(0, 2**64), st.booleans(), st.booleans())
def test_positions_in_the_middle_are_equal(
    case: tuple[str, str, int], chance: int, is_table: bool, this_round: bool
) -> None:
    state = somewhere(case, Random(chance))
    assert_equal_play(state, policy_for(*case[:2], is_table), chance, this_round)


@given(st.sampled_from(CASES), st.integers(0, 2**64), st.booleans())
def test_sampled_hidden_cards_are_equal(
    case: tuple[str, str, int], chance: int, is_table: bool
) -> None:
    rng = Random(chance)
    seen = somewhere(case, rng).observe(rng.randrange(case[2]))
    assert_equal_play(seen, policy_for(*case[:2], is_table), chance, this_round=False)


@given(st.sampled_from(CASES), st.integers(0, 2**64), st.booleans(), st.booleans())
def test_evaluations_are_equal(
    case: tuple[str, str, int], chance: int, is_table: bool, this_round: bool
) -> None:
    state = somewhere(case, Random(chance))
    seen = state.observe(state.actors[-1])
    fast, plain = (
        evaluate(
            seen,
            2,
            policy_for(*case[:2], is_table),
            chance,
            this_round=this_round,
            in_kernel=in_kernel,
        )
        for in_kernel in (True, False)
    )
    assert fast == plain


@pytest.mark.parametrize("rules", ["calliope", "eight-players", "cheapass-eight-players"])
def test_deals_after_a_reshuffle_are_equal(rules: str) -> None:
    """There the kernel must find out which draws explain which cards."""
    seats = catalogue.find("twelve-days").preset(rules).max_seats
    compared = 0
    for state in played(start("twelve-days", rules, seats, seed=2), Random(2)):
        if state.actors and getattr(state, "shuffles", 1) > 1 and state.actors[0] % 2 == 0:
            assert_equal_play(state.observe(state.actors[0]), UNIFORM, 7, this_round=False)
            compared += 1
    assert compared >= 10


def test_awards_are_equal() -> None:
    """Few matches have one: an award is another seat's only decision between two days."""
    compared = 0
    for seed in range(20):
        for state in played(start("twelve-days", "calliope", 3, seed), Random(seed)):
            if state.phase == "award":
                assert_equal_play(state, UNIFORM, seed, this_round=False)
                for seat in range(3):
                    assert_equal_play(state.observe(seat), UNIFORM, seed, this_round=False)
                compared += 1
    assert compared >= 5
