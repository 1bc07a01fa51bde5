"""Compiled code: it is made once, in a jail, before anything of the bot runs."""

import marshal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType

import pytest

from bots_sdk.sandbox import compiling, harness, kept_code
from bots_sdk.sandbox.errors import BotCrashError
from bots_sdk.sandbox.process import JailedProcess
from bots_sdk.sandbox.sources import Source
from tests.bots_sdk.sandbox.conftest import Start
from tests.bots_sdk.wasm.modules import FIRST_MOVE, module


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Begin each test without code of another."""
    kept_code._kept.clear()
    yield
    kept_code._kept.clear()


def test_a_second_start_runs_the_code_that_the_first_has_compiled(start: Start) -> None:
    source = "def choose(o): return 'first'\n"
    assert start(source)({}) == "first"
    kept = kept_code.find(source.encode())
    assert kept is not None
    assert marshal.loads(kept).co_names == ("choose",)
    other = compile("def choose(o): return 'kept'", "bot.py", "exec")
    kept_code.keep(source.encode(), marshal.dumps(other))
    assert start(source)({}) == "kept"
    assert start(source + "#")({}) == "first"


def test_kept_code_fails_with_the_same_line_and_traceback(start: Start) -> None:
    source = "def choose(o):\n    return 1 // o['zero']\n"
    for _ in "12":
        bot = start(source)
        with pytest.raises(BotCrashError, match=r"division.*\(bot.py, line 2\)"):
            bot({"zero": 0})
        assert "return 1 // o['zero']" in bot.printed


def test_a_bot_can_not_change_what_is_kept_of_it(start: Start) -> None:
    """It finds its own code when it runs, but then the code has been sent."""
    source = (
        "import gc, os\n"
        "for number in range(3, 16):\n"
        "    try: os.write(number, b'      99' + b'x' * 99)\n"
        "    except OSError: pass\n"
        "def choose(o): return 'x'\n"
    )
    bot = start(source)
    with pytest.raises(BotCrashError, match=r"other data|ended|closed"):
        bot({})
    kept = kept_code.find(source.encode())
    assert kept is not None
    assert marshal.loads(kept).co_names[:2] == ("gc", "os")


@pytest.mark.parametrize(
    ("source", "error"),
    [("def choose(o) return 1", r"SyntaxError.*\(bot.py, line 1\)|SyntaxError"), ("\0", "null")],
    ids=["no Python", "a zero byte"],
)
def test_a_file_that_does_not_compile_is_refused_at_each_start(
    start: Start, source: str, error: str
) -> None:
    for _ in "12":
        bot = start(source)
        with pytest.raises(BotCrashError, match=error):
            bot.ready()
        assert "compiling.py" not in bot.printed
    assert kept_code.find(source.encode()) == b""


def test_other_bytes_in_the_place_of_code_are_a_fault_of_the_bot(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    received = JailedProcess._received

    def other(process: JailedProcess, wanted: int, left: Callable[[], float]) -> bytes | None:
        found = received(process, wanted, left)
        return b'{"failed' if wanted == len(compiling.LENGTH % 0) else found

    monkeypatch.setattr(JailedProcess, "_received", other)
    with pytest.raises(BotCrashError, match="other data"):
        start("def choose(o): return 'x'").ready()


def test_code_that_can_not_be_loaded_is_compiled_again(start: Start) -> None:
    source, other = "def choose(o): return 'again'\n", module()
    kept_code.keep(source.encode(), b"made by another Python")
    assert start(source)({}) == "again"
    kept_code.keep(other, b"made by another Wasmtime")
    assert start(other)({}) == "hi"


def test_a_bot_can_not_bring_a_module_for_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """A codec of the source would run before the code is sent."""
    seen: list[bool] = []

    def code_of(*_: object) -> CodeType:
        seen.append("/bot" in sys.path)
        return compile("def choose(o): return 'x'", "bot.py", "exec")

    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(compiling, "code_of", code_of)
    about = {"wants_code": False, "file": "bot.py", "info": {}, "path": ["/bot"]}
    respond = harness._responder(b"", b"", about, harness.Log(100), 1)
    assert respond({"choose": {}}) == {"move": "x"}
    assert (seen, sys.path[-1]) == ([False], "/bot")


@pytest.mark.parametrize("library", ["", "from engine import playouts\n"], ids=["", "playouts"])
def test_a_bots_own_modules_may_have_the_names_of_the_sandboxs(start: Start, library: str) -> None:
    names = sorted(each.stem for each in Path(harness.__file__).parent.glob("[a-z]*.py"))
    code = (
        f"{library}import {', '.join(names)}\n"
        f"def choose(o): return str({{each.NAME for each in ({', '.join(names)})}})\n"
    )
    own = dict.fromkeys((f"{name}.py" for name in names), b"NAME = 'its own'\n")
    files = {"bot.py": code.encode(), **own}
    assert start(Source(files["bot.py"], files))({}) == "{'its own'}"


@pytest.mark.parametrize("letters", [-1000, 1], ids=["as long as it may be", "too long"])
def test_code_is_kept_if_it_is_not_too_long(start: Start, letters: int) -> None:
    """It is longer than a pipe holds."""
    data = "x" * (compiling.MAX_BYTES + letters)
    source = f"DATA = '{data}'\ndef choose(o): return DATA[:3]\n"
    for _ in "12":
        assert start(source)({}) == "xxx"
    kept = kept_code.find(source.encode())
    assert kept is not None
    assert len(kept) > len(data) if letters < 0 else kept == b""


def test_only_so_much_code_is_kept_and_the_oldest_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_code, "MAX_BYTES", 10)
    kept_code.keep(b"first", b"1234")
    kept_code.keep(b"second", b"1234")
    assert kept_code.find(b"first") == b"1234"
    kept_code.keep(b"third", b"1234")
    assert kept_code.find(b"second") is None
    assert kept_code.find(b"first") == b"1234"
    assert kept_code.find(b"third") == b"1234"
    monkeypatch.setattr(kept_code, "MAX_FILES", 2)
    kept_code.keep(b"no code", b"")
    assert kept_code.find(b"first") is None
    assert kept_code.find(b"no code") == b""


def test_a_module_is_compiled_once_and_pays_the_same_fuel_each_time(start: Start) -> None:
    source, seen = module(FIRST_MOVE), {"legal_moves": ["give 7", "give 9"]}
    paid = []
    for _ in "12":
        bot = start(source)
        assert bot(seen) == "give 7"
        assert bot.move_time is not None
        paid.append(bot.move_time.fuel_seconds)
    assert paid[0] == paid[1]
    other = module(data="yo")
    assert start(other)({}) == "yo"
    kept = kept_code.find(other)
    assert kept
    kept_code.keep(source, kept)
    assert start(source)(seen) == "yo"


def test_a_module_that_is_not_valid_is_refused_at_each_start(start: Start) -> None:
    source = Source(module()[:-3])
    for _ in "12":
        with pytest.raises(BotCrashError, match="module"):
            start(source).ready()
    assert kept_code.find(source.main) == b""
