"""Leagues played once a process, through the services, and put back row by row for each test.

What a test begins with is what the services stored: only the playing is spared, nine tenths of the
time. Numbers of rows are the same in all tests of a process, and new ones are always higher.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.apps import apps
from django.db import connection, transaction
from django.db.models import AutoField, Model

from league.models import Bot
from tests.luck import drawn_for

P = ParamSpec("P")
M = TypeVar("M", bound=Model)
_NO_ROWS = 21
"""Bytes of a binary copy of an empty table: its header and its end."""


def kept(play: Callable[P, M]) -> Callable[P, M]:
    """Return a fixture that plays a league at its first test, and from then on puts it back.

    What it returns is read again for each test. It must be the first fixture of a test that stores
    anything, as all rows there are when it is done are kept.
    """
    league: dict[str, bytes] = {}
    returned: list[tuple[type[M], object]] = []

    @wraps(play)
    def fixture(*args: P.args, **kwargs: P.kwargs) -> M:
        assert not Bot.objects.exists(), f"request {play.__name__} before fixtures that store bots"
        if not returned:
            with drawn_for(f"{play.__module__} {play.__qualname__}"):
                made = play(*args, **kwargs)
            league.update(_copied())
            returned.append((type(made), made.pk))
        else:
            _put_back(league)
        model, key = returned[0]
        return model._default_manager.get(pk=key)

    return fixture


def _copied() -> dict[str, bytes]:
    """Return all rows of the league's tables and of the accounts', by table that has any."""
    models = apps.get_app_config("league").get_models(include_auto_created=True)
    rows = {}
    with connection.cursor() as cursor:
        for table in [
            "auth_user",
            *(model._meta.db_table for model in models if model._meta.managed),
        ]:
            with cursor.copy(f"COPY {table} TO STDOUT (FORMAT BINARY)") as copy:
                copied = b"".join(copy)
            if len(copied) > _NO_ROWS:
                rows[table] = copied
    return rows


def _put_back(league: dict[str, bytes]) -> None:
    # Keys are checked at the end of the transaction, so that the order is no matter.
    with transaction.atomic(), connection.cursor() as cursor:
        for table, rows in league.items():
            with cursor.copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as copy:
                copy.write(rows)
        # A test in between may have numbered rows from 1 again.
        numbered = {
            model._meta.db_table
            for model in apps.get_models(include_auto_created=True)
            if isinstance(model._meta.pk, AutoField)
        }
        cursor.execute(
            "; ".join(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table} "
                f"HAVING max(id) > (SELECT last_value FROM {table}_id_seq)"
                for table in league.keys() & numbered
            )
        )
