"""The Makefile: what it installs, and when."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.journeys.running import CHECKOUT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout in which everything is installed, as far as make can see."""
    shutil.copy(CHECKOUT / "Makefile", tmp_path)
    (tmp_path / "requirements").mkdir()
    for name in ("requirements/checkout.txt", "requirements/dev.txt", "pyproject.toml"):
        (tmp_path / name).touch()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    for stamp in (".running", ".project", ".testing"):
        (tmp_path / ".venv" / stamp).touch()
    return tmp_path


def commands(checkout: Path, target: str = "up") -> str:
    """Return what make would run for a target."""
    return subprocess.run(
        ["make", "--dry-run", target], cwd=checkout, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize("target", ["lint", "format"])
def test_a_bot_that_somebody_writes_in_the_checkout_is_not_linted(
    checkout: Path, target: str
) -> None:
    (checkout / "engine").mkdir()
    (checkout / "mybot.py").write_text("def choose(observation):\n    return 1 +\n")
    runs = [line.split() for line in commands(checkout, target).splitlines() if "ruff" in line]
    assert runs
    for run in runs:
        assert "engine" in run
        assert not {".", "mybot.py"} & {*run}


def test_an_installed_environment_is_left_alone(checkout: Path) -> None:
    assert "requirements/checkout.txt" not in commands(checkout)
    assert (checkout / ".venv" / ".running").exists()


def test_an_environment_whose_python_is_gone_is_installed_anew(checkout: Path) -> None:
    python = checkout / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/no/such/python3.11")
    printed = commands(checkout)
    assert "the Python of .venv is gone" in printed
    assert "requirements/checkout.txt" in printed
