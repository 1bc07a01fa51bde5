"""A turn's way under load: from the answer to a move to the arrival of the turn that it opens.

Usage: python turns_way.py [--clients 8] [--share 0.5] [--seconds 10]

Clients make moves as in `service_moves`, one per request. First they make as many as they can, then
a share of that, at random times. Each client plays one match after another, so that some match ends
at any time. Meanwhile two bots play each other: one moves, the other one waits for its turn.
"""

import argparse
import json
import math
import random
import threading
import time
from itertools import islice
from pathlib import Path

from benchmarks import prepared_moves, service_moves, serving
from devserver import up

MAX_PACE = 2500
"""More moves a second than the clients can make."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--share", type=float, default=0.5)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    with serving.league() as directory:
        at = directory / "gateway.sock"
        tables = [prepared_moves.make_bots(number) for number in range(options.clients)]
        pair = prepared_moves.make_bots(options.clients)[:2]
        with serving.running(up.gateway(at), at, directory / "gateway.log"):
            service_moves.warm_up(at, options.clients)
            most = load(at, tables, options.seconds / 2, pace=0.0)
            print(f"{options.clients} clients make {most:.0f} moves/s")
            for share in (0.0, options.share):
                ways = measure(at, pair, tables, options.seconds, share * most)
                p50, p99 = (serving.at_share(ways, each) for each in (0.5, 0.99))
                print(
                    f"at {share:.0%} of that: {len(ways)} turns arrive after {p50:.1f} ms (p50), "
                    f"{p99:.1f} ms (p99)",
                    flush=True,
                )


def load(at: Path, tables: list[list[prepared_moves.Bot]], seconds: float, pace: float) -> float:
    """Make moves for some seconds; return the moves made in a second.

    Args:
        at: the socket of the gateway.
        tables: the bots of each client.
        seconds: how long.
        pace: moves in a second of all clients together; 0 for as many as possible.
    """
    sources = []
    for bots in tables:
        source = prepared_moves.requests(bots, "twelve-days", "single", matches_at_once=1)
        requests = (request for request, moves in source if moves)
        sources.append(
            list(islice(requests, math.ceil(seconds * (pace or MAX_PACE) / len(tables))))
        )
    start = threading.Barrier(len(tables))
    made = [0] * len(tables)
    took = [0.0] * len(tables)

    def run(number: int) -> None:
        client = serving.Client(at)
        gaps = random.Random(number)
        due = 0.0
        start.wait()
        began = time.perf_counter()
        for sent in sources[number]:
            now = time.perf_counter() - began
            if now > seconds:
                break
            if pace:
                due += gaps.expovariate(pace / len(tables))
                time.sleep(max(0.0, due - now))
            status, body = client.send(sent)
            assert status == 200, body
            made[number] += 1
            took[number] = time.perf_counter() - began
        client.close()

    threads = [threading.Thread(target=run, args=[number]) for number in range(len(tables))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(count / time_taken for count, time_taken in zip(made, took, strict=True))


def measure(
    at: Path,
    pair: list[prepared_moves.Bot],
    tables: list[list[prepared_moves.Bot]],
    seconds: float,
    pace: float,
) -> list[float]:
    """Return the milliseconds of each turn's way, while clients make moves at a pace."""
    over = threading.Event()
    background = threading.Thread(target=_load_until, args=(at, tables, seconds, pace, over))
    background.start()
    ways: list[float] = []
    while not over.is_set():
        ways += play(at, pair, over)
    background.join()
    return ways


def _load_until(
    at: Path,
    tables: list[list[prepared_moves.Bot]],
    seconds: float,
    pace: float,
    over: threading.Event,
) -> None:
    if pace:
        load(at, tables, seconds, pace)
    else:
        time.sleep(seconds)
    over.set()


def play(at: Path, pair: list[prepared_moves.Bot], over: threading.Event) -> list[float]:
    """Play a match in which each bot waits for its turns; return the ways in milliseconds."""
    from django.utils import timezone

    from league import play as league_play

    match = league_play.open_unrated_match(
        game="partridge",
        rules="eagle-short",
        versions=[bot.version for bot in pair],
        move_seconds=3600,
    )
    league_play.open_live(match.pk, timezone.now())
    answered: list[float] = []
    ways: list[float] = []
    ended = threading.Event()

    def run(bot: prepared_moves.Bot) -> None:
        waiting, moving = serving.Client(at), serving.Client(at)
        while not ended.is_set() and not over.is_set():
            _, body = waiting.send(serving.request("GET", "/api/v1/turns?wait=1", bot.token))
            arrived = time.perf_counter()
            turns = json.loads(body)["turns"]
            if not turns and answered and arrived - answered[-1] > 0.9:
                ended.set()
            for turn in turns:
                if answered:
                    ways.append(max(0.0, arrived - answered[-1]) * 1000)
                move = {"turn": turn["turn"], "move": turn["observation"]["legal_moves"][0]}
                path = f"/api/v1/matches/{turn['match']}/moves"
                moving.send(serving.request("POST", path, bot.token, json.dumps(move).encode()))
                answered.append(time.perf_counter())
        waiting.close()
        moving.close()

    threads = [threading.Thread(target=run, args=[bot]) for bot in pair]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    from league.models import Match

    Match.objects.filter(pk=match.pk, status="playing").update(status="void")
    return ways


if __name__ == "__main__":
    main()
