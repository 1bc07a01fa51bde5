"""How many matches a second a larger league would play: a simulation of its queue and its workers.

Usage: python benchmarks/scale_simulation.py [--workers 2 100 2000] [--ladders 4] [--cells 1]
           [--match 0.2] [--pass 0.05] [--claim 0.0002] [--open 0.0006] [--seconds 20]

Nothing here measures a league. It plays the rules of `league.play.match_queue` and `league.tasks`
with a synthetic load, on more workers than a machine has, to find which one stops growing first.

- A *worker* takes the first match of the queue and is busy for ``--match`` seconds.
- A *pass* of `follow_up` claims due matches. One pass runs at a time in a cell. It takes ``--pass``
  seconds, and ``--claim`` for each match that it queues. It queues nothing while the queue is full.
- A *ladder* opens its next round when its round is over. That takes ``--open`` for
  each match, and no other round of the ladder opens meanwhile.
- A *cell* is a separate league with a part of the ladders and workers.

The defaults are those that docs/scaling.md derives from the other benchmarks.
"""

import argparse
import heapq
import os
import sys
from collections import deque
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

ROW = "{workers:>8} {cells:>6} {rate:>10} {busy:>8} {control:>8}"


class Load(NamedTuple):
    """A synthetic load.

    Attributes:
        ladders: ladders of a cell; each always has a round.
        matches: matches of a round.
        match: seconds that a worker needs for a match.
        a_pass: seconds of a pass of `follow_up` beside its claims.
        claim: seconds that a pass needs to queue a match.
        opening: seconds to store a match of a new round.
    """

    ladders: int
    matches: int
    match: float
    a_pass: float
    claim: float
    opening: float


class Limits(NamedTuple):
    """The league's own limits of its queue, by the names of the constants in the code."""

    ahead: int
    ahead_per_worker: int
    max_queued: int


class Result(NamedTuple):
    """What a cell did: matches a second, and the shares of time of its workers and its passes."""

    rate: float
    busy: float
    control: float


def simulate(workers: int, load: Load, limits: Limits, seconds: float) -> Result:
    """Play a cell for so many seconds, after a tenth of that as a warm-up."""
    due = [load.matches] * load.ladders  # stored, and not queued
    unplayed = [load.matches] * load.ladders  # of the round, not finished
    queued = [0] * load.ladders
    playing = [0] * load.ladders
    queue: deque[int] = deque()
    idle = workers
    events: list[tuple[float, int, str, int]] = [(0.0, 0, "pass", 0)]
    number, finished, in_passes, warm = 1, 0, 0.0, seconds / 10
    claimed: list[int] = []

    def later(at: float, kind: str, ladder: int) -> None:
        nonlocal number
        heapq.heappush(events, (at, number, kind, ladder))
        number += 1

    while events and events[0][0] < warm + seconds:
        now, _, kind, ladder = heapq.heappop(events)
        if kind == "done":
            idle += 1
            playing[ladder] -= 1
            unplayed[ladder] -= 1
            finished += now >= warm
            if not unplayed[ladder]:
                later(now + load.opening * load.matches, "opened", ladder)
        elif kind == "opened":
            due[ladder] = unplayed[ladder] = load.matches
        elif kind == "pass":
            claimed = _claim(due, queued, playing, len(queue), limits)
            took = load.a_pass + load.claim * sum(claimed)
            in_passes += took if now >= warm else 0.0
            later(now + took, "queued", 0)
        else:  # the pass is committed, and the next one begins
            # Taken in turns, as the tasks are sent.
            for step in range(max(claimed, default=0)):
                queue.extend(each for each, count in enumerate(claimed) if count > step)
            for each, count in enumerate(claimed):
                queued[each] += count
            later(now, "pass", 0)
        while idle and queue:
            of = queue.popleft()
            idle -= 1
            queued[of] -= 1
            playing[of] += 1
            later(now + load.match, "done", of)
    return Result(
        finished / seconds, finished * load.match / (seconds * workers), in_passes / seconds
    )


def _claim(
    due: list[int], queued: list[int], playing: list[int], waiting: int, limits: Limits
) -> list[int]:
    """Take the due matches that may be queued, as `league.play.match_queue` shares the queue."""
    if waiting >= limits.max_queued:
        return [0] * len(due)
    share = limits.ahead + limits.ahead_per_worker * sum(playing) // len(due)
    found = [max(0, min(due[each], share - queued[each])) for each in range(len(due))]
    for each, count in enumerate(found):
        due[each] -= count
    return found


def league_limits() -> Limits:
    """Return the limits that the code has."""
    for name, value in (
        ("SECRET_KEY", "a simulation"),
        ("DATABASE_URL", "postgresql:///nowhere"),
        ("REDIS_URL", "redis://nowhere/0"),
    ):
        os.environ.setdefault(name, value)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from league import tasks
    from league.play import match_queue

    return Limits(match_queue.AHEAD, match_queue.AHEAD_PER_WORKER, tasks._MAX_QUEUED_TASKS)


def main() -> None:
    """Print a row for each number of workers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 20, 200, 500, 1000, 2000])
    parser.add_argument("--ladders", type=int, default=4, help="of each cell")
    parser.add_argument("--matches", type=int, default=10_000, help="of each round")
    parser.add_argument("--cells", type=int, default=1, help="leagues that share the workers")
    parser.add_argument("--match", type=float, default=0.2)
    parser.add_argument("--pass", type=float, default=0.05, dest="a_pass")
    parser.add_argument("--claim", type=float, default=0.0002)
    parser.add_argument("--open", type=float, default=0.0006)
    parser.add_argument("--seconds", type=float, default=20.0)
    given = parser.parse_args()
    limits = league_limits()
    load = Load(given.ladders, given.matches, given.match, given.a_pass, given.claim, given.open)
    print(
        ROW.format(
            workers="workers", cells="cells", rate="matches/s", busy="busy", control="passes"
        )
    )
    for workers in given.workers:
        cells = min(given.cells, workers)
        result = simulate(workers // cells, load, limits, given.seconds)
        print(
            ROW.format(
                workers=workers,
                cells=cells,
                rate=f"{result.rate * cells:,.0f}",
                busy=f"{result.busy:.0%}",
                control=f"{result.control:.0%}",
            )
        )


if __name__ == "__main__":
    main()
