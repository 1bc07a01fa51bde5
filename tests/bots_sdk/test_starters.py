"""The bots that ``twelfth-night new`` writes: their strength, ideas and next commands."""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from statistics import fmean, stdev
from typing import NoReturn

import numpy as np
import pytest
from typer.testing import CliRunner

import bots_sdk
from bots_sdk import starters
from bots_sdk.bot import BotFile, match_info
from bots_sdk.bot_files import load
from bots_sdk.cli import application
from bots_sdk.installing import install_command
from bots_sdk.invoking import python_word
from bots_sdk.reference import make_player
from bots_sdk.sandbox.declarations import declared_games
from bots_sdk.sandbox.sources import read_source
from bots_sdk.starters.trained import train
from engine.blocks import derive_block_seed, plan_block
from engine.referee import TimeControl, play
from tests.bots_sdk.stub import StubLeague

ROOT = Path(bots_sdk.__file__).parents[1]
RULES = {"twelve-days": "calliope", "partridge": "eagle-short"}
SEATS = 4
CLOCK = TimeControl(move_seconds=60.0)
PLACE = {"ladder": "partridge", "next_block": "Drawn now.", "rank_progress": None}
IDEA = re.compile(r"^#    -(.+)\n#    \+(.+)$", re.MULTILINE)

pytestmark = pytest.mark.timeout(400)  # hundreds of matches


def written(directory: Path, template: str, game: str) -> Path:
    """Return the bot's file after `new` has written it."""
    for path, data in starters.files(template, game, "mybot").items():
        (directory / path).parent.mkdir(exist_ok=True)
        (directory / path).write_bytes(data)
    return directory / ("mybot/bot.py" if template == "trained" else "mybot.py")


def hurry(bot: Path, *, playouts: int) -> None:
    """Let a bot that searches play fewer matches for a move."""
    text = bot.read_text()
    old = "PLAYOUTS = 2_000 if is_fast() else 100"
    assert (old in text) == ("searches" in text)
    bot.write_text(text.replace(old, f"PLAYOUTS = {playouts}"))


def win_shares(bot: BotFile, game: str, blocks: int) -> list[float]:
    """Return a bot's win share in each block against three random bots, always the same deals."""
    found = []
    for number in range(blocks):
        seed = derive_block_seed(b"s" * 32, number)
        shares = []
        for match in plan_block(seed, range(SEATS), duplicate=True, odd_repeat=False).matches:
            own = match.seating.index(0)
            players: list[Callable[..., str]] = [
                make_player("house-random", luck=str(other)) for other in match.seating
            ]
            players[own] = bot(match_info(game, RULES[game], SEATS, own, CLOCK))
            outcome = play(game, RULES[game], match.deal_seed, players)
            assert not outcome.fault_reports
            places = outcome.record.places
            shares += [
                (places[own] < place) + (places[own] == place) / 2
                for seat, place in enumerate(places)
                if seat != own
            ]
        found.append(fmean(shares))
    return found


@pytest.mark.parametrize(
    ("template", "game", "blocks"),
    [
        ("rules", "twelve-days", 20),
        ("rules", "partridge", 20),
        ("trained", "twelve-days", 20),
        ("trained", "partridge", 20),
    ],
)
def test_a_first_bot_wins_clearly_more_than_60_percent_against_random_bots(
    tmp_path: Path, template: str, game: str, blocks: int
) -> None:
    shares = win_shares(load(written(tmp_path, template, game)), game, blocks)
    assert fmean(shares) - 2 * stdev(shares) / blocks**0.5 > 0.6


@pytest.mark.parametrize("game", RULES)
def test_a_bot_that_searches_wins_more_than_60_percent_against_random_bots(
    tmp_path: Path, game: str
) -> None:
    bot = written(tmp_path, "search", game)
    hurry(bot, playouts=100)
    assert fmean(win_shares(load(bot), game, 5)) > 0.6


@pytest.mark.parametrize("game", RULES)
def test_each_idea_changes_one_line_and_makes_the_bot_stronger(tmp_path: Path, game: str) -> None:
    bot = written(tmp_path, "rules", game)
    text = bot.read_text()
    ideas = IDEA.findall(text)
    assert len(ideas) == 3
    best = fmean(win_shares(load(bot), game, 20))
    for old, new in ideas:
        assert text.count(f"\n{old}\n") == 1
        text = text.replace(f"\n{old}\n", f"\n{new}\n")
        bot.write_text(text)
        share = fmean(win_shares(load(bot), game, 20))
        assert share > best, new
        best = share


