"""A statistical screen for collusion: pairs of bots that gain from each other's presence.

The screen runs two tests for each ordered pair of a partner and a gainer. The independent units are
blocks, because the matches of a block share bots and usually a deal.

- **fed**: the gainer's win share in matches where the partner sits directly before it, and so gives
  it cards, against its win share in the other matches of the same block. Deal and table are the
  same, so ratings have no part in it. At three seats the partner sits there in all matches of a
  block or in none; the test then compares blocks.
- **with**: the gainer's surplus over its expected score against the other bots at the table, in
  blocks with the partner against blocks without it. Results against the partner count in neither.

Both are one-sided t-tests over blocks (Student's for **fed**, Welch's for two samples of blocks).
The procedure of Benjamini and Hochberg (1995) selects the flagged pairs, so that the expected share
of false discoveries stays below a limit. A flagged pair is a reason to read its matches and no
proof: bots whose styles suit each other show the same pattern.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import Literal, NamedTuple

from engine.rating.blocks import MatchResult, half_points

Question = Literal["fed", "with"]
MIN_BLOCKS = 12
"""Fewest blocks with the partner; a test of two samples needs as many without it."""
FALSE_DISCOVERY_RATE = 0.01
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
class FlaggedPair:
    """A pair with a significant test result.

    Attributes:
        partner: the bot that may help.
        gainer: the bot that may profit.
        question: the test, "fed" or "with".
        gain: the difference of the gainer's mean win shares, -1 to 1.
        blocks: the number of blocks with the partner in the test.
        t: the t statistic.
        p: the p-value: the probability of such a t or a higher one by chance.
    """

    partner: int
    gainer: int
    question: Question
    gain: float
    blocks: int
    t: float
    p: float


def flag_pairs(
    blocks: Iterable[RatedBlock], *, rate: float = FALSE_DISCOVERY_RATE
) -> list[FlaggedPair]:
    """Return the pairs with significant results, by ascending p-value.

    Args:
        blocks: finished and rated blocks, in any order.
        rate: the false discovery rate: the expected share of flagged pairs that are due to chance.
    """
    tests = sorted(_run_tests(list(blocks)), key=lambda t: (t.p, t.partner, t.gainer, t.question))
    flagged = 0
    for rank, test in enumerate(tests, start=1):
        if test.p <= rate * rank / len(tests):
            flagged = rank
    return tests[:flagged]


def _run_tests(blocks: list[RatedBlock]) -> Iterator[FlaggedPair]:
    """Yield the result of each test that has enough blocks, significant or not."""
    fed: dict[tuple[int, int], list[float]] = defaultdict(list)
    always: dict[tuple[int, int], list[float]] = defaultdict(list)
    never: dict[tuple[int, int], list[float]] = defaultdict(list)
    with_partner: dict[tuple[int, int], list[float]] = defaultdict(list)
    # Each block of a gainer: its opponents there, and its mean surplus against them.
    surpluses: dict[int, list[tuple[frozenset[int], float]]] = defaultdict(list)
    for block in blocks:
        table = block.results[0].seating
        surplus = [_surplus(result, block.ratings) for result in block.results]
        for gainer in table:
            others = [bot for bot in table if bot != gainer]
            mean = {other: fmean(match[gainer, other] for match in surplus) for other in others}
            surpluses[gainer].append((frozenset(others), fmean(mean.values())))
            for partner in others:
                rest = [mean[other] for other in others if other != partner]
                if not rest:
                    continue
                with_partner[partner, gainer].append(fmean(rest))
                difference = _fed_difference(block.results, partner, gainer)
                if isinstance(difference, float):
                    fed[partner, gainer].append(difference)
                else:
                    (always if difference else never)[partner, gainer].append(fmean(rest))
    for (partner, gainer), differences in fed.items():
        if len(differences) >= MIN_BLOCKS:
            yield _test(partner, gainer, "fed", differences, [])
    for (partner, gainer), values in always.items():
        if min(len(values), len(never[partner, gainer])) >= MIN_BLOCKS:
            yield _test(partner, gainer, "fed", values, never[partner, gainer])
    for (partner, gainer), values in with_partner.items():
        without = [value for others, value in surpluses[gainer] if partner not in others]
        if min(len(values), len(without)) >= MIN_BLOCKS:
            yield _test(partner, gainer, "with", values, without)


def _surplus(result: MatchResult, ratings: Mapping[int, float]) -> dict[tuple[int, int], float]:
    """Return s_ij - p_ij of a match for each ordered pair: pair result less expected score."""
    place = dict(zip(result.seating, result.places, strict=True))
    return {
        (i, j): half_points(place[i], place[j]) / 2
        - 1 / (1 + 10 ** ((ratings[j] - ratings[i]) / 400))
        for i in place
        for j in place
        if i != j
    }


def _fed_difference(results: Sequence[MatchResult], partner: int, gainer: int) -> float | bool:
    """Return the gainer's win share when the partner sits before it, less that otherwise.

    If the partner sits there in all matches of the block, return True; if in none, False.
    """
    fed: list[float] = []
    other: list[float] = []
    for result in results:
        at = result.seating.index(gainer)
        place = result.places[at]
        shares = [
            half_points(place, other_place) / 2
            for bot, other_place in zip(result.seating, result.places, strict=True)
            if bot not in (gainer, partner)
        ]
        before = result.seating[(at - 1) % len(result.seating)]
        (fed if before == partner else other).append(fmean(shares))
    return fmean(fed) - fmean(other) if fed and other else bool(fed)


def _test(
    partner: int,
    gainer: int,
    question: Question,
    values: Sequence[float],
    without: Sequence[float],
) -> FlaggedPair:
    """Return the one-sided test of the mean of ``values`` against that of ``without``, or 0."""
    gain = fmean(values) - (fmean(without) if without else 0.0)
    # Squared standard errors of both means, and Welch's degrees of freedom.
    own = max(variance(values), _MIN_VARIANCE) / len(values)
    other = max(variance(without), _MIN_VARIANCE) / len(without) if without else 0.0
    t = gain / math.sqrt(own + other)
    degrees = (own + other) ** 2 / (
        own**2 / (len(values) - 1) + (other**2 / (len(without) - 1) if without else 0.0)
    )
    p = upper_tail(t, degrees)
    return FlaggedPair(partner, gainer, question, gain, len(values), t, p)


def upper_tail(t: float, degrees: float) -> float:
    """Return the probability that Student's t is above ``t``.

    Source: M. Abramowitz, I. Stegun, "Handbook of Mathematical Functions", 26.7.1.

    Args:
        t: any value.
        degrees: degrees of freedom, above 0.
    """
    tail = _incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2
    return tail if t >= 0 else 1 - tail


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularized incomplete beta function I_x(a, b)."""
    if x >= 1:
        return 1.0
    log_front = (
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    if x > (a + 1) / (a + b + 2):  # The fraction converges fast only below; use the symmetry.
        return 1 - _incomplete_beta(b, a, 1 - x)
    return math.exp(log_front) * _beta_fraction(a, b, x) / a


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta, by Lentz's method (DLMF 8.17.22)."""
    tiny = 1e-300
    fraction, c = 1.0, 1.0
    d = 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    fraction = d
    for m in range(1, 500):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + numerator * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + numerator / c
            c = c if abs(c) > tiny else tiny
            fraction *= c * d
        if abs(c * d - 1) < 1e-12:
            break
    return fraction
