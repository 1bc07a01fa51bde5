"""Lists in pages with cursors: a page starts after the last row of the page before it."""

import base64
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import ValidationError
from django.db.models import Field, Model, Q, QuerySet
from rest_framework import serializers
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from api.problems import ProblemError

DEFAULT_LIMIT = 50
MAX_LIMIT = 200


def since_field() -> serializers.DateTimeField:
    """Return the parameter for the start of a period."""
    return serializers.DateTimeField(
        required=False,
        help_text="Only rows from this time on. The time is in ISO 8601 with its UTC offset.",
    )


def until_field() -> serializers.DateTimeField:
    """Return the parameter for the end of a period."""
    return serializers.DateTimeField(
        required=False,
        help_text="Only rows from earlier than this time. The time is in ISO 8601 with its UTC "
        "offset.",
    )


class PageQuery(serializers.Serializer[None]):
    """Parameters of every list."""

    cursor = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=1000,
        help_text="The page to get. Use the links `next` and `previous` of a page.",
    )
    limit = serializers.IntegerField(
        required=False,
        default=DEFAULT_LIMIT,
        min_value=1,
        max_value=MAX_LIMIT,
        help_text="The most results on a page.",
    )


class PeriodQuery(PageQuery):
    """Parameters of a list whose rows have a time."""

    since = since_field()
    until = until_field()


def between(queryset: QuerySet[Any], time: str, query: Mapping[str, Any]) -> QuerySet[Any]:
    """Return the rows of a period.

    Args:
        queryset: all rows.
        time: the name of their time.
        query: the validated parameters of a `PeriodQuery`; both ends are optional.
    """
    if "since" in query:
        queryset = queryset.filter(**{f"{time}__gte": query["since"]})
    if "until" in query:
        queryset = queryset.filter(**{f"{time}__lt": query["until"]})
    return queryset


class KeysetPagination(BasePagination):
    """Pages in the order of the view's ``ordering``, fields that together are unique.

    A name may lead over relations (``round__number``), which the view then joins. A cursor has the
    values of these fields in the last row of a page, or in the first row for the page before. So
    all pages cost the same, and new rows shift none.
    """

    def page(
        self,
        queryset: QuerySet[Any],
        request: Request,
        ordering: tuple[str, ...],
        query: Mapping[str, Any],
    ) -> list[Any]:
        """Return the rows of the requested page.

        Args:
            queryset: all rows.
            request: whose address the links of the page have.
            ordering: fields that together are unique.
            query: the validated parameters of a `PageQuery`.
        """
        self.request = request
        limit = query["limit"]
        back, values = _decode(query.get("cursor"), queryset.model, ordering)
        if back:
            ordering = tuple(name[1:] if name[0] == "-" else f"-{name}" for name in ordering)
        if values:
            queryset = queryset.filter(_after(ordering, values))
        rows = list(queryset.order_by(*ordering)[: limit + 1])
        more, rows = len(rows) > limit, rows[:limit]
        if back:
            rows.reverse()
        has_next, has_previous = (True, more) if back else (more, bool(values))
        self.next = self._link(rows[-1], ordering, False) if rows and has_next else None
        self.previous = self._link(rows[0], ordering, True) if rows and has_previous else None
        return rows

    def get_paginated_response(self, data: Any) -> Response:
        """Return a page."""
        return Response({"results": data, "next": self.next, "previous": self.previous})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the schema of a page."""
        link = {"type": ["string", "null"], "format": "uri"}
        return {
            "type": "object",
            "required": ["results", "next", "previous"],
            "properties": {
                "results": schema,
                "next": {**link, "description": "Address of the next page; null on the last page."},
                "previous": {
                    **link,
                    "description": "Address of the previous page; null on the first page.",
                },
            },
        }

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        """Return no parameters: `PageQuery` has them."""
        return []

    def _link(self, row: Model, ordering: tuple[str, ...], back: bool) -> str:
        values = [_plain(_follow(row, name.lstrip("-"))) for name in ordering]
        text = json.dumps([int(back), *values]).encode()
        query = self.request.query_params.copy()
        query["cursor"] = base64.urlsafe_b64encode(text).decode().rstrip("=")
        url: str = self.request.build_absolute_uri(self.request.path)
        return f"{url}?{urlencode(sorted(query.items()))}"


def _decode(
    cursor: str | None, model: type[Model], ordering: tuple[str, ...]
) -> tuple[bool, list[Any]]:
    """Return whether a cursor leads to the page before, and the values of its row."""
    if cursor is None:
        return False, []
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        back, *plain = json.loads(base64.urlsafe_b64decode(padded))
        if back not in (0, 1) or len(plain) != len(ordering):
            raise ValueError
        return bool(back), [
            _value(model, name.lstrip("-"), value)
            for name, value in zip(ordering, plain, strict=True)
        ]
    except (ValueError, TypeError, RecursionError, ValidationError):
        raise ProblemError("invalid-cursor") from None


def _value(model: type[Model], name: str, plain: Any) -> Any:
    """Return a value of a cursor in the type of its field, or raise ValueError."""
    if type(plain) is str:
        plain.encode()
        if "\0" in plain:
            raise ValueError
    relation, _, rest = name.partition("__")
    if rest:
        related = model._meta.get_field(relation).related_model
        if not isinstance(related, type):
            raise ValueError
        return _value(related, rest, plain)
    if name in {field.attname for field in model._meta.concrete_fields}:
        field = model._meta.get_field(name.removesuffix("_id"))
        value = field.to_python(plain) if isinstance(field, Field) else None
        if value is None or type(plain) not in (str, int):
            raise ValueError
        return value
    if type(plain) is not bool:
        raise ValueError
    return plain


def _follow(row: Model, path: str) -> Any:
    """Return the value at a path of names with two underscores between them."""
    value: Any = row
    for name in path.split("__"):
        value = getattr(value, name)
    return value


def _plain(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value


def _after(ordering: tuple[str, ...], values: list[Any]) -> Q:
    """Return the condition for the rows after a row with these values, in lexical order."""
    names = [name.lstrip("-") for name in ordering]
    later = Q(pk__in=[])
    for number, (name, value) in enumerate(zip(ordering, values, strict=True)):
        same = dict(zip(names[:number], values[:number], strict=True))
        beyond = "lt" if name.startswith("-") else "gt"
        later |= Q(**same, **{f"{names[number]}__{beyond}": value})
    return later
