"""Wasmtime for WebAssembly bots: where its files are, and the memory that it takes.

The harness loads it before it locks itself in, as no code can be mapped after that. Wasmtime then
compiles the module for its interpreter, which needs no executable memory.
"""

import importlib.util
from functools import cache
from pathlib import Path

from bots_sdk.wasm.binary import MEMORY_BYTES

DATA_BYTES = MEMORY_BYTES + (96 << 20)
"""Memory for the module's own memory, Python, and the compiler with the largest module."""

ADDRESS_BYTES = DATA_BYTES + (112 << 20)
"""Address space: the above, programs and libraries, of which Wasmtime takes 30 MB."""

SLOWEST = 60
"""A bot's second of fuel may take so many seconds of CPU time before the machine is too slow."""

SLOWEST_LOADING = 6
"""The same for compiling and starting a module, where it ends modules made to compile slowly."""


@cache
def places() -> dict[str, Path]:
    """Return Wasmtime's directory by name; empty if Wasmtime is not installed."""
    spec = importlib.util.find_spec("wasmtime")
    if spec is None or spec.origin is None:
        return {}
    return {"wasmtime": Path(spec.origin).parent}
