"""A played match of a WebAssembly bot, computed again from its record."""

from dataclasses import replace

import pytest

from bots_sdk.bot import match_info
from bots_sdk.reference import make_player
from bots_sdk.wasm.bot import ModulePlayer
from bots_sdk.wasm.machine import Machine, Program
from bots_sdk.wasm.proving import fuel_of_moves
from engine.errors import RecordError
from engine.record import Record
from engine.referee import TimeControl, play
from tests.bots_sdk.wasm.modules import FIRST_MOVE, late_after, module

GAME, RULES, SEATS = "partridge", "eagle-short", 4
CLOCK = TimeControl(move_seconds=0.01, bank_seconds=0.02)


def played(data: bytes) -> Record:
    """Return a match of a module against random bots, in which only fuel counts."""
    info = match_info(GAME, RULES, SEATS, 0, CLOCK)
    player = ModulePlayer(Machine(Program(data), print), info)
    others = [make_player("house-random", luck=str(seat)) for seat in range(1, SEATS)]
    return play(GAME, RULES, bytes(32), [player, *others]).record


def test_a_match_with_timeouts_has_them_at_the_same_plies_each_time() -> None:
    data = late_after(2)
    record = played(data)
    assert [fault.kind for fault in record.faults].count("timeout") == 3
    assert played(data) == record
    first, again = (fuel_of_moves(record, 0, data, CLOCK) for _ in range(2))
    assert first == again
    late = {each.ply: each.fuel for each in first if each.fault == "timeout"}
    assert list(late) == [fault.ply for fault in record.faults if fault.kind == "timeout"]
    # The first takes all of the move's time and of the bank, and the others all of the move's.
    assert list(late.values()) == [3_000_000, 1_000_000, 1_000_000]
    assert all(0 < each.fuel < 1_000_000 for each in first if each.fault is None)


def test_a_record_with_another_fault_or_move_is_refuted() -> None:
    record = played(late_after(2))
    with pytest.raises(RecordError, match="the record is none, but that of the module is timeout"):
        fuel_of_moves(replace(record, faults=()), 0, late_after(2), CLOCK)
    with pytest.raises(RecordError, match="the record is timeout, but that of the module is none"):
        fuel_of_moves(record, 0, module(FIRST_MOVE), CLOCK)
    honest = played(module(FIRST_MOVE))
    last = FIRST_MOVE.replace("i64.const 32", "i64.const 33")
    with pytest.raises(RecordError, match="the module is illegal"):
        fuel_of_moves(honest, 0, module(last), CLOCK)
    with pytest.raises(RecordError, match="the module plays another move"):
        fuel_of_moves(honest, 1, module(FIRST_MOVE), CLOCK)  # a random bot's seat


def test_a_slower_clock_of_another_league_is_refuted() -> None:
    with pytest.raises(RecordError, match="ply"):
        fuel_of_moves(played(module(FIRST_MOVE)), 0, module(FIRST_MOVE), TimeControl(0.000001))


def test_a_module_that_never_starts_is_proven_too() -> None:
    data = module(FIRST_MOVE, start="(unreachable)")
    record = played(module(FIRST_MOVE))
    with pytest.raises(RecordError, match="the module is crash: its module trapped"):
        fuel_of_moves(record, 0, data, CLOCK)


def test_a_forfeit_without_three_faults_before_is_refuted() -> None:
    record = played(late_after(2))
    [*_, last] = [fault for fault in record.faults if fault.kind == "timeout"]
    forfeits = tuple(
        replace(fault, kind="forfeit") if fault == last else fault for fault in record.faults
    )
    with pytest.raises(RecordError, match="is forfeit, but the seat has made 2 faults before"):
        fuel_of_moves(replace(record, faults=forfeits), 0, late_after(2), CLOCK)
    fourth = next(fault for fault in record.faults if fault.kind == "forfeit")
    faults = tuple(
        replace(fault, kind="timeout") if fault == fourth else fault for fault in record.faults
    )
    with pytest.raises(RecordError, match="is timeout, but the seat has made 3 faults before"):
        fuel_of_moves(replace(record, faults=faults), 0, late_after(2), CLOCK)
