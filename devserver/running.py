"""Where the league of `make up` is while it runs, for commands that are started beside it."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
VARIABLES = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY")

_NAME = "running.json"


@contextmanager
def noted(directory: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Note how a league that runs in a directory is reached, as long as it does."""
    path = directory / _NAME
    fresh = directory / f"{_NAME}.{os.getpid()}"
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        json.dump({name: environment[name] for name in VARIABLES}, file)
    fresh.replace(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def variables_of_running(directory: Path = CHECKOUT / "var") -> dict[str, str]:
    """Return the variables of the league that runs in a directory, empty if none does.

    LEAGUE_DIRECTORY names another than the checkout's.
    """
    directory = Path(os.environ.get("LEAGUE_DIRECTORY", directory))
    try:
        variables: dict[str, str] = json.loads((directory / _NAME).read_text())
    except FileNotFoundError:
        return {}
    return variables
