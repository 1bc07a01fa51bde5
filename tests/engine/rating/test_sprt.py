import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import repeat
from random import Random
from statistics import mean, pstdev
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rating.results import MatchResult, pair_results
from engine.rating.sprt import (
    Decision,
    PathPoint,
    Plan,
    SwapResult,
    block_difference,
    estimate,
    latest_point,
    llr_path,
    swap_result,
)
from engine.record import Fault, Record

FOUR = Plan(seats=4)
WEIGHT = 1e-3  # of the differences -1 and 1 before they are seen


def results(differences: Iterable[float]) -> Iterator[SwapResult]:
    """Blocks with these differences; equal results come from equal moves here."""
    return (SwapResult(d, same_moves=d == 0) for d in differences)


def path(plan: Plan, differences: Iterable[float]) -> list[PathPoint]:
    return list(llr_path(plan, results(differences)))


def last(plan: Plan, differences: Iterable[float]) -> PathPoint:
    step = latest_point(plan, results(differences))
    assert step is not None
    return step


# -- The formula -----------------------------------------------------------------------------


def test_the_bounds_are_plus_and_minus_2_94() -> None:
    assert (FOUR.lower, FOUR.upper) == pytest.approx((-2.944, 2.944), abs=1e-3)


def test_twenty_elo_at_four_seats_are_a_difference_of_0_038() -> None:
    # 20 * 2.302585 / 1600 * 4 / 3
    assert FOUR.expected_difference(20) == pytest.approx(0.038376, abs=1e-6)


def cost(differences: list[float], mean: float) -> float:
    """The log-likelihood that a mean costs, by bisection instead of Newton's method."""
    weights = Counter(differences)
    rows = [(d - mean, w + WEIGHT * (abs(d) == 1)) for d, w in weights.items()]
    rows += [(end - mean, WEIGHT) for end in (-1.0, 1.0) if end not in weights]
    low, high = -1 / (1 - mean), 1 / (1 + mean)
    for _ in range(200):
        x = (low + high) / 2
        if not low < x < high:
            break
        low, high = (x, high) if sum(w * a / (1 + x * a) for a, w in rows) > 0 else (low, x)
    return sum(w * math.log1p((low + high) / 2 * a) for a, w in rows)


@given(st.lists(st.sampled_from([-1.0, -0.5, -1 / 6, 0.0, 1 / 6, 0.5, 1.0]), min_size=1))
def test_the_llr_is_the_ratio_of_the_largest_likelihoods(differences: list[float]) -> None:
    d1 = FOUR.expected_difference(20)
    for step in path(FOUR, differences):
        seen = differences[: step.blocks]
        assert step.llr == pytest.approx(cost(seen, 0) - cost(seen, d1), rel=1e-6, abs=1e-6)


def test_with_many_blocks_of_every_kind_the_llr_is_that_of_a_normal_distribution() -> None:
    rng = Random(5)
    seen = [rng.randint(-6, 6) / 12 for _ in range(2000)]
    d1 = FOUR.expected_difference(20)
    mean_, variance = mean(seen), pstdev(seen) ** 2
    normal = len(seen) / 2 * math.log((variance + mean_**2) / (variance + (mean_ - d1) ** 2))
    assert list(llr_path(Plan(4, min_differing=2000, guard_blocks=2000), results(seen)))[
        -1
    ].llr == pytest.approx(normal, rel=0.05)


@given(st.lists(st.floats(-1, 1), min_size=1))
def test_exchanging_the_hypotheses_negates_the_llr(differences: list[float]) -> None:
    turned = Plan(seats=4, elo0=-20, elo1=0)
    for step, mirror in zip(
        path(FOUR, differences), path(turned, [-d for d in differences]), strict=False
    ):
        assert step.llr == pytest.approx(-mirror.llr, rel=1e-6, abs=1e-6)


def test_the_difference_of_a_swap_block_is_the_mean_of_both_matches() -> None:
    # First 1 beats 3 and 4 and loses to 2, which beats all; then 2 is last and 1 first.
    played = [MatchResult((1, 3, 2, 4), (2, 3, 1, 3)), MatchResult((2, 3, 1, 4), (4, 2, 1, 2))]
    first, second = Fraction(2, 3) - 1, Fraction(1) - 0
    assert block_difference(pair_results(played), 1, 2) == (first + second) / 2
    assert block_difference(pair_results(played), 2, 1) == -(first + second) / 2


def test_the_difference_of_versions_that_did_not_meet_is_refused() -> None:
    with pytest.raises(ValueError, match="1 and 5 have no pair result"):
        block_difference({(1, 2): Fraction(1), (2, 1): Fraction(0)}, 1, 5)


FIRST = Record(
    game="twelve-days",
    rules="calliope",
    seats=4,
    deal_seed=bytes(32),
    moves=((0, "give 3"), (1, "give 4")),
    scores=(3, 2, 1, 0),
    places=(1, 2, 3, 4),
)


