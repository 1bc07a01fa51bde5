"""The time of a refit of all performance ratings, beside one dense solve in the same run.

Usage: python benchmarks/performance_fit.py [--repeats 5]

A pair result is the mean result of two bots over a block; a block of four has six. The reference is
`numpy.linalg.solve` of as many equations as there are bots, the least that a Newton step costs. On
a shared machine the ratio to it varies less than seconds do. Fits and solves alternate, and the
table shows medians. To fill `PairResults` is not part of a refit and has a separate column, for
blocks that come in one array.
"""

import argparse
from itertools import combinations
from statistics import median
from time import perf_counter

import numpy as np

from engine.rating.performance import PairResults, fit

SEATS = 4
PAIRS = tuple(combinations(range(SEATS), 2))
SIZES = (
    (1000, 1_000_000),
    (1000, 100_000),
    (1000, 10_000),
    (500, 1_000_000),
    (100, 1_000_000),
    (2000, 1_000_000),
)
"""Bots and pair results; the aim is a refit of the first size within 2 s."""


def synthetic(bots: int, pairs: int) -> tuple[PairResults, float]:
    """Return a league of blocks in which the Bradley-Terry model is true, and the time to fill."""
    rng = np.random.default_rng(1)
    blocks = pairs // len(PAIRS) + 1
    strengths = rng.normal(0, 0.8, bots)
    # A random first bot, and three more at different random distances on the circle of bots.
    tables = np.cumsum(rng.integers(1, bots // SEATS, (blocks, SEATS)), axis=1) % bots
    scores = strengths[tables][:, None, :] + rng.gumbel(size=(blocks, SEATS, SEATS))
    shares = np.stack([(scores[..., a] > scores[..., b]).mean(axis=1) for a, b in PAIRS], axis=1)
    results = PairResults()
    began = perf_counter()
    results.extend(tables, shares, np.full(blocks, SEATS))
    return results, perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(f"{'bots':>5} {'pair results':>12} {'fill, s':>8} {'fit, s':>8} {'solve, s':>9} ratio")
    for bots, pairs in SIZES:
        results, filling = synthetic(bots, pairs)
        rng = np.random.default_rng(2)
        matrix, right = rng.normal(size=(bots, bots)), rng.normal(size=bots)
        fits, solves = [], []
        for _ in range(options.repeats):
            began = perf_counter()
            fit(results)
            fits.append(perf_counter() - began)
            began = perf_counter()
            np.linalg.solve(matrix, right)
            solves.append(perf_counter() - began)
        took, reference = median(fits), median(solves)
        print(
            f"{bots:5} {len(results) * len(PAIRS):12,} {filling:8.3f} {took:8.3f} {reference:9.4f}"
            f" {took / reference:5.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
