"""The machine of WebAssembly bots: every fault, and that it repeats to the unit of fuel."""

import time
from typing import Any

import pytest

from bots_sdk.sandbox.wasm_files import SLOWEST
from bots_sdk.wasm.binary import (
    MAX_LOCALS,
    MAX_PARAMETERS,
    MAX_RESULTS,
    MEMORY_BYTES,
    ModuleRefusedError,
)
from bots_sdk.wasm.machine import (
    FUEL_PER_SECOND,
    LOG_CALL_FUEL,
    Machine,
    ModuleFaultError,
    OutOfFuelError,
    Program,
    fuel_of,
)
from tests.bots_sdk.wasm.modules import FIRST_MOVE, FOREVER, HI, late_after, module

FUEL = 1_000_000
SEEN: dict[str, Any] = {"legal_moves": ["give 7", "give 9"]}


def started(data: bytes, logged: list[str] | None = None, fuel: int = FUEL) -> Machine:
    machine = Machine(Program(data), (logged if logged is not None else []).append)
    machine.start({"seat": 0}, fuel)
    return machine


def test_a_module_gets_its_input_as_json_and_its_move_is_a_text() -> None:
    assert started(module(FIRST_MOVE)).choose(SEEN, FUEL) == "give 7"


def test_start_gets_the_match_info() -> None:
    shown: list[str] = []
    machine = started(
        module(start="(call $log (local.get $at) (local.get $size))"), shown, fuel=FUEL
    )
    assert shown == ['{"seat":0}\n']
    assert machine.choose(SEEN, FUEL) == "hi"


