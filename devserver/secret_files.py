"""Secrets from files, as the league's settings read them: NAME_FILE names the file of NAME."""

from collections.abc import Mapping
from pathlib import Path

from devserver.place import ServersError
from devserver.running import VARIABLES


def with_secrets(given: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which secrets stand themselves, in place of their files' names.

    The supervisor and the commands beside a league need the addresses of the servers too.

    Raises:
        ServersError: a file is empty, or is no text.
        OSError: a file cannot be read.
    """
    found = dict(given)
    for name in VARIABLES:
        if not (path := found.pop(f"{name}_FILE", "")):
            continue
        try:
            found[name] = Path(path).read_text("utf-8").strip()
        except UnicodeDecodeError:
            raise ServersError(f"{name}_FILE is {path}, which is no text in UTF-8.") from None
        if not found[name]:
            raise ServersError(f"{name}_FILE is {path}, and this file is empty.")
    return found
