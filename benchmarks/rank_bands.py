"""How often rank bands cut a league of equally strong bots, which is always an error.

Prints for each number of bots and of blocks the share of simulated leagues with more than one band,
with the standard error of that share, and beside it the share with pairwise 95 % intervals in place
of the studentized range. The promise is at most 8 %; the benchmark exits with 1 if a share is above
that by more than two standard errors.

    benchmarks/rank_bands.py --leagues 2000
"""

import argparse
import math
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from engine.rating.intervals import Z_95
from engine.rating.performance import PairResults, Performance, fit

PROMISED = 0.08
BOTS = (4, 8, 16, 40)
BLOCKS = (20, 50, 200)
SEATS = 4


def main() -> int:
    """Run the benchmark; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--leagues", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    broken = False
    print(f"{options.leagues} leagues of equal bots for each row, seed {options.seed}")
    print("bots  blocks of a bot  cut by bands    cut by pairwise intervals")
    for bots in BOTS:
        for blocks in BLOCKS:
            fits = [equal_league(rng, bots, blocks) for _ in range(options.leagues)]
            share = sum(each.bands[-1] > 1 for each in fits) / len(fits)
            pairwise = sum(map(is_cut_pairwise, fits)) / len(fits)
            error = math.sqrt(max(share, 1 / len(fits)) * (1 - share) / len(fits))
            broken |= share - 2 * error > PROMISED
            print(f"{bots:4}  {blocks:15}  {share:6.1%} ± {error:.1%}  {pairwise:6.1%}", flush=True)
    return int(broken)


def equal_league(rng: np.random.Generator, bots: int, blocks: int) -> Performance:
    """Return the fit of equally strong bots at tables of four, four matches a block."""
    rows = [
        table
        for _ in range(blocks)
        for table in rng.permutation(bots)[: bots // SEATS * SEATS].reshape(-1, SEATS)
    ]
    scores = np.round(3 * rng.normal(size=(SEATS, len(rows), SEATS)))  # rounded: some are tied
    first, second = np.triu_indices(SEATS, 1)
    shares = (np.sign(scores[:, :, first] - scores[:, :, second]) / 2 + 0.5).mean(axis=0)
    results = PairResults()
    results.extend(np.array(rows), shares, np.full(len(rows), SEATS))
    return fit(results)


def is_cut_pairwise(fitted: Performance) -> bool:
    """Return whether the best bot differs from another by its pairwise 95 % interval."""
    best, *others = fitted.bots
    for bot in others:
        difference, error = fitted.difference(best, bot)
        if difference > Z_95 * error:
            return True
    return False


if __name__ == "__main__":
    sys.exit(main())
