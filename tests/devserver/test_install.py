"""The progress of an installation: what pip prints, and what a person sees."""

import shutil
import subprocess
import sys
from collections.abc import Set
from pathlib import Path

import pytest

from devserver import install
from devserver.install import Progress, UvProgress
from tests.journeys.running import CHECKOUT

OUTPUT = """\
Collecting alpha==1.0 (from -r dev.txt (line 1))
  Downloading alpha-1.0-py3-none-any.whl (1.5 MB)
Collecting beta==2.0
  Using cached beta-2.0-py3-none-any.whl (500 kB)
Installing collected packages: alpha, beta
"""


def test_lines_of_pip_give_packages_and_size() -> None:
    progress = Progress(total=4)
    for line in OUTPUT.splitlines()[:-1]:
        progress.read(line)
    assert progress.news(0) == "fetched 2 of 4 packages, 2 MB, less than 1 min left (beta)"
    assert progress.text(0).startswith("[########................] fetched")
    progress.read(OUTPUT.splitlines()[-1])
    assert progress.text(2).startswith("[####################....] all fetched, installed 2 of 4")


UV_OUTPUT = """\
Using Python 3.11.7 environment at: .venv
\x1b[2K⠙ beta==2.0
\x1b[2KResolved 3 packages in 367ms
\x1b[2K\x1b[2A⠙ Preparing packages... (1/3)    alpha   ---------  512.00 KiB/512.00 KiB  \x1b[37A
\x1b[2Kbeta    ------------------------------ 16.00 KiB/8.00 MiB
\x1b[2Kbeta    ------------------------------ 3.50 MiB/8.00 MiB
\x1b[2KPrepared 3 packages in 4.59s
\x1b[2K██░░ [2/3] beta==2.0
\x1b[2KInstalled 3 packages in 1.22s
"""


def test_bars_of_uv_give_packages_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("devserver.install.time.monotonic", lambda: 100.0)
    progress = UvProgress(0, began=45.0)
    lines = UV_OUTPUT.splitlines()
    for line in lines[:2]:
        progress.read(line)
    assert progress.news(0) == "looking up the packages"
    for line in lines[2:6]:
        progress.read(line)
    assert progress.news(0) == "fetched 1 of 3 packages, 4 of 9 MB, about 2 min left (beta)"
    for line in lines[6:8]:
        progress.read(line)
    assert progress.news(2).startswith("all fetched, installed 2 of 3 packages, 9 MB")
    progress.read(lines[8])
    assert progress.total == 3
    assert list(progress.last_lines) == [lines[0], "Resolved 3 packages in 367ms"]


def test_the_time_left_follows_from_the_time_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    progress = Progress(total=100, collected=50, began=100.0)
    monkeypatch.setattr("devserver.install.time.monotonic", lambda: 135.0)
    assert "about 2 min left" in progress.text(0)


def test_the_time_left_never_rises(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 135.0
    progress = Progress(total=100, collected=50, began=100.0)
    monkeypatch.setattr("devserver.install.time.monotonic", lambda: now)
    assert "about 2 min left" in progress.text(0)
    now = 400.0  # one large package
    assert "about 2 min left" in progress.text(0)
    progress.collected, progress.installs = 100, True
    now = 410.0
    assert "less than 1 min left" in progress.text(95)


def test_a_line_is_printed_only_with_news(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("devserver.install.time.monotonic", lambda: 135.0)
    progress = Progress(total=100, collected=50, package="alpha", began=100.0)
    assert progress.news(0) == "fetched 50 of 100 packages, 0 MB, about 2 min left (alpha)"
    assert progress.news(0) == ""
    progress.collected, progress.package = 51, "beta"
    assert progress.news(0) == "fetched 51 of 100 packages, 0 MB (beta)"
    progress.collected = 80
    assert progress.news(0) == "fetched 80 of 100 packages, 0 MB, less than 1 min left (beta)"


LOCKED = """\
# locked
alpha==1.0 \\
    --hash=sha256:00
beta==2.0 ; sys_platform == "no such system" \\
    --hash=sha256:00
gamma[extra]==3.0 ; python_version >= "3.11"
"""


def test_only_the_packages_of_this_system_are_counted() -> None:
    assert counted(LOCKED) == 2


def test_packages_that_are_there_in_the_locked_version_are_not_counted() -> None:
    locked = "alpha==1.0 \\\n    --hash=sha256:0\nbeta[fast]==2.0 \\\ngamma==3.0\n"
    assert counted(locked, {("alpha", "1.0"), ("beta", "1.9")}) == 2


def counted(locked: str, installed: Set[tuple[str, str]] = frozenset()) -> int:
    # In a separate process: pip and setuptools warn about each other.
    program = "import sys; from devserver.install import count_packages; "
    program += f"print(count_packages(sys.stdin.read().splitlines(), {set(installed)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(install.__file__).parents[1],
        input=locked,
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


PIP = """
import pathlib, sys, time
print(sys.argv[1], flush=True)
pathlib.Path("beta-2.0.dist-info").mkdir()
while not pathlib.Path("seen").exists():
    time.sleep(0.01)
sys.exit(3)
"""


class SeenProgress(Progress):
    """Lets the program end when a line about its last package is shown."""

    def news(self, installed: int) -> str:
        if self.installs and installed:
            Path("seen").touch()
        return super().news(installed)


def test_without_a_terminal_the_progress_is_printed_as_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(install, "_LINE_SECONDS", 0.01)
    Path("pip-1.0.dist-info").mkdir()
    progress = SeenProgress(total=2)
    status = install.run([sys.executable, "-c", PIP, OUTPUT], progress, tmp_path)
    assert status == 3
    assert "venv: all fetched, installed 1 of 2 packages, 2 MB" in capsys.readouterr().out
    assert progress.last_lines[0].startswith("Collecting alpha==1.0")


UV = """
import pathlib, sys, time
if sys.stdout.isatty():
    print("\\rPreparing packages... (1/2)    beta   ---- 1.00 MiB/4.00 MiB", end="\\r ", flush=True)
while not pathlib.Path("seen").exists():
    time.sleep(0.01)
"""


class SeenUvProgress(UvProgress):
    """Lets the program end when a line about the size is shown."""

    def news(self, installed: int) -> str:
        if self.megabytes:
            Path("seen").touch()
        return UvProgress.news(self, installed)


def test_uv_draws_its_bars_for_the_lines_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(install, "_LINE_SECONDS", 0.01)
    assert install.run([sys.executable, "-c", UV], SeenUvProgress(0), tmp_path) == 0
    assert "venv: fetched 1 of 2 packages, 1 of 4 MB" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_make_shows_the_progress_with_uv_too() -> None:
    made = subprocess.run(
        ["make", "--dry-run", "-W", "requirements/checkout.txt", "venv", "UV=/opt/uv"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "devserver/install.py requirements/checkout.txt /opt/uv\n" in made.stdout
