"""Hosted matches per hour, stored and rated, and the share of time that is not the bots'.

Usage: python hosted_matches.py [--blocks 100] [--game twelve-days] [--workers 2]
    [--starts fresh fork] [--rounds 2]

Bots are rules of thumb, uploaded as their file. They start as forks of a zygote, and as new
Pythons, in turns; each round plays the same number of blocks. The reference is the same referee and
the same bots in one process, without sandbox, database and queue.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import serving

RULES = {"twelve-days": "calliope", "partridge": "eagle-short"}
SEATS = 4
BOTS = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--blocks", type=int, default=100)
    parser.add_argument("--game", choices=RULES, default="twelve-days")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--starts", nargs="+", choices=("fresh", "fork"), default=["fresh", "fork"])
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    with serving.league() as directory:
        bots = make_bots()
        alone = in_one_process(options.game)
        shares(options.game, bots, options.starts)
        found: dict[str, list[float]] = {way: [] for way in options.starts}
        for number in range(options.rounds):
            for way in options.starts:
                slug = f"bench-{way}-{number}"
                with starting(way):
                    found[way].append(by_workers(directory, options, bots, slug))
        print(f"in one process, no sandbox  {alone:10,.0f} matches an hour")
        hosted = {way: median(figures) for way, figures in found.items()}
        for way, figure in hosted.items():
            print(
                f"hosted, {options.workers} workers, {way:5}   {figure:10,.0f} matches an hour, "
                f"{figure / alone:.3f} times that"
            )
        if len(hosted) > 1:
            print(f"fork / fresh: {hosted['fork'] / hosted['fresh']:.2f}")


@contextmanager
def starting(way: str) -> Iterator[None]:
    """Let bots start in one way, in this process and in workers that start meanwhile."""
    from django.test import override_settings

    from league.bots import jails

    os.environ["SANDBOX_FORKS"] = "yes" if way == "fork" else "no"
    with override_settings(SANDBOX_FORKS=way == "fork"):
        jails.distrust()
        yield


def make_bots() -> list[Any]:
    from django.contrib.auth.models import User

    from bots_sdk.reference import thumb_bot
    from league import bots
    from league.models import Bot, BotVersion

    source = Path(thumb_bot.__file__).read_bytes()
    made = []
    for number in range(BOTS):
        owner = User.objects.create(username=f"owner-{number}")
        bot, _ = bots.create_bot(owner=owner, name=f"bot-{number}", kind=Bot.Kind.HOSTED)
        version = bots.upload(bot=bot, data=source)
        BotVersion.objects.filter(pk=version.pk).update(state="ready")
        bot.current = version
        bot.save()
        made.append(bot)
    return made


def in_one_process(game: str, matches: int = 100) -> float:
    """Return matches per hour in this process, without a sandbox."""
    from bots_sdk.reference import thumb_bot
    from engine.referee import play

    began = time.perf_counter()
    for number in range(matches):
        play(game, RULES[game], number.to_bytes(32, "big"), [thumb_bot.choose] * SEATS)
    return matches / (time.perf_counter() - began) * 3600


def shares(game: str, bots: list[Any], ways: list[str], matches: int = 20) -> None:
    """Print how one process spends the time of a hosted match; the ways to start play in turns."""
    from league import play
    from league.bots import hosted_players, jails
    from league.play import hosted

    proven = {}
    for way in ways:
        with starting(way):
            proven[way] = jails.jail()
    spent = {way: {"starting": 0.0, "thinking": 0.0} for way in ways}
    totals = dict.fromkeys(ways, 0.0)
    now = ways[0]

    def timed(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            try:
                return call(*args, **kwargs)
            finally:
                spent[now][name] += time.perf_counter() - began

        return run

    kept = {name: vars(hosted_players.HostedBot.__mro__[at])[name] for name, at in METHODS}
    for name, kind in (("__init__", "starting"), ("load", "starting"), ("__call__", "thinking")):
        setattr(hosted_players.HostedBot, name, timed(kind, kept[name]))
    for _ in range(matches):
        for now in ways:
            jails._known = (float("inf"), proven[now])
            match = play.open_unrated_match(
                game=game, rules=RULES[game], versions=[bot.current for bot in bots[:SEATS]]
            )
            began = time.perf_counter()
            hosted.play_match(match.pk)
            totals[now] += time.perf_counter() - began
    jails.distrust()
    for name, method in kept.items():
        setattr(hosted_players.HostedBot, name, method)
    for way, total in totals.items():
        print(f"a match of {game}, {way}: {total / matches * 1000:.0f} ms; of this", end="")
        print("".join(f", {name} {each / total:.0%}" for name, each in spent[way].items()), end="")
        print(f", league {1 - sum(spent[way].values()) / total:.0%}")


METHODS = (("__init__", 0), ("load", 0), ("__call__", 1))
"""Methods of a hosted bot, each with the position of its class in the method resolution order."""


def by_workers(directory: Path, options: argparse.Namespace, bots: list[Any], slug: str) -> float:
    """Return matches per hour, from the first task to the last row of the ledger."""
    from django.db import transaction

    from engine.pairing import Table
    from league import play, ratings, tasks
    from league.competitions.rounds import open_round
    from league.models import Ladder, Match

    ladder = Ladder.objects.create(
        slug=slug, title=slug, game=options.game, rules=RULES[options.game], seats=SEATS
    )
    rounds = []
    with transaction.atomic():
        for number in range(options.blocks // 4):
            seats = [bots[(number + at) % BOTS].pk for at in range(BOTS)]
            tables = [Table(tuple(sorted(seats[at : at + SEATS])), True) for at in (0, SEATS)] * 2
            rounds.append(open_round(ladder=ladder, tables=tables, seed=number.to_bytes(32, "big")))
    matches = Match.objects.filter(block__round__ladder=ladder)
    count = matches.count()
    with worker(directory, options.workers):
        began = time.perf_counter()
        while matches.exclude(status="finished").exists():
            for match_id in play.claim_due_hosted():
                tasks.play_match.delay(match_id)
            time.sleep(0.2)  # the queue is short, and this process takes time from the workers
        for round_id in ratings.rounds_to_apply():
            ratings.apply_round(round_id)
        return count / (time.perf_counter() - began) * 3600


@contextmanager
def worker(directory: Path, processes: int) -> Iterator[None]:
    """Run a worker as `make up` does; enter the block when it takes tasks."""
    from league import heartbeats

    heartbeats.worker_was_started()  # one before
    log = directory / "worker.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "celery", "-A", "config", "--quiet", "worker"),
                *("--queues", "play", "--concurrency", str(processes), "--loglevel", "WARNING"),
                *("--without-gossip", "--without-mingle"),
            ],
            cwd=serving.CHECKOUT,
            stdout=output,
            stderr=output,
        )
    try:
        until = time.monotonic() + 120
        while not heartbeats.worker_was_started():
            if process.poll() is not None or time.monotonic() > until:
                sys.exit(f"the worker does not start:\n{log.read_text()[-2000:]}")
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
