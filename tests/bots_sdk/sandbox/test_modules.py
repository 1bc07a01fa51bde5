"""WebAssembly bots in both tiers of the sandbox: their clock, their limits and their faults."""

import time
from pathlib import Path
from typing import Any

import pytest

from bots_sdk.reference import make_player
from bots_sdk.sandbox import libraries, session, wasm_files
from bots_sdk.sandbox.errors import BotCrashError, BotTimeoutError, SandboxBrokenError
from bots_sdk.sandbox.jail import Jail
from bots_sdk.sandbox.limits import Limits
from bots_sdk.sandbox.session import BotProcess
from bots_sdk.sandbox.sources import read_source
from bots_sdk.wasm.machine import fuel_of
from bots_sdk.wasm.proving import fuel_of_moves
from engine.record import Record
from engine.referee import MatchClock, TimeControl, play
from tests.bots_sdk.sandbox.conftest import Start
from tests.bots_sdk.wasm.modules import FIRST_MOVE, FOREVER, HI, late_after, module

WASTE = """
  (loop $again
    (memory.fill (i32.const 2048) (i32.const 0) (i32.const 200000))
    (br $again))
"""
"""Uses fuel fast: each byte of a fill takes a unit."""

SEEN: Any = {"legal_moves": ["give 7", "give 9"]}


def test_a_module_plays_and_pays_its_fuel_only(start: Start) -> None:
    bot = start(module(FIRST_MOVE))
    bot.ready()
    assert bot(SEEN) == "give 7"
    assert bot.move_time is not None
    first = bot.move_time.charged_seconds
    assert 0 < first < 0.001
    assert bot(SEEN) == "give 7"
    assert bot.move_time.charged_seconds == first


def test_a_module_that_contains_the_word_numpy_gets_no_numpy(start: Start) -> None:
    source = read_source(module(data="hi numpy"))
    assert libraries.named_in(source) == ("wasmtime",)
    assert start(source)(SEEN) == "hi"


def test_its_log_is_kept_as_output(start: Start) -> None:
    bot = start(module(f"(call $log (i32.const 1024) (i32.const 2)) {HI}"))
    assert bot(SEEN) == "hi"
    assert bot.printed == "hi\n"


def test_a_log_of_almost_all_memory_is_cut_and_no_fault(start: Start) -> None:
    longest = """
      (drop (memory.grow (i32.const 1000)))
      (memory.fill (i32.const 70000) (i32.const 255) (i32.const 60000000))
      (call $log (i32.const 70000) (i32.const 60000000))
    """
    bot = start(module(longest + HI), seconds=5.0)
    assert bot(SEEN) == "hi"
    assert bot.move_time is not None
    assert bot.move_time.charged_seconds > 1.2  # the fuel of the whole text is charged
    assert 0 < len(bot.printed) <= 64 << 10


def test_out_of_fuel_is_a_timeout_and_the_bot_goes_on_in_its_process(start: Start) -> None:
    bot = start(late_after(1), seconds=0.01)
    assert bot(SEEN) == "give 7"
    processes = bot._process
    with pytest.raises(BotTimeoutError, match="used all its fuel, 1,000,000 units"):
        bot(SEEN)
    assert bot.move_time is not None
    assert bot.move_time.charged_seconds == 0.01
    assert bot(SEEN) == "give 7"
    assert bot._process is processes


@pytest.mark.parametrize(
    ("choose", "reason"),
    [
        ("(unreachable)", "its module trapped"),
        ("(i64.const -1)", "a move has 4,096 at most"),
    ],
)
def test_a_fault_of_the_module_is_a_crash_with_its_reason(
    start: Start, choose: str, reason: str
) -> None:
    bot = start(module(choose))
    for _ in range(2):
        with pytest.raises(BotCrashError, match=reason):
            bot(SEEN)
    assert bot.printed == ""


def test_a_start_that_never_ends_is_a_timeout_of_each_move(start: Start) -> None:
    bot = start(module(start=WASTE))
    with pytest.raises(BotTimeoutError, match="500,000,000 units"):
        bot.ready()
    for _ in range(2):
        with pytest.raises(BotTimeoutError, match="500,000,000 units"):
            bot(SEEN)
        assert bot.move_time is not None
        assert bot.move_time.charged_seconds == 0.0


