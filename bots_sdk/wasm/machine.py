"""Runs a WebAssembly bot; the only module of bots that uses the package ``wasmtime``.

Wasmtime compiles the module for Pulley, its interpreter. No memory becomes executable, and a module
does the same on every machine: the same results, the same count of instructions, the same depth of
calls. Docs: docs/decisions/0068-webassembly-bots-are-interpreted.md.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from bots_sdk.wasm.binary import MEMORY_BYTES, ModuleRefusedError, check_module
from engine.errors import PlayerFaultError, quote

FUEL_PER_SECOND = 100_000_000
"""The fuel of one second of a bot's clock; an instruction takes about one unit."""
START_SECONDS = 5.0
"""The clock for the first start of a match; it takes nothing from the bot's bank."""
MAX_ANSWER_BYTES = 4096
LOG_CALL_FUEL = 10_000
"""The fuel of a call of ``league.log``; each byte of its text takes one unit more."""
MAX_LOG_BYTES = 64 << 10
"""The bytes of a text that are logged. A text of all memory would not fit into the sandbox."""

_STACK_BYTES = 512 << 10
_TABLE_ELEMENTS = 100_000
_MAX_REASON_LETTERS = 300


class OutOfFuelError(PlayerFaultError, TimeoutError):
    """A bot used all the fuel that its clock allowed."""


class ModuleFaultError(PlayerFaultError):
    """A bot's module trapped, or broke the contract; the message is one line."""


def is_available() -> bool:
    """Return whether Wasmtime is installed and has a binary for this machine."""
    try:
        import wasmtime  # noqa: F401
    except (ImportError, OSError, RuntimeError):
        return False
    return True


def fuel_of(seconds: float) -> int:
    """Return the fuel for some seconds of the clock."""
    return max(0, int(seconds * FUEL_PER_SECOND))


def seconds_of(fuel: int) -> float:
    """Return the seconds of the clock that some fuel takes."""
    return fuel / FUEL_PER_SECOND


class Program:
    """A compiled module, for any number of machines.

    Attributes:
        functions: the exported functions of the contract.
    """

    def __init__(self, data: bytes, code: bytes = b"") -> None:
        """Compile a module.

        Args:
            data: the content of the ``.wasm`` file.
            code: what the method `code` returned in another process of this machine; empty to
                compile the module. Wasmtime does not check it, so it must come from nobody else.

        Raises:
            ModuleRefusedError: the module breaks the contract, or is not valid.
        """
        import wasmtime

        self.functions = check_module(data).functions
        self.engine = wasmtime.Engine(_config())
        try:
            self.module = self._loaded(code) or wasmtime.Module(self.engine, data)
        except wasmtime.WasmtimeError as error:
            raise ModuleRefusedError(f"the module is not valid: {_line(str(error))}") from None

    def _loaded(self, code: bytes) -> Any:
        """Return the module of some code; None without code, or if another Wasmtime made it."""
        import wasmtime

        if code:
            with suppress(wasmtime.WasmtimeError):
                return wasmtime.Module.deserialize(self.engine, code)
        return None

    def code(self) -> bytes:
        """Return the compiled module, which later processes load instead of compiling it."""
        return bytes(self.module.serialize())


