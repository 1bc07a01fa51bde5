"""Migrates one database for all workers of a run: the first worker's, which the others copy.

Migrations take three seconds of CPU time, a copy a tenth of one.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

_LOCK = 2012
"""The number of the advisory lock under which workers look for the copy and make it."""


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings: None, testrun_uid: str
) -> Iterator[None]:
    """Replace the migration of each worker's database; a run in one process has no need of it."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    # Imported here and below, because pytest loads this plugin before Django's settings.
    from django.db.backends.base.creation import BaseDatabaseCreation

    copy = f"migrated_{testrun_uid}"
    migrate = BaseDatabaseCreation.create_test_db

    def create(creation: Any, *args: Any, **kwargs: Any) -> str:
        with _alone() as direct:
            if _exists(direct, copy):
                return _create_from(creation, copy)
            name: str = migrate(creation, *args, **kwargs)
            creation.connection.close()
            direct.execute(
                SQL("CREATE DATABASE {} TEMPLATE {}").format(*map(Identifier, (copy, name)))
            )
            creation.connection.ensure_connection()
            return name

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseDatabaseCreation, "create_test_db", create)
        yield
    with _alone() as direct:
        # A worker that begins later than this one ends migrates again.
        direct.execute(SQL("DROP DATABASE IF EXISTS {}").format(Identifier(copy)))


@contextmanager
def _alone() -> Iterator[psycopg.Connection[Any]]:
    """Yield a connection while no other worker is here."""
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as direct:
        direct.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
        yield direct


def _exists(direct: psycopg.Connection[Any], name: str) -> bool:
    found = direct.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
    return found.fetchone() is not None


def _create_from(creation: Any, template: str) -> str:
    """Create a worker's database as `create_test_db` does, but without migrations."""
    from django.conf import settings

    connection = creation.connection
    connection.settings_dict["TEST"]["TEMPLATE"] = template
    creation._create_test_db(verbosity=0, autoclobber=True)
    connection.close()
    name: str = creation._get_test_db_name()
    settings.DATABASES[connection.alias]["NAME"] = connection.settings_dict["NAME"] = name
    connection.ensure_connection()
    return name