def block(second: Record) -> SwapResult:
    """A block in which versions 1 and 2 exchange the first two seats."""
    seatings = ((1, 2, 3, 4), (2, 1, 3, 4))
    return swap_result(
        [
            (MatchResult(seating, record.places), record)
            for seating, record in zip(seatings, (FIRST, second), strict=True)
        ],
        new=1,
        old=2,
    )


def test_a_block_has_the_same_moves_if_both_records_have_the_same_moves_and_faults() -> None:
    assert block(FIRST) == SwapResult(0.0, same_moves=True)
    other = replace(FIRST, moves=((0, "give 3"), (1, "give 5")))
    assert block(other) == SwapResult(0.0, same_moves=False)
    # The version crashed, and the referee's move in its stead is the other version's move.
    assert not block(replace(FIRST, faults=(Fault(1, 1, "crash"),))).same_moves
    won = block(replace(other, places=(2, 1, 3, 4)))
    assert won.difference == pytest.approx(1 / 3)


def test_a_swap_block_is_two_matches_on_one_deal() -> None:
    with pytest.raises(ValueError, match="need one deal"):
        block(replace(FIRST, deal_seed=bytes(31) + b"1"))
    with pytest.raises(ValueError, match="has 2 matches, not 1"):
        swap_result([(MatchResult((1, 2, 3, 4), FIRST.places), FIRST)], 1, 2)


# -- Verdicts --------------------------------------------------------------------------------


def test_a_steady_gain_is_better_and_a_steady_loss_is_not() -> None:
    # A gain of 0.04 in each block fits H0 only if a loss of 1 comes once in 26 blocks:
    # ln(26 / 25) = 0.0392 a block, less 0.1 for the weight of 1/1000 that this loss has.
    step = last(FOUR, repeat(0.04))
    assert (step.decision, step.blocks) == (Decision.BETTER, 79)
    step = last(FOUR, repeat(-0.04))
    assert (step.decision, step.blocks) == (Decision.NOT_BETTER, 76)


def test_a_gain_far_beyond_both_hypotheses_is_decided_slowly() -> None:
    # ln(1.038376) = 0.0377 a block: neither hypothesis fits.
    step = last(FOUR, repeat(1))
    assert (step.decision, step.blocks) == (Decision.BETTER, 79)


def test_there_is_no_verdict_before_16_blocks_with_a_difference() -> None:
    rare = [0.5 if number % 10 == 9 else 0.0 for number in range(1000)]
    steps = path(FOUR, rare)
    assert [step.differing for step in steps[:20]] == 9 * [0] + 10 * [1] + [2]
    assert max(step.llr for step in steps[:-1]) > FOUR.upper
    assert (steps[-1].decision, steps[-1].blocks, steps[-1].differing) == (
        Decision.BETTER,
        160,
        16,
    )


def test_after_300_blocks_there_is_a_verdict_even_if_few_had_a_difference() -> None:
    step = last(FOUR, [-0.5, *repeat(0.0, 1000)])
    assert (step.decision, step.blocks, step.differing) == (Decision.NOT_BETTER, 300, 1)


def test_versions_whose_moves_never_differ_show_no_difference_in_behaviour() -> None:
    step = last(FOUR, repeat(0))
    assert (step.decision, step.blocks) == (Decision.NO_DIFFERENCE, 300)


def test_one_block_with_other_moves_is_a_difference_in_behaviour() -> None:
    blocks = [SwapResult(0.0, same_moves=number != 7) for number in range(300)]
    step = latest_point(FOUR, blocks)
    assert step is not None
    assert (step.decision, step.blocks, step.differing) == (Decision.NOT_BETTER, 300, 0)


def test_a_test_that_ends_within_its_guard_makes_no_statement() -> None:
    assert last(Plan(4, max_blocks=20), repeat(0)).decision is Decision.UNDECIDED
    assert last(Plan(4, max_blocks=15, elo1=300), repeat(-1)).decision is Decision.UNDECIDED


def test_a_gain_halfway_between_the_hypotheses_is_undecided_after_3000_blocks() -> None:
    half = FOUR.expected_difference(10)
    step = last(FOUR, (half + (0.3 if block % 2 else -0.3) for block in range(5000)))
    assert (step.decision, step.blocks) == (Decision.UNDECIDED, 3000)


def test_no_difference_is_read_after_the_decision() -> None:
    blocks = iter(80 * [0.04])
    last(FOUR, blocks)
    assert len(list(blocks)) == 1


def test_a_test_without_blocks_has_no_point() -> None:
    assert latest_point(FOUR, []) is None


@pytest.mark.parametrize("d", [1.01, -2, math.nan])
def test_a_difference_out_of_range_is_refused(d: float) -> None:
    with pytest.raises(ValueError, match="block 2 has the difference"):
        latest_point(FOUR, results([0, d]))


