"""Starts real servers for a test run, before Django reads their addresses from the environment.

Loaded as a plugin (``-p tests.servers``). The servers are those of `devserver`, one pair for
all workers; each worker has a separate database in both. If DATABASE_URL or REDIS_URL is set,
the run uses that server instead. A run of tests without a database starts no server.
"""

import os
import re
import tempfile
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from devserver.servers import local_servers

_NEED_NO_SERVERS = ("tests/engine", "tests/bots_sdk")
_running = ExitStack()


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    os.environ.setdefault("SECRET_KEY", "for tests only, and long enough to be taken for a key")
    os.environ.setdefault("SHARED_PAGE_SECONDS", "0")  # tests look at once for what they changed
    paths = [path for arg in args if (path := Path(arg.split("::")[0])).exists()]
    if paths and all(str(path).startswith(_NEED_NO_SERVERS) for path in paths):
        os.environ.setdefault("DATABASE_URL", "postgresql://nobody@/none?host=/nowhere")
        os.environ.setdefault("REDIS_URL", "unix:///nowhere?db=0")
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is not None:
        os.environ["REDIS_URL"] = redis_url(1 + int(worker[2:]) % 8)
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


def redis_url(database: int) -> str:
    """Return the URL of another of the 16 databases: 1 to 8 are workers' own, by their number."""
    url = os.environ["REDIS_URL"]
    if "db=" in url:
        return re.sub(r"\bdb=\d+", f"db={database}", url)
    return urlsplit(url)._replace(path=f"/{database}").geturl()


@pytest.hookimpl(tryfirst=True)
def pytest_xdist_auto_num_workers() -> int:
    """Take one worker more than processors: much of the time of many tests is waiting."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the journeys, the longest by far, so that none is left over at the end."""
    items.sort(key=lambda item: not item.nodeid.startswith("tests/journeys"))


def pytest_unconfigure() -> None:
    _running.close()
