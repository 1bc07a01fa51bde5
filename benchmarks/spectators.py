"""Spectators: the delay of events to many streams of one match, and a ladder page with readers.

Usage: python spectators.py [--watchers 0 50 200] [--pace 4] [--readers 1000] [--every 30]

Two remote bots play one match at a pace; the watchers follow it by its events. The delay is the
time from the answer to a move to the arrival of its event. The reference for the bots' moves is the
row without watchers. Each reader loads the ladder's page, and again after so many seconds; times
count from the moment when a reader wants the page.
"""

import argparse
import asyncio
import json
import multiprocessing
import random
import re
import resource
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import prepared_moves, service_moves, serving, standings
from devserver import up

RULES = "eagle-short"
_ID = re.compile(rb"^id: ?([0-9]+|end)\r?$", re.MULTILINE)


def main() -> None:
    """Measure each number of watchers, then the readers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--watchers", type=int, nargs="+", default=[0, 50, 200])
    parser.add_argument("--pace", type=float, default=4.0, help="moves per second")
    parser.add_argument("--readers", type=int, default=1000)
    parser.add_argument("--every", type=float, default=30.0, help="seconds between two loads")
    parser.add_argument("--seconds", type=float, default=30.0, help="how long readers read")
    parser.add_argument("--bots", type=int, default=1000, help="bots of the ladder")
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with serving.league() as directory:
        at = directory / "gateway.sock"
        with serving.running(up.gateway(at), at, directory / "gateway.log") as pid:
            service_moves.warm_up(at, 2)
            pair = prepared_moves.make_bots(0)[:2]
            play(at, pair, 0, options.pace)  # each part of the gateway has run once
            print("watchers     a move, p50     p99     its event, p50     p99   CPU")
            for watchers in options.watchers:
                used, began = serving.cpu_seconds(pid), time.monotonic()
                moves, delays = play(at, pair, watchers, options.pace)
                cpu = (serving.cpu_seconds(pid) - used) / (time.monotonic() - began)
                print(f"{watchers:>8} {_quantiles(moves):>20} {_quantiles(delays):>23} {cpu:5.0%}",
                      flush=True)  # fmt: skip
        read(directory, options)


def play(
    at: Path, pair: list[prepared_moves.Bot], watchers: int, pace: float
) -> tuple[list[float], list[float]]:
    """Play a match before watchers; return the milliseconds of each move and of each event."""
    from django.utils import timezone

    from league import play as league_play

    versions = [bot.version for bot in pair]
    match = league_play.open_unrated_match(
        game="partridge", rules=RULES, versions=versions, move_seconds=3600
    )
    league_play.open_live(match.pk, timezone.now())
    process = start_watchers(at, match.pk, watchers) if watchers else None
    took, answers = _make_moves(at, pair, pace)
    if process is None:
        return took, []
    arrived: list[tuple[int, float]] = process()
    match.refresh_from_db()
    answered = _answered(match.record.moves, answers)
    return took, [max(0.0, (when - answered[ply]) * 1000) for ply, when in arrived]


def _answered(
    moves: Sequence[tuple[int, str]], answers: list[tuple[str, float]]
) -> dict[int, float]:
    """Return when the move before each ply's event was answered.

    The league plays forced moves itself: their events follow from the last move of a bot.
    """
    found: dict[int, float] = {}
    sent = 0
    for ply, (_, text) in enumerate(moves, 1):
        if sent < len(answers) and answers[sent][0] == text:
            sent += 1
        found[ply] = answers[max(sent - 1, 0)][1]
    if sent < len(answers):
        raise AssertionError(f"the record lacks {len(answers) - sent} of the moves that were sent")
    return found


def _make_moves(
    at: Path, pair: list[prepared_moves.Bot], pace: float
) -> tuple[list[float], list[tuple[str, float]]]:
    """Play to the end; return the milliseconds of each move, and each text with its time."""
    client = serving.Client(at)
    took: list[float] = []
    answers: list[tuple[str, float]] = []
    began = time.perf_counter()
    while True:
        turns: list[tuple[prepared_moves.Bot, Any]] = []
        for bot in pair:
            _, body = client.send(serving.request("GET", "/api/v1/turns?wait=0", bot.token))
            turns += [(bot, turn) for turn in json.loads(body)["turns"]]
        if not turns:
            client.close()
            return took, answers
        for bot, turn in turns:
            time.sleep(max(0.0, began + len(took) / pace - time.perf_counter()))
            move = {"turn": turn["turn"], "move": turn["observation"]["legal_moves"][0]}
            path = f"/api/v1/matches/{turn['match']}/moves"
            sent = serving.request("POST", path, bot.token, json.dumps(move).encode())
            before = time.perf_counter()
            status, body = client.send(sent)
            now = time.perf_counter()
            assert status == 200, body
            took.append((now - before) * 1000)
            answers.append((move["move"], now))


def start_watchers(at: Path, match_id: int, count: int) -> Callable[[], list[tuple[int, float]]]:
    """Start a process with so many streams; return a function that waits for their events."""
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_watch_all, args=(theirs, str(at), match_id, count)
    )
    process.start()
    ours.recv()  # all streams have the deal

    def wait() -> list[tuple[int, float]]:
        found: list[tuple[int, float]] = ours.recv()
        process.join()
        return found

    return wait


def _watch_all(pipe: Any, at: str, match_id: int, count: int) -> None:
    path = f"/api/v1/matches/{match_id}/events"
    request = serving.request("GET", path)
    found: list[tuple[int, float]] = []
    ready = 0

    async def watch() -> None:
        nonlocal ready
        reader, writer = await asyncio.open_unix_connection(at)
        writer.write(request)
        has_deal = False
        while part := await reader.read(65536):
            now = time.perf_counter()
            for name in _ID.findall(part):
                if name == b"end":
                    writer.close()
                    return
                if int(name):
                    found.append((int(name), now))
                elif not has_deal:
                    has_deal = True
                    ready += 1
                    if ready == count:
                        pipe.send("ready")
        raise ConnectionError("a stream ended before its match")

    async def watch_all() -> None:
        await asyncio.gather(*(watch() for _ in range(count)))

    asyncio.run(watch_all())
    pipe.send(found)


def read(directory: Path, options: argparse.Namespace) -> None:
    """Have readers load the page of a ladder at random moments; print how long that takes."""
    standings.fill(options.bots, 100_000)
    standings.analyze()
    at = directory / "web.sock"
    path = f"/ladders/big-{options.bots}/"
    with serving.running(up.web(at), at, directory / "web.log"):
        client = serving.Client(at)
        alone = standings.median(client, path, 30)
        client.close()
        print(f"\nthe page of a ladder with {options.bots} bots, one reader: {alone:.1f} ms (p50)")
        count = round(options.readers * options.seconds / options.every)
        taken = _load(at, serving.request("GET", path), count, options.seconds)
    print(f"{options.readers} readers, one load every {options.every:.0f} s each: "
          f"{_quantiles(taken)} ms (p50, p99)")  # fmt: skip


def _load(at: Path, request: bytes, count: int, seconds: float) -> list[float]:
    """Send requests at random moments; return the milliseconds from each moment to its answer."""
    draw = random.Random(7)
    moments = sorted(draw.uniform(0, seconds) for _ in range(count))
    taken: list[float] = []
    began = time.perf_counter() + 0.5

    def run(own: list[float]) -> None:
        client = serving.Client(at)
        for moment in own:
            time.sleep(max(0.0, began + moment - time.perf_counter()))
            status, body = client.send(request)
            assert status == 200, body[:300]
            taken.append((time.perf_counter() - began - moment) * 1000)
        client.close()

    # More connections than requests at a time: a late answer delays no other reader.
    threads = [threading.Thread(target=run, args=[moments[at::64]]) for at in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken


def _quantiles(values: list[float]) -> str:
    if not values:
        return "-"
    return f"{serving.at_share(values, 0.5):.1f} {serving.at_share(values, 0.99):7.1f}"


if __name__ == "__main__":
    main()