@pytest.mark.parametrize(
    "fields",
    [
        {"seats": 1},
        {"seats": 4, "elo1": 0},
        {"seats": 4, "alpha": 0},
        {"seats": 4, "alpha": 0.5, "beta": 0.5},
        {"seats": 4, "elo1": 600},
        {"seats": 4, "min_differing": 0},
        {"seats": 4, "guard_blocks": 0},
        {"seats": 4, "max_blocks": 0},
    ],
)
def test_a_plan_with_contradicting_settings_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        Plan(**fields)


# -- The estimate ----------------------------------------------------------------------------


def test_the_gain_is_that_of_the_mean_difference() -> None:
    d = FOUR.expected_difference(20)
    found = estimate(FOUR, results([d + 0.4, d - 0.4] * 200))
    assert found is not None
    assert found.elo == pytest.approx(20)
    # Nearly symmetric, and as wide as that of Student's t: 1.966 × 0.4 / sqrt(400), in Elo.
    width = 1.966 * 0.02 / FOUR.expected_difference(1)
    assert found.high - found.elo == pytest.approx(width, rel=0.05)
    assert found.elo - found.low == pytest.approx(width, rel=0.05)
    assert found.superiority == pytest.approx(0.9725, abs=0.002)


def test_equal_results_leave_an_interval_that_shrinks_with_the_blocks() -> None:
    few, many = (estimate(FOUR, results(repeat(0.0, n))) for n in (30, 300))
    assert few is not None
    assert many is not None
    assert (many.elo, many.superiority) == (0, 0.5)
    assert many.low == pytest.approx(-many.high)
    # A difference of 1 in p of all blocks stays unseen in 300 with a likelihood of (1 - p) ** 300.
    assert many.high * FOUR.expected_difference(1) == pytest.approx(0.0065, abs=2e-4)
    assert few.high == pytest.approx(10 * many.high, rel=0.15)


def test_one_block_gives_no_estimate() -> None:
    assert estimate(FOUR, results([0.5])) is None


@pytest.mark.parametrize("share", [1.0, 0.08])
def test_95_of_100_intervals_contain_the_true_gain(share: float) -> None:
    rng = Random(7)
    held = 0
    for _ in range(300):
        blocks = [rng.randint(-9, 12) / 12 if rng.random() < share else 0.0 for _ in range(120)]
        found = estimate(FOUR, results(blocks))
        assert found is not None
        true = share * 0.125 / FOUR.expected_difference(1)
        held += found.low <= true <= found.high
    assert 0.92 <= held / 300 <= 0.98


# -- How often it errs -----------------------------------------------------------------------

TESTS = 200
COARSE = Plan(seats=4, elo1=60)  # decides after fewer blocks than a test for 20 Elo
USUAL = {step / 6: 6 - abs(step) for step in range(-5, 6)}  # 17 % without a difference
RARE = {step / 6: 1 + 200 * (step == 0) for step in range(-6, 7)}  # 94 % without a difference
CRASHES = {-1.0: 5, 0.0: 35, 1 / 12: 60}
LUCKY = {-1 / 12: 60, 0.0: 35, 1.0: 5}


def shares(
    weights: Mapping[float, float], elo: float, seed: int, plan: Plan = COARSE
) -> dict[Decision | None, float]:
    """The share of each verdict over many tests, where A is so much stronger at a table of four.

    The odds of the differences are tilted until their mean is that of the gain.
    """
    rng = Random(seed)
    values = list(weights)
    shift = plan.expected_difference(elo)
    low, high = -20.0, 20.0
    for _ in range(60):
        tilt = (low + high) / 2
        tilted = [w * math.exp(tilt * x) for x, w in weights.items()]
        at = sum(w * x for w, x in zip(tilted, values, strict=True)) / sum(tilted)
        low, high = (tilt, high) if at < shift else (low, tilt)
    found: dict[Decision | None, float] = {}
    for _ in range(TESTS):
        verdict = last(plan, rng.choices(values, tilted, k=600)).decision
        found[verdict] = found.get(verdict, 0) + 1 / TESTS
    return found


KINDS = [(USUAL, 0.02), (RARE, 0.0), (CRASHES, 0.0), (LUCKY, 0.0)]


@pytest.mark.parametrize(("weights", "least"), KINDS)
def test_an_equal_version_is_called_better_in_at_most_about_one_test_of_twenty(
    weights: dict[float, float], least: float
) -> None:
    assert least <= shares(weights, 0, seed=1).get(Decision.BETTER, 0) <= 0.08


@pytest.mark.parametrize(("weights", "least"), KINDS)
def test_a_better_version_is_called_not_better_in_at_most_about_one_test_of_twenty(
    weights: dict[float, float], least: float
) -> None:
    found = shares(weights, 60, seed=2)
    assert least <= found.get(Decision.NOT_BETTER, 0) <= 0.08
    assert found[Decision.BETTER] >= 0.92


def test_worse_versions_are_hardly_ever_called_better_and_much_better_ones_always() -> None:
    assert shares(USUAL, -60, seed=3).get(Decision.BETTER, 0) < 0.01
    assert shares(USUAL, 150, seed=4)[Decision.BETTER] > 0.99