def test_a_module_that_is_not_valid_does_not_load(start: Start) -> None:
    bot = start(module(more="(func (result i32) (i64.const 1))"))
    with pytest.raises(BotCrashError, match="the module is not valid"):
        bot.ready()


def test_a_module_can_fill_all_its_memory_at_the_largest_table(jail: Jail) -> None:
    filled = """
      (if (i32.eq (memory.grow (i32.const 1020)) (i32.const -1)) (then (unreachable)))
      (memory.fill (i32.const 70000) (i32.const 1) (i32.const 67000000))
    """
    limits = Limits().at_table(8)
    source = read_source(module(filled + HI))
    with BotProcess(jail, source, {}, allowance=lambda: 1.0, limits=limits) as bot:
        assert bot(SEEN) == "hi"
        most = bot.memory()
        assert most is not None
        assert (64 << 20) < most < wasm_files.DATA_BYTES


def test_no_code_of_a_module_becomes_executable_memory(start: Start) -> None:
    found = []
    for source in (b"def choose(seen): return 'give 7'", module(FIRST_MOVE)):
        bot = start(source)
        bot.ready()
        assert bot(SEEN) == "give 7"
        pid = bot.process_ids[-1]
        rows = [line.split() for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
        assert len(rows) > 50
        found.append([row[1] for row in rows if "x" in row[1] and len(row) < 6])
    # What Wasmtime's callbacks need was there before the lock, and can't be written any more.
    assert found in ([[], ["r-xp"]], [[], []])


def test_a_machine_that_is_too_slow_is_no_fault_of_the_bot(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "SLOWEST", 0)
    monkeypatch.setattr(session, "_SPARE_SECONDS", 0.05)
    bot = start(module(FOREVER))
    bot.ready()
    with pytest.raises(SandboxBrokenError, match="times the CPU time"):
        bot(SEEN)


@pytest.mark.parametrize("forged", ["-1", '"1"', "true", "1e3", "99999999999999"])
def test_a_forged_count_of_fuel_is_a_crash(
    start: Start, monkeypatch: pytest.MonkeyPatch, forged: str
) -> None:
    bot = start(module(FIRST_MOVE))
    bot.ready()
    assert bot._process is not None
    line = f'{{"id": 1, "move": "give 7", "fuel": {forged}}}'.encode()
    monkeypatch.setattr(bot._process, "ask", lambda request, timer: line)
    with pytest.raises(BotCrashError, match="sent other data"):
        bot(SEEN)


def test_without_wasmtime_the_error_names_the_package(
    jail: Jail, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wasm_files, "places", dict)
    with pytest.raises(SandboxBrokenError, match="pip install wasmtime"):
        BotProcess(jail, read_source(module()), {}, allowance=lambda: 1.0)


CLOCK = TimeControl(move_seconds=0.01, bank_seconds=0.02)


class _FuelClock(MatchClock):
    """Charges the bot's fuel to seat 0, and nothing to others."""

    bot: BotProcess

    def charge(self, seat: int, seconds: float) -> bool:
        time_ = self.bot.move_time
        own = time_.charged_seconds if seat == 0 and time_ else 0.0
        return super().charge(seat, own)


def _played(jail: Jail, data: bytes) -> Record:
    clock = _FuelClock(CLOCK, 4, time.monotonic)
    info: dict[str, Any] = {"game": "partridge", "rules": "eagle-short", "seats": 4, "seat": 0}
    info |= {"move_seconds": CLOCK.move_seconds, "bank_seconds": CLOCK.bank_seconds}
    others = [make_player("house-random", luck=str(seat)) for seat in range(1, 4)]
    source = read_source(data)
    with BotProcess(jail, source, info, allowance=lambda: clock.allowance(0)) as bot:
        clock.bot = bot
        bot.ready()
        return play("partridge", "eagle-short", bytes(32), [bot, *others], clock=clock).record


def test_a_replayed_match_times_out_at_the_same_plies_which_a_recompute_proves(jail: Jail) -> None:
    data = late_after(2)
    first, again = _played(jail, data), _played(jail, data)
    assert first == again
    late = [fault.ply for fault in first.faults if fault.kind == "timeout"]
    assert len(late) == 3
    proven = fuel_of_moves(first, 0, data, CLOCK)
    assert [each.ply for each in proven if each.fault == "timeout"] == late
    assert next(each.fuel for each in proven if each.fault) == fuel_of(0.03)