class Machine:
    """Runs a module in one match.

    After a fault the module's instance is given up. The next move begins with a new instance, whose
    start takes fuel of that move.

    Attributes:
        fuel_used: the fuel of the last call, faults included.
    """

    def __init__(self, program: Program, log: Callable[[str], None]) -> None:
        """Set up a machine without an instance.

        Args:
            program: the compiled module.
            log: receives the texts that the module logs.
        """
        self._program = program
        self._log = log
        self._info: object = None
        self._store: Any = None
        self._exports: Any = None
        self.fuel_used = 0

    def start(self, info: object, fuel: int) -> None:
        """Make an instance for a match and call its ``start``.

        Args:
            info: the argument of ``start``, as data for JSON.
            fuel: the most fuel that it may use.

        Raises:
            OutOfFuelError: it used all its fuel.
            ModuleFaultError: it trapped, or broke the contract.
        """
        self._info = info
        self._guarded(fuel, self._instantiate)

    def choose(self, observation: object, fuel: int) -> str:
        """Return the module's move.

        Args:
            observation: as data for JSON.
            fuel: the most fuel that it may use.

        Raises:
            OutOfFuelError: it used all its fuel.
            ModuleFaultError: it trapped, or broke the contract.
        """

        def work() -> str:
            if self._exports is None:
                self._instantiate()
            result = int(self._exports["choose"](self._store, *self._given(observation)))
            return self._answer((result >> 32) & 0xFFFF_FFFF, result & 0xFFFF_FFFF)

        return str(self._guarded(fuel, work))

    def close(self) -> None:
        """Free the memory of the instance; the next call makes a new one."""
        store, self._store, self._exports = self._store, None, None
        if store is not None:
            store.close()

    def _guarded(self, fuel: int, work: Callable[[], object]) -> object:
        import wasmtime

        if self._store is None:
            self._store = self._new_store()
        self._store.set_fuel(fuel)
        try:
            result = work()
        except (wasmtime.Trap, wasmtime.WasmtimeError, OutOfFuelError) as error:
            self.fuel_used = fuel - self._store.get_fuel()
            self.close()
            if isinstance(error, OutOfFuelError) or _is_out_of_fuel(error):
                self.fuel_used = fuel
                raise OutOfFuelError(
                    f"it did not answer within its clock: it used all its fuel, {fuel:,} units "
                    f"({seconds_of(fuel):.3g} s)"
                ) from None
            raise ModuleFaultError(_reason(error)) from None
        except ModuleFaultError:
            self.fuel_used = fuel - self._store.get_fuel()
            self.close()
            raise
        except BaseException:
            self.close()
            raise
        self.fuel_used = fuel - self._store.get_fuel()
        return result

    def _new_store(self) -> Any:
        import wasmtime

        store = wasmtime.Store(self._program.engine)
        store.set_limits(
            memory_size=MEMORY_BYTES,
            table_elements=_TABLE_ELEMENTS,
            instances=1,
            tables=4,
            memories=1,
        )
        return store

    def _instantiate(self) -> None:
        import wasmtime

        if self._exports is not None:  # a new match
            left = self._store.get_fuel()
            self.close()
            self._store = self._new_store()
            self._store.set_fuel(left)
        i32 = wasmtime.ValType.i32
        log_type = wasmtime.FuncType([i32(), i32()], [])
        module = self._program.module
        imports = [wasmtime.Func(self._store, log_type, self._take_log) for _ in module.imports]
        instance = wasmtime.Instance(self._store, module, imports)
        exports = instance.exports(self._store)
        names = [*sorted(self._program.functions), "memory"]
        self._exports = {name: exports[name] for name in names}
        if "_initialize" in self._program.functions:
            self._exports["_initialize"](self._store)
        if "start" in self._program.functions:
            self._exports["start"](self._store, *self._given(self._info))

    def _given(self, what: object) -> tuple[int, int]:
        """Write data as JSON where the module wants it; return the address and the size."""
        data = json.dumps(what, separators=(",", ":")).encode()
        address = self._exports["allocate"](self._store, len(data)) & 0xFFFF_FFFF
        memory = self._exports["memory"]
        if address + len(data) > memory.data_len(self._store):
            raise ModuleFaultError(
                f"allocate({len(data)}) returned {address}, and the memory ends at "
                f"{memory.data_len(self._store)}"
            )
        memory.write(self._store, data, address)
        return _signed(address), len(data)

    def _answer(self, address: int, size: int) -> str:
        if size > MAX_ANSWER_BYTES:
            raise ModuleFaultError(
                f"choose returned a text of {size:,} bytes; a move has {MAX_ANSWER_BYTES:,} at most"
            )
        try:
            return self._text(address, size).decode()
        except UnicodeDecodeError:
            raise ModuleFaultError("choose returned a text that is not UTF-8") from None

    def _text(self, address: int, size: int) -> bytes:
        memory = self._exports["memory"]
        end: int = memory.data_len(self._store)
        if address + size > end:
            raise ModuleFaultError(
                f"a text of {size:,} bytes at {address:,} is outside of the memory, which ends at "
                f"{end:,}"
            )
        return bytes(memory.read(self._store, address, address + size))

    def _take_log(self, address: int, size: int) -> None:
        """Log a text; a call with a wrong address, or before the module is set up, logs nothing."""
        address, size = address & 0xFFFF_FFFF, size & 0xFFFF_FFFF
        store = self._store
        left = store.get_fuel() - LOG_CALL_FUEL - size
        store.set_fuel(max(0, left))
        if left < 0:
            raise OutOfFuelError  # a trap, and then the error of the call
        if self._exports is None:
            return
        memory = self._exports["memory"]
        if address + size <= memory.data_len(store):
            text = bytes(memory.read(store, address, address + min(size, MAX_LOG_BYTES)))
            self._log(text.decode("utf-8", "replace") + "\n")


def _config() -> Any:
    """Return Wasmtime's settings: all that could differ between machines is off."""
    import wasmtime

    config = wasmtime.Config()
    config.target = "pulley64"
    config.consume_fuel = True
    config.cranelift_nan_canonicalization = True
    config.cranelift_opt_level = "speed"
    config.max_wasm_stack = _STACK_BYTES
    # The whole memory is reserved at once, so that it grows without being copied. No guard pages
    # and no signals: each access is checked.
    config.memory_reservation = MEMORY_BYTES
    config.memory_guard_size = 0
    config.memory_reservation_for_growth = 0
    config.memory_init_cow = False
    config.signals_based_traps = False
    config.parallel_compilation = False
    for feature in (
        *("threads", "relaxed_simd", "memory64", "multi_memory", "gc", "exceptions"),
        *("function_references", "stack_switching", "custom_page_sizes", "wide_arithmetic"),
        *("tail_call", "component_model"),
    ):
        setattr(config, f"wasm_{feature}", False)
    return config


def _is_out_of_fuel(error: Exception) -> bool:
    import wasmtime

    if not isinstance(error, wasmtime.Trap):
        return False
    try:
        return error.trap_code is wasmtime.TrapCode.OUT_OF_FUEL
    except ValueError:  # a reason that the package does not list
        return False


def _reason(error: Exception) -> str:
    """Return why a module trapped, and in which of its functions, in one line."""
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    reason = (lines[-1] if lines else "unknown reason").removeprefix("wasm trap: ")
    where = ""
    for line in lines:
        if line.startswith("0:") and "!" in line:
            where = f" (in {quote(line.rpartition('!')[2], 60)})"
    return f"its module trapped: {reason[:_MAX_REASON_LETTERS]}{where}"


def _line(text: str) -> str:
    return quote(" ".join(text.split())[:_MAX_REASON_LETTERS], _MAX_REASON_LETTERS)


def _signed(number: int) -> int:
    return number - (1 << 32) if number >= 1 << 31 else number
