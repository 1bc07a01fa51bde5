"""Memory and processor time of a league at rest, by part.

    benchmarks/idle.py --seconds 120        # starts its own league
    benchmarks/idle.py --pid PID            # measures the league of this supervisor

At rest no bot can play but house bots, which have stopped. The script waits until no match is left
and none has been played for 13 minutes. The league is at rest from 60 s on (`league/activity.py`),
and workers sleep from 120 s on (`devserver/sleep.py`). Ten minutes after its start the league wakes
once, for about two minutes: beat then queues the tasks that run once an hour at rest. The script's
own league has four quick house bots and no pauses; `--no-wait` measures a league as it is.

- Memory is the proportional set size: pages that processes share count once. Files that another
  league on the machine maps too count only in part, so the script also prints the sum with these
  files in full.
- Processor time counts past processes too, in hundredths of a second, and is a share of one core.
- Wake-ups are the times per second that a thread began to run again after it had waited.

References: the limits of 350 MB and 2 %, and one process that has loaded the league's code.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.killing.league import League
from benchmarks.killing.targets import Target, targets
from benchmarks.serving import memory_kib

MAX_MEGABYTES = 350
MAX_PERCENT = 2.0
BOTS = "house-random,house-thumb,house-random-2,house-thumb-2"
NO_PAUSE = "from league.models import Ladder; Ladder.objects.update(idle_pause_seconds=0)"
_QUIET_SECONDS = 780.0
_REST_SECONDS = 1800.0
_LOAD = "import sys, {}; print(flush=True); sys.stdin.read()"


class Use(NamedTuple):
    """What a process has used: memory in KiB, processor time in seconds, wake-ups."""

    kib: int
    cpu: float
    wakes: int


def main() -> int:
    """Run the benchmark; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--port", type=int, default=8177)
    parser.add_argument("--pid", type=int, help="of a supervisor that runs, on the port")
    parser.add_argument("--directory", type=Path, help="keeps the league's data for the next run")
    parser.add_argument("--no-wait", action="store_true", help="measure without waiting for rest")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="league-idle-") as directory:
        league = League(
            options.directory or Path(directory) / "var", options.port, {"HOUSE_BOTS": BOTS}
        )
        with _measured(league, options.pid) as supervisor:
            if not options.no_wait:
                await_rest(league)
            before, began = uses(supervisor), time.monotonic()
            time.sleep(options.seconds)
            after, seconds = uses(supervisor), time.monotonic() - began
            alone = alone_kib(after) / 1024
            reference = loaded_kib()
            is_at_rest = _playing(league)[0] == 0
    print_table(before, after, seconds, reference)
    print(f"{'sum, files in full':26}{alone:8.1f}")
    if not is_at_rest:
        print("This league was not at rest: it has matches to play.")
    return 0


@contextmanager
def _measured(league: League, pid: int | None) -> Iterator[int]:
    """Yield the pid of the supervisor to measure, of a league of our own if none is given."""
    if pid is not None:
        yield pid
        return
    league.start()
    try:
        league.manage(
            "from league.models import Ladder; Ladder.objects.update(idle_pause_seconds=0)"
        )
        yield league.pid
    finally:
        league.stop()


def await_rest(league: League) -> None:
    """Wait until no match is left, and the league has been at rest for a while."""
    deadline = time.monotonic() + _REST_SECONDS
    last, since = _playing(league), time.monotonic()
    while last[0] or time.monotonic() - since < _QUIET_SECONDS:
        if time.monotonic() > deadline:
            raise SystemExit(f"not at rest after {_REST_SECONDS:.0f} s")
        time.sleep(5)
        now = _playing(league)
        if now[0] or now[1] > last[1]:  # the number shrinks when an hour is over
            since = time.monotonic()
        last = now


def _playing(league: League) -> tuple[int, int]:
    """Return the number of matches that are left, and of those finished in the last hour."""
    values = league.metrics()
    left = sum(value for name, value in values.items() if "matches_unfinished" in name)
    return int(left), int(values["league_matches_finished_last_hour"])


