"""How often the A/B test of two versions errs, for differences of many shapes.

For each shape, the table shows the type I error (an equal version gets "better") and the type II
error (a version 20 Elo better does not get "better"), and the mean number of blocks. It compares
four tests on the same simulated blocks: the likelihood ratio of a normal distribution and of the
multinomial form, each from the 16th block on and with the guard of `engine.rating.sprt`. The
second table shows the default test for other gains. Some paths are computed by the engine too, and
must give the same verdict after the same block.

The aim is 5 % and the promise at most 7 %, whatever the shape. The benchmark exits with 1 if an
error of the default test is above that by more than two standard errors.

    benchmarks/sprt_errors.py --tests 1000
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[1]))

from engine.rating.empirical_likelihood import END_WEIGHT
from engine.rating.sprt import Decision, Plan, SwapResult, latest_point

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

PLAN = Plan(seats=4)
STEPS = 12
VALUES: Floats = np.arange(-STEPS, STEPS + 1) / STEPS
"""The differences of a swap block at a table of four."""

UNGUARDED_FROM = 16
"""The block from which the tests without a guard decide."""

VARIANCE_FLOOR = 1e-4
"""The lowest variance of the normal form; else equal differences would count as certainty."""

PRECISION = 1e-8
PROMISED = 0.07
CHECKED = 3
"""Simulated tests of each row that the engine repeats."""


class Shape(NamedTuple):
    """A kind of edit.

    Attributes:
        name: what the edit does.
        odds: returns the probabilities of `VALUES` for a gain in Elo; None if the shape cannot
            have this gain.
    """

    name: str
    odds: Callable[[float], Floats | None]


class Outcome(NamedTuple):
    """The ends of some tests: +1 better, -1 not better, 0 undecided; and the blocks they took."""

    signs: npt.NDArray[np.int8]
    blocks: npt.NDArray[np.int64]


def main() -> int:
    """Run the benchmark; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", type=int, default=1000, help="tests in each cell")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    print(f"{options.tests} tests in each cell, seed {options.seed}; error, blocks")
    print(
        f"{'shape':44} gain {'normal':>13} {'normal, guard':>14} {'multinomial':>14} {'both':>13}"
    )
    broken = False
    for shape in shapes():
        for gain in (0.0, PLAN.elo1):
            odds = shape.odds(gain)
            if odds is None:
                continue
            outcomes = simulate(odds, options.tests, rng)
            shares = [error(each, gain) for each in outcomes]
            margin = 2 * math.sqrt(0.05 * 0.95 / options.tests)
            broken |= shares[-1] > PROMISED + margin
            cells = "  ".join(
                f"{share:6.1%} {each.blocks.mean():5.0f}"
                for share, each in zip(shares, outcomes, strict=True)
            )
            print(f"{shape.name:44} {gain:+4.0f} {cells}", flush=True)
    print("\nthe default test, results differ in 81 % of blocks")
    print("gain   better  not better  undecided  blocks, mean  90 % need at most")
    for gain in (-20.0, 0.0, 10.0, 20.0, 40.0, 60.0):
        odds = usual(gain, 0.81, 0.42)
        assert odds is not None
        *_, found = simulate(odds, options.tests, rng)
        better, worse = (found.signs == 1).mean(), (found.signs == -1).mean()
        print(
            f"{gain:+4.0f}  {better:7.1%}  {worse:10.1%}  {(found.signs == 0).mean():9.1%}  "
            f"{found.blocks.mean():12.0f}  {np.quantile(found.blocks, 0.9):17.0f}",
            flush=True,
        )
    return int(broken)


def error(outcome: Outcome, gain: float) -> float:
    """Return the share of wrong verdicts; an undecided test of a better version is one too."""
    return float((outcome.signs == 1).mean() if gain <= 0 else (outcome.signs != 1).mean())


# -- Shapes ----------------------------------------------------------------------------------


