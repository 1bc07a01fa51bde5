"""The share of time in which workers play, with an owner's bot on both ladders.

Usage: python busy_workers.py [--seconds 40] [--workers 2] [--pause 0]

The league is new: two ladders, the house bots without house-search, and one uploaded bot. Workers,
clock and beat run as `make up` starts them. The reference is a worker that plays all the time.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path

from benchmarks import hosted_matches, serving

CLOCK = ("worker", "--queues", "clock", "--pool", "threads", "--concurrency", "4")
SEATS = ("worker", "--queues", "control,seats", "--pool", "threads", "--concurrency", "32")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--pause", type=float, default=0, help="round_pause_seconds")
    options = parser.parse_args()
    with serving.league() as directory, ExitStack() as stack:
        set_up(options.pause)
        play = ("worker", "--queues", "play", "--concurrency", str(options.workers))
        beat = ("beat", "--pidfile=", "--schedule", str(directory / "beat"))
        for name, command in (("play", play), ("clock", CLOCK), ("seats", SEATS), ("beat", beat)):
            stack.enter_context(celery(directory / f"{name}.log", *command))
        began = first_match()
        empty = watch_queue(options.seconds)
        report(began, options)
        print(f"the queue was empty {empty:.0%} of the time")


def set_up(pause: float) -> None:
    from django.conf import settings

    from league.competitions import enter_ladder
    from league.models import Ladder, Schedule, Tournament
    from league.setup import set_up_league

    settings.HOUSE_BOTS = [name for name in settings.HOUSE_BOTS if "search" not in name]
    set_up_league()
    Tournament.objects.all().delete()
    Schedule.objects.all().delete()
    Ladder.objects.update(round_pause_seconds=pause)
    guest, *_ = hosted_matches.make_bots()
    for ladder in Ladder.objects.all():
        enter_ladder(ladder=ladder, bot=guest)


@contextmanager
def celery(log: Path, *command: str) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*(sys.executable, "-m", "celery", "-A", "config"), *command],
            cwd=serving.CHECKOUT,
            stdout=output,
            stderr=output,
        )
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def first_match() -> float:
    """Wait until a worker starts a match; return that time in seconds since the epoch."""
    from league.models import Match

    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if Match.objects.filter(status="finished").exists():
            return time.time()
        time.sleep(0.1)
    sys.exit("no match was played in a minute")


def watch_queue(seconds: float) -> float:
    """Return the share of time in which the queue was empty."""
    from config.celery import app

    until = time.monotonic() + seconds
    looks: list[bool] = []
    with app.connection_for_read() as connection:
        client = connection.default_channel.client
        while time.monotonic() < until:
            looks.append(client.llen("play") == 0)
            time.sleep(0.02)
    return sum(looks) / len(looks)


def report(began: float, options: argparse.Namespace) -> None:
    from django.db import connection
    from django.db.models import Count, Max
    from django.utils import timezone

    from league.models import Ladder, Match, Round

    now = timezone.now()
    start = now - timedelta(seconds=time.time() - began)
    wall = (now - start).total_seconds()
    played = 0.0
    rows = Match.objects.filter(finished_at__gt=start).values_list("started_at", "finished_at")
    for started, finished in rows:
        if started and finished:
            played += (finished - max(started, start)).total_seconds()
    for started in Match.objects.filter(status="playing").values_list("started_at", flat=True):
        if started:
            played += (now - max(started, start)).total_seconds()
    count = len(rows)
    print(f"{count} matches in {wall:.0f} s; workers play {played / wall / options.workers:.0%}")
    for ladder in Ladder.objects.all():
        of = Match.objects.filter(finished_at__gt=start, block__round__ladder=ladder)
        rounds = Round.objects.filter(ladder=ladder)
        done, last = rounds.exclude(applied_at=None).count(), rounds.aggregate(Max("number"))
        opened = last["number__max"]
        print(f"{ladder.slug:12} {of.count():5} matches, {done} of {opened} rounds applied")
        blocks = of.values("block__bots__bot__name").annotate(n=Count("block", distinct=True))
        print("   blocks:", ", ".join(f"{r['block__bots__bot__name']} {r['n']}" for r in blocks))
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        print(f"database: {cursor.fetchone()[0] / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
