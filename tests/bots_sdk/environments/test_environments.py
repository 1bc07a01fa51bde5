"""The environments hold PettingZoo's contract, and show agents only what their seats may see."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pettingzoo.test import (  # type: ignore[import-untyped]  # its tests have no types
    api_test,
    parallel_api_test,
    parallel_seed_test,
    seed_test,
)

from bots_sdk.environments import encoding, partridge_v0, twelve_days_v0
from engine.errors import IllegalMoveError, UnknownRulesError
from engine.games.catalogue import GAMES
from engine.games.twelve_days import TwelveDays
from tests.engine.tables import CASES

MAKERS = {"twelve-days": twelve_days_v0, "partridge": partridge_v0}
Make = Callable[[], Any]

# PettingZoo's tests accept a dictionary with a mask for its own games only.
their_doubts = pytest.mark.filterwarnings(
    "ignore:Observation is not a NumPy array:UserWarning",
    "ignore:Observation space for each agent probably should be:UserWarning",
)


@pytest.fixture(params=CASES, ids=lambda case: "-".join(map(str, case)))
def make(request: pytest.FixtureRequest) -> Make:
    game, rules, seats = request.param
    return lambda: MAKERS[game].env(rules, seats)


@their_doubts
def test_pettingzoos_test_of_turns_passes(make: Make) -> None:
    api_test(make(), num_cycles=60)


@pytest.mark.parametrize("seats", [3, 4, 5])
def test_pettingzoos_test_of_deciding_together_passes(seats: int) -> None:
    parallel_api_test(twelve_days_v0.parallel_env(seats=seats), num_cycles=60)


def test_pettingzoos_tests_of_seeds_pass(make: Make) -> None:
    seed_test(make, num_cycles=20)


def test_pettingzoos_test_of_seeds_passes_together() -> None:
    parallel_seed_test(twelve_days_v0.parallel_env, num_cycles=60)


@pytest.mark.parametrize("game", MAKERS)
def test_another_seed_and_the_next_match_are_other_deals(game: str) -> None:
    env = MAKERS[game].env()
    deals = []
    for seed in (1, 2, None, 1, None):
        env.reset(seed=seed)
        deals.append(env.unwrapped.seen("player_0")["hand"])
    assert deals[0] == deals[3]
    assert len({str(deal) for deal in deals[:3]}) == 3
    assert deals[4] not in deals[:3]


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32), case=st.sampled_from(CASES))
def test_masks_are_the_legal_moves_and_never_empty_for_the_selected_agent(
    seed: int, case: tuple[str, str, int]
) -> None:
    game, rules, seats = case
    env = MAKERS[game].raw_env(rules, seats, illegal="raise")
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    texts = GAMES[game].moves.texts
    for agent in env.agent_iter(80):
        shown, _, ended, _, _ = env.last()
        if ended:
            env.step(None)
            continue
        for each in env.agents:
            [may] = env.observe(each)["action_mask"].nonzero()
            assert [texts[action] for action in may] == env.seen(each)["legal_moves"]
        [legal] = shown["action_mask"].nonzero()
        assert legal.size
        assert shown in env.observation_space(agent)
        env.step(int(rng.choice(legal)))


def played_to_the_end(env: Any, seed: int) -> dict[str, float]:
    """Play at random; return what each agent won."""
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    won = {}
    for agent in env.agent_iter():
        shown, reward, ended, cut, _ = env.last()
        won[agent] = reward
        assert not cut
        env.step(None if ended else int(rng.choice(shown["action_mask"].nonzero()[0])))
    return won


@pytest.mark.parametrize("rewards", ["places", "scores"])
@pytest.mark.parametrize("game", MAKERS)
def test_rewards_come_at_the_end_add_up_to_nothing_and_follow_the_places(
    game: str, rewards: str
) -> None:
    for seed in range(3):
        env = MAKERS[game].env(rewards=rewards)
        won = played_to_the_end(env, seed)
        state = env.unwrapped._table.state
        assert sum(won.values()) == pytest.approx(0)
        by_seat = [won[f"player_{seat}"] for seat in range(4)]
        for seat, score in enumerate(state.scores):
            for other, theirs in enumerate(state.scores):
                assert (score > theirs) == (by_seat[seat] > by_seat[other] + 1e-9)
        assert not env.agents


@pytest.mark.parametrize("hidden", ["hand", "choice"])
def test_what_others_hold_or_have_chosen_changes_nothing_that_an_agent_sees(hidden: str) -> None:
    env = twelve_days_v0.raw_env()
    shown = []
    for index in (0, -1):
        env.reset(seed=3)
        state = env._table.state
        if hidden == "choice":  # player_0 gives another card
            env.step(int(env.observe("player_0")["action_mask"].nonzero()[0][index]))
        elif index:  # player_0 and player_1 hold each other's cards
            assert isinstance(state, TwelveDays)
            state.hands[0], state.hands[1] = state.hands[1], state.hands[0]
            state.masks[0], state.masks[1] = state.masks[1], state.masks[0]
        shown.append([env.observe(agent) for agent in ("player_2", "player_3")])
    for one, other in zip(*shown, strict=True):
        assert np.array_equal(one["observation"], other["observation"])
        assert np.array_equal(one["action_mask"], other["action_mask"])


def test_an_agent_without_a_decision_may_only_wait() -> None:
    env = twelve_days_v0.parallel_env(illegal="raise")
    awards = 0
    for seed in range(12):
        seen, _ = env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        while env.agents:
            masks = {agent: seen[agent]["action_mask"] for agent in env.agents}
            assert all(mask.any() for mask in masks.values())
            waiting = [agent for agent, mask in masks.items() if mask[twelve_days_v0.WAIT]]
            if waiting:
                awards += 1
                assert len(waiting) == 3
                assert all(masks[agent].sum() == 1 for agent in waiting)
            actions = {a: int(rng.choice(mask.nonzero()[0])) for a, mask in masks.items()}
            seen, rewards, ended, _, _ = env.step(actions)
            assert any(rewards.values()) <= all(ended.values())
    assert awards > 0


@pytest.mark.parametrize("game", MAKERS)
def test_an_illegal_action_is_replaced_and_reported_or_raised(game: str) -> None:
    env = MAKERS[game].raw_env()
    env.reset(seed=1)
    agent = env.agent_selection
    [illegal, *_] = (env.observe(agent)["action_mask"] == 0).nonzero()[0]
    env.step(int(illegal))
    assert env.infos[agent] == {"illegal_action": illegal}
    strict = MAKERS[game].raw_env(illegal="raise")
    strict.reset(seed=1)
    with pytest.raises(IllegalMoveError, match="legal: "):
        strict.step(int(illegal))
    with pytest.raises(IllegalMoveError):
        strict.step(10_000)


@given(case=st.sampled_from(CASES), seed=st.integers(0, 10**6))
@settings(max_examples=20)
def test_the_encoding_is_the_same_in_training_and_at_the_league(
    case: tuple[str, str, int], seed: int
) -> None:
    game, rules, seats = case
    env = MAKERS[game].raw_env(rules, seats)
    env.reset(seed=seed)
    agent = env.agent_selection
    observation = env.seen(agent)
    numbers = encoding.features(observation)
    assert all(0 <= number <= 1 for number in numbers)
    assert np.array_equal(np.array(numbers, np.float32), env.observe(agent)["observation"])
    mask = encoding.mask(observation)
    moves = [encoding.move_of(observation, action) for action, may in enumerate(mask) if may]
    assert moves == observation["legal_moves"]


def test_the_encoding_works_in_the_sandbox() -> None:
    code = (
        "import sys, bots_sdk.environments.encoding\n"
        "print(sorted({'numpy', 'gymnasium', 'pettingzoo', 'httpx', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_match_can_be_shown_as_text() -> None:
    env = partridge_v0.env(render_mode="ansi")
    env.reset(seed=1)
    assert "player_3" in env.render()
    lead = env.unwrapped.seen(env.agent_selection)["legal_moves"][0]
    env.step(int(env.last()[0]["action_mask"].argmax()))
    assert env.render().startswith(f"player_0 leads {lead.removeprefix('play ')}\n\nround 1")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rules": "eagl"}, "no preset 'eagl'"),
        ({"seats": 9}, "takes 2 to 8 seats, not 9"),
        ({"rewards": "money"}, "rewards must be 'places' or 'scores'"),
        ({"illegal": "maybe"}, "illegal must be 'fallback' or 'raise'"),
    ],
)
def test_unknown_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises((UnknownRulesError, ValueError), match=message):
        partridge_v0.env(**options)
