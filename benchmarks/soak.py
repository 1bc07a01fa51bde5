"""Runs a league at full load for hours; checks that nothing grows that should not.

Usage: python benchmarks/soak.py [--hours 6] [--warm-up 30] [--every 60] [--samples FILE]

The load: house bots on the ladders, remote bots that answer at once, an uploaded bot whose versions
are compared, and a spectator. At each sample it notes, for each kind of process, how many there
are, the anonymous memory of the largest one (what it does not share with files or other processes)
and the open descriptors of all; Valkey's memory and its number of keys; the size of each table; the
disk by place (database, its log for recovery, logs, temporary files); and the finished matches.
Growth is the median of the last fifth of the samples over that of the first fifth after the
warm-up. The benchmark exits with 1 if

- the memory of a kind, or of Valkey, grows by more than 5 % and 2 MiB,
- the descriptors of a part grow by more than 5 % and 4, or its number of processes differs at the
  end (its children are left out: a pool starts and ends them as it needs them, and so are sandboxes
  with their bots),
- temporary files, or the tables whose rows go with the end of a match, grow by more than 5 % and
  2 MiB,
- no match ends in the last fifth of the samples,
- or the log has an error.

Tables with a row for each match grow, of course: the last lines state their bytes for each match.
`--max-match-bytes` makes the benchmark fail above a budget; it counts tables and their indexes.
The table of turns does not count: its rows stay for some days, about 240 bytes for each move.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.killing.bots import Bots
from benchmarks.killing.league import League
from benchmarks.killing.people import Comparer
from benchmarks.killing.targets import targets
from benchmarks.killing.watcher import Watcher

MAX_GROWTH = 1.05
MAX_KIB = 2048
MAX_DESCRIPTORS = 4
COME_AND_GO = {"sandbox", "zygote", "bot"}
"""Kinds of processes, besides children, whose number is that of the bots in play."""
SHORT_LIVED = ("league_livemove",)
"""Tables whose rows go with the end of their match."""
TURNS = "league_turn"
"""The table of turns. It grows with the moves: turns stay for `MAX_OUTPUT_DAYS` (docs/data.md)."""
PLACES = {"postgres/base": "database", "postgres/pg_wal": "recovery log", "log": "logs"}
_TABLES = """
import json
from django.conf import settings
from django.db import connection
import redis
from league.models import Match
with connection.cursor() as cursor:
    cursor.execute("SELECT relname, pg_total_relation_size(oid) FROM pg_class "
                   "WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace")
    tables = dict(cursor.fetchall())
client = redis.Redis.from_url(settings.REDIS_URL)
valkey, keys = client.info("memory")["used_memory"], client.dbsize()
matches = Match.objects.finished().count()
print(json.dumps({"tables": tables, "valkey": valkey, "keys": keys, "matches": matches}))
"""

Sample = dict[str, Any]
"""``minutes``, ``kinds`` (each with ``count``, ``kib`` and ``descriptors``), ``disk`` (bytes by
place), ``tables`` (bytes by name), ``valkey`` (bytes), ``keys`` and ``matches``."""


def main() -> int:
    """Run the benchmark; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--hours", type=float, default=6.0)
    parser.add_argument("--warm-up", type=float, default=30.0, help="minutes")
    parser.add_argument("--every", type=float, default=60.0, help="seconds between two samples")
    parser.add_argument("--samples", type=Path, help="a file for the samples, a JSON object a line")
    parser.add_argument("--port", type=int, default=random.randrange(20000, 32768))
    parser.add_argument("--max-match-bytes", type=float, help="in tables and indexes")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # it ends the league too
    if options.warm_up >= options.hours * 60:
        parser.error(f"--warm-up {options.warm_up:g} is not shorter than --hours {options.hours:g}")
    with tempfile.TemporaryDirectory(prefix="league-soak-") as temporary:
        league = League(Path(temporary) / "var", options.port)
        try:
            return run(league, options)
        finally:
            league.kill()


def run(league: League, options: argparse.Namespace) -> int:
    """Take samples for some hours, and judge them; return the exit status."""
    league.start()
    bots = Bots(league)
    comparer, watcher = Comparer(league.url, "comparer"), Watcher(league.url, 1)
    comparer.start()
    samples: list[Sample] = []
    began = time.monotonic()
    while (minutes := (time.monotonic() - began) / 60) < options.hours * 60:
        samples.append({"minutes": round(minutes, 1), **sample(league)})
        if options.samples:
            with options.samples.open("a") as file:
                file.write(json.dumps(samples[-1]) + "\n")
        print(f"{minutes:6.0f} min: {samples[-1]['matches']} matches", flush=True)
        time.sleep(options.every)
    comparer.stop()
    watcher.stop()
    bots.stop()
    after = [each for each in samples if each["minutes"] >= options.warm_up]
    found = judge(after, options.max_match_bytes)
    found += [*bots.problems, *comparer.problems, *watcher.problems]
    found += [f"after the stop alive: {left}" for left in league.stop()]
    counts = league.log_counts()
    found += [f"log: {counts[kind]} {kind}" for kind in ("errors", "tracebacks") if counts[kind]]
    print(json.dumps({**bots.counts(), "log": counts}, indent=1))
    for each in found:
        print(f"VIOLATION: {each}")
    print("nothing grows that should not" if not found else f"{len(found)} violations")
    return 1 if found else 0


