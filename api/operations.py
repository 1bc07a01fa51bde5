"""The decorator of the API's calls: what a call takes and returns, for schema and checks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers

Handler = TypeVar("Handler", bound=Callable[..., Any])


class NoFields(serializers.Serializer[None]):
    """No fields, for a call that takes none."""


@dataclass(frozen=True)
class Takes:
    """What a call takes.

    Attributes:
        query: its query parameters; None for the default ones of its view.
        no_body: whether it takes no body.
        creates: whether it answers with 201 or 202, so that it takes an ``Idempotency-Key``.
    """

    query: type[serializers.Serializer[Any]] | None = None
    no_body: bool = False
    creates: bool = False


def operation(
    name: str,
    *,
    answers: Any,
    query: type[serializers.Serializer[Any]] | None = None,
    body: type[serializers.Serializer[Any]] | None = None,
) -> Callable[[Handler], Handler]:
    """Return a decorator for the method of an `ApiView` that answers a call.

    `ApiView` refuses parameters that are not in ``query``, and a body if there is no ``body``.

    Args:
        name: the operation's id in the schema.
        answers: the serializer of an answer with status 200, or serializers by status.
        query: the query parameters.
        body: the fields of the body; the method reads them by `api.base.checked`.
    """

    def decorate(handler: Handler) -> Handler:
        by_status = answers if isinstance(answers, dict) else {200: answers}
        described: Handler = extend_schema(
            operation_id=name,
            request=body,
            parameters=[query] if query else None,
            responses=by_status,
        )(handler)
        creates = isinstance(answers, dict) and bool({*answers} & {201, 202})
        setattr(described, _MARK, Takes(query, body is None, creates))
        return described

    return decorate


_MARK = "takes"


def takes_of(handler: object) -> Takes:
    """Return what a method of a view takes; the defaults for a method without `operation`."""
    found: Takes = getattr(handler, _MARK, Takes())
    return found
