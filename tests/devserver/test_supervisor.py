"""The supervisor of `make up`."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from devserver.part import STOP_SECONDS, Part
from devserver.place import ServersError
from devserver.processes import children_of_other_sessions
from devserver.supervisor import Supervisor
from tests.journeys.running import CHECKOUT, wait_for

PARENT = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"],
                         start_new_session=True)
print("started", os.getpid(), child.pid, *sys.argv[1:], flush=True)
time.sleep(60)
"""
"""A program whose child is in its own session, as those of PostgreSQL are."""

SUPERVISOR = """
import asyncio, os, sys
from pathlib import Path
from devserver.part import Part
from devserver.supervisor import Supervisor
socket = Path({socket!r})
part = Part(name="part", command=[sys.executable, "-c", {script!r}, socket], socket=socket)
asyncio.run(Supervisor(os.environ, Path("."), adopts_orphans=True).run([[part]]))
"""

Supervised = tuple[subprocess.Popen[bytes], Path]


def lives(pid: int) -> bool:
    """Return whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def starts(output: Path) -> list[tuple[int, int, str]]:
    """Return pid, the child's pid and the socket of each start."""
    words = [line.split() for line in output.read_text().splitlines() if "started" in line]
    return [(int(line[-3]), int(line[-2]), line[-1]) for line in words]


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[Supervised]:
    """A program with a child under a supervisor; gives the supervisor and its output."""
    output = tmp_path / "output"
    script = SUPERVISOR.format(script=PARENT, socket=str(tmp_path / "part.sock"))
    with output.open("w") as file:
        supervisor = subprocess.Popen(
            [sys.executable, "-c", script], stdout=file, stderr=file, cwd=CHECKOUT
        )
    wait_for(lambda: starts(output), output.read_text)
    yield supervisor, output
    supervisor.kill()
    supervisor.wait()
    for _, child, _ in starts(output):  # it has no parent that would end it
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


def test_a_killed_program_starts_again_when_its_children_are_dead(supervised: Supervised) -> None:
    _, output = supervised
    first, child, _ = starts(output)[0]
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: len(starts(output)) == 2, output.read_text)
    assert "ended with status -9; it starts again" in output.read_text()
    assert not lives(child)


def test_each_start_listens_on_its_own_socket_and_the_link_follows(supervised: Supervised) -> None:
    _, output = supervised
    link = output.with_name("part.sock")
    first = starts(output)[0]
    assert Path(first[2]).name == link.readlink().name
    os.kill(first[0], signal.SIGKILL)
    wait_for(lambda: len(starts(output)) == 2, output.read_text)
    second = starts(output)[1]
    assert second[2] != first[2]
    assert Path(second[2]).name == link.readlink().name


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_all_programs_end_after_a_signal(supervised: Supervised, number: signal.Signals) -> None:
    supervisor, output = supervised
    supervisor.send_signal(number)
    assert supervisor.wait(20) == 0
    first, child, _ = starts(output)[0]
    assert not lives(first)
    assert not lives(child)


def test_a_program_that_was_stopped_ends_at_once_too(supervised: Supervised) -> None:
    supervisor, output = supervised
    os.kill(starts(output)[0][0], signal.SIGSTOP)
    supervisor.send_signal(signal.SIGINT)
    assert supervisor.wait(STOP_SECONDS - 3) == 0


def test_the_last_signal_to_a_program_is_the_one_that_ends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A signal after the end would take the status away from asyncio, which prints a warning."""
    sent: list[int] = []
    send = asyncio.subprocess.Process.send_signal

    def note(process: asyncio.subprocess.Process, number: int) -> None:
        sent.append(number)
        send(process, number)

    monkeypatch.setattr(asyncio.subprocess.Process, "send_signal", note)

    async def run() -> None:
        supervisor = Supervisor(os.environ, Path.cwd())
        asyncio.get_running_loop().call_later(0.1, supervisor.stop.set)
        await supervisor.run([[Part(name="part", command=["sleep", "60"])]])

    asyncio.run(run())
    assert sent == [signal.SIGCONT, signal.SIGTERM]


def test_programs_end_with_a_supervisor_that_is_killed(supervised: Supervised) -> None:
    supervisor, output = supervised
    supervisor.kill()
    wait_for(lambda: not lives(starts(output)[0][0]))


def test_only_children_with_a_session_of_their_own_may_be_orphans() -> None:
    with (
        subprocess.Popen(["sleep", "60"]) as helper,
        subprocess.Popen(["sleep", "60"], start_new_session=True) as other,
    ):
        try:
            found = children_of_other_sessions()
            assert other.pid in found
            assert helper.pid not in found
        finally:
            helper.kill()
            other.kill()


def run(stages: list[list[Part]], directory: Path) -> Supervisor:
    """Run parts in this process until a part stops them all."""

    async def supervise() -> Supervisor:
        supervisor = Supervisor(os.environ, directory)
        await supervisor.run(stages)
        return supervisor

    return asyncio.run(supervise())


def python(name: str, script: str, **how: object) -> Part:
    return Part(name=name, command=[sys.executable, "-c", script], **how)  # type: ignore[arg-type]


def test_a_program_that_keeps_ending_at_once_stops_all_programs(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    part = python("hasty", "print('x' * 100_000); raise SystemExit(3)")
    supervisor = run([[part]], tmp_path)
    output = capfd.readouterr().out
    assert output.count("ended with status 3") == 5
    assert "too long to show" in output
    assert "hasty ends right after each start" in (supervisor.failure or "")


def test_a_stage_starts_when_the_stage_before_it_is_ready(tmp_path: Path) -> None:
    looks: list[int] = []
    looks_at_start: list[int] = []

    def is_ready() -> bool:
        looks.append(len(looks))
        return len(looks) >= 3

    server = python("server", "import time; time.sleep(60)", is_ready=is_ready)
    once = python(
        "once", "exit(1)", runs_once=True, prepare=lambda: looks_at_start.append(len(looks))
    )
    supervisor = run([[server], [once]], tmp_path)
    assert looks_at_start == [3]
    assert supervisor.failure == "once failed; its output is above."


def test_a_part_that_has_worked_is_started_again_after_the_system_refused_a_start(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("devserver.supervisor._MAX_PAUSE_SECONDS", 0.01)
    answers = iter([None, OSError(28, "No space left on device"), None])

    def prepare() -> None:
        answer = next(answers, ServersError("the third start is the last one here"))
        if answer is not None:
            raise answer

    script = "import time; time.sleep(0.5); raise SystemExit(1)"
    part = python("part", script, prepare=prepare, is_ready=lambda: True)
    supervisor = run([[part]], tmp_path)
    output = capfd.readouterr().out
    assert "can't be started now; the league tries again: [Errno 28] No space left" in output
    assert output.count("ended with status 1") == 2
    assert supervisor.failure == "the third start is the last one here"
