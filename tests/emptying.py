"""Empties the database after tests that commit.

Django truncates every table and creates its content types and permissions anew. That takes the
server a tenth of a second, however little a test stored. To delete a few rows is faster.
"""

from typing import Any

import pytest

_KEPT = {"django_content_type", "auth_permission"}
"""Created with the database, and the same in all tests."""
_MAX_BYTES = 1 << 20
"""Size of a table above which it is truncated: deleted rows take up room until a clean-up."""

_SIZES = "SELECT name, pg_relation_size(name::regclass) FROM unnest(%s::text[]) AS name"


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> None:
    """Replace Django's truncation of all tables."""
    # Imported here and below, because pytest loads this plugin before Django's settings.
    from django.db import connection
    from django.test import TransactionTestCase

    from league.play import bot_processes

    case_class: Any = TransactionTestCase  # its teardown is not in the stubs
    truncate_all = case_class._fixture_teardown
    tables = sorted(set(connection.introspection.django_table_names()) - _KEPT)

    def empty(case: Any) -> None:
        bot_processes.close_all()  # else a thread asks for their matches during later tests
        if not _delete_few(tables):
            truncate_all(case)

    case_class._fixture_teardown = empty


def _delete_few(tables: list[str]) -> bool:
    """Delete all rows unless there are many; return whether there are none now."""
    from django.db import ProgrammingError, connection, transaction

    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_SIZES, [tables])
            sizes = dict(cursor.fetchall())
            if max(sizes.values()) > _MAX_BYTES:
                return False
            # Checks no foreign keys and skips the trigger that protects the ledger.
            first = "SET LOCAL session_replication_role = replica"
            cursor.execute("; ".join([first, *(f"DELETE FROM {of}" for of in tables if sizes[of])]))
    except ProgrammingError:  # a server named by DATABASE_URL may not let us
        return False
    return True
