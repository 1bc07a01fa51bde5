"""Measure the processor time of the analysis of a match, and how it grows.

The matches are those of random bots. The reference is a plain loop of 10**7 passes in the same run.

    benchmarks/analysis.py --playouts 240
"""

import argparse
import sys
from pathlib import Path
from random import Random
from time import process_time

sys.path.insert(0, str(Path(__file__).parents[1]))

from engine.analysis import DEFAULT_PLAYOUTS, analyse
from engine.cli import simulate
from engine.playouts import is_fast

CASES = (
    ("twelve-days", "eight-nights", 3),
    ("twelve-days", "calliope", 4),
    ("twelve-days", "eight-players", 8),
    ("partridge", "eagle-short", 2),
    ("partridge", "eagle-short", 4),
    ("partridge", "eagle", 4),
)


def loop() -> float:
    """Return the processor seconds of the reference."""
    began = process_time()
    for _ in range(10**7):
        pass
    return process_time() - began


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--playouts", type=int, default=DEFAULT_PLAYOUTS)
    options = parser.parse_args()
    print(f"kernel: {'yes' if is_fast() else 'no'}, loop: {loop():.2f} s")
    for game, rules, seats in CASES:
        rng = Random(1)
        record = simulate(game, rules, seats, rng.randbytes(32), rng.choice, "random")
        for playouts in (options.playouts, 4 * options.playouts):
            began = process_time()
            found = analyse(record, playouts)
            seconds = process_time() - began
            errors = [each.error for each in found.decisions]
            print(
                f"{game} {rules} {seats} seats, {playouts} playouts: {seconds:.1f} s, "
                f"{len(errors)} decisions, error {100 * sum(errors) / len(errors):.1f} %, "
                f"exact {sum(each.is_exact for each in found.decisions)}",
                flush=True,
            )
    print(f"loop: {loop():.2f} s")


if __name__ == "__main__":
    main()
