"""The A/B test of two versions: a generalized sequential probability ratio test over swap blocks.

In a swap block, versions A and B play one deal twice and exchange seats; the opponents keep theirs.
The block's difference d is the mean over both matches of S_A - S_B, where S is the win share at the
table. After each block the test computes the log-likelihood ratio (LLR) of two hypotheses about the
mean of d: no gain (H0) and a gain of 20 Elo (H1). It stops when the LLR leaves the interval
[log(beta / (1 - alpha)), log((1 - beta) / alpha)].

The likelihoods are those of the multinomial form of the test, as in fishtest: the largest under any
distribution of d with the mean of the hypothesis. So rare and skewed differences are no exception.
A guard keeps the test from a verdict until enough blocks had a difference: most small edits change
nothing in most blocks.

Source: M. Van den Bergh, "A practical introduction to the GSPRT". Measured error rates, also of the
form that assumes a normal distribution: docs/ratings-statistics.md.
"""

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from engine.blocks import MIN_SEATS
from engine.errors import quote
from engine.rating.empirical_likelihood import Sample
from engine.rating.intervals import student_t
from engine.rating.results import MatchResult, pair_results, win_shares
from engine.record import Record

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
        min_differing: the guard: no verdict before so many blocks in which d is not 0.
        guard_blocks: the guard ends after so many blocks, however few had a difference.
        max_blocks: blocks after which the test ends undecided.

    Raises:
        ValueError: the hypotheses, error rates or limits contradict each other, or a hypothesis
            needs a mean of d that is not between -1 and 1.
    """

    seats: int
    elo0: float = 0.0
    elo1: float = 20.0
    alpha: float = 0.05
    beta: float = 0.05
    min_differing: int = 16
    guard_blocks: int = 300
    max_blocks: int = 3000

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
        for elo in (self.elo0, self.elo1):
            if not -1 < self.expected_difference(elo) < 1:
                raise ValueError(f"{quote(elo)} Elo is too far from 0 at {self.seats} seats")
        for name in ("min_differing", "guard_blocks", "max_blocks"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {quote(getattr(self, name))}")

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


class SwapResult(NamedTuple):
    """The result of a swap block.

    Attributes:
        difference: d, from -1 to 1.
        same_moves: whether both matches had the same moves, as `swap_result` compares them.
    """

    difference: float
    same_moves: bool


@dataclass(frozen=True, slots=True)
class PathPoint:
    """A point of the LLR path: the test after a number of blocks.

    Attributes:
        blocks: the number of blocks so far.
        differing: the number of blocks so far in which d is not 0.
        mean: the mean of d.
        variance: the variance of d.
        llr: the log-likelihood ratio of H1 to H0.
        decision: None while the test continues.
    """

    blocks: int
    differing: int
    mean: float
    variance: float
    llr: float
    decision: Decision | None


def llr_path(plan: Plan, results: Iterable[SwapResult]) -> Iterator[PathPoint]:
    """Yield a point after each block, up to and including the decision.

    The function reads no results after the decision. Pass the blocks in the order in which they
    were planned: in the order in which they finish, long blocks would come late and bias the test.

    Args:
        plan: the test.
        results: of each block.

    Raises:
        ValueError: a difference is not from -1 to 1.
    """
    d0, d1 = plan.expected_difference(plan.elo0), plan.expected_difference(plan.elo1)
    seen = Sample()
    x0 = x1 = 0.0
    differing = 0
    same_moves = True
    for result in results:
        if not -1 <= result.difference <= 1:
            raise ValueError(
                f"block {seen.size + 1} has the difference {quote(result.difference)}; it must be "
                "-1 to 1"
            )
        seen.add(result.difference)
        differing += result.difference != 0
        same_moves = same_moves and result.same_moves
        cost0, x0 = seen.cost(d0, x0)
        cost1, x1 = seen.cost(d1, x1)
        llr = cost0 - cost1
        decision = _decision(plan, llr, seen.size, differing, same_moves=same_moves)
        yield PathPoint(seen.size, differing, seen.mean, seen.variance, llr, decision)
        if decision is not None:
            return


def _decision(
    plan: Plan, llr: float, blocks: int, differing: int, *, same_moves: bool
) -> Decision | None:
    """Return the verdict after some blocks; None to play on."""
    if blocks >= plan.guard_blocks and same_moves:
        return Decision.NO_DIFFERENCE
    if blocks >= plan.guard_blocks or differing >= plan.min_differing:
        if llr > plan.upper:
            return Decision.BETTER
        if llr < plan.lower:
            return Decision.NOT_BETTER
    return Decision.UNDECIDED if blocks >= plan.max_blocks else None


def latest_point(plan: Plan, results: Iterable[SwapResult]) -> PathPoint | None:
    """Return the last point of the `llr_path`, or None if there are no blocks."""
    return next(iter(deque(llr_path(plan, results), maxlen=1)), None)


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimated gain of version A.

    The test stops when the result is clearest, so the gain of a finished test is usually a little
    too far from 0.

    Attributes:
        elo: the gain.
        low: the lower end of its 95 % interval, in Elo.
        high: the upper end.
        superiority: the likelihood of superiority, how probable it is that A is stronger than B.
    """

    elo: float
    low: float
    high: float
    superiority: float


def estimate(plan: Plan, results: Iterable[SwapResult]) -> Estimate | None:
    """Return the estimated gain of A with its interval, or None if there are fewer than 2 blocks.

    The interval has all gains that the empirical likelihood of the differences allows, with the
    quantile of Student's t. So it has a width even if all blocks had the same difference.
    """
    seen = Sample()
    for result in results:
        seen.add(result.difference)
    if seen.size < 2:
        return None
    per_elo = plan.expected_difference(1.0)
    low, high = seen.interval(student_t(seen.size - 1))
    return Estimate(seen.mean / per_elo, low / per_elo, high / per_elo, seen.superiority())


def swap_result(matches: Sequence[tuple[MatchResult, Record]], new: int, old: int) -> SwapResult:
    """Return the result of a swap block from its two matches.

    The block has the same moves if both records have the same moves at the same seats, and the
    same faults. Both matches begin with one deal, so as long as all moves are the same, each seat
    gets the same observations in both. At two of the seats the first match asks one version and the
    second match asks the other. So with the same moves, both versions answered all these
    observations in the same way.

    The reverse does not hold. If an opponent or a version moves at random, moves may differ
    although both versions behave alike. The verdict is then about results, not about behaviour.

    Args:
        matches: result and record of both matches.
        new: the id of version A at the table.
        old: the id of version B at the table.

    Raises:
        ValueError: there are not two matches of the two versions on one deal.
    """
    if len(matches) != 2:
        raise ValueError(f"a swap block has 2 matches, not {len(matches)}")
    first, second = (record for _, record in matches)
    if first.deal_seed != second.deal_seed:
        raise ValueError("the matches of a swap block need one deal; these have two")
    results = pair_results([result for result, _ in matches])
    return SwapResult(
        difference=float(block_difference(results, new, old)),
        same_moves=first.moves == second.moves and first.faults == second.faults,
    )


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