def shapes() -> Iterator[Shape]:
    """Yield the kinds of edits; a disaster is a difference of -1, a windfall one of 1."""
    for share, width in ((0.9, 0.45), (0.81, 0.42), (0.6, 0.35)):
        odds = partial(usual, share=share, width=width)
        yield Shape(f"results differ in {share:.0%} of blocks", odds)
    for share in (0.12, 0.08, 0.05, 0.03):
        yield Shape(f"results differ in {share:.0%} of blocks", partial(rare, share=share))
    for word, other, small, large in (
        ("disaster", "gain", 1, -STEPS),
        ("windfall", "loss", -1, STEPS),
    ):
        yield Shape(
            f"{other} of 1/12 in 60%, some others {word}s",
            partial(two_points, fixed=small, share=0.6, other=large),
        )
        often = 0.01 if large < 0 else 0.05
        yield Shape(
            f"{word} in {often:.0%}, some others {other} of 1/12",
            partial(two_points, fixed=large, share=often, other=small),
        )
        for share in (0.01, 0.02, 0.04):
            yield Shape(
                f"{word} in {share:.0%} beside small differences",
                partial(beside, step=large, share=share),
            )


def usual(gain: float, share: float, width: float) -> Floats | None:
    """Return a discrete normal distribution, with its own share of blocks without a difference."""
    weights = np.exp(-0.5 * (VALUES / width) ** 2)
    weights[STEPS] = 0
    weights *= share / weights.sum()
    weights[STEPS] = 1 - share
    return tilted(weights, PLAN.expected_difference(gain))


def rare(gain: float, share: float) -> Floats | None:
    """Return differences in a small share of blocks, which stays the same for each gain."""
    weights = np.exp(-np.abs(VALUES) / 0.5)
    weights[STEPS] = 0
    found = tilted(weights, PLAN.expected_difference(gain) / share)
    if found is None:
        return None
    found *= share
    found[STEPS] = 1 - share
    return found


def two_points(gain: float, fixed: int, share: float, other: int) -> Floats | None:
    """Return one difference with a fixed share, and another whose share makes the gain.

    Args:
        gain: in Elo.
        fixed: the first difference, in twelfths.
        share: its share.
        other: the other difference, in twelfths.
    """
    odds = np.zeros_like(VALUES)
    odds[fixed + STEPS] = share
    odds[other + STEPS] = (PLAN.expected_difference(gain) * STEPS - share * fixed) / other
    odds[STEPS] = 1 - odds.sum()
    return odds if odds.min() >= 0 else None


def beside(gain: float, step: int, share: float) -> Floats | None:
    """Return small differences, beside one large difference with a fixed share."""
    mean = (PLAN.expected_difference(gain) - share * step / STEPS) / (1 - share)
    weights = np.exp(-0.5 * (VALUES / 0.15) ** 2)
    weights[STEPS] = weights.sum()
    found = tilted(weights, mean)
    if found is None:
        return None
    found *= 1 - share
    found[step + STEPS] += share
    return found


def tilted(weights: Floats, mean: float) -> Floats | None:
    """Return probabilities with a mean: the weights times exp(t value), for the right t."""
    if not -1 < mean < 1:
        return None
    low, high = -200.0, 200.0
    for _ in range(100):
        middle = (low + high) / 2
        odds = weights * np.exp(middle * VALUES - abs(middle))
        odds /= odds.sum()
        low, high = (middle, high) if odds @ VALUES < mean else (low, middle)
    return np.asarray(odds)


# -- The tests -------------------------------------------------------------------------------


def simulate(odds: Floats, tests: int, rng: np.random.Generator) -> list[Outcome]:
    """Return the outcomes of the four tests on the same blocks.

    Args:
        odds: the probabilities of `VALUES`.
        tests: how many times.
        rng: draws the blocks.
    """
    possible = odds > 1e-12
    possible[[0, -1]] = True  # the multinomial form always counts both ends
    values = VALUES[possible]
    drawn = rng.choice(
        len(values), size=(tests, PLAN.max_blocks), p=odds[possible] / odds[possible].sum()
    ).astype(np.int8)
    d = values[drawn]
    numbers = np.arange(1, PLAN.max_blocks + 1)
    always = np.broadcast_to(numbers >= UNGUARDED_FROM, d.shape)
    guard = (np.cumsum(d != 0, axis=1) >= PLAN.min_differing) | (numbers >= PLAN.guard_blocks)
    normal, multinomial = normal_llr(d), multinomial_llr(drawn, values, guard & always)
    outcomes = [end(llr, open_) for llr in (normal, multinomial) for open_ in (always, guard)]
    _check(d[:CHECKED], outcomes[-1])
    return outcomes


