"""WebAssembly bots for tests, written in its text format."""

from struct import pack

import wasmtime

LOG = '(import "league" "log" (func $log (param i32 i32)))'
MEMORY = '(memory (export "memory") 4)'
ALLOCATE = '(func (export "allocate") (param i32) (result i32) (i32.const 65536))'
HI = "(i64.const 0x40000000002)"
"""What `choose` returns for the two bytes at 1024, which are ``hi``."""


def module(
    choose: str = HI,
    *,
    start: str = "",
    more: str = "",
    imports: str = LOG,
    memory: str = MEMORY,
    allocate: str = ALLOCATE,
    data: str = "hi",
) -> bytes:
    """Return a module with these parts; the address and the size of its input are $at and $size."""
    started = f'(func (export "start") (param $at i32) (param $size i32) {start})' if start else ""
    return bytes(
        wasmtime.wat2wasm(
            f"""(module {imports} {memory} (data (i32.const 1024) "{data}")
            {allocate} {started}
            (func (export "choose") (param $at i32) (param $size i32) (result i64)
              (local $from i32) (local $end i32) (local $x f64) {choose})
            {more})"""
        )
    )


_KEY = int.from_bytes(b"al_moves", "little")

FIRST_MOVE = f"""
  (block $found (loop $next
    (br_if $found (i64.eq (i64.load (local.get $at)) (i64.const {_KEY})))
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
    (i64.extend_i32_u (i32.sub (local.get $end) (local.get $from))))
"""
"""A `choose` that finds ``al_moves":["`` in its input and returns the first legal move."""

FOREVER = "(loop $again (br $again)) (unreachable)"


def late_after(moves: int) -> bytes:
    """Return a bot that plays its first legal move, and after some moves works forever.

    Its work uses much fuel in little time: each byte of a fill takes a unit.

    It counts its moves in its memory, so a new instance after a fault begins to count anew.
    """
    counted = f"""
      (i32.store (i32.const 0) (i32.add (i32.load (i32.const 0)) (i32.const 1)))
      (if (i32.gt_u (i32.load (i32.const 0)) (i32.const {moves}))
        (then (loop $again
          (memory.fill (i32.const 2048) (i32.const 0) (i32.const 60000))
          (br $again))))
    """
    return module(counted + FIRST_MOVE)


def custom_section(size: int) -> bytes:
    """Return a section that a module may end with, and that means nothing."""
    assert size > 1 << 21
    length = bytes((size >> shift & 0x7F) | 0x80 for shift in (0, 7, 14)) + pack("B", size >> 21)
    return b"\0" + length + b"\1x" + bytes(size - 2)
