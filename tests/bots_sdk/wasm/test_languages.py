"""The bots that ``twelfth-night new --language`` writes: built with their toolchain, and played."""

import os
import shutil
import subprocess
from pathlib import Path
from statistics import fmean

import pytest

from bots_sdk import starters
from bots_sdk.bot_files import load
from bots_sdk.sandbox.declarations import declared_games
from bots_sdk.sandbox.sources import read_source
from tests.bots_sdk.conftest import Cli, Home
from tests.bots_sdk.stub import StubLeague
from tests.bots_sdk.test_starters import RULES, commands_in, shell, win_shares
from tests.bots_sdk.wasm.modules import FIRST_MOVE, module

pytestmark = pytest.mark.timeout(400)


def missing(language: str) -> str:
    """Return what this machine lacks to compile a language; empty if it lacks nothing."""
    needed = {"c": ("make", "clang", "wasm-ld"), "rust": ("make", "rustc")}
    absent = [each for each in needed.get(language, ("npm",)) if shutil.which(each) is None]
    if not absent and language == "rust":
        words = ["rustc", "--print", "target-libdir", "--target", "wasm32-unknown-unknown"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode or not Path(done.stdout.strip()).is_dir():
            absent = ["rustc's target wasm32-unknown-unknown"]
    return " and ".join(absent)


def npm_settings() -> dict[str, str]:
    """Return the variables that make npm use the settings of this machine's user."""
    kept = ("npm_", "node_", "http_", "https_", "no_pro")
    found = {name: value for name, value in os.environ.items() if name.lower().startswith(kept)}
    settings = {
        "NPM_CONFIG_USERCONFIG": str(Path.home() / ".npmrc"),
        "NPM_CONFIG_FETCH_RETRIES": "0",
    }
    return {**settings, **found}


@pytest.mark.parametrize("language", starters.LANGUAGES)
def test_a_first_bot_is_compiled_and_plays_by_the_printed_commands(
    tmp_path: Path, language: str
) -> None:
    if absent := missing(language):
        pytest.skip(f"{absent} is not on this machine")
    for game in RULES:
        made = shell(f"twelfth-night new my-bot --game {game} --language {language}", tmp_path)
        assert made.returncode == 0, made.stderr
        commands = commands_in(made.stdout)
        at = next(i for i, each in enumerate(commands) if each.startswith("python test_"))
        for command in commands[:at]:
            done = shell(command, tmp_path, **npm_settings())
            if done.returncode and command.endswith("install"):
                pytest.skip("npm can't install AssemblyScript here")
            assert done.returncode == 0, (command, done.stdout, done.stderr)
        for command in (commands[at], f"{commands[at + 1]} --blocks 1 --against random --jobs 1"):
            done = shell(command, tmp_path)
            assert done.returncode == 0, (command, done.stdout, done.stderr)
        file = tmp_path / "my_bot" / "my_bot.wasm"
        assert declared_games(read_source(file.read_bytes())) == (game,)
        assert fmean(win_shares(load(file), game, 6)) > 0.6
        if language == "assemblyscript":
            return  # the compiler takes long to install, and the source is one
        shutil.rmtree(tmp_path / "my_bot")
        (tmp_path / "test_my_bot.py").unlink()


def test_the_sources_name_the_bot_and_its_game() -> None:
    for language in starters.LANGUAGES:
        files = starters.files_in(language, "partridge", "my_bot")
        text = "".join(data.decode() for path, data in files.items() if not path.endswith(".py"))
        assert "my_bot: a bot for partridge" in text
        assert "plays_partridge" in text
        assert "twelfth-night rules partridge" in text
        assert "NAME" not in text
        assert "my_bot/my_bot.wasm" in files["test_my_bot.py"].decode()


def test_other_templates_are_in_python_only(home: Home) -> None:
    done = home("new", "my-bot", "--language", "c", "--template", "search")
    assert done.exit_code == 2
    assert "The template search is in Python" in done.output


def test_upload_takes_a_module_and_the_name_of_its_file(
    logged_in: Cli, stub: StubLeague, tmp_path: Path
) -> None:
    version: dict[str, object] = {"bot": "my-bot", "number": 1, "state": "ready", "held": False}
    version |= {"qualifying": [], "reason": ""}
    stub.answers |= {
        "GET bots/my-bot": (200, {"name": "my-bot", "kind": "hosted"}),
        "POST bots/my-bot/versions": (202, version),
        "GET bots/my-bot/versions/1": (200, version),
        "GET bots/my-bot/versions/1/log": (200, version),
    }
    (tmp_path / "my_bot.wasm").write_bytes(module(FIRST_MOVE))
    done = logged_in("upload", "my_bot.wasm")
    assert done.exit_code == 0, done.output
    assert ("POST", "bots/my-bot/versions") in stub.requests


def test_upload_names_what_a_module_lacks_before_it_is_sent(
    logged_in: Cli, stub: StubLeague, tmp_path: Path
) -> None:
    (tmp_path / "my_bot.wasm").write_bytes(module(memory="(memory 1)"))
    done = logged_in("upload", "my_bot.wasm")
    assert done.exit_code == 2
    assert "export its only memory" in done.output
    assert ("POST", "bots/my-bot/versions") not in stub.requests
