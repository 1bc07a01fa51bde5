"""The addresses of a league that runs under `make up`, for commands beside it."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
VARIABLES = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY")

_NAME = "running.json"


@contextmanager
def noted(directory: Path, environment: Mapping[str, str], url: str) -> Iterator[None]:
    """Store the addresses of a league in its directory while the context lasts.

    Args:
        directory: the league's directory.
        environment: has `VARIABLES`.
        url: the address of the league's pages; `bots_sdk.nearby` reads it.
    """
    path = directory / _NAME
    fresh = directory / f"{_NAME}.{os.getpid()}"
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        variables = {name: environment[name] for name in VARIABLES}
        json.dump({"url": url, **variables}, file)
    fresh.replace(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def url_of_running(directory: Path) -> str:
    """Return the address of the league that runs in a directory; empty if it is not known yet."""
    try:
        return str(json.loads((directory / _NAME).read_text())["url"])
    except (OSError, ValueError, KeyError):
        return ""


def variables_of_running(directory: Path = CHECKOUT / "var") -> dict[str, str]:
    """Return the variables of the league that runs in a directory, empty if none runs.

    The variable LEAGUE_DIRECTORY overrides the directory.
    """
    directory = Path(os.environ.get("LEAGUE_DIRECTORY", directory))
    try:
        stored: dict[str, str] = json.loads((directory / _NAME).read_text())
    except FileNotFoundError:
        return {}
    return {name: stored[name] for name in VARIABLES}
