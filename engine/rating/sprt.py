"""Is the new version better? A generalized sequential probability ratio test over swap blocks.

In a swap block versions A and B play one deal twice and exchange seats, the opponents stay. Its
difference d is the mean over both matches of S_A - S_B, where S is the mean pair result against
the others at the table. The test follows the mean of d, block by block, and stops as soon as the
blocks speak clearly for one of two hypotheses: no gain (H0) or a gain of 20 Elo (H1).

It is the test of fishtest: M. Van den Bergh, "A practical introduction to the GSPRT", with the
likelihood maximized over the unknown variance. Spec "Is the new version better? (A/B)".
"""

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from engine.errors import quote

_LN_10_OVER_1600 = math.log(10) / 1600


class Verdict(StrEnum):
    """What a test came to."""

    BETTER = "better"
    NOT_BETTER = "not better"
    NO_DIFFERENCE = "no difference in behaviour"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is tested, and how surely. Laid down before the first block.

    Attributes:
        seats: n, at the table.
        elo0: the gain under H0.
        elo1: the gain under H1.
        alpha: the share of tests that may call a version better under H0.
        beta: the share that may call it not better under H1.
        min_blocks: there is no verdict before so many.
        max_blocks: after so many the test is undecided.
        variance_floor: the least variance of d that is counted with: a few blocks that happen to
            be alike must not look like certainty.
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
        if self.seats < 2:
            raise ValueError(f"a table has two seats or more, not {quote(self.seats)}")
        if not self.elo0 < self.elo1:
            raise ValueError(f"H1 must be above H0: {quote(self.elo1)}, {quote(self.elo0)}")
        if not (self.alpha > 0 and self.beta > 0 and self.alpha + self.beta < 1):
            raise ValueError("alpha and beta must be above 0 and together below 1")
        if not 1 <= self.min_blocks <= self.max_blocks:
            raise ValueError("at least one block, and no more than the most")
        if not self.variance_floor > 0:
            raise ValueError("the variance floor must be above 0")

    @property
    def lower(self) -> float:
        """The LLR below which the version is not better; -2.94 by default."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The LLR above which it is better; +2.94 by default."""
        return math.log((1 - self.beta) / self.alpha)

    def expected_difference(self, elo: float) -> float:
        """Return the mean of d when A is so much stronger than B: delta (ln 10 / 1600) n / (n - 1).

        The slope of the Elo curve between equals: A gains delta (ln 10 / 1600) against each
        of n - 1 others, B loses as much against A, and S is a mean over n - 1. Against opponents
        far stronger or weaker the same gain in Elo makes a smaller difference.
        """
        return elo * _LN_10_OVER_1600 * self.seats / (self.seats - 1)


@dataclass(frozen=True, slots=True)
class Step:
    """A test after some blocks: a point of its LLR path.

    Attributes:
        blocks: so far.
        mean: of d.
        variance: of d, as it was (above the floor or not).
        llr: the log-likelihood ratio of H1 to H0.
        verdict: None while the test goes on.
    """

    blocks: int
    mean: float
    variance: float
    llr: float
    verdict: Verdict | None


def path(plan: Plan, differences: Iterable[float]) -> Iterator[Step]:
    """Yield the test after each block, up to the first verdict: what comes after it is not read.

    The same differences in the same order always give the same path. The order must be the one in
    which the blocks were planned: in the order in which they finish, long blocks would come late.

    Args:
        plan: what is tested.
        differences: d of each block, from -1 to 1.

    Raises:
        ValueError: a difference is out of its range.
    """
    d0, d1 = plan.expected_difference(plan.elo0), plan.expected_difference(plan.elo1)
    lower, upper = plan.lower, plan.upper
    total = squares = 0.0
    differed = False
    for blocks, d in enumerate(differences, start=1):
        if not -1 <= d <= 1:
            raise ValueError(f"block {blocks} has the difference {quote(d)}, not -1 to 1")
        total += d
        squares += d * d
        differed = differed or d != 0
        mean = total / blocks
        variance = max(squares / blocks - mean * mean, 0.0)
        llr = _log_likelihood_ratio(blocks, mean, max(variance, plan.variance_floor), d0, d1)
        verdict = None
        if blocks >= plan.min_blocks:
            if llr > upper:
                verdict = Verdict.BETTER
            elif llr < lower:
                verdict = Verdict.NOT_BETTER if differed else Verdict.NO_DIFFERENCE
            elif blocks >= plan.max_blocks:
                verdict = Verdict.UNDECIDED if differed else Verdict.NO_DIFFERENCE
        yield Step(blocks, mean, variance, llr, verdict)
        if verdict is not None:
            return


def decide(plan: Plan, differences: Iterable[float]) -> Step | None:
    """Return the last step of the `path`, or None if there are no blocks yet."""
    return next(iter(deque(path(plan, differences), maxlen=1)), None)


def block_difference(shares: Mapping[tuple[int, int], Fraction], new: int, old: int) -> Fraction:
    """Return d of a swap block, exact.

    Args:
        shares: mean pair results of its matches, as `blocks.pair_results` gives them.
        new: the id at the table of version A.
        old: the id of version B.

    Raises:
        ValueError: they did not both sit there.
    """
    if (new, old) not in shares:
        raise ValueError(f"{quote(new)} and {quote(old)} did not meet at this table")
    others = [j for i, j in shares if i == new]
    surplus = sum((shares[new, j] for j in others), Fraction(0)) - sum(
        (shares[old, i] for i in {*others, new} - {old}), Fraction(0)
    )
    return surplus / len(others)


def _log_likelihood_ratio(n: int, mean: float, variance: float, d0: float, d1: float) -> float:
    """Return (N / 2) ln((1 + (t - t0)^2) / (1 + (t - t1)^2)), t = mean / sd, t0 = d0 / sd, ..."""
    return n / 2 * math.log((variance + (mean - d0) ** 2) / (variance + (mean - d1) ** 2))
