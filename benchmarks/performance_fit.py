"""The time and memory of a refit of all performance ratings, beside a plain loop in the same run.

Usage: python benchmarks/performance_fit.py [--sizes 100 1000 2000 10000] [--blocks 20 1000]

A pair result is the mean result of two bots over a block; a block of four has six. The bots of a
table are near in strength, as a ladder draws them. Each row is a separate process, with one
thread. Times are processor time. The reference is `for _ in range(10**7): pass` in the same
process: the speed of a shared machine changes, and the ratio changes less. Memory is the largest
resident set of the whole process up to the end of the fit.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

from engine.rating.performance import PairResults, Performance, fit

SEATS = 4
ROW = "{bots:>6} {results:>11} {fill:>8} {took:>8} {ratio:>8} {megabytes:>8} {exact:>8} {off:>18}"


def synthetic(bots: int, blocks: int) -> tuple[np.ndarray, np.ndarray]:
    """Return tables of four, and shares by a true Bradley-Terry model: so many blocks a bot."""
    rng = np.random.default_rng(1)
    strengths = rng.normal(0, 1.1, bots)
    rounds = []
    for _ in range(blocks):
        noisy = strengths + rng.uniform(-0.6, 0.6, bots)
        anywhere = rng.random(bots) < 0.1
        noisy[anywhere] = rng.choice(noisy, anywhere.sum())
        rounds.append(np.argsort(noisy)[: bots // SEATS * SEATS].reshape(-1, SEATS))
    tables = np.concatenate(rounds)
    first, second = np.triu_indices(SEATS, 1)
    shares = np.empty((len(tables), len(first)))
    for at in range(0, len(tables), 1 << 16):
        part = slice(at, at + (1 << 16))
        luck = rng.gumbel(size=(len(tables[part]), SEATS, SEATS))
        scores = strengths[tables[part]][:, None, :] + luck
        shares[part] = (scores[..., first] > scores[..., second]).mean(axis=1)
    return tables, shares


def measure(bots: int, blocks: int, exact: bool) -> dict[str, str]:
    """Return a row of the table; with the exact fit, how far the standard errors are off."""
    loop = timed(plain_loop)
    results, fill = filled(bots, blocks)
    took = timed(lambda: fit(results))
    memory = resident()
    row = {
        "bots": str(bots),
        "results": f"{len(results) * SEATS * (SEATS - 1) // 2:,}",
        "fill": f"{fill:.2f}",
        "took": f"{took:.2f}",
        "ratio": f"{took / loop:.2f}",
        "megabytes": f"{memory / 2**20:.0f}",
        "exact": "",
        "off": "",
    }
    if exact:
        from engine.rating import performance

        performance.MAX_EXACT = bots
        row["exact"] = f"{timed(lambda: fit(results)):.2f}"
        errors = by_bot(fit(results))
        performance.MAX_EXACT = 1
        off = np.abs(by_bot(fit(results)) / errors - 1)
        row["off"] = f"{np.sqrt((off**2).mean()):.1%}, {off.max():.1%}"
    return row


def filled(bots: int, blocks: int) -> tuple[PairResults, float]:
    """Return the results of a synthetic league, and the time to add them."""
    tables, shares = synthetic(bots, blocks)
    results = PairResults()
    matches = np.full(len(tables), SEATS)
    return results, timed(lambda: results.extend(tables, shares, matches))


def by_bot(fitted: Performance) -> np.ndarray:
    """Return the standard errors in the order of the bots' ids."""
    return np.asarray(fitted.errors[np.argsort(fitted.bots)])


def plain_loop() -> None:
    for _ in range(10**7):
        pass


def timed(work: Callable[[], object]) -> float:
    """Return the processor time of a call in seconds."""
    began = process_time()
    work()
    return process_time() - began


def resident() -> int:
    """Return the largest resident set so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 2000, 10_000])
    parser.add_argument("--blocks", type=int, nargs="+", default=[20, 667], help="blocks a bot")
    parser.add_argument("--exact", type=int, default=2000, help="compare up to so many bots")
    parser.add_argument("--row", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.row:
        bots, blocks = options.row
        print(json.dumps(measure(bots, blocks, bots <= options.exact)))
        return
    print(f"plain loop of 10**7 passes: {timed(plain_loop):.2f} s")
    print(
        ROW.format(
            bots="bots",
            results="pair results",
            fill="fill, s",
            took="fit, s",
            ratio="of loop",
            megabytes="MB",
            exact="exact, s",
            off="errors off, at most",
        )
    )
    for blocks in options.blocks:
        for bots in options.sizes:
            command = [sys.executable, __file__, "--row", str(bots), str(blocks)]
            command += ["--exact", str(options.exact)]
            done = subprocess.run(
                command,
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
                check=True,
                capture_output=True,
                text=True,
            )
            print(ROW.format(**json.loads(done.stdout)), flush=True)


if __name__ == "__main__":
    main()
