"""A statistical screen for collusion: pairs of bots that gain from each other's presence.

The screen runs two tests for each ordered pair of a partner and a gainer. The independent units are
blocks, because the matches of a block share bots and usually a deal.

- **fed**: the gainer's win share in matches where the partner sits directly before it, and so gives
  it cards, against its win share in the other matches of the same block. Deal and table are the
  same, so ratings have no part in it. At three seats the partner sits there in all matches of a
  block or in none; the test then compares blocks.
- **with**: the gainer's surplus over its expected score against the other bots at the table, in
  blocks with the partner against blocks without it. Results against the partner count in neither.

Both are one-sided t-tests over blocks. The styles of honest bots suit each other more or less, so a
test against chance alone would flag honest pairs in long leagues. So a gain is compared with the
gains of the ladder's other pairs (`style_effects`): the gain beyond their effects, divided by the
root of its own variance and theirs. Welch's formula combines the degrees of freedom.

The procedure of Benjamini and Hochberg (1995) selects the flagged pairs, so that the expected share
of false discoveries stays below a limit. A flagged pair is a reason to read its matches and no
proof: bots whose styles suit each other unusually well show the same pattern.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_high
from typing import Literal, NamedTuple

from engine.rating.results import MatchResult
from engine.rating.students_t import upper_quantile, upper_tail
from engine.rating.style_effects import PRIOR_PAIRS, Measured, expected_gains

Question = Literal["fed", "with"]
QUESTIONS: tuple[Question, ...] = ("fed", "with")
MIN_BLOCKS = 12
"""Fewest blocks with the partner; a test of two samples needs as many without it."""
FALSE_DISCOVERY_RATE = 0.005
"""Half of the 1 % of honest leagues in which the report may raise an alarm: the tests assume normal
effects of styles, and real ones are not quite."""
POWER = 0.8
"""The probability with which the screen finds a pair with the smallest gain that it states."""
_MIN_VARIANCE = 1e-4
"""Lowest variance that a test uses, so that a few equal results do not count as certainty."""


class RatedBlock(NamedTuple):
    """A finished, rated block.

    Attributes:
        results: the results of its matches.
        ratings: ratings in Elo at the start of the block's round, by bot.
    """

    results: Sequence[MatchResult]
    ratings: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class PairTest:
    """The result of a test of a pair.

    Attributes:
        partner: the bot that may help.
        gainer: the bot that may profit.
        question: the test, "fed" or "with".
        gain: the difference of the gainer's mean win shares, -1 to 1.
        expected: the gain that one expects of an honest pair of these two bots.
        blocks: the number of blocks with the partner in the test.
        error: the standard error of the difference between gain and expected gain, which includes
            the spread of honest pairs.
        degrees: its degrees of freedom.
        t: the t statistic.
        p: the p-value: the probability of such a t or a higher one by chance.
    """

    partner: int
    gainer: int
    question: Question
    gain: float
    expected: float
    blocks: int
    error: float
    degrees: float
    t: float
    p: float


@dataclass(frozen=True, slots=True)
class Power:
    """What a test can find with the blocks so far.

    Attributes:
        question: the test, "fed" or "with".
        pairs: the number of ordered pairs with enough blocks.
        smallest_gain: the gain in win share, above the expected gain, with which the screen finds a
            pair in `POWER` of cases, for the pair with the median standard error. None if no pair
            has enough blocks.
    """

    question: Question
    pairs: int
    smallest_gain: float | None

    @property
    def smallest_gain_elo(self) -> float | None:
        """The same gain in Elo against an equal opponent; None from 0.5 on, out of reach."""
        if self.smallest_gain is None or self.smallest_gain >= 0.5:
            return None
        share = 0.5 + self.smallest_gain
        return 400 * math.log10(share / (1 - share))


@dataclass(frozen=True, slots=True)
class Screening:
    """The result of the screen.

    Attributes:
        flagged: the pairs with significant results, by ascending p-value.
        tested: all tests with enough blocks, in the same order.
        power: by question.
    """

    flagged: tuple[PairTest, ...]
    tested: tuple[PairTest, ...]
    power: Mapping[Question, Power]


def screen(blocks: Iterable[RatedBlock], *, rate: float = FALSE_DISCOVERY_RATE) -> Screening:
    """Return the pairs with significant results, and the gains that the screen can find.

    Args:
        blocks: finished and rated blocks, in any order.
        rate: the false discovery rate: the expected share of flagged pairs that are due to chance.
            In honest leagues it is the probability of an alarm.

    Raises:
        ValueError: ``rate`` is not above 0 and at most 0.5.
    """
    if not 0 < rate <= 0.5:
        raise ValueError(f"the false discovery rate must be above 0 and at most 0.5, not {rate}")
    sums = _sum_up(blocks)
    by_question = {name: list(_allow_for_styles(name, sums.samples(name))) for name in QUESTIONS}
    tested = [test for tests in by_question.values() for test in tests]
    tested.sort(key=lambda test: (test.p, test.partner, test.gainer, test.question))
    flagged = 0
    for rank, test in enumerate(tested, start=1):
        if test.p <= rate * rank / len(tested):
            flagged = rank
    return Screening(
        flagged=tuple(tested[:flagged]),
        tested=tuple(tested),
        power={
            name: Power(name, len(tests), _smallest_gain(tests, rate / max(len(tested), 1)))
            for name, tests in by_question.items()
        },
    )


# -- Sums over blocks ------------------------------------------------------------------------


@dataclass(slots=True)
class _Sample:
    """Sums of some values: their number, their sum, the sum of their squares."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, value: float) -> None:
        self.count += 1
        self.total += value
        self.squares += value * value

    def without(self, other: "_Sample") -> "_Sample":
        """Return the sums of the values that are not in another sample."""
        return _Sample(
            self.count - other.count, self.total - other.total, self.squares - other.squares
        )

    @property
    def mean(self) -> float:
        return self.total / self.count

    @property
    def variance(self) -> float:
        """The variance of the mean."""
        spread = (self.squares - self.total * self.mean) / (self.count - 1)
        return max(spread, _MIN_VARIANCE) / self.count


