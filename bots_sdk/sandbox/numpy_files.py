"""NumPy for bots: which bots get it, where its files are, and the memory that it takes.

After the harness has locked itself in, no code can be mapped. So NumPy is loaded before, and only
for a bot whose files name it: loading takes CPU time and memory.
"""

import importlib.util
import subprocess
import sys
from functools import cache
from pathlib import Path

from bots_sdk.sandbox.sources import Source

NAME = "numpy"

MEMORY_BYTES = 64 << 20
"""Two buffers of OpenBLAS, NumPy's library for matrices: one from the start, one from the first
product of large matrices on."""

CODE_BYTES = 56 << 20
"""Address space for NumPy's libraries."""

_COMPILE_SECONDS = 120


def is_named(source: Source) -> bool:
    """Return whether a Python file of a bot contains the word ``numpy``."""
    return source.names(NAME)


@cache
def places() -> dict[str, Path]:
    """Return NumPy's directories by name; empty if NumPy is not installed.

    The directory ``numpy.libs`` exists if NumPy comes from a wheel. It lies beside ``numpy``, where
    the C extensions look for it.
    """
    spec = importlib.util.find_spec("numpy")
    if spec is None or spec.origin is None:
        return {}
    package = Path(spec.origin).parent
    _compile(package)
    beside = package.with_name("numpy.libs")
    return {"numpy": package, **({"numpy.libs": beside} if beside.is_dir() else {})}


def _compile(package: Path) -> None:
    """Let Python store NumPy's bytecode, as no process in a jail may write to a cache.

    Some installers leave the bytecode out. Then each bot would compile NumPy for seconds.
    """
    if Path(importlib.util.cache_from_source(str(package / "__init__.py"))).exists():
        return
    command = [sys.executable, "-c", "import numpy.fft, numpy.random"]
    subprocess.run(command, check=False, capture_output=True, timeout=_COMPILE_SECONDS, env={})
