"""Starts real servers for a test run, before Django's settings ask where they are.

Loaded as a plugin (``-p tests.servers``). The servers are those of `league.local`, one pair for
all workers; each worker has a database of its own in both. DATABASE_URL and REDIS_URL, where set,
name others. A run of tests that need none starts none.
"""

import os
import re
import tempfile
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from league.local.servers import local_servers

_NEED_NO_SERVERS = ("tests/engine", "tests/bots_sdk")
_running = ExitStack()


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    os.environ.setdefault("SECRET_KEY", "for tests only, and long enough to be taken for a key")
    paths = [path for arg in args if (path := Path(arg.split("::")[0])).exists()]
    if paths and all(str(path).startswith(_NEED_NO_SERVERS) for path in paths):
        os.environ.setdefault("DATABASE_URL", "postgresql://nobody@/none?host=/nowhere")
        os.environ.setdefault("REDIS_URL", "unix:///nowhere?db=0")
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is not None:
        os.environ["REDIS_URL"] = _of_worker(os.environ["REDIS_URL"], int(worker[2:]))
        return
    given = {
        name.lower(): os.environ[name]
        for name in ("DATABASE_URL", "REDIS_URL")
        if name in os.environ
    }
    if len(given) == 2:
        return
    directory = _running.enter_context(tempfile.TemporaryDirectory(prefix="league-"))
    servers = _running.enter_context(local_servers(Path(directory), durable=False, **given))
    os.environ["DATABASE_URL"] = servers.database_url
    os.environ["REDIS_URL"] = servers.redis_url


def _of_worker(url: str, number: int) -> str:
    """Return a Redis URL with the number of a worker's own database; there are 16."""
    database = 1 + number % 15
    if "db=" in url:
        return re.sub(r"\bdb=\d+", f"db={database}", url)
    return urlsplit(url)._replace(path=f"/{database}").geturl()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the journeys, the longest by far, so that none is left over at the end."""
    items.sort(key=lambda item: not item.nodeid.startswith("tests/journeys"))


def pytest_unconfigure() -> None:
    _running.close()
