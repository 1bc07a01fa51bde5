"""``twelfth-night check``: prints what would fail at the league."""

import json
import re
import subprocess
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from bots_sdk.arena.matches import MatchType
from bots_sdk.checking import loading, runtimes, suite
from bots_sdk.commands import checking
from bots_sdk.sandbox import numpy_files
from bots_sdk.sandbox.errors import SandboxBrokenError, SandboxUnavailableError
from engine.games.catalogue import GAMES
from engine.referee import TimeControl
from tests.bots_sdk.conftest import Home

try:
    RUNTIME = runtimes.sandbox()
except SandboxUnavailableError as error:
    pytest.skip(f"no sandbox here: {error}", allow_module_level=True)

Check = Callable[..., dict[str, Any]]
all_tables = suite._match_types


def few_tables(game: str) -> list[MatchType]:
    return [*all_tables(game)[:2], all_tables(game)[-1]]


@pytest.fixture
def check(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Return what checks a source at a few tables, and return its findings."""
    monkeypatch.setattr(suite, "_match_types", few_tables)
    monkeypatch.setattr(checking, "_sandbox", lambda tier: RUNTIME)  # proven once

    def check(source: str, *words: str) -> dict[str, Any]:
        (tmp_path / "mybot.py").write_text(source)
        result = home("check", "mybot.py", "--json", *words)
        found: dict[str, Any] = json.loads(result.stdout)
        assert result.exit_code == (0 if found["good"] else 1)
        found["wrong"] = {
            each["subject"]: each for each in found["findings"] if each["result"] == "wrong"
        }
        found["by"] = {each["subject"]: each for each in found["findings"]}
        return found

    return check


@pytest.fixture
def no_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip the imitated failures: six matches for each game, most of the time of a check."""
    monkeypatch.setattr(suite, "FAILURES", ())


ON = "--game=twelve-days"


def test_a_good_bot_plays_every_table_of_both_games_in_the_sandbox(home: Home) -> None:
    result = home("check", "last.py")
    assert result.exit_code == 0
    assert "in the league's sandbox: tier" in result.stdout
    for game in GAMES:
        assert f"{game:36} {len(all_tables(game))} matches, every preset" in result.stdout
        for failure in ("restart", "same observation twice", "move by the referee"):
            assert f"ok    {f'{game}, {failure}':36} " in result.stdout
    assert "The bot is ready to upload." in result.stdout


@pytest.mark.usefixtures("no_failures")
def test_after_a_few_matches_a_first_verdict_and_the_time_left_are_printed(home: Home) -> None:
    result = home("check", "last.py", "--game", "partridge")
    line = (
        r"^The bot plays without a fault so far\. "
        r"The check plays \d+ more matches, in about \d+ \S+\.$"
    )
    assert len(re.findall(line, result.stderr, re.M)) == 1


@pytest.mark.usefixtures("no_failures")
@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("def choose(o): return 7\n", r"\(illegal move\): a move is a text, not 7; "),
        (
            "def choose(o):\n    return 1 / 0\n",
            r"\(crash\): ZeroDivisionError: division by zero \(bad\.py, line 2\)\. The check ",
        ),
    ],
)
def test_the_first_verdict_names_the_first_fault_and_the_bots_own_file(
    home: Home, tmp_path: Path, source: str, fault: str
) -> None:
    (tmp_path / "bad.py").write_text(source)
    result = home("check", "bad.py", "--game", "partridge")
    line = rf"^The bot made \d+ faults so far. The first fault {fault}"
    assert len(re.findall(line, result.stderr, re.M)) == 1


def test_a_crash_is_reported_with_match_type_line_and_observation(
    check: Check, tmp_path: Path
) -> None:
    found = check(
        """
def choose(observation):
    if observation["seats"] == 8:
        return observation["eight"]
    return observation["legal_moves"][0]
""",
        ON,
    )
    wrong = found["wrong"]["twelve-days"]
    assert "in 1 of 3 matches" in wrong["text"]
    assert "eight-nights-eight-players, 8 seats" in wrong["text"]
    assert "KeyError: 'eight' (mybot.py, line 4)" in wrong["text"]
    assert 'bot.py", line 4, in choose' in wrong["evidence"]
    [saved] = (tmp_path / "faults").iterdir()
    assert json.loads(saved.read_text())["observation"]["seats"] == 8