_Pair = tuple[int, int]


class _Sums:
    """What the tests need of all blocks. Pairs are (partner, gainer)."""

    def __init__(self) -> None:
        self.fed: dict[_Pair, _Sample] = defaultdict(_Sample)
        """Differences inside a block."""
        self.always: dict[_Pair, _Sample] = defaultdict(_Sample)
        """Surpluses in blocks in which the partner sits before the gainer in all matches."""
        self.never: dict[_Pair, _Sample] = defaultdict(_Sample)
        """The same, in no match."""
        self.together: dict[_Pair, _Sample] = defaultdict(_Sample)
        """Surpluses over the others, the partner left out."""
        self.whole: dict[_Pair, _Sample] = defaultdict(_Sample)
        """Surpluses in the same blocks over all others, the partner included."""
        self.all: dict[int, _Sample] = defaultdict(_Sample)
        """Surpluses of a gainer in all its blocks, over all others."""

    def samples(self, question: Question) -> Iterator[tuple[_Pair, _Sample, _Sample | None]]:
        """Yield each pair with enough blocks, with one or two samples to compare."""
        if question == "fed":
            for pair, differences in self.fed.items():
                if differences.count >= MIN_BLOCKS:
                    yield pair, differences, None
            for pair, surpluses in self.always.items():
                if min(surpluses.count, self.never[pair].count) >= MIN_BLOCKS:
                    yield pair, surpluses, self.never[pair]
        else:
            for pair, surpluses in self.together.items():
                rest = self.all[pair[1]].without(self.whole[pair])
                if min(surpluses.count, rest.count) >= MIN_BLOCKS:
                    yield pair, surpluses, rest


def _sum_up(blocks: Iterable[RatedBlock]) -> _Sums:
    sums = _Sums()
    for block in blocks:
        table = block.results[0].seating
        if len(table) > 2:
            _add_block(sums, table, block)
        else:  # There is no third bot, so nobody can help.
            for bot in table:
                sums.all[bot].add(0.0)
    return sums