@pytest.mark.parametrize(("template", "lines"), [("search", 4), ("trained", 3)])
@pytest.mark.parametrize("game", RULES)
def test_each_idea_for_a_bot_that_searches_or_learns_changes_its_lines_and_the_bot_plays(
    tmp_path: Path, template: str, lines: int, game: str
) -> None:
    bot = written(tmp_path, template, game)
    changed = bot.with_name("train.py") if template == "trained" else bot
    ideas = IDEA.findall(bot.read_text())
    assert len(re.findall(r"^# [123]\. ", bot.read_text(), re.M)) == 3
    assert len(ideas) == lines
    text = changed.read_text()
    for old, new in ideas:
        assert text.count(f"\n{old}\n") == 1
        text = text.replace(f"\n{old}\n", f"\n{new}\n")
    changed.write_text(text)
    if template == "trained":
        done = shell("python mybot/train.py --matches 1 --rounds 2", tmp_path)
        assert done.returncode == 0, done.stderr
        with np.load(bot.with_name("weights.npz")) as weights:
            assert weights["w1"].shape[1] == 96
    else:
        bot.write_text(re.sub(r"^PLAYOUTS = .*$", "PLAYOUTS = 1", text, flags=re.M))
    assert len(win_shares(load(bot), game, 1)) == 1


@pytest.mark.parametrize("template", starters.TEMPLATES)
@pytest.mark.parametrize("game", RULES)
def test_a_first_bot_declares_its_game_and_names_itself(
    tmp_path: Path, template: str, game: str
) -> None:
    bot = written(tmp_path, template, game)
    other = {"twelve-days": "partridge", "partridge": "twelve-days"}[game]
    source = bot.read_text()
    assert declared_games(read_source(bot.read_bytes())) == (game,)
    assert source.startswith('"""mybot: a ')
    assert f"bot for {game}" in source.splitlines()[0]
    assert "NAME" not in source
    assert f"bot for {other}" not in source


@pytest.mark.parametrize(
    ("template", "game"),
    [(template, game) for template in ("search", "trained") for game in RULES],
)
def test_a_first_bot_passes_the_test_that_comes_with_it(
    tmp_path: Path, template: str, game: str
) -> None:
    hurry(written(tmp_path, template, game), playouts=1)
    done = shell("python test_mybot.py", tmp_path)
    assert re.fullmatch(r"no faults in [0-9]+ matches: .*\n", done.stdout), done.stderr
    assert done.returncode == 0


