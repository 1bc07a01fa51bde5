"""The list of commands, and what commands load before they run."""

import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bots_sdk import cli
from bots_sdk.cli import application
from tests.bots_sdk.conftest import Cli, Home
from tests.bots_sdk.stub import StubLeague


def test_the_list_of_commands_has_the_sentences_of_the_commands_themselves() -> None:
    listed, loaded = (
        CliRunner().invoke(application(first), ["--help"]).stdout for first in ("--help", "")
    )
    assert "Write a first bot and a test for it" in listed
    assert listed == loaded


def test_the_version_is_that_of_the_package() -> None:
    done = CliRunner().invoke(application("--version"), ["--version"])
    assert (done.exit_code, done.stdout) == (0, f"twelfth-night {version('twelfth-night')}\n")


@pytest.mark.parametrize("word", ["--help", "status", "ladder"])
def test_frequent_commands_do_not_load_the_rules_of_the_games(word: str) -> None:
    program = (
        f"import sys; from bots_sdk.cli import application; application({word!r}); "
        "print('engine.games.catalogue' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    "words",
    [
        ("check", "LONG"),
        ("upload", "LONG"),
        ("run", "LONG"),
        ("try", "LONG"),
        ("try", "house-thumb", "--against", "LONG"),
        ("ab", "LONG", "first.py"),
        ("watch", "LONG"),
    ],
)
def test_a_path_that_is_too_long_is_refused_in_a_sentence(
    home: Home, words: tuple[str, ...]
) -> None:
    result = home(*(word.replace("LONG", "a" * 300) for word in words))
    assert result.exit_code == 2
    assert result.stderr.startswith(("twelfth-night: There is no file a", "twelfth-night: aaa"))


@pytest.mark.parametrize(
    ("words", "closed"), [("new mybot", "<&-"), ("watch --seed 1", "<&-"), ("rules moves", ">&-")]
)
def test_a_command_runs_with_a_closed_stream(tmp_path: Path, words: str, closed: str) -> None:
    command = f"{shlex.quote(sys.executable)} -m bots_sdk {words} {closed}"
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_before_a_command_runs_ends_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(module: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "import_module", interrupted)
    with pytest.raises(SystemExit) as ended:
        cli.main(["check", "mybot.py"])
    assert ended.value.code == 130


@pytest.mark.parametrize(
    "words",
    [("bot", "create", "k\udce4n"), ("ladder", "k\udce4n"), ("bot", "note", "a", "1", "k\udce4n")],
)
def test_a_word_that_is_not_utf_8_is_refused_in_a_sentence(
    logged_in: Cli, words: tuple[str, ...]
) -> None:
    result = logged_in(*words)
    assert result.exit_code == 2
    assert result.stderr.startswith("twelfth-night: A word of the command has '\\udce4', which is")


def test_a_file_whose_name_is_not_utf_8_is_uploaded(
    logged_in: Cli, stub: StubLeague, tmp_path: Path
) -> None:
    file = tmp_path / "k\udce4n.py"
    file.write_text("def choose(o): return o['legal_moves'][0]\n")
    stub.answers["GET bots/kan"] = (200, {"name": "kan", "kind": "hosted", "version": None})
    version = {"bot": "kan", "number": 1, "state": "checking", "held": True}
    stub.answers["POST bots/kan/versions"] = (201, version)
    result = logged_in("upload", file, "--bot", "kan", "--no-wait")
    assert result.exit_code == 0, result.stderr
    assert b'filename="k?n.py"' in stub.bodies[-1]


def test_a_ladder_that_is_newer_than_the_command_is_refused_in_a_sentence(
    logged_in: Cli, stub: StubLeague, tmp_path: Path
) -> None:
    (tmp_path / "mybot.py").write_text("def choose(o): return o['legal_moves'][0]\n")
    stub.answers["GET ladders/x"] = (200, {"game": "partridge", "rules": "new", "seats": 4})
    result = logged_in("try", "mybot.py", "--ladder", "x")
    assert result.exit_code == 2
    assert "too old for the ladder x: partridge has no preset 'new'" in result.stderr
