"""How a person starts the SDK's command here: the words that printed commands begin with."""

import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import bots_sdk

_NAME = "twelfth-night"
_PYTHON_SECONDS = 10.0


def typed(text: str) -> str:
    """Return a text whose commands in backquotes begin with the word that works here."""
    quoted = f"`{_NAME} "
    return text.replace(quoted, f"`{command_word()} ") if quoted in text else text


@cache
def command_word() -> str:
    """Return the word that starts this command line, also if its directory is not on the PATH."""
    if shutil.which(_NAME):
        return _NAME
    beside = Path(sys.executable).with_name(_NAME)
    if beside.exists():
        return shlex.quote(_short(str(beside)))
    return f"{python_word()} -m bots_sdk"


@cache
def python_word() -> str:
    """Return the word that starts a Python with the SDK: ``python``, or the path of this one."""
    try:
        done = subprocess.run(
            ["python", "-c", "import bots_sdk; print(bots_sdk.__file__)"],
            capture_output=True,
            text=True,
            timeout=_PYTHON_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return shlex.quote(_short(sys.executable))
    is_this = done.stdout.strip() == bots_sdk.__file__
    return "python" if is_this else shlex.quote(_short(sys.executable))


def _short(path: str) -> str:
    """Return a path relative to the current directory if it is below it."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except ValueError:
        return path
