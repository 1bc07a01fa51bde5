"""A process that plays matches for `pool`: fixtures come in, what was played goes out, pickled.

Python's hashes are the same in each (the pool sets PYTHONHASHSEED), so that a bot that goes
through a set of texts does the same whichever process plays it.
"""

import os
import pickle
import signal
import struct
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any

from bots_sdk.arena.contestants import Bench, Contestant
from bots_sdk.arena.matches import Fixture, Played, Table, in_time, limit_time, play_fixture
from bots_sdk.bot import BotFileError

_LENGTH = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class Setup:
    """What a worker is told first.

    Attributes:
        table: what is played.
        contestants: who plays.
    """

    table: Table
    contestants: Sequence[Contestant]


@dataclass(frozen=True, slots=True)
class NoBot:
    """What a worker answers to a setup with a file that is no bot: why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Broken:
    """What a worker answers when it is at fault itself: its traceback."""

    traceback: str


Answer = Played | NoBot | Broken | None


def main() -> None:
    """Take fixtures from standard input and play them, until it ends."""
    for name in ("SIGINT", "SIGTSTP"):  # are for the one who gives the orders
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):  # what bots read and write past Python
        os.dup2(nowhere, descriptor)
    sys.stdin = open(os.devnull)  # noqa: SIM115, PTH123 - for as long as the process lives
    limit_time()
    try:
        _play_all(orders, answers)
    except EOFError:  # whoever gave the orders is done, or gone
        return


def _play_all(orders: IO[bytes], answers: IO[bytes]) -> None:
    setup: Setup = receive(orders)
    try:
        bench = in_time(lambda: Bench(setup.contestants))
    except BotFileError as error:
        send(answers, NoBot(str(error)))
        return
    except (TimeoutError, RuntimeError) as error:
        files = ", ".join(str(each.path) for each in setup.contestants if each.path)
        send(answers, NoBot(f"{files} can't be loaded: {error}."))
        return
    send(answers, None)
    names = [each.name for each in setup.contestants]
    while True:
        fixture: Fixture = receive(orders)
        answer: Answer
        try:
            answer = play_fixture(bench, setup.table, fixture, names)
        except Exception:
            answer = Broken(traceback.format_exc())
        send(answers, answer)


def send(stream: IO[bytes], what: object) -> None:
    """Write an object to the other side.

    Raises:
        OSError: there is no other side any more.
    """
    data = pickle.dumps(what, pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Return the next object from the other side.

    Raises:
        EOFError: there is none.
    """
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)
