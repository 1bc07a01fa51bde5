"""Databases for the leagues of journeys, so that few of them start servers of their own."""

import os
import uuid
from collections.abc import Iterator
from urllib.parse import urlsplit

import psycopg
import pytest
import redis
from django.db import connection, connections
from psycopg.sql import SQL, Identifier

from tests.servers import redis_url


@pytest.fixture(scope="session")
def _pristine(django_db_setup: None) -> str:
    """Return the name of a database to copy for each league: migrated and empty, of this worker.

    If only journeys run, pytest-django creates no test database, and the settings name the same
    unmigrated one in all workers. Then leagues begin with an empty database and migrate it.
    """
    test_database = connection.settings_dict["NAME"]
    if not test_database.startswith("test_"):
        return "template1"
    name = f"pristine_{test_database}"
    connections.close_all()
    _execute("DROP DATABASE IF EXISTS {}", name)
    _execute("CREATE DATABASE {} TEMPLATE {}", name, test_database)
    return name


@pytest.fixture
def own_database(_pristine: str, worker_id: str) -> Iterator[dict[str, str]]:
    """Yield the variables of a league's own databases in both of the tests' servers."""
    name = f"journey_{uuid.uuid4().hex}"
    _execute("CREATE DATABASE {} TEMPLATE {}", name, _pristine)
    number = int(worker_id.removeprefix("gw")) if worker_id != "master" else 0
    broker = redis_url(9 + number % 7)
    with redis.Redis.from_url(broker) as emptied:
        emptied.flushdb()
    url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()
    yield {"DATABASE_URL": url, "REDIS_URL": broker}
    _execute("DROP DATABASE {} WITH (FORCE)", name)


def _execute(statement: str, *names: str) -> None:
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as direct:
        direct.execute(SQL(statement).format(*map(Identifier, names)))