def end(llr: Floats, may_decide: Bools) -> Outcome:
    """Return where tests with these ratios end."""
    crossed = ((llr > PLAN.upper) | (llr < PLAN.lower)) & may_decide
    decided = crossed.any(axis=1)
    last = np.where(decided, crossed.argmax(axis=1), PLAN.max_blocks - 1)
    signs = np.sign(np.take_along_axis(llr, last[:, None], axis=1)[:, 0])
    return Outcome(np.where(decided, signs, 0).astype(np.int8), last + 1)


def normal_llr(d: Floats) -> Floats:
    """Return the ratio of a normal distribution with unknown variance after each block."""
    numbers = np.arange(1, d.shape[1] + 1)
    mean = np.cumsum(d, axis=1) / numbers
    variance = np.maximum(np.cumsum(d * d, axis=1) / numbers - mean**2, VARIANCE_FLOOR)
    d0, d1 = (PLAN.expected_difference(elo) for elo in (PLAN.elo0, PLAN.elo1))
    ratio = (variance + (mean - d0) ** 2) / (variance + (mean - d1) ** 2)
    return np.asarray(numbers / 2 * np.log(ratio))


def multinomial_llr(drawn: npt.NDArray[np.int8], values: Floats, until: Bools) -> Floats:
    """Return the ratio of the multinomial form after each block, 0 after a verdict.

    Args:
        drawn: the index of each block's difference, a row for each test.
        values: the differences, the first -1 and the last 1.
        until: the blocks after which a test may end.
    """
    llr = np.zeros(drawn.shape)
    active = np.arange(len(drawn))
    weights = np.zeros((len(drawn), len(values)))
    weights[:, [0, -1]] = END_WEIGHT
    away = [values - PLAN.expected_difference(elo) for elo in (PLAN.elo0, PLAN.elo1)]
    x = np.zeros((2, len(drawn)))
    for block in range(drawn.shape[1]):
        weights[np.arange(len(active)), drawn[active, block]] += 1
        costs = []
        for hypothesis in (0, 1):
            x[hypothesis] = multipliers(weights, away[hypothesis], x[hypothesis])
            parts = np.log1p(x[hypothesis][:, None] * away[hypothesis])
            costs.append((weights * parts).sum(axis=1))
        llr[active, block] = now = costs[0] - costs[1]
        # A test without the guard may end here, the guarded one later: both must have ended.
        left = ~(((now > PLAN.upper) | (now < PLAN.lower)) & until[active, block])
        if not left.all():
            active, weights, x = active[left], weights[left], x[:, left]
            if not len(active):
                break
    return llr


def multipliers(weights: Floats, away: Floats, start: Floats) -> Floats:
    """Return the multipliers of `engine.rating.empirical_likelihood.Sample.cost`, row by row."""
    x = start.copy()
    low, high = np.full(len(x), -1 / away[-1]), np.full(len(x), -1 / away[0])
    rows = np.arange(len(x))
    while len(rows):
        parts = away / (1 + x[rows, None] * away)
        weighted = weights[rows] * parts
        slope, curve = weighted.sum(axis=1), (weighted * parts).sum(axis=1)
        open_ = slope * slope > PRECISION * curve
        rows, slope, curve = rows[open_], slope[open_], curve[open_]
        up = slope > 0
        low[rows[up]], high[rows[~up]] = x[rows[up]], x[rows[~up]]
        there = x[rows] + slope / curve
        outside = (there <= low[rows]) | (there >= high[rows])
        there[outside] = ((low[rows] + high[rows]) / 2)[outside]
        rows, there = rows[there != x[rows]], there[there != x[rows]]
        x[rows] = there
    return x


def _check(d: Floats, outcome: Outcome) -> None:
    """Stop if the engine's test ends elsewhere than the simulated one."""
    signs = {Decision.BETTER: 1, Decision.NOT_BETTER: -1, Decision.UNDECIDED: 0}
    for row, sign, blocks in zip(d, outcome.signs, outcome.blocks, strict=False):
        point = latest_point(PLAN, (SwapResult(float(each), same_moves=False) for each in row))
        assert point is not None
        assert point.decision is not None
        if (signs[point.decision], point.blocks) != (sign, blocks):
            raise SystemExit(f"the engine: {point}; the simulation: {sign} after {blocks}")


if __name__ == "__main__":
    sys.exit(main())
