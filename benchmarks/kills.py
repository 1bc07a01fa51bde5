"""Kills and stops processes of a league under load at random; checks that nothing is lost.

Starts a league with house bots and remote bots. Every few seconds it kills (SIGKILL) or stops for
some seconds (SIGSTOP, SIGCONT) a random process of the league: supervisor, servers and their
backends, front, web, gateway, workers, clock, beat and all their children. A killed supervisor is
started again. At the end the ladders are paused, and within three minutes all must be settled:

- every accepted move is in its record, once;
- no bot has a fault, no block is void, no match or round is left;
- recomputed ratings equal the stored ones, and their mean is still 1500;
- ``/readyz`` answers 200; after a stop no process is left.

It exits with 1 if one of these does not hold.

    benchmarks/kills.py --minutes 30

With ``--each`` it kills one process of each kind instead, and prints after how many seconds the
league was ready again.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.killing.bots import Bots
from benchmarks.killing.checking import settle, violations
from benchmarks.killing.league import League
from benchmarks.killing.targets import Target, resume_all, strike, targets

MAX_READY_SECONDS = {"supervisor": 15.0}
"""The longest time until the league is ready again after a kill of one kind, by default 10 s."""


def main() -> int:
    """Run the benchmark; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--every", type=float, default=5.0, help="mean seconds between two strikes")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--directory", type=Path, help="of the league; kept, for example to read")
    parser.add_argument("--port", type=int, default=random.randrange(20000, 32768))
    parser.add_argument("--without", default="", help="kinds to spare, separated by commas")
    parser.add_argument("--each", action="store_true", help="kill one process of each kind")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="league-kills-") as temporary:
        directory = options.directory or Path(temporary) / "var"
        league = League(directory, options.port)
        try:
            return run(league, options)
        finally:
            league.kill()


def run(league: League, options: argparse.Namespace) -> int:
    """Strike, let the league settle, and check it; return the exit status."""
    chance = random.Random(options.seed)
    print(f"seed {options.seed}, league in {league.directory}", flush=True)
    league.start()
    bots = Bots(league)
    found: list[str] = []
    strikes: Mapping[str, float]
    spared = set(options.without.split(","))
    if options.each:
        strikes = strike_each(league, spared, found)
    else:
        strikes = strike_for(league, options.minutes * 60, options.every, chance, spared)
    resume_all()
    settle(league, found)
    bots.stop()
    found += violations(league, bots)
    found += [f"after the stop alive: {left}" for left in league.stop()]
    print(json.dumps({"strikes": strikes, **bots.counts(), "log": league.log_counts()}, indent=1))
    for violation in found:
        print(f"VIOLATION: {violation}")
    print(
        "nothing lost, nothing double, nobody blamed" if not found else f"{len(found)} violations"
    )
    return 1 if found else 0


def strike_for(
    league: League, seconds: float, every: float, chance: random.Random, spared: set[str]
) -> dict[str, int]:
    """Kill and stop random processes for some time; return the counts by kind and way."""
    strikes: Counter[str] = Counter()
    end = time.monotonic() + seconds
    reported = time.monotonic()
    while time.monotonic() < end:
        time.sleep(chance.expovariate(1 / every))
        league.start_again()
        target = draw(league, chance, spared)
        if target is None:
            continue
        pause = 0.0 if chance.random() < 0.7 else chance.uniform(0.5, 8.0)
        if strike(target, pause):
            strikes[f"{'stop' if pause else 'kill'} {target.kind}"] += 1
        if time.monotonic() - reported > 60:
            reported = time.monotonic()
            print(f"{end - reported:.0f} s left, {sum(strikes.values())} strikes", flush=True)
    league.start_again()
    return dict(sorted(strikes.items()))


def draw(league: League, chance: random.Random, spared: set[str]) -> Target | None:
    """Return a random process: first one of the kinds, then one of the kind."""
    kinds: dict[str, list[Target]] = {}
    for target in targets(league.pid):
        kinds.setdefault(target.kind, []).append(target)
    names = sorted(set(kinds) - spared)
    return chance.choice(kinds[chance.choice(names)]) if names else None


def strike_each(league: League, spared: set[str], found: list[str]) -> dict[str, float]:
    """Kill one process of each kind, one after the other; return the seconds until ready."""
    seconds: dict[str, float] = {}
    league.await_ready()
    for kind in sorted({target.kind for target in targets(league.pid)} - spared):
        target = next((each for each in targets(league.pid) if each.kind == kind), None)
        if target is None or not strike(target, 0.0):
            continue
        began = time.monotonic()
        time.sleep(0.3)
        league.start_again()
        league.await_ready()
        seconds[kind] = round(time.monotonic() - began, 1)
        print(f"{kind}: ready after {seconds[kind]} s", flush=True)
        if seconds[kind] > (most := MAX_READY_SECONDS.get(kind, 10.0)):
            found.append(f"{kind}: ready after {seconds[kind]} s, more than {most:.0f} s")
        time.sleep(5)  # the next kill meets a league at work
    return seconds


if __name__ == "__main__":
    sys.exit(main())
