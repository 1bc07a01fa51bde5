"""WebAssembly bots at home: loading, the arena and the commands that take a bot's file."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bots_sdk.arena.contestants import Contestant, PlayerFactory
from bots_sdk.arena.matches import Fixture, MatchType, play_fixture
from bots_sdk.bot import match_info
from bots_sdk.bot_errors import BotFileError
from bots_sdk.bot_files import load
from bots_sdk.checking import runtimes, unconfined
from bots_sdk.checking import suite as suite_module
from bots_sdk.checking.findings import CheckResult
from bots_sdk.checking.loading import of_loading
from bots_sdk.checking.players import CheckedBot
from bots_sdk.checking.runtimes import Runtime
from bots_sdk.checking.suite import Suite
from bots_sdk.checking.unconfined import UnconfinedProcess
from bots_sdk.sandbox.errors import BotTimeoutError
from bots_sdk.sandbox.sources import Source
from bots_sdk.wasm import machine
from bots_sdk.wasm.bot import ModulePlayer
from engine.referee import TimeControl
from tests.bots_sdk.conftest import Home
from tests.bots_sdk.wasm.modules import FIRST_MOVE, FOREVER, late_after, module

CLOCK = TimeControl(move_seconds=0.01, bank_seconds=0.02)
INFO = match_info("partridge", "eagle-short", 4, 0, CLOCK)


def test_a_module_plays_the_same_moves_as_the_same_bot_in_python(home: Home) -> None:
    Path("first.wasm").write_bytes(module(FIRST_MOVE))
    shown = []
    for file in ("first.py", "first.wasm"):
        words = ("--game", "partridge", "--blocks", 1, "--seed", "12", "--jobs", 1, "--json")
        done = home("try", file, "--against", "random", *words)
        assert done.exit_code == 0, done.output
        shown.append(json.loads(done.stdout))
    assert shown[0]["matches"] == 4
    assert shown[0]["places"] == shown[1]["places"]
    assert shown[0]["bots"][0]["mean_score"] == shown[1]["bots"][0]["mean_score"]


def test_the_arena_counts_the_fuel_and_repeats_the_faults_at_the_same_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "FUEL_PER_SECOND", 1_000_000)
    path = tmp_path / "late.wasm"
    path.write_bytes(late_after(2))
    table = MatchType("partridge", "eagle-short", 4)
    fixture = Fixture(1, 0, bytes(32), (0, 1, 1, 1), (0, 1, 2, 3))
    bots = [Contestant("late", path), Contestant("house-random")]
    played = [play_fixture(PlayerFactory(bots), table, fixture, ["late", "random"]) for _ in "ab"]
    assert played[0].record == played[1].record
    first = played[0].faults[0]
    assert (first.kind, first.seat) == ("timeout", 0)
    assert "used all its fuel, 31,000,000 units (31 s)" in first.reason
    assert played[0].seconds[0] == played[1].seconds[0]
    assert played[0].seconds[0][2] == 31.0


def test_ab_compares_two_modules(home: Home) -> None:
    Path("a.wasm").write_bytes(module(FIRST_MOVE))
    Path("b.wasm").write_bytes(module(FIRST_MOVE, start="(nop)"))
    words = ("--game", "partridge", "--max-blocks", 1, "--seed", "12", "--jobs", 1)
    done = home("ab", "a.wasm", "b.wasm", *words)
    assert "versions differed in 0 swap blocks, and their moves in 0" in done.stdout


def test_a_bank_is_used_up_move_by_move() -> None:
    machine_ = machine.Machine(machine.Program(module(FOREVER)), print)
    player = ModulePlayer(machine_, INFO)
    spent = []
    for _ in range(2):
        with pytest.raises(TimeoutError):
            player({"legal_moves": ["pass"]})
        spent.append(round(player.charged_seconds, 6))
    assert spent == [0.03, 0.01]


def test_on_a_busy_machine_a_check_counts_a_modules_fuel_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(unconfined, "_LOAD_SECONDS", 0.001)  # no machine loads so fast
    monkeypatch.setattr(unconfined, "SLOWEST", 100_000)
    source = Source(module(FIRST_MOVE))
    suite = Suite(tmp_path / "a.wasm", source, runtimes.unconfined(), ["partridge"], tmp_path, note)
    played = suite._play(suite_module._match_types("partridge")[0], CheckedBot)
    assert not played.fault_reports
    assert 0 < max(played.player.seconds) < 0.001
    loaded = of_loading(source, slow(runtimes.unconfined()), dict(INFO))
    assert loaded.result is CheckResult.OK


def test_a_module_out_of_fuel_is_late_without_a_sandbox_too() -> None:
    bot = UnconfinedProcess(Source(late_after(0)), dict(INFO), allowance=lambda: 30.0)
    try:
        bot.ready()
        with pytest.raises(BotTimeoutError, match="used all its fuel, 3,000,000 units"):
            bot({"legal_moves": ["give 7"]})
    finally:
        bot.close()


def note(match: str, done: int, total: int) -> None:
    """Show no progress."""


def slow(runtime: Runtime) -> Runtime:
    """Return a place that is slower than its limit for loading."""
    return replace(runtime, start_seconds=0.0)


def test_a_module_that_is_no_bot_is_named_with_a_remedy(home: Home) -> None:
    Path("bad.wasm").write_bytes(module(memory="(memory 1)"))
    done = home("try", "bad.wasm", "--game", "partridge")
    assert done.exit_code == 2
    assert "bad.wasm" in done.output
    assert "export its only memory" in done.output


def test_without_wasmtime_a_module_names_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "is_available", lambda: False)
    (tmp_path / "first.wasm").write_bytes(module())
    with pytest.raises(BotFileError, match=r"pip install .*wasmtime"):
        load(tmp_path / "first.wasm")


def test_one_file_plays_several_matches_at_once(tmp_path: Path) -> None:
    (tmp_path / "late.wasm").write_bytes(late_after(1))
    bot = load(tmp_path / "late.wasm")
    for player in [bot(INFO), bot.afresh(INFO)]:
        assert player({"legal_moves": ["pass"]}) == "pass"


def test_a_module_passes_the_check_of_the_sandbox_and_its_time_is_fuel(home: Home) -> None:
    declared = '(func (export "plays_partridge"))'
    Path("first.wasm").write_bytes(module(FIRST_MOVE, more=declared))
    done = home("check", "first.wasm", "--json")
    assert done.exit_code == 0, done.output
    shown = json.loads(done.stdout)
    assert shown["good"]
    assert {each["subject"] for each in shown["findings"]} >= {"partridge", "time", "memory"}
    assert "twelve-days" not in {each["subject"] for each in shown["findings"]}
    assert 0 < shown["seconds_a_move"]["longest"] < 0.001


def test_a_module_without_a_sandbox_plays_too() -> None:
    bot = UnconfinedProcess(Source(module(FIRST_MOVE)), dict(INFO), allowance=lambda: 20.0)
    try:
        bot.ready()
        assert bot({"legal_moves": ["pass"]}) == "pass"
    finally:
        bot.close()


def test_a_module_that_the_league_would_refuse_is_named_by_the_check(home: Home) -> None:
    Path("bad.wasm").write_bytes(module(memory="(memory 1)"))
    done = home("check", "bad.wasm")
    assert done.exit_code == 2
    assert "The league would refuse bad.wasm" in done.output
