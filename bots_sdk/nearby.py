"""The league that runs under ``make up`` beside you, found by the file that it keeps."""

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

USUAL = "http://127.0.0.1:8000"
"""The address of a league that ``make up`` starts without options."""

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_FILE = "running.json"
_SECONDS = 0.5


def running_league() -> str:
    """Return the address of the league that runs in this checkout; empty if none runs.

    The variable LEAGUE_DIRECTORY names the league's directory. Without it, the function looks into
    ``var`` of the current directory, of the directories above, and of the SDK's own checkout.
    """
    for directory in _directories():
        try:
            url = json.loads((directory / _FILE).read_text())["url"]
            parts = urlsplit(url)
            # The file stays behind if the league was killed.
            socket.create_connection((parts.hostname or "", parts.port or 80), _SECONDS).close()
        except (OSError, ValueError, KeyError, TypeError):
            continue
        return str(url)
    return ""


def is_here(url: str) -> bool:
    """Return whether an address is of this machine alone."""
    try:
        return urlsplit(url).hostname in _LOOPBACK
    except ValueError:
        return False


def usual_url() -> str:
    """Return the address of the league that runs in this checkout, else the usual one."""
    return running_league() or USUAL


def _directories() -> Iterator[Path]:
    if named := os.environ.get("LEAGUE_DIRECTORY"):
        yield Path(named)
        return
    here = Path.cwd()
    for each in (here, *here.parents, Path(__file__).parents[1]):
        yield each / "var"
