"""Bots from files: what is taken, what is refused, and with which words."""

import errno
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from bots_sdk.bot import MatchInfo
from bots_sdk.bot_errors import BotFileError
from bots_sdk.bot_files import load, read_file

INFO: MatchInfo = {
    "game": "twelve-days",
    "rules": "calliope",
    "seats": 4,
    "seat": 2,
    "move_seconds": 1.0,
    "bank_seconds": 30.0,
}
ROOT = Path(__file__).parents[2]
SEEN = {"legal_moves": ["give 1", "give 7"]}
SMALLEST = "def choose(observation): return observation['legal_moves'][0]"


def written(tmp_path: Path, source: str, name: str = "mybot.py") -> Path:
    path = tmp_path / name
    path.write_text(source)
    return path


def test_the_smallest_bot_plays(tmp_path: Path) -> None:
    bot = load(written(tmp_path, SMALLEST))
    assert bot(INFO)(SEEN) == "give 1"
    assert not bot.wants_info


def test_start_is_called_before_the_first_move(tmp_path: Path) -> None:
    source = """
known = None
def start(info):
    global known
    known = info
def choose(observation):
    return f"award {known['seat']}"
"""
    bot = load(written(tmp_path, source))
    assert bot.wants_info
    assert bot(INFO)(SEEN) == "award 2"


@pytest.mark.parametrize(
    "source",
    [
        "seen = []\ndef choose(observation):\n    seen.append(1)\n    return str(len(seen))",
        """
class Bot:
    def __init__(self):
        self.seen = 0
    def choose(self, observation):
        self.seen += 1
        return str(self.seen)
""",
    ],
)
def test_a_bots_state_belongs_to_one_match(tmp_path: Path, source: str) -> None:
    bot = load(written(tmp_path, source))
    one, other = bot(INFO), bot(INFO)
    assert [one(SEEN), one(SEEN), other(SEEN), one(SEEN)] == ["1", "2", "1", "3"]


def test_the_file_of_a_class_is_run_once(tmp_path: Path) -> None:
    source = """
import pathlib
with pathlib.Path(__file__).with_name("ran").open("a") as file:
    file.write("x")
class Bot:
    def choose(self, observation):
        return "pass"
"""
    bot = load(written(tmp_path, source))
    for _ in range(3):
        bot(INFO)
    assert (tmp_path / "ran").read_text() == "x"


def test_dataclasses_and_modules_beside_the_file_work(tmp_path: Path) -> None:
    written(tmp_path, "ANSWER = 'pass'", "helper_of_mybot.py")
    source = """
from __future__ import annotations
from dataclasses import dataclass
from helper_of_mybot import ANSWER
@dataclass
class Kept:
    answer: str = ANSWER
def choose(observation):
    return Kept().answer
"""
    assert load(written(tmp_path, source))(INFO)(SEEN) == "pass"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1", r"no function choose and no class Bot; the smallest bot is"),
        ("def choose(:", r"line 1: invalid syntax"),
        ("import nothing_of_the_kind", r"line 1: .* ModuleNotFoundError: No module named"),
        ("\n\n1 / 0", r"line 3: running the file raised ZeroDivisionError"),
        ("raise SystemExit('no')", r"raised SystemExit: no"),
        ("choose = 7", r"choose is not a function; write `def choose"),
        ("def choose(): return 1", r"choose must take one argument, .* defined as choose\(\)"),
        ("def choose(a, b): return 1", r"one argument, the observation; it is defined"),
        ("async def choose(o): return 1", r"choose is async; write `def`"),
        (f"{SMALLEST}\ndef start(): pass", r"start must take one argument"),
        ("class Bot: pass", r"class Bot has no choose"),
        ("Bot = 7", r"Bot is not a class"),
        (f"class Bot:\n {SMALLEST}", r"choose must take one argument"),
        (
            "class Bot:\n def __init__(self, x): pass\n def choose(self, o): pass",
            r"called without arguments",
        ),
        (f"{SMALLEST}\nclass Bot:\n def choose(self, o): pass", r"both a function choose and"),
        ("\0", r"mybot\.py"),
    ],
)
def test_a_file_that_is_not_a_bot_is_refused_with_a_remedy(
    tmp_path: Path, source: str, message: str
) -> None:
    path = written(tmp_path, source)
    with pytest.raises(BotFileError, match=message) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_a_syntax_error_is_shown_with_its_line_and_place(tmp_path: Path) -> None:
    path = written(tmp_path, "import os\n\ndef choose(observation)\n    return 1\n")
    with pytest.raises(BotFileError) as caught:
        load(path)
    assert str(caught.value).splitlines() == [
        f"{path}, line 3: expected ':'",
        "    def choose(observation)",
        "                           ^",
    ]