def uses(supervisor: int) -> dict[Target, Use]:
    """Return what each process of a league has used."""
    found = {}
    for target in targets(supervisor):
        with suppress(OSError, IndexError):
            found[target] = Use(_own_kib(target.pid), _cpu(target.pid), _wakes(target.pid))
    return found


def _own_kib(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def alone_kib(found: Iterable[Target]) -> int:
    """Return the memory of processes in KiB, if no others map their files."""
    anonymous, rss, files = 0, 0, Counter[str]()
    for target in found:
        name = ""
        with suppress(OSError):
            for line in Path(f"/proc/{target.pid}/smaps").read_text().splitlines():
                words = line.split()
                if "-" in words[0]:
                    mapped = len(words) > 5 and words[5].startswith("/") and words[4] != "0"
                    name = f"{words[5]} {words[2]}" if mapped and "/dev/" not in words[5] else ""
                    rss = 0
                elif words[0] == "Rss:":
                    rss = int(words[1])
                elif words[0] == "Pss:" and not name:
                    anonymous += int(words[1])
                elif words[0] == "Private_Dirty:" and name:
                    anonymous += int(words[1])
                    files[name] = max(files[name], rss - int(words[1]))
    return anonymous + files.total()


def _cpu(pid: int) -> float:
    """Return the processor time of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _wakes(pid: int) -> int:
    wakes = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        for line in (task / "status").read_text().splitlines():
            if line.startswith("voluntary_ctxt_switches"):
                wakes += int(line.split()[1])
    return wakes


def loaded_kib() -> int:
    """Return the memory of one process that has loaded the league's code, in KiB."""
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "SECRET_KEY": "none",
        "DATABASE_URL": "postgresql:///none",
        "REDIS_URL": "redis://localhost/0",
    }
    with subprocess.Popen(
        [sys.executable, "-c", _LOAD.format("config.loading as it; it.load()")],
        env=environment,
        cwd=Path(__file__).parents[1],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout
        process.stdout.readline()
        return memory_kib(process.pid)


def print_table(
    before: dict[Target, Use], after: dict[Target, Use], seconds: float, reference: int
) -> None:
    """Print the use of each part, and the sum beside the references.

    Args:
        before: what each process had used at the start.
        after: the same at the end.
        seconds: the time between.
        reference: memory of one process that has loaded the code, in KiB.
    """
    count = Counter(target.kind for target in after)
    megabytes, percent, wakes = (defaultdict[str, float](float) for _ in range(3))
    for target, use in after.items():
        megabytes[target.kind] += use.kib / 1024
        percent[target.kind] += 100 * use.cpu / seconds
        wakes[target.kind] += use.wakes / seconds
    for target, use in before.items():
        # What an ended process had used by then is in the past processes of its parent.
        percent[target.kind] -= 100 * use.cpu / seconds
        wakes[target.kind] -= use.wakes / seconds if target in after else 0
    print(f"{seconds:.0f} s at rest, load {os.getloadavg()[0]:.1f} from all on this machine\n")
    print(f"{'part':16}{'processes':>10}{'MB':>8}{'% of a core':>13}{'wake-ups/s':>12}")
    for kind, size in sorted(megabytes.items(), key=lambda each: -each[1]):
        row = f"{kind:16}{count[kind]:10}{size:8.1f}{percent[kind]:13.2f}"
        print(f"{row}{wakes[kind]:12.1f}")
    total, share = sum(megabytes.values()), sum(percent.values())
    row = f"{'sum':16}{sum(count.values()):10}{total:8.1f}{share:13.2f}"
    print(f"{row}{sum(wakes.values()):12.1f}")
    print(f"{'limit':16}{'':10}{MAX_MEGABYTES:8}{MAX_PERCENT:13.2f}")
    print(f"{'of the limit':16}{'':10}{total / MAX_MEGABYTES:8.2f}{share / MAX_PERCENT:13.2f}")
    print(f"{'of one process with the code':26}{total * 1024 / reference:8.2f}")


if __name__ == "__main__":
    sys.exit(main())
