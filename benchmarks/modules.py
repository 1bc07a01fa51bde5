"""The cost of a WebAssembly bot: compile its module, begin a match with it, get a move.

Usage: python benchmarks/modules.py [--rounds 300] [--json]

The reference runs the same module as machine code, without fuel and without limits. Both run in
turns, so that a busy machine slows both. The module is small and plays its first legal move, so
most of the time is Wasmtime's and ours. The benchmark prints medians and their ratios.
"""

import argparse
import json
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import wasmtime

from benchmarks.sandbox import observation
from bots_sdk.wasm.machine import Machine, Program, fuel_of

FUEL = fuel_of(10.0)
INFO = {"game": "twelve-days", "rules": "calliope", "seats": 4, "seat": 0}
KEY = int.from_bytes(b"al_moves", "little")
BOT = f"""
(module
  (import "league" "log" (func $log (param i32 i32)))
  (memory (export "memory") 4)
  (func (export "allocate") (param $size i32) (result i32) (i32.const 65536))
  (func (export "start") (param $at i32) (param $size i32))
  (func (export "choose") (param $at i32) (param $size i32) (result i64)
    (local $from i32) (local $end i32)
    ;; find al_moves":[" in the observation, and return the text up to the next quotation mark
    (block $found (loop $next
      (br_if $found (i64.eq (i64.load (local.get $at)) (i64.const {KEY})))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $next)))
    (local.set $from (i32.add (local.get $at) (i32.const 12)))
    (local.set $end (local.get $from))
    (block $closed (loop $next
      (br_if $closed (i32.eq (i32.load8_u (local.get $end)) (i32.const 34)))
      (local.set $end (i32.add (local.get $end) (i32.const 1)))
      (br $next)))
    (i64.or
      (i64.shl (i64.extend_i32_u (local.get $from)) (i64.const 32))
      (i64.extend_i32_u (i32.sub (local.get $end) (local.get $from))))))
"""


class Bare:
    """The reference: an instance as machine code, without fuel, limits and checks."""

    def __init__(self, engine: wasmtime.Engine, module: wasmtime.Module) -> None:
        self.store = wasmtime.Store(engine)
        i32 = wasmtime.ValType.i32
        log_type = wasmtime.FuncType([i32(), i32()], [])
        log = wasmtime.Func(self.store, log_type, lambda *_: None)
        instance = wasmtime.Instance(self.store, module, [log])
        exports = instance.exports(self.store)
        names = ("allocate", "start", "choose", "memory")
        found: list[Any] = [exports[name] for name in names]
        self.allocate, self.start, self.call, self.memory = found
        self.start(self.store, *self.given(INFO))

    def given(self, what: object) -> tuple[int, int]:
        """Write data as JSON where the module wants it; return the address and the size."""
        data = json.dumps(what, separators=(",", ":")).encode()
        address = self.allocate(self.store, len(data))
        self.memory.write(self.store, data, address)
        return address, len(data)

    def choose(self, seen: object) -> str:
        """Return the module's move."""
        result = self.call(self.store, *self.given(seen))
        address, size = result >> 32, result & 0xFFFF_FFFF
        return bytes(self.memory.read(self.store, address, address + size)).decode()

    def close(self) -> None:
        """Free the memory."""
        self.store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    data = bytes(wasmtime.wat2wasm(BOT))
    engine = wasmtime.Engine()
    module, program = wasmtime.Module(engine, data), Program(data)
    codes = module.serialize(), program.code()
    seen = observation()

    def begun() -> Machine:
        machine = Machine(program, lambda _: None)
        machine.start(INFO, FUEL)
        return machine

    bare, own = Bare(engine, module), begun()
    if not bare.choose(seen) == own.choose(seen, FUEL) == seen["legal_moves"][0]:
        raise SystemExit("the two machines do not play the same move")
    steps: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "compile": (lambda: wasmtime.Module(engine, data), lambda: Program(data)),
        "load compiled code": (
            lambda: wasmtime.Module.deserialize(engine, codes[0]),
            lambda: Program(data, codes[1]),
        ),
        "begin a match": (lambda: Bare(engine, module).close(), lambda: begun().close()),
        "move": (lambda: bare.choose(seen), lambda: own.choose(seen, FUEL)),
    }
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in steps}
    for _ in range(options.rounds):
        for name, runs in steps.items():
            for run, found in zip(runs, times[name], strict=True):
                began = perf_counter()
                run()
                found.append(perf_counter() - began)
    rows = {
        name: {"machine_code_us": median(bare) * 1e6, "league_us": median(own) * 1e6}
        for name, (bare, own) in times.items()
    }
    if options.json:
        print(json.dumps(rows))
        return
    print(f"a module of {len(data)} bytes, an observation of {len(json.dumps(seen))} bytes")
    print(f"{'':20} {'machine code':>13} {'in the league':>14}")
    for name, row in rows.items():
        ratio = row["league_us"] / row["machine_code_us"]
        print(
            f"{name:20} {row['machine_code_us']:10.1f} µs {row['league_us']:11.1f} µs ×{ratio:5.2f}"
        )


if __name__ == "__main__":
    main()
