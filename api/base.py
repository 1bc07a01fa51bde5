"""Base classes and look-ups that all views share.

Every call is strict by inheritance: `ApiView` refuses parameters and bodies that a call does not
take, and `checked` refuses unknown fields and wrong types (`api.strictness`).
"""

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from rest_framework.permissions import SAFE_METHODS, AllowAny, BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer, Serializer
from rest_framework.views import APIView

from api.authentication import AnyToken
from api.operations import NoFields, takes_of
from api.pagination import KeysetPagination, PageQuery, between
from api.problems import ProblemError
from api.strictness import validated
from league.models import Bot, Comparison, Ladder, Match, Tournament

Row = TypeVar("Row", bound=Model)


class ApiView(APIView):
    """A view with a permission for each method, a rate limit, and its problems for the schema.

    Attributes:
        needs: the permission by method; other methods need no token.
        problems: by method, codes of problems beside those that every call may answer with.
        rate: name of the rate limit, as in the settings.
        query: the validated query parameters of the request, by name.
    """

    default_query: ClassVar[type[Serializer[Any]]] = NoFields
    query: Mapping[str, Any]
    needs: ClassVar[Mapping[str, type[AnyToken]]] = {}
    problems: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    rate = "general"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate and count the request; refuse parameters and bodies it does not take."""
        super().initial(request, *args, **kwargs)
        takes = takes_of(getattr(self, (request.method or "").lower(), None))
        self.query = validated(takes.query or self.default_query, request.query_params)
        if takes.no_body and request.method not in SAFE_METHODS and request.data:
            validated(NoFields, request.data)

    def get_permissions(self) -> list[BasePermission]:
        """Return the permission for the request's method."""
        method = self.request.method or ""
        # HEAD runs `get`.
        return [self.needs.get("GET" if method == "HEAD" else method, AllowAny)()]

    def perform_authentication(self, request: Request) -> None:
        """Authenticate the request and count it: 401 and 403 count for the rate limit too."""
        try:
            super().perform_authentication(request)
        finally:
            super().check_throttles(request)

    def check_throttles(self, request: Request) -> None:
        """Do nothing: `perform_authentication` has counted the request."""


class ListView(ApiView):
    """A view of a list in pages with cursors.

    Attributes:
        ordering: fields that together are unique; see `KeysetPagination`.
    """

    default_query = PageQuery
    pagination_class = KeysetPagination
    ordering: ClassVar[tuple[str, ...]]

    def page(self, queryset: QuerySet[Any], *, time: str | None = None) -> list[Any]:
        """Return the rows of the requested page.

        Args:
            queryset: all rows.
            time: the field that the parameters ``since`` and ``until`` compare.
        """
        self.paginator = self.pagination_class()
        if time is not None:
            queryset = between(queryset, time, self.query)
        return self.paginator.page(queryset, self.request, self.ordering, self.query)

    def answer(self, serializer: type[BaseSerializer[Any]], rows: list[Any]) -> Response:
        """Return the response with the rows of a page."""
        return self.paginator.get_paginated_response(serializer(rows, many=True).data)


def checked(serializer: type[BaseSerializer[Any]], request: Request) -> dict[str, Any]:
    """Return the validated body of a request.

    Raises:
        ProblemError: ``invalid``: an unknown field, a wrong type or a wrong value.
    """
    return validated(serializer, request.data)


def signed_in(request: Request) -> User:
    """Return the account of a request whose permission needs an owner token."""
    if not isinstance(request.user, User):
        raise ProblemError("not-authenticated")
    return request.user


def find_bot(name: str) -> Bot:
    """Return a bot by name, or raise the problem ``not-found``."""
    return _find(Bot.objects.select_related("owner", "current"), "bot", name=name)


def find_ladder(slug: str) -> Ladder:
    """Return a ladder by its slug, or raise the problem ``not-found``."""
    return _find(Ladder.objects.select_related("anchor"), "ladder", slug=slug)


def find_tournament(queryset: QuerySet[Tournament], tournament_id: int) -> Tournament:
    """Return a tournament by its id, or raise the problem ``not-found``."""
    return _find(queryset, "tournament", pk=tournament_id)


def find_match(queryset: QuerySet[Match], match_id: int) -> Match:
    """Return a match by its id, or raise the problem ``not-found``."""
    return _find(queryset, "match", pk=match_id)


def find_comparison(queryset: QuerySet[Comparison], comparison_id: int) -> Comparison:
    """Return a comparison by its id, or raise the problem ``not-found``."""
    return _find(queryset, "comparison", pk=comparison_id)


def _find(queryset: QuerySet[Row], kind: str, **key: str | int) -> Row:
    found = queryset.filter(**key).first()
    if found is None:
        [value] = key.values()
        raise ProblemError("not-found", f"There is no {kind} {value}.")
    return found
