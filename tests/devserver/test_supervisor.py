"""The supervisor of `make up`."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from devserver.supervisor import Part, keep_running
from tests.journeys.running import wait_for

PARENT = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print("started", os.getpid(), child.pid, flush=True)
time.sleep(60)
"""

SUPERVISOR = """
import asyncio, os, sys
from pathlib import Path
from devserver.supervisor import Part, keep_running
part = Part("part", [sys.executable, "-c", {script!r}])
asyncio.run(keep_running([part], os.environ, Path("."), asyncio.Event()))
"""


def lives(pid: int) -> bool:
    """Return whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def starts(output: Path) -> list[tuple[int, int]]:
    """Return the pids of each start: of the program and of its child."""
    words = [line.split() for line in output.read_text().splitlines() if "started" in line]
    return [(int(line[-2]), int(line[-1])) for line in words]


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A program with a child under a supervisor; gives the supervisor and its output."""
    output = tmp_path / "output"
    with output.open("w") as file:
        supervisor = subprocess.Popen(
            [sys.executable, "-c", SUPERVISOR.format(script=PARENT)], stdout=file, stderr=file
        )
    wait_for(lambda: starts(output), output.read_text)
    yield supervisor, output
    supervisor.kill()
    supervisor.wait()


def test_a_killed_program_starts_again_even_if_its_child_lives_on(
    supervised: tuple[subprocess.Popen[bytes], Path],
) -> None:
    _, output = supervised
    first, child = starts(output)[0]
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: len(starts(output)) == 2, output.read_text)
    assert "ended with status -9; it starts again" in output.read_text()
    wait_for(lambda: not lives(child))


def test_all_programs_end_after_a_signal(supervised: tuple[subprocess.Popen[bytes], Path]) -> None:
    supervisor, output = supervised
    supervisor.send_signal(signal.SIGINT)
    assert supervisor.wait(20) == 0
    assert not any(lives(pid) for pid in starts(output)[0])


def test_programs_end_with_a_supervisor_that_is_killed(
    supervised: tuple[subprocess.Popen[bytes], Path],
) -> None:
    supervisor, output = supervised
    supervisor.kill()
    wait_for(lambda: not lives(starts(output)[0][0]))


def test_a_program_that_keeps_ending_at_once_stops_all_programs(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    part = Part("hasty", [sys.executable, "-c", "print('x' * 100_000); raise SystemExit(3)"])
    asyncio.run(keep_running([part], os.environ, tmp_path, asyncio.Event()))
    output = capfd.readouterr().out
    assert output.count("ended with status 3") == 5
    assert "keeps ending at once" in output
    assert "too long to show" in output
