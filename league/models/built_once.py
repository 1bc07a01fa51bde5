"""Queries that Django builds once in each process; later calls only send them.

To build a query of several subqueries takes Django up to 20 ms, PostgreSQL answers it in one. The
tasks that look for due work ask the same few questions after each match and each second.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import connection, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.sql.compiler import SQLCompiler
from django.utils import timezone

Rows = list[tuple[Any, ...]]


class Given(models.Expression):
    """A value that is given when a query is sent, not when it is built.

    Args:
        name: by which `built_once` finds it.
        output_field: the field that it is compared with.
    """

    def __init__(self, name: str, output_field: "models.Field[Any, Any]") -> None:
        super().__init__(output_field=output_field)
        self.name = name

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[Any, ...]]:
        """Return a place for the value."""
        return "%s", (self,)


def built_once(build: Callable[[], models.QuerySet[Any, Any]]) -> Callable[..., Rows]:
    """Return a function that sends a query and returns its rows, as PostgreSQL returns them.

    The times in the query must all be relative to now, such as "a minute ago": they move with the
    clock. Nothing else in the query may change while the process runs. All values of `Given` are
    arguments of the function, by name.

    Args:
        build: makes the query, with the columns that `values_list` names.
    """
    built: list[tuple[str, tuple[Any, ...], datetime]] = []

    def rows(**given: Any) -> Rows:
        if not built:
            now = timezone.now()
            compiler: SQLCompiler = build().query.get_compiler(connection=connection)
            built.append((*compiler.as_sql(), now))
        sql, parameters, then = built[0]
        passed = timezone.now() - then

        def value(parameter: Any) -> Any:
            if isinstance(parameter, Given):
                return given[parameter.name]
            return parameter + passed if isinstance(parameter, datetime) else parameter

        with connection.cursor() as cursor:
            cursor.execute(sql, [value(each) for each in parameters])
            found: Rows = cursor.fetchall()
        return found

    return rows
