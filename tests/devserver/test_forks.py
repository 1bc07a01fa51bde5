"""The fork server: parts that are forked from one process with the code."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from devserver import forks
from devserver.forks import NotForkedError
from tests.devserver.test_supervisor import lives
from tests.journeys.running import CHECKOUT, wait_for

SUPERVISOR = """
import asyncio, os
from pathlib import Path
from devserver.part import Part
from devserver.supervisor import Supervisor
from devserver.up import _fork_server

at = Path("forks.sock").absolute()
parts = [Part(name=name, command=["/any/django-admin", name], forked=True) for name in ("a", "b")]
supervisor = Supervisor(os.environ, Path("."), adopts_orphans=True, fork_server=at)
asyncio.run(supervisor.run([[_fork_server(at, "sleeper")], parts]))
"""

CODE = """
import os, sys, time
import django.core.management

loaded_in, loaded_by = os.getpid(), os.getppid()

def load():
    django.core.management.execute_from_command_line = run

def run():
    print("started", sys.argv[1], os.getpid(), loaded_in, os.getppid() == loaded_by, flush=True)
    time.sleep(60)
"""
"""Code whose command has the name of Django's."""


class Start(NamedTuple):
    """A start of a part: its name and pid, the fork server's, and whose child it is."""

    name: str
    pid: int
    server: int
    is_supervisors_child: bool


def starts(output: Path) -> list[Start]:
    words = [line.split() for line in output.read_text().splitlines() if "started" in line]
    return [Start(name, int(a), int(b), last == "True") for *_, name, a, b, last in words]


Supervised = tuple[subprocess.Popen[bytes], Path]


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[Supervised]:
    """Two forked parts under a supervisor; gives the supervisor and its output."""
    output = tmp_path / "output"
    (tmp_path / "sleeper.py").write_text(CODE)
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join([str(CHECKOUT), str(tmp_path)])}
    with output.open("w") as file:
        supervisor = subprocess.Popen(
            [sys.executable, "-c", SUPERVISOR], stdout=file, stderr=file, cwd=tmp_path, env=paths
        )
    wait_for(lambda: len(starts(output)) == 2, output.read_text)
    yield supervisor, output
    supervisor.kill()
    supervisor.wait()


def test_parts_share_one_load_of_the_code_and_are_the_supervisors_children(
    supervised: Supervised,
) -> None:
    found = starts(supervised[1])
    assert {each.name for each in found} == {"a", "b"}
    assert len({each.server for each in found}) == 1
    assert all(each.is_supervisors_child for each in found)


def test_a_killed_part_is_forked_again_and_the_others_stay(supervised: Supervised) -> None:
    _, output = supervised
    first, second = starts(output)
    os.kill(first.pid, signal.SIGKILL)
    wait_for(lambda: len(starts(output)) == 3, output.read_text)
    again = starts(output)[-1]
    assert (again.name, again.server) == (first.name, first.server)
    assert "ended with status -9; it starts again" in output.read_text()
    assert lives(second.pid)


def test_parts_outlive_the_fork_server_and_a_part_that_ends_waits_for_the_next(
    supervised: Supervised,
) -> None:
    _, output = supervised
    first, second = starts(output)
    os.kill(first.server, signal.SIGKILL)
    os.kill(first.pid, signal.SIGKILL)
    wait_for(lambda: len(starts(output)) == 3, output.read_text)
    again = starts(output)[-1]
    assert again.name == first.name
    assert again.server != first.server
    assert lives(second.pid)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_forked_parts_end_with_the_supervisor(
    supervised: Supervised, number: signal.Signals
) -> None:
    supervisor, output = supervised
    supervisor.send_signal(number)
    assert supervisor.wait(20) == (0 if number == signal.SIGINT else -number)
    found = starts(output)
    wait_for(lambda: not any(lives(each.pid) or lives(each.server) for each in found))


def test_a_missing_fork_server_is_an_error_with_its_reason(tmp_path: Path) -> None:
    with pytest.raises(NotForkedError, match="No such file"):
        forks.fork(tmp_path / "none.sock", ["celery"], 1)
