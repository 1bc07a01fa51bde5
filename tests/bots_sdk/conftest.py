"""A directory of one's own with bots in it, and the command run there."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bots_sdk.cli import app

Home = Callable[..., Result]

BOTS = {
    "first.py": "def choose(observation): return observation['legal_moves'][0]\n",
    "last.py": "def choose(observation): return observation['legal_moves'][-1]\n",
    "typo.py": 'GAMES = ["twelve-day"]\ndef choose(observation): return "pass"\n',
    "crash.py": "def choose(observation):\n    return observation['no such key']\n",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Return what runs the command in a directory with `BOTS`."""
    monkeypatch.chdir(tmp_path)
    # No test may find the league that a developer runs in this checkout.
    monkeypatch.setenv("LEAGUE_DIRECTORY", str(tmp_path / "var"))
    for name, source in BOTS.items():
        (tmp_path / name).write_text(source)
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])
