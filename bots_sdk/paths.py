"""Tests of paths that a person gives: a path may be too long, or in a directory of another user.

`pathlib` raises an error for such a path. The functions here return False.
"""

import os
from pathlib import Path


def exists(path: str | Path) -> bool:
    """Return whether there is a file or directory that this process can find."""
    return os.path.exists(path)  # noqa: PTH110 - it raises nothing


def is_directory(path: str | Path) -> bool:
    """Return whether there is a directory that this process can find."""
    return os.path.isdir(path)  # noqa: PTH112 - it raises nothing