def sample(league: League) -> Sample:
    """Measure the league now."""
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for target in targets(league.pid):
        with suppress(OSError):  # it has ended
            kib = _anonymous_kib(target.pid)
            descriptors = sum(1 for _ in Path(f"/proc/{target.pid}/fd").iterdir())
            kind = kinds[target.kind]
            kind["count"] += 1
            kind["kib"] = max(kind["kib"], kib)
            kind["descriptors"] += descriptors
    disk = {name: _size(league.directory / place) for place, name in PLACES.items()}
    disk["all"] = _size(league.directory)
    disk["temporary files"] = sum(map(_size, league.temporary_places()))
    return {"kinds": kinds, "disk": disk, **json.loads(league.manage(_TABLES))}


def _anonymous_kib(pid: int) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss_Anon:"):
            return int(line.split()[1])
    return 0


def _size(directory: Path) -> int:
    total = 0
    for place, _, names in os.walk(directory):
        for name in names:
            with suppress(OSError):  # it is deleted
                total += (Path(place) / name).lstat().st_blocks * 512
    return total


def judge(samples: Sequence[Sample], max_match_bytes: float | None = None) -> list[str]:
    """Print what has grown; return what should not have.

    Args:
        samples: those after the warm-up, in order; at least two.
        max_match_bytes: the most that a match may take in tables and indexes.
    """
    if len(samples) < 2:
        return [f"only {len(samples)} samples after the warm-up"]
    part = max(1, len(samples) // 5)
    first, last = samples[:part], samples[-part:]
    found: list[str] = []
    if last[-1]["matches"] <= samples[-part - 1]["matches"]:  # nothing grows in a league at a halt
        found.append("no match ended in the last fifth of the time")
    print(f"\n{'kind':18}{'processes':>12}{'MiB, largest':>20}{'descriptors':>18}")
    for kind in sorted({kind for each in samples for kind in each["kinds"]}):
        row = f"{kind:18}"
        for name, slack in (("count", 0), ("kib", MAX_KIB), ("descriptors", MAX_DESCRIPTORS)):
            before, after = (
                median(each["kinds"].get(kind, {}).get(name, 0) for each in group)
                for group in (first, last)
            )
            scale = 1024 if name == "kib" else 1
            row += f"{before / scale:>10.0f} {after / scale:>7.0f}"
            if (kind.endswith(" child") or kind in COME_AND_GO) and name != "kib":
                continue  # a pool starts and ends its processes as it needs them
            has_grown = after > before * MAX_GROWTH and after - before > slack
            if has_grown or (name == "count" and after != before):
                found.append(f"{kind}: {name} {before:.0f} -> {after:.0f}")
        print(row)
    steady: dict[str, Callable[[Sample], float]] = {
        "valkey's data": lambda each: each["valkey"],
        "temporary files": lambda each: each["disk"]["temporary files"],
        **{table: partial(_table, table) for table in SHORT_LIVED},
    }
    for name, read in steady.items():
        before, after = (median(map(read, group)) / 1024 for group in (first, last))
        print(f"{name}: {before:.0f} -> {after:.0f} KiB")
        if after > before * MAX_GROWTH and after - before > MAX_KIB:
            found.append(f"{name}: {before:.0f} -> {after:.0f} KiB")
    print(f"valkey's keys: {first[0]['keys']} -> {last[-1]['keys']}")
    matches = max(1, samples[-1]["matches"] - samples[0]["matches"])
    print(f"{matches} matches; bytes a match on disk, by place:")
    for place, size in samples[-1]["disk"].items():
        print(f"  {place:32}{(size - samples[0]['disk'][place]) / matches:+10.0f}")
    print("and by table, with indexes:")
    sizes = {
        name: (size - samples[0]["tables"].get(name, 0)) / matches
        for name, size in samples[-1]["tables"].items()
    }
    for name, size in sorted(sizes.items(), key=lambda each: -abs(each[1]))[:10]:
        print(f"  {name:32}{size:+10.0f}")
    total = sum(size for name, size in sizes.items() if name != TURNS)
    print(f"  {'all tables but that of turns':32}{total:+10.0f}")
    if max_match_bytes is not None and total > max_match_bytes:
        found.append(f"a match takes {total:.0f} bytes, more than {max_match_bytes:.0f}")
    return found


def _table(name: str, sample: Sample) -> float:
    return float(sample["tables"].get(name, 0))


if __name__ == "__main__":
    sys.exit(main())
