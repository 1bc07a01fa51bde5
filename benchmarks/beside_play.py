"""How smooth other programs stay while a league plays on the same machine.

    benchmarks/beside_play.py [--seconds 30] [--port 8178]

A program of a person mostly waits, and then has a little to do. This one sleeps 10 ms and then
computes for about 5 ms, again and again, with the usual priority. In the output, *late* is the time
from the end of its sleep until it runs, and *computing* is the time of its computation. First it
runs alone, then beside a league whose workers play house bots without a pause.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.killing.league import League
from benchmarks.serving import at_share

_SLEEP_SECONDS = 0.01
_COMPUTE_SECONDS = 0.005
_PLAY_ON = (
    "from league.models import Ladder; "
    "Ladder.objects.update(idle_pause_seconds=0, round_pause_seconds=0)"
)
_BOTS = "house-random,house-thumb,house-random-2,house-thumb-2"


class Delays(NamedTuple):
    """Delays in milliseconds: how late it began, and how long it computed."""

    late: list[float]
    computed: list[float]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--port", type=int, default=8178)
    options = parser.parse_args()
    passes = _passes()
    alone = measure(options.seconds, passes)
    with tempfile.TemporaryDirectory(prefix="league-beside-") as directory:
        league = League(Path(directory) / "var", options.port, {"HOUSE_BOTS": _BOTS})
        league.start()
        try:
            league.manage(_PLAY_ON)
            began = _finished(league)
            beside = measure(options.seconds, passes)
            matches = _finished(league) - began
        finally:
            league.stop()
    print(f"{matches:.0f} matches were played in {options.seconds:.0f} s\n")
    print(f"{'':20}{'alone':>10}{'beside':>10}")
    for name, kind in (("late", 0), ("computing", 1)):
        for share in (0.5, 0.99):
            values = [at_share(each[kind], share) for each in (alone, beside)]
            print(f"{f'{name}, p{share * 100:.0f}, ms':20}{values[0]:10.1f}{values[1]:10.1f}")


def measure(seconds: float, passes: int) -> Delays:
    """Sleep and compute for some seconds."""
    found = Delays([], [])
    until = time.perf_counter() + seconds
    while (now := time.perf_counter()) < until:
        time.sleep(_SLEEP_SECONDS)
        woken = time.perf_counter()
        _compute(passes)
        found.late.append((woken - now - _SLEEP_SECONDS) * 1000)
        found.computed.append((time.perf_counter() - woken) * 1000)
    return found


def _passes() -> int:
    """Return the passes of a loop that take about `_COMPUTE_SECONDS`."""
    began = time.perf_counter()
    _compute(200_000)
    return round(200_000 * _COMPUTE_SECONDS / (time.perf_counter() - began))


def _compute(passes: int) -> None:
    for _ in range(passes):
        pass


def _finished(league: League) -> float:
    return league.metrics()["league_matches_finished_last_hour"]


if __name__ == "__main__":
    main()
