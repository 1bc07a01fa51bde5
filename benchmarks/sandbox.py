"""The cost of the sandbox: the start of a bot, and a move of it.

Usage: python benchmarks/sandbox.py [--starts 30] [--moves 3000] [--json]

The reference is a Python process without a jail, started with the same flags, that answers each
line of JSON on a pipe with a line of JSON. Both run in turns, so that a busy machine slows both.
The benchmark prints medians and their ratios to the reference.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from random import Random
from statistics import median, quantiles
from time import perf_counter

from bots_sdk.sandbox.canary import prove
from bots_sdk.sandbox.errors import SandboxUnavailableError
from bots_sdk.sandbox.jail import Jail, jails
from bots_sdk.sandbox.session import BotProcess
from bots_sdk.sandbox.sources import Source
from engine.deals import seeded_shuffle
from engine.games import catalogue
from engine.games.game import Observation

BOT = Source(b"def choose(observation):\n    return observation['legal_moves'][0]\n")
NUMPY_BOT = Source(b"import numpy\n" + BOT.main)
ECHO = """
import json, os, sys
os.write(1, b"ready\\n")
for line in sys.stdin.buffer:
    request = json.loads(line)
    answer = {"id": request["id"], "move": request["choose"]["legal_moves"][0]}
    os.write(1, json.dumps(answer).encode() + b"\\n")
"""
AT_A_TIME = 100


class Echo:
    """The reference: a Python process at two pipes, without a sandbox or a time limit."""

    def __init__(self) -> None:
        python = getattr(sys, "_base_executable", sys.executable)
        self.process = subprocess.Popen(
            [python, "-I", "-S", "-B", "-c", ECHO],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        pipes = self.process.stdin, self.process.stdout
        self.requests, self.answers = (pipe.fileno() for pipe in pipes if pipe)
        os.read(self.answers, 100)

    def __call__(self, observation: Observation) -> str:
        """Return the first legal move."""
        os.write(self.requests, json.dumps({"id": 1, "choose": observation}).encode() + b"\n")
        return str(json.loads(os.read(self.answers, 1 << 16))["move"])

    def close(self) -> None:
        """Close the pipes, and wait for the process to end."""
        self.process.communicate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--starts", type=int, default=30)
    parser.add_argument("--moves", type=int, default=3000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    makers: dict[str, Callable[[], Echo | BotProcess]] = {"no jail": Echo}
    for jail in jails():
        name = f"tier {jail.tier}{', fork' if jail.forks else ', fresh'}"
        try:
            prove(jail)
        except SandboxUnavailableError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
        else:
            makers[name] = started_in(jail, BOT)
            makers[f"{name}, NumPy"] = started_in(jail, NUMPY_BOT)
    starts, ends = measure_starts(makers, options.starts)
    moves = measure_moves(makers, options.moves)
    rows = {
        name: {
            "start_ms": median(starts[name]) * 1e3,
            "end_ms": median(ends[name]) * 1e3,
            "move_us": median(moves[name]) * 1e6,
            "move_p99_us": quantiles(moves[name], n=100)[98] * 1e6,
        }
        for name in makers
    }
    if options.json:
        print(json.dumps(rows))
        return
    print(f"{'':20} {'start':>16} {'end':>9} {'move, median':>18} {'move, p99':>11}")
    base = rows["no jail"]
    for name, row in rows.items():
        print(
            f"{name:20} {row['start_ms']:6.1f} ms ×{row['start_ms'] / base['start_ms']:5.2f}"
            f" {row['end_ms']:6.1f} ms"
            f" {row['move_us']:8.1f} µs ×{row['move_us'] / base['move_us']:5.2f}"
            f" {row['move_p99_us']:8.0f} µs"
        )


def started_in(jail: Jail, source: Source) -> Callable[[], BotProcess]:
    def start() -> BotProcess:
        bot = BotProcess(jail, source, {"seat": 0}, allowance=lambda: 10.0)
        bot.ready()
        return bot

    return start


def measure_starts(
    makers: dict[str, Callable[[], Echo | BotProcess]], count: int
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    starts: dict[str, list[float]] = {name: [] for name in makers}
    ends: dict[str, list[float]] = {name: [] for name in makers}
    for _ in range(count):
        for name, make in makers.items():
            began = perf_counter()
            player = make()
            starts[name].append(perf_counter() - began)
            began = perf_counter()
            player.close()
            ends[name].append(perf_counter() - began)
    return starts, ends


def measure_moves(
    makers: dict[str, Callable[[], Echo | BotProcess]], count: int
) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in makers}
    players = {name: make() for name, make in makers.items()}
    sample = observation()
    for _ in range(-(-count // AT_A_TIME)):
        for name, player in players.items():
            for _ in range(AT_A_TIME):
                began = perf_counter()
                player(sample)
                times[name].append(perf_counter() - began)
    for player in players.values():
        player.close()
    return times


def observation() -> Observation:
    """Return an observation halfway through a match of `twelve-days`."""
    luck = Random(0)
    state = catalogue.start("twelve-days", "calliope", 4, seeded_shuffle(bytes(32)))
    for _ in range(20):
        state.step({seat: luck.choice(state.legal(seat)) for seat in state.actors})
    return state.observe(state.actors[0])


if __name__ == "__main__":
    main()
