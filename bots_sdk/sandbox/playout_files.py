"""The kernel of playouts for bots: which bots get it, where its files are, and its memory.

After the harness has locked itself in, no code can be mapped. So the kernel is compiled and loaded
before, and only for a bot whose files name it: that takes CPU time and memory.
"""

import importlib.util
import subprocess
import sys
from functools import cache
from pathlib import Path

from bots_sdk.sandbox.sources import Source

NAME = "playouts"

MEMORY_BYTES = 24 << 20
"""The kernel's own memory and that of Wasmtime, which runs it."""

CODE_BYTES = 40 << 20
"""Address space for Wasmtime's library."""

_COMPILE_SECONDS = 120


def is_named(source: Source) -> bool:
    """Return whether a Python file of a bot contains the word ``playouts``."""
    return source.names(NAME)


@cache
def places() -> dict[str, Path]:
    """Return the directory of Wasmtime by name; empty if it is not installed.

    Without it, `engine.playouts` plays in plain Python.
    """
    spec = importlib.util.find_spec("wasmtime")
    if spec is None or spec.origin is None:
        return {}
    package = Path(spec.origin).parent
    if not Path(importlib.util.cache_from_source(str(package / "__init__.py"))).exists():
        # Some installers leave the bytecode out, and no process in a jail may write it.
        command = [sys.executable, "-c", "import wasmtime"]
        subprocess.run(command, check=False, capture_output=True, timeout=_COMPILE_SECONDS, env={})
    return {"wasmtime": package}
