"""What a module shows to the outside: modules that are refused before they are compiled."""

import random

import pytest
import wasmtime

from bots_sdk.refusals import SourceRefusedError
from bots_sdk.sandbox.declarations import declared_games
from bots_sdk.sandbox.sources import check_source, read_source
from bots_sdk.wasm.binary import MAX_BYTES, ModuleRefusedError, check_module
from tests.bots_sdk.wasm.modules import ALLOCATE, HI, MEMORY, custom_section, module

WASI = '(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))'
ABORT = '(import "env" "abort" (func (param i32 i32 i32 i32)))'


def test_a_module_that_keeps_the_contract_is_read_without_wasmtime() -> None:
    outside = check_module(module(start="(nop)"))
    assert outside.functions == {"allocate", "choose", "start"}
    assert outside.games == ()


def test_a_module_declares_its_games_by_exports() -> None:
    data = module(more='(func (export "plays_partridge"))')
    assert declared_games(read_source(data)) == ("partridge",)
    assert declared_games(read_source(module())) == ()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (module(imports=WASI), "fd_write'; a bot may import only league.log.*without WASI"),
        (module(imports=ABORT), "'env'.'abort'.*--use abort="),
        (module(imports='(import "env" "memory" (memory 1))', memory=""), "export its own memory"),
        (module(imports='(import "env" "fire" (func))'), "declared in the source but nowhere"),
        (module(imports='(import "league" "log" (func (param i32)))'), r"as \(i32\) -> nothing"),
        (module(imports='(import "league" "log" (global i32))'), "may import only"),
        (module(allocate=""), r"not export allocate \(it exports 'choose', 'memory'\)"),
        (module(allocate='(func (export "allocate"))'), r"its types must be \(i32\) -> i32"),
        (module(allocate='(global (export "allocate") i32 (i32.const 1))'), "other than a func"),
        (module(memory="(memory 1)"), "export its only memory"),
        (module(memory='(memory (export "memory") 1025)'), "starts with 64 MB; a bot has 64"),
        (module(memory='(memory (export "memory") 1 2 shared)'), "without threads"),
        (
            module(start="(nop)", more='(memory $b (export "b") 1)'),
            "export its only memory",
        ),
        (wasmtime.wat2wasm("(module)"), r"not export allocate \(it exports nothing\)"),
        (wasmtime.wat2wasm("(component)"), "build a plain module"),
        (b"\0asm", "not a WebAssembly module of version 1"),
        (module()[:-30], "damaged or cut off"),
        (module() + b"\x0b\xff\xff\xff\xff\x0f", "damaged or cut off"),
        (module() + b"\x01\x06\xff\xff\xff\xff\x0f\x00", "entries in its section of types"),
        (module() + custom_section(MAX_BYTES), "4,194,304 at most"),
        (module(more=f"(func {'(drop (i32.const 1))' * 30_000})"), "has 90,00. bytes; one has"),
        (
            module(more=f"(func (local {'i64 ' * 1001}))"),
            "has 1,001 local variables; one has 1,000",
        ),
        (
            module(more=f"(func (param {'i64 ' * 65}))"),
            "has 65 parameters; one has 64 at most",
        ),
        (
            module(more=f"(func (result {'i64 ' * 17}) (unreachable))"),
            "has 17 results; one has 16 at most",
        ),
        (module() + b"\x0a" + custom_section(1 << 21 | 1)[1:], "bytes of code"),
    ],
)
def test_a_module_that_breaks_the_contract_is_refused_with_a_remedy(
    data: bytes, reason: str
) -> None:
    with pytest.raises(ModuleRefusedError, match=reason):
        check_module(data)
    with pytest.raises(SourceRefusedError, match=reason):
        check_source(data)


def test_a_module_with_64_bit_memory_is_refused() -> None:
    text = f'(module (memory (export "memory") i64 1) {ALLOCATE})'
    with pytest.raises(ModuleRefusedError, match="wasm32"):
        check_module(bytes(wasmtime.wat2wasm(text)))


def test_damaged_bytes_are_refused_and_raise_nothing_else() -> None:
    whole = bytearray(module(start="(nop)", memory=MEMORY, choose=HI))
    rng = random.Random(15)
    refused = 0
    for _ in range(3000):
        data = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(8, len(data))] = rng.randrange(256)
        try:
            check_module(bytes(data[: rng.randint(8, len(data))]))
        except ModuleRefusedError:
            refused += 1
    assert refused > 1000
