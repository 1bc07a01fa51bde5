"""The speed-up of `twelfth-night try` with a process per core over a single process.

Usage: python benchmarks/try.py [--matches 1000] [--rounds 5] [--against thumb counting] [--json]

One process and all processes play the same trial in turns. The quickest round of each counts: other
work on the machine slows all cores more than one. The start of the processes counts too. The
reference is one process; the aim is 0.8 of the cores.
"""

import argparse
import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from bots_sdk.arena.contestants import contestant, field_of
from bots_sdk.arena.matches import Table
from bots_sdk.arena.pool import Pool, cores
from bots_sdk.arena.trials import Results, Trial
from bots_sdk.arena.worker import Setup

BOT = "def choose(observation):\n    return observation['legal_moves'][0]\n"
TABLES = [Table("twelve-days", "calliope", 4), Table("partridge", "eagle-short", 4)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--matches", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--against", nargs="+", default=["thumb", "counting"])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with TemporaryDirectory() as directory:
        file = Path(directory) / "first.py"
        file.write_text(BOT)
        rows = []
        for table in TABLES:
            blocks = options.matches // table.seats
            field = field_of(options.against)
            trial = Trial(table, contestant(str(file)), field, blocks, bytes(32))
            rates: dict[int, list[float]] = {1: [], cores(): []}
            for _ in range(options.rounds):
                for jobs, found in rates.items():
                    found.append(matches_a_second(trial, jobs))
            one, all_of_them = max(rates[1]), max(rates[cores()])
            rows.append(
                {
                    "game": table.game,
                    "cores": cores(),
                    "matches_a_second_on_one": round(one, 1),
                    "matches_a_second_on_all": round(all_of_them, 1),
                    "ratio": round(all_of_them / one, 2),
                    "of_the_cores": round(all_of_them / one / cores(), 2),
                }
            )
    if options.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(
            f"{row['game']:12} {row['cores']} cores: {row['matches_a_second_on_one']:.0f} matches/s"
            f" on one, {row['matches_a_second_on_all']:.0f} on all: ×{row['ratio']:.2f},"
            f" {row['of_the_cores']:.2f} of the cores (aim: 0.80)"
        )


def matches_a_second(trial: Trial, jobs: int) -> float:
    """Return the matches per second of so many processes, with all the work of `try`."""
    began = time.perf_counter()
    results = Results(trial)
    with Pool(Setup(trial.table, trial.contestants), jobs) as pool:
        for played in pool.play(trial.fixtures()):
            results.add(played)
    results.summary()
    return trial.matches / (time.perf_counter() - began)


if __name__ == "__main__":
    main()
