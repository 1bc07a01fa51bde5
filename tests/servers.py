"""Starts real servers for a test run, before Django's settings ask where they are.

Loaded as a plugin (``-p tests.servers``). The servers are those of `league.local`, one pair for
all workers; each worker makes a database of its own. DATABASE_URL and REDIS_URL, where set, name
others. A run of the engine's tests alone starts none.
"""

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from league.local.servers import local_servers

_NEED_NO_SERVERS = ("tests/engine", "tests/bots_sdk")
_running = ExitStack()


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    os.environ.setdefault("SECRET_KEY", "for tests only, and long enough to be taken for a key")
    given = [path for arg in args if (path := Path(arg.split("::")[0])).exists()]
    if given and all(str(path).startswith(_NEED_NO_SERVERS) for path in given):
        os.environ.setdefault("DATABASE_URL", "postgresql://nobody@/none?host=/nowhere")
        os.environ.setdefault("REDIS_URL", "unix:///nowhere?db=0")
    if "DATABASE_URL" in os.environ and "REDIS_URL" in os.environ:
        return
    directory = _running.enter_context(tempfile.TemporaryDirectory(prefix="league-"))
    servers = _running.enter_context(local_servers(Path(directory), durable=False))
    os.environ["DATABASE_URL"] = servers.database_url
    os.environ["REDIS_URL"] = servers.redis_url


def pytest_unconfigure() -> None:
    _running.close()