def test_a_missing_file_is_named_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(BotFileError, match=r"no file .*mybot\.py\. `twelfth-night new mybot`"):
        load(tmp_path / "mybot.py")


def test_the_command_that_shows_the_line_of_an_error_can_be_pasted(tmp_path: Path) -> None:
    (tmp_path / "my bots").mkdir()
    path = written(tmp_path / "my bots", "raise SystemExit('Set it.')")
    with pytest.raises(BotFileError) as refused:
        load(path)
    assert str(refused.value).endswith(f"SystemExit: Set it. `python '{path}'` shows where.")


def test_a_directory_with_a_bot_py_is_a_bot(tmp_path: Path) -> None:
    with pytest.raises(BotFileError, match="is a directory"):
        load(tmp_path)
    written(tmp_path, SMALLEST, "bot.py")
    assert load(tmp_path)(INFO)(SEEN) == "give 1"


@pytest.mark.parametrize("is_first", [False, True])
def test_a_bots_own_module_is_found_before_one_of_a_checkout(
    is_first: bool, tmp_path: Path
) -> None:
    """Otherwise a file beside it named config.py would be missing at home, but not at a league."""
    (tmp_path / "config.py").write_text("MOVE = 'its own'")
    written(tmp_path, "from config import MOVE\ndef choose(observation): return MOVE")
    code = (
        "import sys; from pathlib import Path; "
        "found = [path for path in sys.path if not (Path(path) / 'bots_sdk').exists()]; "
        f"roots = [{str(ROOT)!r}] * 2; "
        f"sys.path[:] = [*roots, *found] if {is_first} else [*found, *roots]; "
        "from bots_sdk.arena.contestants import PlayerFactory, contestant; "
        f"print(PlayerFactory([contestant('mybot.py')]).player(0, {INFO})({SEEN})); "
        f"from bots_sdk.bot_files import load; print(load('mybot.py')({INFO})({SEEN}))"
    )
    words = [sys.executable, "-P", "-c", code]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "its own\n" * 2, done.stderr


def test_an_archive_names_the_command_that_unpacks_it_and_the_file_to_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile("trn.zip", "w") as archive:
        archive.writestr("bot.py", SMALLEST)
    with pytest.raises(BotFileError) as refused:
        load(tmp_path / "trn.zip")
    message = str(refused.value)
    assert message.startswith("trn.zip is an archive. Unpack it with `")
    assert message.endswith("`twelfth-night check` and `upload` take archives.")
    unpack = message.split("`")[1]
    subprocess.run(["sh", "-c", unpack], check=True)
    assert "for example `twelfth-night try trn/bot.py`" in message
    assert load("trn/bot.py")(INFO)(SEEN) == "give 1"
    with pytest.raises(BotFileError, match=r"trn\.zip is an archive\. Give the bot\.py of the"):
        load("trn.zip")  # unpacking it again could overwrite changes


def test_a_file_with_a_byte_0_is_not_python_and_no_line_is_named(tmp_path: Path) -> None:
    with pytest.raises(BotFileError, match=r"mybot\.py is not Python: source code") as refused:
        load(written(tmp_path, "\0"))
    assert "line None" not in str(refused.value)


def test_a_file_that_is_nested_too_deeply_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "mybot.py"
    for source in (" + ".join(map(str, range(20_000))), f"{'-' * 100_000}1"):
        path.write_text(f"x = {source}\n")
        with pytest.raises(BotFileError, match="nested too deeply"):
            load(path)


@pytest.mark.parametrize("wrong", ["mybot", "mybto.py", "mybot.zip"])
def test_a_missing_file_is_refused_with_the_file_that_was_meant(tmp_path: Path, wrong: str) -> None:
    (tmp_path / "mybot.py").touch()
    with pytest.raises(BotFileError, match=r"Did you mean .*mybot\.py\?"):
        read_file(tmp_path / wrong)


def test_a_missing_file_without_a_like_one_leads_to_a_first_bot(tmp_path: Path) -> None:
    (tmp_path / "goose.py").touch()
    with pytest.raises(BotFileError, match="`twelfth-night new mybot` writes a first bot"):
        read_file(tmp_path / "mybot.py")


def test_only_a_file_without_permission_leads_to_its_permissions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, remedy in ((errno.EACCES, " Check its permissions."), (errno.EIO, "")):

        def read_bytes(path: Path, number: int = number) -> bytes:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(Path, "read_bytes", read_bytes)
        with pytest.raises(BotFileError) as refused:
            read_file(tmp_path / "mybot.py")
        text = f"mybot.py can't be read: {os.strerror(number)}.{remedy}"
        assert str(refused.value).endswith(text)