def test_a_bot_that_relies_on_its_memory_fails_with_every_failure(check: Check) -> None:
    found = check(
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
    assert set(found["wrong"]) == {
        *(
            "twelve-days, restart",
            "twelve-days, same observation twice",
            "twelve-days, move by the referee",
        )
    }
    assert "observation['history']" in found["wrong"]["twelve-days, restart"]["remedy"]


def test_another_answer_to_the_same_observation_is_a_note(check: Check) -> None:
    found = check("import random\ndef choose(o): return random.choice(o['legal_moves'])\n", ON)
    assert found["good"]
    assert found["by"]["twelve-days, same observation twice"]["result"] == "note"
    assert (
        "the second answer was another move"
        in found["by"]["twelve-days, same observation twice"]["text"]
    )


def test_a_fault_in_every_match_is_reported_once(check: Check) -> None:
    found = check("def choose(o): return o['legal_moves'][0] if o['day'] < 3 else 7\n", ON)
    assert set(found["wrong"]) == {"twelve-days"}
    assert "a move is a text, not 7" in found["wrong"]["twelve-days"]["text"]
    assert "legal_moves" in found["wrong"]["twelve-days"]["remedy"]


@pytest.mark.usefixtures("no_failures")
def test_a_bot_of_one_game_passes_without_the_other(check: Check) -> None:
    source = "def choose(o): return o['day'] and o['legal_moves'][0]\n"
    found = check(source)
    assert found["good"]
    assert "does not seem to play partridge" in found["by"]["partridge"]["text"]
    assert not check(source, "--game=partridge")["good"]
    found = check("def choose(o): raise OSError\n")
    assert "was a fault, in every game" in found["wrong"]["games"]["text"]


@pytest.mark.usefixtures("no_failures")
def test_failing_imports_are_found_with_their_lines(check: Check, tmp_path: Path) -> None:
    (tmp_path / "beside_it.py").write_text("")
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "__init__.py").write_text("")
    found = check(
        """
import json, math, engine.games.catalogue
try:
    import scipy
except ImportError:
    scipy = None
def choose(observation):
    if observation["seats"] > 100:
        import beside_it, second.part
        from sqlite3 import connect
    return observation["legal_moves"][0]
""",
        ON,
    )
    imports = [each for each in found["findings"] if each["subject"] == "imports"]
    assert [(each["result"], each["text"].split(" fails")[0]) for each in imports] == [
        ("note", "mybot.py, line 4: `import scipy`"),
        ("wrong", "mybot.py, line 9: `import beside_it`"),
        ("wrong", "mybot.py, line 9: `import second.part`"),
        ("wrong", "mybot.py, line 10: `from sqlite3 import connect`"),
    ]
    assert imports[1]["remedy"] == imports[2]["remedy"]
    subprocess.run(["sh", "-c", imports[1]["remedy"].split("`")[5]], cwd=tmp_path, check=True)
    with zipfile.ZipFile(tmp_path / "mybot.zip") as packed:
        assert {"bot.py", "beside_it.py", "second/__init__.py"} <= {*packed.namelist()}
    assert imports[3]["remedy"].startswith(
        "A bot may import most of Python's standard library, NumPy, engine, its own files, and "
        "parts of bots_sdk, such as bots_sdk.environments.encoding"
    )


@pytest.mark.usefixtures("no_failures")
def test_a_bot_may_import_numpy_and_its_memory_is_measured(check: Check) -> None:
    found = check(
        """
import numpy as np
from bots_sdk.environments import encoding
def choose(observation):
    numbers = np.array(encoding.features(observation))
    return encoding.move_of(observation, int(np.argmax(encoding.mask(observation))))
""",
        ON,
    )
    assert found["good"]
    assert found["by"]["imports"]["text"] == "bots_sdk.environments, numpy"
    assert found["by"]["memory"]["result"] == "ok"
    assert "of 144.0 MB with 8 seats" in found["by"]["memory"]["text"]


@pytest.mark.usefixtures("no_failures")
def test_without_numpy_on_this_machine_the_check_says_how_to_get_it(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numpy_files, "places", dict)
    monkeypatch.setattr(loading, "find_spec", lambda name: None)
    found = check("import numpy\ndef choose(o): return o['legal_moves'][0]\n", ON)
    assert "pip install numpy`" in found["by"]["imports"]["remedy"]


@pytest.mark.usefixtures("no_failures")
def test_an_archive_finds_its_own_modules(home: Home, tmp_path: Path, check: Check) -> None:
    with zipfile.ZipFile(tmp_path / "bot.zip", "w") as archive:
        archive.writestr("bot.py", "FIRST = 0\nfrom inside import choose\nimport beside\n")
        archive.writestr("beside.py", "import bot\nFIRST = bot.FIRST\n")
        inside = "from bot import FIRST\ndef choose(o): return o['legal_moves'][FIRST]\n"
        archive.writestr("inside.py", inside)
    result = home("check", "bot.zip", ON)
    assert result.exit_code == 0
    assert "3 files" in result.stdout


@pytest.mark.usefixtures("no_failures")
@pytest.mark.parametrize(
    ("beside", "statement"),
    [
        ("from bot import MISSING\n", "from bot import MISSING"),
        ("import bot\ndef late():\n    return bot.MISSING\nlate()\n", "import beside"),
    ],
)
def test_a_name_that_the_bots_own_file_lacks_is_missing(
    beside: str, statement: str, home: Home, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "bot.zip", "w") as archive:
        main = "def choose(o):\n    import beside\n    return o['legal_moves'][0]\n"
        archive.writestr("bot.py", main)
        archive.writestr("beside.py", beside)
    result = home("check", "bot.zip", ON)
    assert f"`{statement}` fails: " in " ".join(result.stdout.split())
    assert "'MISSING'" in result.stdout


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("def choose(", "SyntaxError: '(' was never closed"),
        ("x = 1", "there is no function choose"),
        ("x = bytearray(300 << 20)", "it needed more than its 160 MB of memory"),
        ("import os; os._exit(3)", "its process ended with exit status 3"),
    ],
)
def test_a_bot_that_does_not_load_plays_no_match(check: Check, source: str, text: str) -> None:
    found = check(source)
    assert text in found["wrong"]["loading"]["text"]
    assert found["seconds_a_move"]["moves"] == 0


