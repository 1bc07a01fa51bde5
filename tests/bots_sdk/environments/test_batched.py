"""Many matches at once: equal to the engine's, with masks, rewards and new matches at the end."""

from typing import Any

import numpy as np
import pytest

from bots_sdk.environments import compact
from bots_sdk.environments.batched import BatchedEnv, Step
from engine.errors import UnknownRulesError
from engine.playouts import is_fast
from tests.engine.tables import CASES

KINDS = [False, True] if is_fast() else [False]
MATCHES = [("twelve-days", "eight-nights", 3), ("partridge", "eagle-short", 4)]


def legal_actions(masks: Any, rng: np.random.Generator) -> Any:
    """Return a random legal action for each seat, and 0 for seats without a decision."""
    return (rng.random(masks.shape) * masks).argmax(-1)


def steps(env: BatchedEnv, count: int, illegal: float = 0.0) -> list[Step]:
    """Return copies of some steps; each action is replaced by any number with some chance."""
    rng = np.random.default_rng(1)
    _, masks = env.reset(5)
    found = []
    for _ in range(count):
        actions = legal_actions(masks, rng)
        any_number = rng.integers(-3, 300, actions.shape)
        done = env.step(np.where(rng.random(actions.shape) < illegal, any_number, actions))
        masks = done.masks
        found.append(Step._make(part.copy() for part in done))
    return found


@pytest.mark.skipif(not is_fast(), reason="the extra `fast` is not installed")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_kernel_and_the_engine_play_the_same_matches(case: tuple[str, str, int]) -> None:
    count = 60 if case[0] == "twelve-days" else 150
    fast, plain = (
        steps(BatchedEnv(*case, 2, in_kernel=in_kernel), count, illegal=0.05)
        for in_kernel in (True, False)
    )
    for one, other in zip(fast, plain, strict=True):
        for name, part in one._asdict().items():
            assert (part == getattr(other, name)).all(), name


@pytest.mark.parametrize("in_kernel", KINDS)
@pytest.mark.parametrize("case", MATCHES, ids=str)
def test_rewards_come_at_the_end_and_add_up_to_zero(
    case: tuple[str, str, int], in_kernel: bool
) -> None:
    for rewards in ("places", "scores"):
        env = BatchedEnv(*case, 3, rewards=rewards, in_kernel=in_kernel)
        done = steps(env, 400)
        assert sum(step.over.sum() for step in done) > 0
        for step in done:
            assert (step.rewards[~step.over] == 0).all()
            assert abs(step.rewards.sum(1)).max() < 1e-4
            assert not step.illegal.any()
        assert max(abs(step.rewards).max() for step in done) > 0
        assert rewards == "scores" or max(abs(step.rewards).max() for step in done) <= 1


@pytest.mark.parametrize("in_kernel", KINDS)
@pytest.mark.parametrize("case", MATCHES, ids=str)
def test_a_match_that_ends_is_followed_by_a_new_one(
    case: tuple[str, str, int], in_kernel: bool
) -> None:
    for step in steps(BatchedEnv(*case, 3, in_kernel=in_kernel), 400):
        day_or_round = step.observations[step.over][:, :, 1]
        assert (day_or_round == 1).all()
        assert (step.masks.any(-1).sum(1) > 0).all()


@pytest.mark.parametrize("in_kernel", KINDS)
def test_a_step_before_the_deal_is_refused(in_kernel: bool) -> None:
    env = BatchedEnv("twelve-days", "calliope", 4, 2, in_kernel=in_kernel)
    with pytest.raises(RuntimeError, match="call reset first"):
        env.step(np.zeros((2, 4), np.int64))


@pytest.mark.parametrize("in_kernel", KINDS)
def test_a_seed_may_be_a_number_of_numpy(in_kernel: bool) -> None:
    env = BatchedEnv("twelve-days", "calliope", 4, 2, in_kernel=in_kernel)
    seen = env.reset(5)[0].copy()
    assert (env.reset(np.int64(5))[0] == seen).all()


@pytest.mark.parametrize("in_kernel", KINDS)
def test_a_seed_determines_the_matches(in_kernel: bool) -> None:
    env = BatchedEnv("twelve-days", "calliope", 4, 2, in_kernel=in_kernel)
    first, again, other = (env.reset(seed)[0].copy() for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


def test_wrong_actions_and_arguments_are_refused() -> None:
    env = BatchedEnv("twelve-days", "calliope", 4, 2)
    env.reset()
    with pytest.raises(ValueError, match=r"shape \(2, 4\)"):
        env.step(np.zeros((2, 3), np.int64))
    with pytest.raises(ValueError, match="integers"):
        env.step(np.zeros((2, 4)))
    with pytest.raises(ValueError, match="1 to 4096"):
        BatchedEnv("twelve-days", "calliope", 4, 4097)
    with pytest.raises(ValueError, match="'places' or 'scores'"):
        BatchedEnv("twelve-days", "calliope", 4, 2, rewards="wins")  # type: ignore[arg-type]
    with pytest.raises(UnknownRulesError):
        BatchedEnv("twelve-days", "calliope", 6, 2)


def test_a_finished_match_has_no_features() -> None:
    with pytest.raises(ValueError, match="nothing is left to decide"):
        compact.features({"phase": "over"})


@pytest.mark.skipif(not is_fast(), reason="the extra `fast` is not installed")
def test_arrays_outlive_their_environment() -> None:
    """They are views of the kernel's memory, which they must keep alive."""
    observations, masks = BatchedEnv("partridge", "eagle", 4, 64).reset()
    kept = observations.copy(), masks.copy()
    for _ in range(20):
        BatchedEnv("twelve-days", "calliope", 4, 64).reset()
    assert (observations == kept[0]).all()
    assert (masks == kept[1]).all()
