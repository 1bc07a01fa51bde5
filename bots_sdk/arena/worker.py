"""A process that plays matches for `pool`: it reads pickled fixtures and writes pickled matches.

The pool sets PYTHONHASHSEED, so a bot that iterates over a set of texts makes the same moves in
every process.
"""

import os
import pickle
import signal
import struct
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import IO, Any

from bots_sdk.arena.contestants import Contestant
from bots_sdk.arena.matches import (
    Fixture,
    MatchType,
    PlayedMatch,
    limit_time,
    play_fixture,
    players_of,
)
from bots_sdk.arena.reads import Reads
from bots_sdk.bot_errors import BotFileError

_LENGTH = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """The first message to a worker.

    Attributes:
        table: the game, the preset and the number of seats.
        contestants: the bots that play.
    """

    table: MatchType
    contestants: Sequence[Contestant]


@dataclass(frozen=True, slots=True)
class LoadFailure:
    """A worker's answer if a contestant's file is not a bot."""

    reason: str


@dataclass(frozen=True, slots=True)
class WorkerFailure:
    """A worker's answer after an error that no bot caused."""

    traceback: str


Answer = PlayedMatch | LoadFailure | WorkerFailure | None


def main() -> None:
    """Play the fixtures from standard input until it ends."""
    for name in ("SIGINT", "SIGTSTP"):  # the pool's process handles them
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):  # for bots that bypass sys.stdin and sys.stdout
        os.dup2(nowhere, descriptor)
    sys.stdin = open(os.devnull)  # noqa: SIM115, PTH123 - open until the process ends
    limit_time()
    try:
        _play_all(orders, answers)
    except (EOFError, BrokenPipeError):  # the pool has ended, perhaps by a signal
        _leave()


def _leave() -> None:
    """End the process without its last steps: they would write to the pipe that is gone."""
    os._exit(0)


def _play_all(orders: IO[bytes], answers: IO[bytes]) -> None:
    setup: WorkerSetup = receive(orders)
    reads = Reads(each.path for each in setup.contestants if each.path)
    try:
        factory = players_of(setup.contestants)
    except BotFileError as error:
        send(answers, LoadFailure(str(error)))
        return
    send(answers, None)
    names = [each.name for each in setup.contestants]
    while True:
        fixture: Fixture = receive(orders)
        answer: Answer
        try:
            answer = play_fixture(factory, setup.table, fixture, names)
            if changed := reads.changed():
                answer = replace(answer, changed=changed)
        except Exception:
            answer = WorkerFailure(traceback.format_exc())
        send(answers, answer)


def send(stream: IO[bytes], what: object) -> None:
    """Write an object to a pipe.

    Raises:
        OSError: the reader is gone.
    """
    data = pickle.dumps(what, pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Return the next object from a pipe.

    Raises:
        EOFError: the writer is gone.
    """
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)
