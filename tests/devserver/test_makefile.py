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


def commands(checkout: Path) -> str:
    """Return what ``make up`` would run."""
    return subprocess.run(
        ["make", "--dry-run", "up"], cwd=checkout, capture_output=True, text=True, check=True
    ).stdout


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
