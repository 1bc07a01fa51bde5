"""Do two bots do better next to each other than they should? A screen for collusion.

For each ordered pair, partner and gainer, two questions are asked of the blocks, which are the
independent units (spec "A block"):

- **fed**: in blocks with both, does the gainer do better in the matches where the partner sits
  directly before it, and so gives it cards, than in the others of the same block? The deal and the
  table are the same, so ratings play no part. (At three seats it sits there in all matches of a
  block or in none; then blocks are compared.)
- **with**: does the gainer do better against the others at the table, beyond what the ratings let
  expect, in blocks with the partner than in those without? The partner's own results count for
  neither.

Each is a one-sided t-test over blocks (Student; Welch for the second). Of all questions asked those
are reported that the procedure of Benjamini and Hochberg (1995) lets through, so that no more than
a given share of the reports is expected to be chance. What is reported is a reason to look at the
matches, not a verdict: bots whose styles happen to suit each other look alike.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import Literal, NamedTuple

from engine.rating.blocks import MatchResult, half_points

Question = Literal["fed", "with"]
MIN_BLOCKS = 12
"""With the partner, and for the second question as many without."""
FALSE_DISCOVERY_RATE = 0.01
_MIN_VARIANCE = 1e-4
"""Of results that happen to be all alike: chance is never ruled out by that alone."""


class RatedBlock(NamedTuple):
    """A finished block as this screen sees it.

    Attributes:
        results: of its matches.
        ratings: in Elo at the start of its round, by bot.
    """

    results: Sequence[MatchResult]
    ratings: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A pair that does better than chance lets expect.

    Attributes:
        partner: who may help.
        gainer: who may be helped.
        question: what was asked.
        gain: by how much more of a pair result the gainer does better, -1 to 1.
        blocks: with both.
        t: of the test.
        p: how often chance does as well.
    """

    partner: int
    gainer: int
    question: Question
    gain: float
    blocks: int
    t: float
    p: float


def suspicions(
    blocks: Iterable[RatedBlock], *, rate: float = FALSE_DISCOVERY_RATE
) -> list[Suspicion]:
    """Return the pairs that stand out, the clearest first.

    Args:
        blocks: finished and rated.
        rate: of the reports that may be chance, on average.
    """
    asked = list(_ask_all(list(blocks)))
    asked.sort(key=lambda found: (found.p, found.partner, found.gainer, found.question))
    passed = 0
    for rank, found in enumerate(asked, start=1):
        if found.p <= rate * rank / len(asked):
            passed = rank
    return asked[:passed]


def _ask_all(blocks: list[RatedBlock]) -> Iterable[Suspicion]:
    fed: dict[tuple[int, int], list[float]] = defaultdict(list)
    always: dict[tuple[int, int], list[float]] = defaultdict(list)
    never: dict[tuple[int, int], list[float]] = defaultdict(list)
    with_partner: dict[tuple[int, int], list[float]] = defaultdict(list)
    # Against all others, by gainer: what is left without a partner is the sum less those with it.
    alone: dict[int, list[tuple[frozenset[int], float]]] = defaultdict(list)
    for block in blocks:
        table = block.results[0].seating
        surplus = [_surplus(result, block.ratings) for result in block.results]
        for gainer in table:
            others = [bot for bot in table if bot != gainer]
            mean = {other: fmean(match[gainer, other] for match in surplus) for other in others}
            alone[gainer].append((frozenset(others), fmean(mean.values())))
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
        without = [value for others, value in alone[gainer] if partner not in others]
        if min(len(values), len(without)) >= MIN_BLOCKS:
            yield _test(partner, gainer, "with", values, without)


def _surplus(result: MatchResult, ratings: Mapping[int, float]) -> dict[tuple[int, int], float]:
    """Return s_ij - p_ij of a match for every ordered pair."""
    place = dict(zip(result.seating, result.places, strict=True))
    return {
        (i, j): half_points(place[i], place[j]) / 2
        - 1 / (1 + 10 ** ((ratings[j] - ratings[i]) / 400))
        for i in place
        for j in place
        if i != j
    }


def _fed_difference(results: Sequence[MatchResult], partner: int, gainer: int) -> float | bool:
    """Return how much better the gainer did when fed by the partner, within a block.

    Where it was fed in all matches or in none, that is the answer.
    """
    fed: list[float] = []
    other: list[float] = []
    for result in results:
        at = result.seating.index(gainer)
        place = result.places[at]
        shares = [
            half_points(place, theirs) / 2
            for bot, theirs in zip(result.seating, result.places, strict=True)
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
) -> Suspicion:
    """Return the one-sided test of a mean against 0, or against that of other blocks."""
    gain = fmean(values) - (fmean(without) if without else 0.0)
    own = max(variance(values), _MIN_VARIANCE) / len(values)
    theirs = max(variance(without), _MIN_VARIANCE) / len(without) if without else 0.0
    t = gain / math.sqrt(own + theirs)
    degrees = (own + theirs) ** 2 / (
        own**2 / (len(values) - 1) + (theirs**2 / (len(without) - 1) if without else 0.0)
    )
    p = upper_tail(t, degrees)
    return Suspicion(partner, gainer, question, gain, len(values), t, p)


def upper_tail(t: float, degrees: float) -> float:
    """Return how often Student's t is above a value (Abramowitz and Stegun, 26.7.1, 26.5.8)."""
    tail = _incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2
    return tail if t >= 0 else 1 - tail


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularized incomplete beta function I_x(a, b)."""
    if x >= 1:
        return 1.0
    log_front = (
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    if x > (a + 1) / (a + b + 2):  # there the fraction converges for the mirror image
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