@pytest.mark.usefixtures("no_failures")
def test_time_memory_and_printing_are_measured(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite, "SLOWER", 1e6)
    untiring = replace(RUNTIME, cpu_seconds=None)
    monkeypatch.setattr(checking, "_sandbox", lambda tier: untiring)
    found = check(
        """
big = bytearray(60 << 20)
def choose(observation):
    print("x" * 5000)
    return observation["legal_moves"][0]
""",
        ON,
    )
    assert found["good"]
    assert {found["by"][what]["result"] for what in ("time", "memory", "output")} == {"warning"}
    assert "of 80.0 MB with 8 seats" in found["by"]["memory"]["text"]
    assert "the league keeps the first 64.0 kB" in found["by"]["output"]["text"]
    assert "times slower would run out of time" in found["by"]["time"]["text"]


@pytest.mark.usefixtures("no_failures")
def test_a_bot_that_fits_only_small_tables_fails_at_a_large_one(check: Check) -> None:
    source = "big = bytearray(100 << 20)\ndef choose(o): return o['legal_moves'][0]\n"
    found = check(source, ON)
    assert found["by"]["loading"]["result"] in ("ok", "warning")  # slow on a busy machine
    assert "it needed more than its 80 MB of memory" in found["wrong"]["twelve-days"]["text"]


@pytest.mark.usefixtures("no_failures")
def test_without_a_sandbox_only_unconfined_runs(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_here(tier: int) -> None:
        raise SandboxUnavailableError("the sandbox needs Linux, and this is plan9")

    monkeypatch.setattr(checking, "sandbox", none_here)
    monkeypatch.setattr(suite, "_match_types", few_tables)
    result = home("check", "first.py")
    assert result.exit_code == 2
    assert "needs Linux, and this is plan9. --unconfined runs the check" in result.stderr
    result = home("check", "first.py", ON, "--unconfined")
    assert result.exit_code == 0
    assert "first.py without a sandbox" in result.stdout
    assert "It ran without a sandbox" in result.stdout


@pytest.mark.usefixtures("no_failures")
@pytest.mark.parametrize(
    ("source", "text", "seconds"),
    [
        ("def choose(o):\n    raise OSError('no')", "OSError: no", 20),
        ("import os\ndef choose(o): os._exit(1)", "its process ended", 20),
        ("def choose(o): return 7", "a move is a text, not 7", 20),
        ("class Text(str): ...\ndef choose(o): return Text('no move')", "'no move'", 1),
        ("def choose(o):\n    while True: pass", "it did not answer in time", 0.05),
        ("1 / 0", "ZeroDivisionError", 20),
    ],
)
def test_unconfined_faults_are_found(
    check: Check, monkeypatch: pytest.MonkeyPatch, source: str, text: str, seconds: float
) -> None:
    monkeypatch.setattr(suite, "CLOCK", TimeControl(seconds))
    monkeypatch.setattr(suite, "_match_types", lambda game: few_tables(game)[:1])
    found = check(source, "--unconfined", ON)
    assert text in str(found["wrong"])


def test_a_sandbox_that_fails_is_not_the_bots_fault(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> NoReturn:
        raise SandboxBrokenError("it is gone")

    runtime = runtimes.Runtime(1, broken)
    monkeypatch.setattr(checking, "_sandbox", lambda tier: runtime)
    result = home("check", "first.py")
    assert result.exit_code == 2
    assert "The sandbox failed, not the bot: it is gone. Run the command again, or" in result.stderr


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["no.py"], "There is no file no.py. `twelfth-night new no` writes a first bot"),
        (["."], ". is a directory. Give the bot's file, or create a zip archive"),
        (["first.py", "--tier", 3], "Invalid value for '--tier'"),
        (
            ["first.py", "--tier", 1, "--unconfined"],
            "--unconfined uses no sandbox, so leave out --tier",
        ),
        (["first.py", "--game", "chess"], "Invalid value for '--game'"),
    ],
)
def test_wrong_arguments_name_a_remedy(home: Home, words: list[str], text: str) -> None:
    result = home("check", *words, "--json")
    assert result.exit_code == 2
    assert text in json.loads(result.stderr)["detail"]


def test_an_upload_that_would_be_refused_is_not_run(home: Home, tmp_path: Path) -> None:
    (tmp_path / "big.py").write_bytes(b"#" * (9 << 20))
    result = home("check", "big.py")
    assert result.exit_code == 2
    assert (
        "The league would refuse big.py: it has 9,437,184 bytes; a bot has at most 8,388,608"
        in result.stderr
    )
