"""The compiled kernel, run by Wasmtime; no other module uses the package ``wasmtime``.

Its Python interface changes between versions, so it stays behind `Kernel`. Without the package, or
on a machine with another byte order than WebAssembly's, `is_available` returns False.
"""

import atexit
import ctypes
import pkgutil
import sys
from array import array
from collections.abc import Sequence
from functools import cache
from threading import local
from typing import Any

_MEMORY_BYTES = 64 << 20


@cache
def is_available() -> bool:
    """Return whether this process can run the kernel."""
    if sys.byteorder != "little" or array("i").itemsize != 4:
        return False
    try:
        import wasmtime  # noqa: F401
    except (ImportError, OSError, RuntimeError):  # no binary of Wasmtime for this platform
        return False
    return True


@cache
def _compiled() -> Any:
    """Return Wasmtime's engine and the compiled module: once a process, in about 0.1 s."""
    import wasmtime

    config = wasmtime.Config()
    # By default Wasmtime reserves 4 GiB of addresses to save checks of bounds. In the sandbox a
    # limit counts these, so memory is as large as needed, and each access is checked. No threads
    # either: the sandbox forbids them.
    config.memory_reservation = 0
    config.memory_guard_size = 0
    config.memory_reservation_for_growth = 0
    config.parallel_compilation = False
    engine = wasmtime.Engine(config)
    # By the loader of this package: in the sandbox its files have other paths before the lock.
    code = pkgutil.get_data("engine.playouts", "kernel.wasm")
    return engine, wasmtime.Module(engine, code or b"")


class Kernel:
    """An instance of the kernel, with its own memory; not for several threads at once."""

    def __init__(self) -> None:
        """Make an instance, in well under a millisecond once the module is compiled."""
        import wasmtime

        engine, module = _compiled()
        self._store = wasmtime.Store(engine)
        self._store.set_limits(memory_size=_MEMORY_BYTES)
        self._exports = wasmtime.Instance(self._store, module, []).exports(self._store)
        self._memory: Any = self._exports["memory"]
        self._functions: dict[str, Any] = {}
        self._io = self.view(self.call("io_at"), 4 * self.call("io_size")).cast("i")
        self._table: object = None

    def call(self, name: str, *numbers: int) -> int:
        """Call a function of the kernel with whole numbers; those of 64 bits count modulo 2**64."""
        if name not in self._functions:
            self._functions[name] = self._exports[name]
        result: int = self._functions[name](self._store, *numbers)
        return result

    def view(self, start: int, size: int) -> memoryview:
        """Return a part of the kernel's memory, which keeps the kernel alive."""
        if start < 0 or size < 0 or start + size > self._memory.data_len(self._store):
            raise ValueError(f"the kernel has no {size} bytes at {start}")
        part: Any = self._memory.get_buffer_ptr(self._store, size, start)
        part.owner = self
        return memoryview(part).cast("B")

    def give(self, words: Sequence[int]) -> None:
        """Write the numbers that the next call takes."""
        self._io[: len(words)] = array("i", words)

    def give_table(self, table: Any, game: int) -> None:
        """Make a table of a policy the one in use, if it is another one.

        Args:
            table: has ``words``.
            game: the kernel's number of the game.

        Raises:
            ValueError: the kernel refused the table.
        """
        if self._table is not table:
            self._table = None
            self.give(table.words)
            if self.call("load_table", game):
                raise ValueError("the kernel refused the table of a policy")
            self._table = table

    def results(self, count: int) -> list[int]:
        """Return the first results of the last call."""
        return self.view(self.call("results_at"), 8 * count).cast("q").tolist()


_by_thread = local()


def kernel() -> Kernel:
    """Return the kernel of this thread."""
    found: Kernel | None = getattr(_by_thread, "kernel", None)
    if found is None:
        found = _by_thread.kernel = Kernel()
    return found


@atexit.register
def _free() -> None:
    """Free Wasmtime's objects before Python takes its modules apart, or it prints errors."""
    _by_thread.__dict__.clear()
    _compiled.cache_clear()


def signed(number: int) -> int:
    """Return the lowest 64 bits of a number as Wasmtime takes them."""
    return ctypes.c_int64(number).value
