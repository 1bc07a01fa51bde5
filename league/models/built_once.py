"""Queries that Django builds once in each process; later calls only send them.

To build a query of several subqueries takes Django up to 20 ms, PostgreSQL answers it in one. The
tasks that look for due work ask the same few questions after each match and each second.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cache
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from django.db import connection, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.sql.compiler import SQLCompiler
from django.utils import timezone

Rows = list[tuple[Any, ...]]
Model = TypeVar("Model", bound=models.Model)


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


def objects_built_once(
    build: Callable[[], models.QuerySet[Model]], *related: str
) -> Callable[..., list[Model]]:
    """Return a function that does what that of `built_once` does, and returns objects.

    Args:
        build: makes the query, of a model whose columns need no conversion.
        related: the relations that the same query follows. Each leads to an object.
    """

    @cache
    def prepared() -> tuple[list[_Part], Callable[..., Rows]]:
        model = build().model
        parts = [_part(model), *(_part(model, model._meta.get_field(each)) for each in related)]
        columns = [column for part in parts for column in part.columns]
        return parts, built_once(lambda: build().values_list(*columns))

    def objects(**given: Any) -> list[Model]:
        (own, *others), rows = prepared()
        found = []
        for row in rows(**given):
            values = iter(row)
            item: Model = own.read(values)
            for part in others:
                part.relation.set_cached_value(item, part.read(values))
            found.append(item)
        return found

    return objects


class _Part(NamedTuple):
    """The columns of a query that are one object.

    Attributes:
        model: of the object.
        relation: the field that the query follows to it; None for the query's own objects.
        names: its attributes.
        columns: their names in the query.
    """

    model: type[models.Model]
    relation: Any
    names: list[str]
    columns: list[str]

    def read(self, values: Iterator[Any]) -> Any:
        """Return the object in the next values."""
        own = list(islice(values, len(self.names)))
        return self.model.from_db(connection.alias, self.names, own)


def _part(model: type[models.Model], relation: Any = None) -> _Part:
    if relation is not None:
        model = relation.related_model
    fields = model._meta.concrete_fields
    if any(field.get_db_converters(connection) for field in fields):
        raise TypeError(f"columns of {model.__name__} need a conversion")
    names = [field.attname for field in fields]
    return _Part(
        model, relation, names, [f"{relation.name}__{each}" if relation else each for each in names]
    )