def test_a_move_takes_the_same_fuel_each_time_and_runs_out_at_the_same_unit() -> None:
    machine = started(module(FIRST_MOVE))
    machine.choose(SEEN, FUEL)
    needed = machine.fuel_used
    assert 100 < needed < 10_000
    for _ in range(2):
        assert started(module(FIRST_MOVE)).choose(SEEN, needed + 1) == "give 7"
        with pytest.raises(OutOfFuelError, match="used all its fuel"):
            started(module(FIRST_MOVE)).choose(SEEN, needed // 2)


def test_fuel_bounds_a_module_that_computes_forever() -> None:
    machine = started(module(FOREVER))
    with pytest.raises(OutOfFuelError):
        machine.choose(SEEN, FUEL)
    assert machine.fuel_used == FUEL
    with pytest.raises(TimeoutError):  # what the referee takes for a timeout
        machine.choose(SEEN, FUEL)


@pytest.mark.parametrize(
    "data",
    [
        module(start=FOREVER),
        module(more=f"(func $first {FOREVER}) (start $first)"),
        module(more=f'(func (export "_initialize") {FOREVER})'),
    ],
)
def test_fuel_bounds_a_start_that_computes_forever(data: bytes) -> None:
    machine = Machine(Program(data), print)
    for _ in range(2):
        with pytest.raises(OutOfFuelError):
            machine.start({}, FUEL)
        assert machine.fuel_used == FUEL


def test_after_a_fault_a_new_instance_is_started_within_the_next_move() -> None:
    machine = started(late_after(1))
    assert machine.choose(SEEN, FUEL) == "give 7"
    plain = machine.fuel_used
    with pytest.raises(OutOfFuelError):
        machine.choose(SEEN, FUEL)
    assert machine.choose(SEEN, FUEL) == "give 7"  # it counts its moves anew
    assert machine.fuel_used >= plain


def test_a_new_match_finds_nothing_of_the_last_one() -> None:
    machine = started(late_after(1))
    for _ in range(3):
        machine.choose(SEEN, FUEL)
        machine.start({}, FUEL)


@pytest.mark.parametrize(
    ("choose", "reason"),
    [
        ("(unreachable)", "trapped: wasm `unreachable` instruction executed"),
        ("(drop (i32.div_s (i32.const 1) (i32.const 0))) (i64.const 0)", "divide by zero"),
        ("(drop (i32.load (i32.const -4))) (i64.const 0)", "out of bounds"),
        ("(drop (i32.load (i32.const 262143))) (i64.const 0)", "out of bounds"),
        ("(call $deep (i32.const 0)) (i64.const 0)", "call stack exhausted"),
        ("(i64.const -1)", "text of 4,294,967,295 bytes; a move has 4,096"),
        ("(i64.const 0x40000001001)", "text of 4,097 bytes"),
        ("(i64.const 0xffffffff00000002)", "outside of the memory"),
        ("(i64.const 0x3ffff00000002)", "outside of the memory"),
        ("(i32.store8 (i32.const 1024) (i32.const 255)) (i64.const 0x40000000002)", "not UTF-8"),
        ("(call_indirect (i32.const 0)) (i64.const 0)", "uninitialized element|null"),
    ],
)
def test_a_fault_of_the_module_is_one_line_and_repeats_exactly(choose: str, reason: str) -> None:
    data = module(
        choose, more="(func $deep (param i32) (call $deep (i32.const 1))) (table 1 funcref)"
    )
    seen = set()
    for _ in range(2):
        machine = started(data)
        with pytest.raises(ModuleFaultError, match=reason) as caught:
            machine.choose(SEEN, FUEL)
        assert "\n" not in str(caught.value)
        seen.add((str(caught.value), machine.fuel_used))
    assert len(seen) == 1


@pytest.mark.parametrize("address", ["-1", "262100", "-2147483648"])
def test_an_allocate_that_returns_a_wrong_address_is_a_fault(address: str) -> None:
    wrong = f'(func (export "allocate") (param i32) (result i32) (i32.const {address}))'
    with pytest.raises(ModuleFaultError, match="and the memory ends at 262144"):
        started(module(allocate=wrong)).choose({"legal_moves": "x" * 100}, FUEL)


def test_a_module_can_use_addresses_up_to_its_limit_and_no_more() -> None:
    pages = MEMORY_BYTES >> 16
    grown = f"""
      (if (i32.ne (memory.grow (i32.const {pages - 4})) (i32.const 4)) (then (unreachable)))
      (if (i32.ne (memory.grow (i32.const 1)) (i32.const -1)) (then (unreachable)))
      (i32.store (i32.const {MEMORY_BYTES - 4}) (i32.const 1))
    """
    assert started(module(grown + HI)).choose(SEEN, FUEL) == "hi"


def test_large_copies_and_fills_take_fuel_for_each_byte() -> None:
    fill = "(memory.fill (i32.const 2048) (i32.const 7) (i32.const 200000))"
    copy = "(memory.copy (i32.const 2048) (i32.const 4096) (i32.const 200000))"
    for work in (fill, copy):
        machine = started(module(work + HI))
        machine.choose(SEEN, FUEL)
        assert machine.fuel_used >= 200_000


def merged(count: int) -> str:
    """Return a function that branches around assignments to variables, which are moved then."""
    sets = [
        f"(local.set {at} (i64.rotl (local.get {at - 1}) (i64.const 7)))" for at in range(1, count)
    ]
    uses = [f"(local.get {at}) (i64.sub)" for at in range(count)]
    return (
        f"(global $never (mut i32) (i32.const 0)) (func $slow (local {'i64 ' * count})"
        f"(if (global.get $never) (then {' '.join(sets)}))"
        f"(if (global.get $never) (then (i64.const 1) {' '.join(uses)} (drop))))"
    )


def passed_on(count: int) -> str:
    """Return functions that pass on results, each with one call."""
    result = f"(result {'i64 ' * count})"
    first = f"(func $f0 {result} {'(i64.const 1)' * count})"
    others = [f"(func $f{at} {result} (call $f{at - 1}))" for at in range(1, 200)]
    return f"{first} {' '.join(others)} (func $slow (call $f199) {'(drop)' * count})"


def shifted(count: int) -> str:
    """Return a function whose loop moves each of its parameters into the next one."""
    return (
        f"(func $slow (local $left i32) (local.set $left (i32.const 100)) {'(i64.const 1)' * count}"
        f"(loop $again (param {'i64 ' * count}) (i64.const 2) (br_if $again (local.tee $left "
        f"(i32.sub (local.get $left) (i32.const 1)))) {'(drop)' * (count + 1)}))"
    )


@pytest.mark.parametrize(
    "slow",
    [merged(MAX_LOCALS), shifted(MAX_PARAMETERS), passed_on(MAX_RESULTS)],
    ids=["locals", "parameters", "results"],
)
def test_work_without_fuel_is_short_enough_that_no_machine_seems_too_slow(slow: str) -> None:
    calls = f"""(local.set $from (i32.const 100))
      (loop $again {"(call $slow)" * 100}
        (local.set $from (i32.sub (local.get $from) (i32.const 1)))
        (br_if $again (local.get $from))) {HI}"""
    machine = started(module(calls, more=slow))
    found = []
    for _ in range(5):  # the shortest time counts: other programs also use this machine
        began = time.process_time()
        assert machine.choose(SEEN, 100 * FUEL) == "hi"
        took = time.process_time() - began
        found.append(took * FUEL_PER_SECOND / machine.fuel_used)
    assert min(found) < SLOWEST / 2  # a league's machine is slower


def test_a_call_of_the_log_takes_fuel_so_that_it_cannot_be_flooded() -> None:
    shown: list[str] = []
    flood = "(loop $again (call $log (i32.const 1024) (i32.const 2)) (br $again)) (unreachable)"
    with pytest.raises(OutOfFuelError):
        started(module(flood), shown).choose(SEEN, FUEL)
    assert 0 < len(shown) <= FUEL // LOG_CALL_FUEL


@pytest.mark.parametrize("size", ["300000", "-1"])
def test_a_log_with_a_forged_length_shows_nothing(size: str) -> None:
    shown: list[str] = []
    data = module(f"(call $log (i32.const 1024) (i32.const {size})) {HI}")
    machine = started(data, shown)
    if size == "-1":  # four gigabytes are more than the fuel
        with pytest.raises(OutOfFuelError):
            machine.choose(SEEN, FUEL)
    else:
        assert machine.choose(SEEN, FUEL) == "hi"
    assert shown == []


def test_a_log_that_is_not_utf_8_is_shown_with_marks() -> None:
    shown: list[str] = []
    data = module(f"(call $log (i32.const 1024) (i32.const 2)) {HI}", data="\\ff\\41")
    with pytest.raises(ModuleFaultError, match="not UTF-8"):
        started(data, shown).choose(SEEN, FUEL)
    assert shown == ["\ufffdA\n"]


def test_nan_has_the_same_bits_on_every_machine() -> None:
    nan = """
      (i64.store (i32.const 1024) (i64.reinterpret_f64
        (f64.div (f64.const 0) (f64.mul (f64.const -0) (f64.const 5)))))
      (if (i64.ne (i64.load (i32.const 1024)) (i64.const 0x7ff8000000000000))
        (then (unreachable)))
      (i32.store16 (i32.const 1024) (i32.const 0x6968))
    """
    assert started(module(nan + HI)).choose(SEEN, FUEL) == "hi"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ("(func (result i32) (i64.const 1))", "type mismatch"),
        ("(func (drop (i32x4.relaxed_trunc_f32x4_s (v128.const i32x4 0 0 0 0))))", "relaxed"),
        ("(func (drop (i32.atomic.load (i32.const 0))))", "threads"),
        ("(func $f (return_call $f))", "tail call"),
    ],
)
def test_code_that_is_wrong_or_differs_between_machines_is_refused(more: str, reason: str) -> None:
    with pytest.raises(ModuleRefusedError, match=reason):
        Program(module(more=more))


def test_vectors_of_webassembly_2_work() -> None:
    vector = """
      (i32.store16 (i32.const 1024) (i32x4.extract_lane 2
        (i32x4.add (i32x4.splat (i32.const 0x6060)) (v128.const i32x4 1 2 0x0908 4))))
    """
    assert started(module(vector + HI)).choose(SEEN, FUEL) == "hi"


def test_many_machines_of_a_program_share_nothing() -> None:
    program = Program(late_after(2))
    for _ in range(5):
        machine = Machine(program, print)
        machine.start({}, FUEL)
        assert [machine.choose(SEEN, FUEL) for _ in range(2)] == ["give 7"] * 2
        machine.close()


def test_a_second_of_the_clock_is_a_fixed_number_of_instructions() -> None:
    assert fuel_of(1.5) == 150_000_000
    assert fuel_of(-1.0) == 0
