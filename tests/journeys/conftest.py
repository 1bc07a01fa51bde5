"""Databases for leagues of journeys, so that few of them begin with empty servers."""

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
    """Return the name of a database that is migrated and empty, of this worker."""
    name = f"pristine_{connection.settings_dict['NAME']}"
    connections.close_all()
    _execute("DROP DATABASE IF EXISTS {}", name)
    _execute("CREATE DATABASE {} TEMPLATE {}", name, connection.settings_dict["NAME"])
    return name


@pytest.fixture
def own_database(_pristine: str, worker_id: str) -> Iterator[dict[str, str]]:
    """Name a database of its own for a league, in both of the tests' servers."""
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
