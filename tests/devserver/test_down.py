"""`make down`: the end of a league that runs in a directory."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from devserver import down, processes
from devserver.running import noted
from tests.journeys.running import CHECKOUT, wait_for

LEAGUE = """
import asyncio, os, sys
from pathlib import Path
from devserver.part import Part
from devserver.place import claimed
from devserver.supervisor import Supervisor
part = Part(name="part", command=[sys.executable, "-c", {script!r}])
with claimed(Path({directory!r})):
    asyncio.run(Supervisor(os.environ, Path("."), adopts_orphans=True).run([[part]]))
print("ended in order", flush=True)
"""
PART = "import time; print('works', flush=True); time.sleep(60)"


@pytest.fixture
def background(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A league of one part, started as a shell starts a background job: it ignores SIGINT."""
    output = tmp_path / "output"
    script = LEAGUE.format(script=PART, directory=str(tmp_path / "var"))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with output.open("w") as file:
            league = subprocess.Popen(
                [sys.executable, "-c", script], stdout=file, stderr=file, cwd=CHECKOUT
            )
    finally:
        signal.signal(signal.SIGINT, before)
    wait_for(lambda: "works" in output.read_text(), output.read_text)
    yield league
    league.kill()
    league.wait()


def test_down_ends_a_league_in_the_background_and_returns_when_it_has_ended(
    background: subprocess.Popen[bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert down.main(["--directory", str(tmp_path / "var")]) == 0
    assert background.wait(20) == 0
    assert (tmp_path / "output").read_text().endswith("ended in order\n")
    assert "The league has ended after" in capsys.readouterr().out
    assert down.main(["--directory", str(tmp_path / "var")]) == 0
    assert "No league runs" in capsys.readouterr().out


def test_down_fails_if_it_can_not_see_the_processes_of_the_league(
    background: subprocess.Popen[bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(processes, "holders", lambda _: iter(()))  # they run in a container
    monkeypatch.setattr(down, "_UNSEEN_SECONDS", 0.2)
    assert down.main(["--directory", str(tmp_path / "var")]) == 1
    printed = capsys.readouterr()
    assert "its processes can't be seen here" in printed.err
    assert "has ended" not in printed.out
    assert background.poll() is None


def test_down_ends_no_process_that_a_killed_league_only_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    addresses = dict.fromkeys(("DATABASE_URL", "REDIS_URL", "SECRET_KEY"), "")
    (tmp_path / "lock").touch()  # left by a league that was killed
    with noted(tmp_path, addresses, "http://127.0.0.1:8123"):
        assert down.main(["--directory", str(tmp_path)]) == 0
    assert "No league runs" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_make_down_installs_nothing(tmp_path: Path) -> None:
    shutil.copy(CHECKOUT / "Makefile", tmp_path)
    done = subprocess.run(
        ["make", "down"], cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "No league runs here: nothing is installed yet.\n"
    assert not (tmp_path / ".venv").exists()
