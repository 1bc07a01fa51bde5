"""A directory of one's own with bots in it; the command run there, and against a stub league."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bots_sdk.cli import application
from bots_sdk.invoking import command_word, python_word
from tests.bots_sdk.stub import StubLeague

Home = Callable[..., Result]
Cli = Callable[..., Result]

BOTS = {
    "first.py": "def choose(observation): return observation['legal_moves'][0]\n",
    "last.py": "def choose(observation): return observation['legal_moves'][-1]\n",
    "typo.py": 'GAMES = ["twelve-day"]\ndef choose(observation): return "pass"\n',
    "crash.py": "def choose(observation):\n    return observation['no such key']\n",
}


@pytest.fixture(autouse=True)
def _on_the_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the command be on the PATH, also if the environment of the tests is not activated."""
    command_word.cache_clear()
    python_word.cache_clear()
    which = shutil.which
    monkeypatch.setattr(
        "bots_sdk.invoking.shutil.which",
        lambda name: name if name == "twelfth-night" else which(name),
    )
    yield
    command_word.cache_clear()
    python_word.cache_clear()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Return what runs the command in a directory with `BOTS`."""
    monkeypatch.chdir(tmp_path)
    # No test may find the league that a developer runs in this checkout, or is logged in to.
    monkeypatch.setenv("LEAGUE_DIRECTORY", str(tmp_path / "var"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("TWELFTH_NIGHT_URL", "TWELFTH_NIGHT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, source in BOTS.items():
        (tmp_path / name).write_text(source)
    return lambda *words: CliRunner().invoke(application(), [str(word) for word in words])


@pytest.fixture
def stub() -> Iterator[StubLeague]:
    league = StubLeague()
    league.answers["GET ladders"] = (200, {"results": [], "next": None})
    league.answers["POST tokens"] = (201, {"username": "ada", "token": "tn_o_1"})
    league.answers["POST bots"] = (201, {"name": "mybot", "token": "tn_b_1"})
    with league.serving():
        yield league


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("LEAGUE_DIRECTORY", str(tmp_path / "var"))
    monkeypatch.setenv("TWELFTH_NIGHT_PASSWORD", "a long and silly one")
    for name in ("TWELFTH_NIGHT_URL", "TWELFTH_NIGHT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return lambda *words, **more: CliRunner().invoke(
        application(), [str(word) for word in words], **more
    )


@pytest.fixture
def logged_in(cli: Cli, stub: StubLeague) -> Cli:
    assert cli("login", stub.url, "--username", "ada").exit_code == 0
    return cli
