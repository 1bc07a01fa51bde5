"""`twelfth-night new`: the files that it writes, and the commands that it prints."""

import errno
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bots_sdk import demo
from tests.bots_sdk.conftest import Cli
from tests.bots_sdk.stub import StubLeague
from tests.bots_sdk.test_cli import run_here


@pytest.mark.parametrize("game", ["twelve-days", "partridge"])
def test_a_new_bot_passes_the_test_that_comes_with_it(cli: Cli, tmp_path: Path, game: str) -> None:
    assert cli("new", "my-bot", "--game", game).exit_code == 0
    done = subprocess.run(
        [sys.executable, "test_my_bot.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(demo.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.fullmatch(r"no faults in [0-9]+ matches: .*\n", done.stdout)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("game", ["twelve-days", "partridge"])
def test_new_names_the_rules_and_prints_commands_that_work(
    cli: Cli, stub: StubLeague, tmp_path: Path, game: str
) -> None:
    run_here(stub.url, tmp_path)
    result = cli("new", "mybot", "--game", game)
    assert f"twelfth-night login {stub.url} --sign-up  " in result.stdout
    assert f"`twelfth-night rules {game}`" in (tmp_path / "mybot.py").read_text()
    assert cli("rules", game).exit_code == 0
    assert cli("rules", "observations").exit_code == 0


@pytest.mark.parametrize("is_here", [True, False])
def test_new_does_not_ask_people_to_log_in_twice(
    logged_in: Cli, stub: StubLeague, tmp_path: Path, is_here: bool
) -> None:
    if is_here:
        run_here(stub.url, tmp_path)
    result = logged_in("new", "mybot")
    assert "twelfth-night upload mybot.py" in result.stdout
    assert "--sign-up" not in result.stdout


def test_new_overwrites_no_file(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "test_mybot.py").write_text("mine")
    result = cli("new", "mybot")
    assert result.exit_code == 2
    assert "test_mybot.py exists already" in result.stderr
    assert [path.name for path in tmp_path.glob("*.py")] == ["test_mybot.py"]


@pytest.mark.parametrize("options", [[], ["--language", "c"]])
def test_new_on_a_full_disk_names_the_file_and_leaves_nothing(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    class Full(io.BytesIO):
        def write(self, data: Any) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    real, begun = Path.open, list[Path]()

    def opened(path: Path, mode: str = "r", *args: Any, **more: Any) -> Any:
        file = real(path, mode, *args, **more)
        begun.extend([path] if mode == "xb" else [])
        if mode != "xb" or len(begun) == 1:
            return file
        file.close()
        return Full()

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", opened)
        result = cli("new", "mybot", *options)
    assert result.exit_code == 2
    assert f"{begun[1]} can't be written: No space left on device. " in result.stderr
    assert not list(tmp_path.glob("*mybot*"))
    assert cli("new", "mybot", *options).exit_code == 0


def test_a_trained_bot_for_partridge_speaks_of_no_days(cli: Cli, tmp_path: Path) -> None:
    assert cli("new", "mybot", "--template", "trained", "--game", "partridge").exit_code == 0
    assert "day" not in (tmp_path / "mybot" / "bot.py").read_text()


@pytest.mark.parametrize("name", ["random", "engine", "bots-sdk", "numpy"])
def test_a_bot_whose_file_would_hide_a_module_gets_another_name(
    cli: Cli, tmp_path: Path, name: str
) -> None:
    """`python test_random.py` finds random.py in its own directory before Python's."""
    result = cli("new", name)
    assert result.exit_code == 2
    assert f"for example: twelfth-night new {name}-bot" in result.stderr
    assert not list(tmp_path.glob("*.py"))
    assert cli("new", name, "--template", "trained").exit_code == 0  # a directory hides nothing


def test_a_name_that_is_not_allowed_is_answered_with_one_that_is(
    cli: Cli, stub: StubLeague, tmp_path: Path
) -> None:
    run_here(stub.url, tmp_path)
    assert "For example: twelfth-night new bad-name" in cli("new", "Bad_Name").stderr
    nothing_left = cli("new", "??").stderr
    assert "'??' is not a bot name" in nothing_left
    assert "For example" not in nothing_left
