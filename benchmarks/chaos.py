"""Kills and stops processes of a league under load at random; checks that nothing is lost.

Starts a league with house bots, an uploaded bot, remote bots, a second clock worker and a second
beat. All clients use a proxy that drops some answers after the request went through. People create
and revoke tokens, compare versions, make blocks void and announce tournaments; a spectator follows
live matches. Every few seconds the benchmark kills (SIGKILL) or stops for some seconds (SIGSTOP,
SIGCONT) a process of the league:

- any process: supervisor, servers and their backends, front, web, gateway, workers, clocks, beats,
  all their children, and what confines uploaded bots;
- or one in the middle of a transaction, such as the end of a match or a correction (`aiming`), or
  the gateway when a spectator has just got an event.

It spares the processes of uploaded bots (the kind ``bot``): a bot may end itself in the same way,
so its death is the bot's fault. A killed supervisor is started again. At the end the ladders are
paused, and all must be settled without three minutes in which nothing ends:

- every accepted move is in its record, once; every event of a stream is in the stream of the
  finished match, in order, and each stream has ended;
- no bot has a fault, no block is void; no match, round, turn, lease, comparison or check is left;
- everything that a person did is there, once, and revoked tokens don't work;
- recomputed ratings and comparisons equal the stored ones, and the mean rating is still 1500;
- ``/readyz`` answers 200; after a stop no process, socket or temporary file is left.

It exits with 1 if one of these does not hold. Errors and tracebacks of the log are printed.

    benchmarks/chaos.py --minutes 30
    benchmarks/chaos.py --strikes 500 --minutes 60

With ``--strikes`` it ends when the number is reached or the time is over. SIGINT (Ctrl-C) ends the
strikes early; the checks follow. A file beside the league's directory, which ends in ``.strikes``,
has the time of each strike.

With ``--each`` it kills one process of each kind instead, and prints after how many seconds the
league was ready again, and stayed so. A part that runs again within 5 s is not missed by then.
"""

import argparse
import json
import math
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.killing.aiming import POINTS, WAYS, add_triggers, strike_at
from benchmarks.killing.bots import Bots
from benchmarks.killing.checking import settle, violations
from benchmarks.killing.dropping import DroppingProxy
from benchmarks.killing.league import League
from benchmarks.killing.people import Comparer, Judge, Person, TokenOwner
from benchmarks.killing.targets import Target, resume_all, strike
from benchmarks.killing.watcher import Watcher

MAX_READY_SECONDS = {"supervisor": 15.0}
"""The longest time until the league is ready again after a kill of one kind, by default 10 s."""
STEADY_SECONDS = 6.0
"""For so long the league must stay ready after a kill: `/readyz` takes a part for alive for 5 s."""
SPARED = {"bot"}
_DROPPED = 0.01
_AIM_SECONDS = 4.0
_STREAM = "a stream"


