"""The libraries that the harness loads before its lock, for bots that need them.

They are ``numpy``, and ``playouts``: the compiled kernel of `engine.playouts`, run by Wasmtime. A
WebAssembly bot gets ``wasmtime``, which runs the bot itself.
"""

from collections.abc import Iterable
from pathlib import Path

from bots_sdk.sandbox import numpy_files, playout_files, wasm_files
from bots_sdk.sandbox.sources import Source

PACKAGES = ("numpy", "wasmtime")
"""The packages of the libraries, which a bot may import."""

_FILES = {"numpy": numpy_files, "playouts": playout_files, "wasmtime": wasm_files}


def named_in(source: Source) -> tuple[str, ...]:
    """Return the libraries that a bot's Python files name, or that of a WebAssembly bot."""
    if source.is_module:
        return ("wasmtime",)
    return tuple(files.NAME for files in (numpy_files, playout_files) if files.is_named(source))


def installed(names: Iterable[str]) -> list[str]:
    """Return those of some libraries that are installed."""
    return [name for name in names if _FILES[name].places()]


def places(names: Iterable[str]) -> dict[str, Path]:
    """Return the directories of some libraries by their name below the jail's directory."""
    return {name: place for each in names for name, place in _FILES[each].places().items()}