def _add_block(sums: _Sums, table: Sequence[int], block: RatedBlock) -> None:
    opponents, matches = len(table) - 1, len(block.results)
    ratings = [block.ratings[bot] for bot in table]
    placings = [dict(zip(one.seating, one.places, strict=True)) for one in block.results]
    before = [
        {bot: one.seating[at - 1] for at, bot in enumerate(one.seating)} for one in block.results
    ]
    for gainer, rating in zip(table, ratings, strict=True):
        # Win shares of the gainer by match and opponent, then its mean surplus by opponent.
        shares = []
        for places in placings:
            own = places[gainer]
            shares.append([_share(own, places[bot]) if bot != gainer else 0.0 for bot in table])
        surplus = [
            math.fsum(column) / matches - 1 / (1 + 10 ** ((other - rating) / 400))
            for column, other in zip(zip(*shares, strict=True), ratings, strict=True)
        ]
        surplus[table.index(gainer)] = 0.0
        whole = math.fsum(surplus)
        sums.all[gainer].add(whole / opponents)
        totals = [math.fsum(row) for row in shares]
        for at, partner in enumerate(table):
            if partner == gainer:
                continue
            pair = partner, gainer
            rest = (whole - surplus[at]) / (opponents - 1)
            sums.together[pair].add(rest)
            sums.whole[pair].add(whole / opponents)
            fed = other_total = 0.0
            times = 0
            for row, total, givers in zip(shares, totals, before, strict=True):
                if givers[gainer] == partner:
                    fed += total - row[at]
                    times += 1
                else:
                    other_total += total - row[at]
            if 0 < times < matches:
                difference = fed / times - other_total / (matches - times)
                sums.fed[pair].add(difference / (opponents - 1))
            else:
                (sums.always if times else sums.never)[pair].add(rest)


def _share(place: int, other: int) -> float:
    return 1.0 if place < other else 0.5 if place == other else 0.0


# -- Tests -----------------------------------------------------------------------------------


def _allow_for_styles(
    question: Question, samples: Iterable[tuple[_Pair, _Sample, _Sample | None]]
) -> Iterator[PairTest]:
    """Yield the test of each pair against what the other pairs let one expect."""
    measured, degrees, counts = [], [], []
    for (partner, gainer), values, rest in samples:
        gain = values.mean - (rest.mean if rest else 0.0)
        variances = [(one.variance, one.count - 1) for one in (values, rest) if one]
        measured.append(Measured(partner, gainer, gain, math.fsum(own for own, _ in variances)))
        degrees.append(_combined_degrees(variances))
        counts.append(values.count)
    of_spread = len(measured) + PRIOR_PAIRS - 1
    expected = expected_gains(measured)
    for pair, own, blocks, honest in zip(measured, degrees, counts, expected, strict=True):
        error = math.sqrt(pair.variance + honest.variance)
        both = _combined_degrees([(pair.variance, own), (honest.variance, of_spread)])
        t = (pair.gain - honest.gain) / error
        p = upper_tail(t, both)
        yield PairTest(
            pair.partner, pair.gainer, question, pair.gain, honest.gain, blocks, error, both, t, p
        )


def _combined_degrees(variances: Iterable[tuple[float, float]]) -> float:
    """Return the degrees of freedom of a sum of variances with degrees of their own (Welch)."""
    listed = list(variances)
    total = math.fsum(variance for variance, _ in listed)
    return total**2 / math.fsum(variance**2 / degrees for variance, degrees in listed)


def _smallest_gain(tests: Sequence[PairTest], significant: float) -> float | None:
    """Return the gain that is significant in `POWER` of cases, of the pair of median error."""
    if not tests:
        return None
    error = median_high(test.error for test in tests)
    degrees = median_high(test.degrees for test in tests if test.error == error)
    return error * (upper_quantile(significant, degrees) + upper_quantile(1 - POWER, degrees))
