"""Runs inside the jail: a WebAssembly bot in the place of a Python bot.

Only code of the league runs in Python then. The bot's instructions are interpreted by Wasmtime.
"""

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bots_sdk.wasm.machine import Machine

_MAX_REASON_LETTERS = 300


def prepare() -> None:
    """Load Wasmtime, before the process locks itself in.

    Raises:
        ImportError: it is not installed.
        OSError: memory could not be protected.
    """
    import wasmtime  # noqa: F401

    import bots_sdk.wasm.machine  # noqa: F401 - it loads the engine too

    protect_callbacks()


def protect_callbacks() -> None:
    """Let no memory of Wasmtime's Python package be writable and executable.

    Raises:
        OSError: memory could not be protected.
    """
    import ctypes
    import mmap

    # For functions in Python that C calls, the library libffi makes small pieces of code in memory
    # that is writable and executable. All of Wasmtime's exist now, so it need not stay writable.
    libc = ctypes.CDLL(None, use_errno=True)
    for page in {address & -mmap.PAGESIZE for address in _callbacks()}:
        pages = ctypes.c_void_p(page), ctypes.c_size_t(mmap.PAGESIZE)
        if libc.mprotect(*pages, mmap.PROT_READ | mmap.PROT_EXEC):
            raise OSError(ctypes.get_errno(), "the code of callbacks stays writable")


def _callbacks() -> Iterator[int]:
    """Yield the addresses of Wasmtime's callbacks, and of some functions of its library."""
    import ctypes

    kind: Any = ctypes.CFUNCTYPE(None).__mro__[1]
    for name in [name for name in sys.modules if name.startswith("wasmtime._")]:
        for value in vars(sys.modules[name]).values():
            if isinstance(value, kind) and (address := ctypes.cast(value, ctypes.c_void_p).value):
                yield address


class Player:
    """A module in one match."""

    def __init__(self, machine: "Machine") -> None:
        self._machine = machine

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request of the referee, as a part of a message."""
        from bots_sdk.wasm.machine import ModuleFaultError, OutOfFuelError

        try:
            found = {"move": self._machine.choose(request["choose"], request["fuel"])}
        except OutOfFuelError as error:
            found = {"failed": str(error), "kind": "timeout"}
        except ModuleFaultError as error:
            found = {"failed": str(error)[:_MAX_REASON_LETTERS], "kind": "crash"}
        return {**found, "fuel": self._machine.fuel_used}


def load(
    source: bytes,
    code: bytes,
    info: dict[str, Any],
    log: Callable[[str], None],
    keep: Callable[[bytes], None] | None,
) -> Player:
    """Compile a module and start it for a match.

    Args:
        source: the module.
        code: the compiled module, from an earlier process; empty if there is none.
        info: the argument of the module's ``start``.
        log: receives what the module logs.
        keep: receives the compiled module before it runs, or nothing if it can't be compiled.

    Raises:
        ModuleRefusedError: the module is not valid.
        OutOfFuelError: its start used all its fuel.
        ModuleFaultError: its start trapped.
    """
    from bots_sdk.wasm.machine import START_SECONDS, Machine, Program, fuel_of

    compiled = b""
    try:
        program = Program(source, code)
        if keep:
            compiled = program.code()
    finally:
        if keep:
            keep(compiled)
    machine = Machine(program, log)
    machine.start(info, fuel_of(START_SECONDS))
    return Player(machine)