def shell(command: str, directory: Path, **more: str) -> "subprocess.CompletedProcess[str]":
    """Run a command in a shell whose `python` and `twelfth-night` have the SDK."""
    commands = directory / ".commands"
    if not commands.exists():
        commands.mkdir()
        for name, words in (("python", ""), ("twelfth-night", "-m bots_sdk ")):
            (commands / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}"$@"\n')
            (commands / name).chmod(0o755)
    environment = {
        "PATH": f"{commands}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(directory),
        "XDG_CONFIG_HOME": str(directory / "config"),
        **more,
    }
    return subprocess.run(
        ["sh", "-c", command],
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def commands_in(output: str) -> list[str]:
    """Return the commands that `new` printed."""
    lines = [line for line in output.splitlines() if line.startswith("  ")]
    assert all(re.search(r"  # \w", line) for line in lines), "a whole line can be copied"
    return [line.split("  # ")[0].strip() for line in lines]


@pytest.mark.parametrize("template", ["rules", "trained"])
def test_the_commands_at_home_work_as_they_are_printed(tmp_path: Path, template: str) -> None:
    made = shell(f"twelfth-night new my-bot --template {template}", tmp_path)
    assert made.returncode == 0, made.stderr
    assert "The bot plays twelve-days." in made.stdout
    test, trial, check, rules, sees, *training = commands_in(made.stdout)[:-3]
    # The same commands, with fewer matches.
    for command in (test, f"{trial} --blocks 1 --against random", rules, sees):
        done = shell(command, tmp_path)
        assert done.returncode == 0, (command, done.stderr)
    if template == "trained":
        fit, pack = training
        (tmp_path / "my_bot.zip").unlink()
        for command in (f"{fit} --matches 1 --rounds 2", pack):
            done = shell(command, tmp_path)
            assert done.returncode == 0, (command, done.stderr)
        names = zipfile.ZipFile(tmp_path / "my_bot.zip").namelist()
        assert names == ["bot.py", "weights.npz"]
    else:
        assert not training
    file = tmp_path / check.removeprefix("twelfth-night check ")
    assert "choose" in read_source(file.read_bytes()).main.decode()


@pytest.mark.parametrize("template", ["rules", "trained"])
def test_the_commands_for_the_league_work_as_they_are_printed(
    tmp_path: Path, template: str
) -> None:
    version: dict[str, object] = {"bot": "my-bot", "number": 1, "state": "ready", "held": False}
    version |= {"qualifying": [], "reason": ""}
    bot = {"name": "my-bot", "kind": "hosted", "paused": False, "quarantined": False}
    league = StubLeague()
    league.answers |= {
        "GET ladders": (200, {"results": [], "next": None}),
        "POST accounts": (201, {"username": "ada", "token": "tn_o_1"}),
        "GET bots/my-bot": (200, bot),
        "POST bots/my-bot/versions": (202, version),
        "GET bots/my-bot/versions/1": (200, version),
        "GET bots/my-bot/versions/1/log": (200, version),
        "PUT ladders/partridge/entries/my-bot": (200, {}),
        "GET ladders/partridge/entries/my-bot": (200, PLACE),
        "GET bots/my-bot/ladders/partridge": (200, {"rank": 3, "rating": 1512345}),
    }
    (tmp_path / "running.json").write_text("{}")
    with league.serving():
        (tmp_path / "running.json").write_text(json.dumps({"url": league.url}))
        more = {"LEAGUE_DIRECTORY": str(tmp_path), "TWELFTH_NIGHT_PASSWORD": "a long one"}
        made = shell(
            f"twelfth-night new my-bot --game partridge --template {template}", tmp_path, **more
        )
        for command in commands_in(made.stdout)[-3:]:
            if " login " in command:
                command += " --username ada"  # a person types it
            done = shell(command, tmp_path, **more)
            assert done.returncode == 0, (command, done.stderr, league.requests)
    assert ("PUT", "ladders/partridge/entries/my-bot") in league.requests


def test_without_the_commands_on_the_path_their_paths_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bots_sdk.invoking.shutil.which", lambda name: None)
    monkeypatch.setenv("PATH", "")
    python_word.cache_clear()
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    result = CliRunner().invoke(application(), ["new", "mybot"])
    test, trial, *_ = commands_in(result.stdout)
    python, _ = test.split()
    assert Path(python) == Path(sys.executable)
    shutil.rmtree(tmp_path / "faults", ignore_errors=True)
    done = subprocess.run(
        ["/bin/sh", "-c", f"{test} && {trial} --blocks 1 --against random"],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "no faults" in done.stdout


def test_in_a_terminal_new_asks_for_the_game(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "bots_sdk", "new", "mybot"]
    with subprocess.Popen(
        words, cwd=tmp_path, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, text=True
    ) as asks:
        os.close(theirs)
        os.write(ours, b"7\n2\n")
        output, _ = asks.communicate(timeout=60)
    os.close(ours)
    assert "The bot plays partridge." in output
    assert 'GAMES = ["partridge"]' in (tmp_path / "mybot.py").read_text()


def test_new_overwrites_no_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mybot").mkdir()
    result = CliRunner().invoke(application(), ["new", "mybot", "--template", "trained", "--json"])
    assert result.exit_code == 2
    assert "mybot exists already" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mybot"]


def test_training_makes_the_network_better_than_chance(tmp_path: Path) -> None:
    weights = train.train("twelve-days", matches=30, rounds=1)
    bot = written(tmp_path, "trained", "twelve-days")
    np.savez_compressed(tmp_path / "mybot" / "weights.npz", **weights)  # type: ignore[arg-type]
    assert fmean(win_shares(load(bot), "twelve-days", 15)) > 0.55


def test_the_same_seed_gives_the_same_weights() -> None:
    first, again = (train.train("partridge", matches=2, rounds=2) for _ in range(2))
    assert all((first[name] == again[name]).all() for name in first)


def test_a_wrong_choice_is_answered_with_the_possible_ones() -> None:
    result = CliRunner().invoke(application(), ["new", "mybot", "--language", "cobol", "--json"])
    detail = json.loads(result.stderr)["detail"]
    assert detail == (
        "Invalid value for '--language': 'cobol' is not one of 'python', 'c', 'rust', "
        "'assemblyscript'. `twelfth-night new --help` explains the arguments."
    )
    assert result.exit_code == 2


def test_without_pip_another_command_installs_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> NoReturn:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("bots_sdk.installing.distribution", lambda name: object())
    assert install_command("python", "numpy") == "python -m pip install numpy"
    monkeypatch.setattr("bots_sdk.installing.distribution", missing)
    monkeypatch.setattr("shutil.which", lambda name: "/bin/uv")
    assert install_command("python", "numpy") == "uv pip install --python python numpy"
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert install_command("python", "numpy").startswith("python -m ensurepip && ")


@pytest.mark.parametrize("template", ["rules", "search", "trained"])
@pytest.mark.parametrize("game", ["twelve-days", "partridge"])
def test_every_template_names_the_rules_of_its_game(template: str, game: str) -> None:
    text = b"".join(
        data for path, data in starters.files(template, game, "swan").items() if "test_" not in path
    )
    assert f"`twelfth-night rules {game}`".encode() in text
    assert b"`twelfth-night rules observations`" in text