def main() -> int:
    """Run the benchmark; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--strikes", type=int, help="stop after so many")
    parser.add_argument("--every", type=float, default=3.0, help="mean seconds between two strikes")
    parser.add_argument("--aimed", type=float, default=0.35, help="share of aimed strikes")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--directory", type=Path, help="of the league; kept, for example to read")
    parser.add_argument("--port", type=int, default=random.randrange(20000, 32768))
    parser.add_argument("--without", default="", help="kinds to spare, separated by commas")
    parser.add_argument("--each", action="store_true", help="kill one process of each kind")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # it ends the league too
    with tempfile.TemporaryDirectory(prefix="league-chaos-") as temporary:
        directory = options.directory or Path(temporary) / "var"
        league = League(directory, options.port, has_extras=True)
        try:
            return Run(league, options).run()
        finally:
            league.kill()


class Run:
    """One run: a league, its clients, and the strikes.

    Args:
        league: not started yet.
        options: of the command line.
    """

    def __init__(self, league: League, options: argparse.Namespace) -> None:
        self._league, self._options = league, options
        self._chance = random.Random(options.seed)
        self._spared = SPARED | set(options.without.split(","))
        self._strikes: Counter[str] = Counter()
        self._found: list[str] = []
        self._is_over = False
        signal.signal(signal.SIGINT, self._end_strikes)

    def _end_strikes(self, *_: object) -> None:
        self._is_over = True

    def run(self) -> int:
        """Strike, let the league settle, and check it; return the exit status."""
        league, seed, found = self._league, self._options.seed, self._found
        print(f"seed {seed}, league in {league.directory}", flush=True)
        league.start()
        proxy = DroppingProxy(league.url, _DROPPED, seed)
        bots = Bots(league, proxy.url)
        people = [
            TokenOwner(proxy.url, "token-owner"),
            Comparer(proxy.url, "comparer"),
            Judge(proxy.url, "judge", seed),
        ]
        league.manage("", "make_organiser", "judge")
        self._watcher = Watcher(proxy.url, seed)
        add_triggers(league.database_url)
        for person in people:
            person.start()
        results: Mapping[str, float] = self._strikes
        if self._options.each:
            results = self._strike_each()
        else:
            self._strike_for_long()
        resume_all()
        league.await_ready()
        for person in people:
            person.stop()
        settle(league, found)
        self._watcher.stop(settled=True)
        bots.stop()
        self._watcher.check(league.url)
        found += violations(league, bots, _confirmed(people))
        found += [*self._watcher.problems, *(each for one in people for each in one.problems)]
        proxy.stop()
        found += [f"after the stop alive: {left}" for left in league.stop()]
        found += [f"after the stop left: {left}" for left in league.files_left()]
        clients = {person.name: person.counts for person in people}
        counts = {"bots": bots.counts(), "watcher": self._watcher.counts, **clients}
        print("\n".join(league.log_faults()))
        print(
            json.dumps(
                {
                    "strikes": dict(sorted(results.items())),
                    "kills and stops": sum(self._strikes.values()),
                    "dropped answers": proxy.dropped,
                    **counts,
                    "log": league.log_counts(),
                },
                indent=1,
            )
        )
        for violation in found:
            print(f"VIOLATION: {violation}")
        print(
            f"{len(found)} violations" if found else "nothing lost, nothing double, nobody blamed"
        )
        return 1 if found else 0

    def _strike_for_long(self) -> None:
        """Kill and stop processes until the time is over, or the number is reached."""
        end = time.monotonic() + self._options.minutes * 60
        most = self._options.strikes or math.inf
        reported = began = time.monotonic()
        while not self._is_over and time.monotonic() < end and sum(self._strikes.values()) < most:
            time.sleep(self._chance.expovariate(1 / self._options.every))
            self._league.start_again()
            done = self._aim() if self._chance.random() < self._options.aimed else self._draw()
            if done:
                self._note(done)
            if time.monotonic() - reported > 60:
                reported = time.monotonic()
                strikes = sum(self._strikes.values())
                print(f"{reported - began:.0f} s, {strikes} strikes", flush=True)
        self._league.start_again()

    def _note(self, done: str) -> None:
        """Count a strike, and write down when it was: a violation is compared with it."""
        self._strikes[done] += 1
        with self._league.directory.with_suffix(".strikes").open("a") as file:
            file.write(f"{datetime.now(UTC).isoformat()} {done}\n")

    def _draw(self) -> str:
        """Strike a random process: first draw a kind, then a process; return what was struck."""
        kinds: dict[str, list[Target]] = {}
        for target in self._league.targets():
            kinds.setdefault(target.kind, []).append(target)
        names = sorted(set(kinds) - self._spared)
        if not names:
            return ""
        target = self._chance.choice(kinds[self._chance.choice(names)])
        pause = 0.0 if self._chance.random() < 0.7 else self._chance.uniform(0.5, 8.0)
        return f"{'stop' if pause else 'kill'} {target.kind}" if strike(target, pause) else ""

    def _aim(self) -> str:
        """Strike in the middle of a transaction or a stream; return what was struck."""
        number = self._chance.randrange(len(POINTS) + 1)
        if number == len(POINTS):
            return self._aim_at_stream()
        url = self._league.database_url
        way = self._chance.choice(WAYS)
        pause = self._chance.uniform(0.5, 8.0)
        among = [each for each in self._league.targets() if each.kind not in self._spared]
        struck = url and strike_at(url, number, way, pause=pause, seconds=_AIM_SECONDS, among=among)
        return f"{way}, {POINTS[number].name}: {struck}" if struck else ""

    def _aim_at_stream(self) -> str:
        self._watcher.received.clear()
        if not self._watcher.received.wait(_AIM_SECONDS):
            return ""
        kind = self._chance.choice(("gateway", "front"))
        target = next((each for each in self._league.targets() if each.kind == kind), None)
        return f"kill at {_STREAM}: {kind}" if target and strike(target, 0.0) else ""

    def _strike_each(self) -> dict[str, float]:
        """Kill one process of each kind, one after the other; return the seconds until ready."""
        seconds: dict[str, float] = {}
        league = self._league
        league.await_ready()
        for kind in sorted({target.kind for target in league.targets()} - self._spared):
            target = next((each for each in league.targets() if each.kind == kind), None)
            if target is None or not strike(target, 0.0):
                continue
            self._strikes[kind] += 1
            began = time.monotonic()
            time.sleep(0.3)
            league.start_again()
            since = league.await_ready(steady_seconds=STEADY_SECONDS)
            seconds[kind] = round(since - began, 1)
            print(f"{kind}: ready after {seconds[kind]} s", flush=True)
            if seconds[kind] > (most := MAX_READY_SECONDS.get(kind, 10.0)):
                self._found.append(f"{kind}: ready after {seconds[kind]} s, more than {most:.0f} s")
        return seconds


def _confirmed(people: list[Person]) -> dict[str, int]:
    """Return how many rows people's confirmed calls have made, by their name in `checking`."""
    counts: Counter[str] = Counter()
    for person in people:
        counts.update(person.counts)
    return {
        "versions": counts["versions"],
        "comparisons": counts["comparisons"],
        "void marks": counts["void marks"],
        "decisions": counts["void marks"],
        "tournaments": counts["tournaments"],
        "short-lived tokens": counts["tokens"] - counts["revoked"],
    }


if __name__ == "__main__":
    sys.exit(main())
