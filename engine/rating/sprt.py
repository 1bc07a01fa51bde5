"""The A/B test of two versions: a generalized sequential probability ratio test over swap blocks.

In a swap block, versions A and B play one deal twice and exchange seats; the opponents keep theirs.
The block's difference d is the mean over both matches of S_A - S_B, where S is the win share at the
table. After each block the test computes the log-likelihood ratio (LLR) of two hypotheses about the
mean of d: no gain (H0) and a gain of 20 Elo (H1). It stops when the LLR leaves the interval
[log(beta / (1 - alpha)), log((1 - beta) / alpha)].

Source: M. Van den Bergh, "A practical introduction to the GSPRT", the test of fishtest, with the
likelihood maximized over the unknown variance. Measured error rates: docs/ratings-statistics.md.
"""

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from engine.errors import quote
from engine.rating.blocks import MIN_SEATS, win_shares

_LN_10_OVER_1600 = math.log(10) / 1600


class Decision(StrEnum):
    """The result of a finished test."""

    BETTER = "better"
    NOT_BETTER = "not better"
    NO_DIFFERENCE = "no difference in behaviour"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Plan:
    """The hypotheses and error rates of a test, fixed before its first block.

    Attributes:
        seats: the number of seats at the table, n.
        elo0: the gain under H0, in Elo.
        elo1: the gain under H1, in Elo.
        alpha: the type I error: the share of tests that decide "better" under H0.
        beta: the type II error: the share of tests that decide "not better" under H1.
        min_blocks: blocks before which the test makes no decision.
        max_blocks: blocks after which the test ends undecided.
        variance_floor: the lowest variance of d that the LLR uses. Without it, a few blocks with
            equal differences would count as certainty.

    Raises:
        ValueError: the hypotheses, error rates or limits contradict each other.
    """

    seats: int
    elo0: float = 0.0
    elo1: float = 20.0
    alpha: float = 0.05
    beta: float = 0.05
    min_blocks: int = 16
    max_blocks: int = 3000
    variance_floor: float = 1e-4

    def __post_init__(self) -> None:
        if self.seats < MIN_SEATS:
            raise ValueError(f"seats must be at least {MIN_SEATS}, not {quote(self.seats)}")
        if not self.elo0 < self.elo1:
            raise ValueError(
                f"elo1 must be above elo0; {quote(self.elo1)} is not above {quote(self.elo0)}"
            )
        if not (self.alpha > 0 and self.beta > 0 and self.alpha + self.beta < 1):
            raise ValueError(
                "alpha and beta must be above 0 and their sum below 1, "
                f"not {quote(self.alpha)} and {quote(self.beta)}"
            )
        if not 1 <= self.min_blocks <= self.max_blocks:
            raise ValueError(
                f"min_blocks must be from 1 to max_blocks ({quote(self.max_blocks)}), "
                f"not {quote(self.min_blocks)}"
            )
        if not self.variance_floor > 0:
            raise ValueError(f"variance_floor must be above 0, not {quote(self.variance_floor)}")

    @property
    def lower(self) -> float:
        """The LLR below which the test decides "not better"; -2.94 by default."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The LLR above which the test decides "better"; +2.94 by default."""
        return math.log((1 - self.beta) / self.alpha)

    def expected_difference(self, elo: float) -> float:
        """Return the mean of d if A is ``elo`` stronger than B: elo (ln 10 / 1600) n / (n - 1).

        This is the slope of the Elo curve between equal bots. A gains elo (ln 10 / 1600) against
        each of its n - 1 opponents, B loses as much against A, and S is a mean over n - 1. If the
        opponents are much stronger or weaker, the same gain in Elo makes a smaller difference.
        """
        return elo * _LN_10_OVER_1600 * self.seats / (self.seats - 1)


@dataclass(frozen=True, slots=True)
class PathPoint:
    """A point of the LLR path: the test after a number of blocks.

    Attributes:
        blocks: the number of blocks so far.
        mean: the mean of d.
        variance: the variance of d, without the floor.
        llr: the log-likelihood ratio of H1 to H0.
        decision: None while the test continues.
    """

    blocks: int
    mean: float
    variance: float
    llr: float
    decision: Decision | None


def llr_path(plan: Plan, differences: Iterable[float]) -> Iterator[PathPoint]:
    """Yield a point after each block, up to and including the decision.

    The function reads no differences after the decision. Pass the blocks in the order in which they
    were planned: in the order in which they finish, long blocks would come late and bias the test.

    Args:
        plan: the test.
        differences: d of each block, from -1 to 1.

    Raises:
        ValueError: a difference is not from -1 to 1.
    """
    d0, d1 = plan.expected_difference(plan.elo0), plan.expected_difference(plan.elo1)
    lower, upper = plan.lower, plan.upper
    total = squares = 0.0
    differed = False
    for blocks, d in enumerate(differences, start=1):
        if not -1 <= d <= 1:
            raise ValueError(f"block {blocks} has the difference {quote(d)}; it must be -1 to 1")
        total += d
        squares += d * d
        differed = differed or d != 0
        mean = total / blocks
        variance = max(squares / blocks - mean * mean, 0.0)
        llr = _log_likelihood_ratio(blocks, mean, max(variance, plan.variance_floor), d0, d1)
        decision = None
        if blocks >= plan.min_blocks:
            if llr > upper:
                decision = Decision.BETTER
            elif llr < lower:
                decision = Decision.NOT_BETTER if differed else Decision.NO_DIFFERENCE
            elif blocks >= plan.max_blocks:
                decision = Decision.UNDECIDED if differed else Decision.NO_DIFFERENCE
        yield PathPoint(blocks, mean, variance, llr, decision)
        if decision is not None:
            return


def latest_point(plan: Plan, differences: Iterable[float]) -> PathPoint | None:
    """Return the last point of the `llr_path`, or None if there are no blocks."""
    return next(iter(deque(llr_path(plan, differences), maxlen=1)), None)


def block_difference(results: Mapping[tuple[int, int], Fraction], new: int, old: int) -> Fraction:
    """Return d of a swap block, exact: the difference of the two versions' win shares.

    Args:
        results: the mean pair results of both matches, as `blocks.pair_results` returns them.
        new: the id of version A at the table.
        old: the id of version B at the table.

    Raises:
        ValueError: the two ids have no pair result.
    """
    if (new, old) not in results:
        raise ValueError(f"{quote(new)} and {quote(old)} have no pair result at this table")
    shares = win_shares(results)
    return shares[new] - shares[old]


def _log_likelihood_ratio(n: int, mean: float, variance: float, d0: float, d1: float) -> float:
    """Return (N / 2) ln((1 + (t - t0)^2) / (1 + (t - t1)^2)), t = mean / sd, t0 = d0 / sd, ..."""
    return n / 2 * math.log((variance + (mean - d0) ** 2) / (variance + (mean - d1) ** 2))
