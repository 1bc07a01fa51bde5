"""``twelfth-night check``: what would go wrong at the league is said here, in plain words."""

import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bots_sdk.arena.matches import Table
from bots_sdk.checking import places, suite
from bots_sdk.checking.imports import imports_of
from bots_sdk.commands import checking
from bots_sdk.sandbox.errors import SandboxBrokenError, SandboxUnavailableError
from bots_sdk.sandbox.sources import Source
from engine.games.catalogue import GAMES
from tests.bots_sdk.conftest import Home

try:
    PLACE = places.sandbox()
except SandboxUnavailableError as error:
    pytest.skip(f"no sandbox here: {error}", allow_module_level=True)

Check = Callable[..., dict[str, Any]]
all_tables = suite._tables


def few_tables(game: str) -> list[Table]:
    return [*all_tables(game)[:2], all_tables(game)[-1]]


@pytest.fixture
def check(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Return what checks a source at a few tables, and gives what is told."""
    monkeypatch.setattr(suite, "_tables", few_tables)
    monkeypatch.setattr(checking, "_sandbox", lambda tier: PLACE)  # proven once

    def check(source: str, *words: str) -> dict[str, Any]:
        (tmp_path / "mybot.py").write_text(source)
        result = home("check", "mybot.py", "--json", *words)
        told: dict[str, Any] = json.loads(result.stdout)
        assert result.exit_code == (0 if told["good"] else 1)
        told["wrong"] = {
            each["what"]: each for each in told["findings"] if each["verdict"] == "wrong"
        }
        told["by"] = {each["what"]: each for each in told["findings"]}
        return told

    return check


ON = "--game=twelve-days"


def test_a_good_bot_plays_every_table_of_both_games_in_the_sandbox(home: Home) -> None:
    result = home("check", "last.py")
    assert result.exit_code == 0
    assert "in the league's sandbox, tier" in result.stdout
    for game in GAMES:
        assert f"{game:26} {len(all_tables(game))} tables, every preset" in result.stdout
        for chaos in ("restarted", "asked twice", "passed over"):
            assert f"ok    {f'{game}, {chaos}':26}" in result.stdout
    assert "It would do at the league." in result.stdout


def test_a_crash_at_some_tables_is_told_with_table_line_and_observation(
    check: Check, tmp_path: Path
) -> None:
    told = check(
        """
def choose(observation):
    if observation["seats"] == 8:
        return observation["eight"]
    return observation["legal_moves"][0]
""",
        ON,
    )
    found = told["wrong"]["twelve-days"]
    assert "in 1 of 3 matches" in found["told"]
    assert "eight-nights-eight-players, 8 seats" in found["told"]
    assert "KeyError: 'eight' (bot.py, line 4)" in found["told"]
    assert 'bot.py", line 4, in choose' in found["evidence"]
    [saved] = (tmp_path / "faults").iterdir()
    assert json.loads(saved.read_text())["observation"]["seats"] == 8


def test_a_bot_that_remembers_what_it_should_read_fails_all_kinds_of_chaos(check: Check) -> None:
    told = check(
        """
day = 0
def choose(observation):
    global day
    if observation["phase"] == "give":
        day += 1
        assert observation["day"] == day
    return observation["legal_moves"][0]
""",
        ON,
    )
    assert set(told["wrong"]) == {
        *("twelve-days, restarted", "twelve-days, asked twice", "twelve-days, passed over")
    }
    assert "observation['history']" in told["wrong"]["twelve-days, restarted"]["remedy"]


def test_another_answer_to_the_same_question_is_noted_and_no_fault(check: Check) -> None:
    told = check("import random\ndef choose(o): return random.choice(o['legal_moves'])\n", ON)
    assert told["good"]
    assert told["by"]["twelve-days, asked twice"]["verdict"] == "note"
    assert "second answers differed" in told["by"]["twelve-days, asked twice"]["told"]


def test_what_fails_in_chaos_as_it_does_without_is_told_once(check: Check) -> None:
    told = check("def choose(o): return o['legal_moves'][0] if o['day'] < 3 else 7\n", ON)
    assert set(told["wrong"]) == {"twelve-days"}
    assert "a move is a text, not 7" in told["wrong"]["twelve-days"]["told"]
    assert "legal_moves" in told["wrong"]["twelve-days"]["remedy"]


def test_a_bot_of_one_game_is_not_blamed_for_the_other_unless_it_is_asked(check: Check) -> None:
    source = "def choose(o): return o['day'] and o['legal_moves'][0]\n"
    told = check(source)
    assert told["good"]
    assert "does not seem to know partridge" in told["by"]["partridge"]["told"]
    assert not check(source, "--game=partridge")["good"]
    told = check("def choose(o): raise OSError\n")
    assert "nothing but faults in each game" in told["wrong"]["games"]["told"]


def test_imports_that_fail_there_are_told_with_their_line_before_they_are_reached(
    check: Check, tmp_path: Path
) -> None:
    (tmp_path / "beside_it.py").write_text("")
    told = check(
        """
import json, math, engine.games.catalogue
try:
    import numpy
except ImportError:
    numpy = None
def choose(observation):
    if observation["seats"] > 100:
        import beside_it
        from sqlite3 import connect
    return observation["legal_moves"][0]
""",
        ON,
    )
    found = [each for each in told["findings"] if each["what"] == "imports"]
    assert [(each["verdict"], each["told"].split(" fails")[0]) for each in found] == [
        ("note", "bot.py, line 4: `import numpy`"),
        ("wrong", "bot.py, line 9: `import beside_it`"),
        ("wrong", "bot.py, line 10: `from sqlite3 import connect`"),
    ]
    assert "zip -r bot.zip bot.py beside_it*" in found[1]["remedy"]


def test_an_archive_finds_its_own_modules(home: Home, tmp_path: Path, check: Check) -> None:
    with zipfile.ZipFile(tmp_path / "bot.zip", "w") as archive:
        archive.writestr("bot.py", "from inside import choose\n")
        archive.writestr("inside.py", "def choose(o): return o['legal_moves'][0]\n")
    result = home("check", "bot.zip", ON)
    assert result.exit_code == 0
    assert "2 files" in result.stdout


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("def choose(", "SyntaxError: '(' was never closed"),
        ("x = 1", "there is no function choose"),
        ("x = bytearray(300 << 20)", "it wanted more than its 256 MB of memory"),
        ("import os; os._exit(3)", "its process ended with exit status 3"),
    ],
)
def test_what_cannot_be_loaded_is_told_and_no_match_is_played(
    check: Check, source: str, told: str
) -> None:
    found = check(source)
    assert told in found["wrong"]["loading"]["told"]
    assert found["seconds_a_move"]["moves"] == 0


def test_time_memory_and_printing_are_measured(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite, "SLOWER", 1e6)
    untiring = replace(PLACE, cpu_seconds=None)
    monkeypatch.setattr(checking, "_sandbox", lambda tier: untiring)
    told = check(
        """
big = bytearray(200 << 20)
def choose(observation):
    print("x" * 5000)
    return observation["legal_moves"][0]
""",
        ON,
    )
    assert told["good"]
    assert {told["by"][what]["verdict"] for what in ("time", "memory", "printing")} == {"warning"}
    assert "of 256.0 MB" in told["by"]["memory"]["told"]
    assert "what comes later is lost" in told["by"]["printing"]["told"]
    assert "times slower it would be out of time" in told["by"]["time"]["told"]


def test_without_a_sandbox_nothing_is_run_unless_it_is_said(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_here(tier: int) -> None:
        raise SandboxUnavailableError("the sandbox needs Linux, and this is plan9")

    monkeypatch.setattr(checking, "sandbox", none_here)
    monkeypatch.setattr(suite, "_tables", few_tables)
    result = home("check", "first.py")
    assert result.exit_code == 2
    assert "needs Linux, and this is plan9. --unconfined does the rest" in result.stderr
    result = home("check", "first.py", ON, "--unconfined")
    assert result.exit_code == 0
    assert "first.py, without a sandbox" in result.stdout
    assert "Whether it does in the sandbox is not known" in result.stdout


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("def choose(o):\n    raise OSError('no')", "OSError: no"),
        ("import os\ndef choose(o): os._exit(1)", "its process ended"),
        ("def choose(o): return 7", "a move is a text, not 7"),
        ("def choose(o):\n    while True: pass", "it did not answer in time"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_unconfined_faults_are_told_as_well(
    check: Check, monkeypatch: pytest.MonkeyPatch, source: str, told: str
) -> None:
    monkeypatch.setattr(suite, "CLOCK", suite.TimeControl(0.05))
    monkeypatch.setattr(suite, "_UNHURRIED", suite.TimeControl(0.05))
    monkeypatch.setattr(suite, "_tables", lambda game: few_tables(game)[:1])
    found = check(source, "--unconfined", ON)
    assert told in str(found["wrong"])


def test_a_sandbox_that_fails_is_not_the_bots_fault(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> None:
        raise SandboxBrokenError("it is gone")

    place = places.Place(1, broken)  # type: ignore[arg-type]
    monkeypatch.setattr(checking, "_sandbox", lambda tier: place)
    result = home("check", "first.py")
    assert result.exit_code == 2
    assert "The sandbox failed, not the bot: it is gone" in result.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["no.py"], "There is no file no.py; `twelfth-night new no` writes a bot"),
        (["."], ". is a directory; name the bot's file, or an archive"),
        (["first.py", "--tier", 3], "Invalid value for '--tier'"),
        (["first.py", "--tier", 1, "--unconfined"], "--unconfined is without one"),
        (["first.py", "--game", "chess"], "Invalid value for '--game'"),
    ],
)
def test_nonsense_is_told_with_what_would_do(home: Home, words: list[str], told: str) -> None:
    result = home("check", *words, "--json")
    assert result.exit_code == 2
    assert told in json.loads(result.stderr)["detail"]


def test_an_upload_that_would_be_refused_is_not_run(home: Home, tmp_path: Path) -> None:
    (tmp_path / "big.py").write_bytes(b"#" * (2 << 20))
    result = home("check", "big.py")
    assert result.exit_code == 2
    assert "big.py would be refused: 2,097,152 bytes; a bot has 1,048,576 at most" in result.stderr


def test_imports_are_found_wherever_they_stand() -> None:
    source = b"""
from __future__ import annotations
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import only_for_types
import a.b as c
class X:
    def y(self):
        try:
            from d import e, f
        except (ValueError, ImportError):
            import g
        finally:
            import h
from . import relative
"""
    found = [(each.told, each.guarded) for each in imports_of(Source(source))]
    assert found == [
        ("from __future__ import annotations", False),
        ("from typing import TYPE_CHECKING", False),
        ("import a.b", False),
        ("from d import e", True),
        ("from d import f", True),
        ("import g", False),
        ("import h", False),
    ]
