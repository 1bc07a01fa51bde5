"""Base classes and look-ups that all views share.

Every call is strict by inheritance: `ApiView` refuses parameters and bodies that a call does not
take, and `checked` refuses unknown fields and wrong types (`api.strictness`).
"""

from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any, ClassVar, TypeVar, cast
from urllib.parse import quote

from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.cache import patch_vary_headers
from rest_framework.permissions import SAFE_METHODS, AllowAny, BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer, Serializer
from rest_framework.views import APIView

from api import headers, idempotency
from api.authentication import AnyToken
from api.operations import NoFields, takes_of
from api.pagination import KeysetPagination, PageQuery, between
from api.problems import API_ROOT, BotMovedError, ProblemError
from api.strictness import validated
from engine.errors import listed, nearest
from league.bots import find_renamed, names_like
from league.models import Bot, Comparison, Ladder, Match, Tournament

Row = TypeVar("Row", bound=Model)


class ApiView(APIView):
    """A view with a permission for each method, a rate limit, and its problems for the schema.

    Attributes:
        needs: the permission by method; other methods need no token.
        problems: by method, codes of problems beside those that every call may answer with.
        rate: name of the rate limit, as in the settings.
        rates: by method, names of other rate limits.
        cached: ``Cache-Control`` of a public read.
        query: the validated query parameters of the request, by name.
    """

    default_query: ClassVar[type[Serializer[Any]]] = NoFields
    query: Mapping[str, Any]
    needs: ClassVar[Mapping[str, type[AnyToken]]] = {}
    problems: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    rate = "general"
    rates: ClassVar[Mapping[str, str]] = {}
    cached = headers.PUBLIC

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate and count the request; refuse parameters and bodies it does not take."""
        super().initial(request, *args, **kwargs)
        takes = takes_of(getattr(self, (request.method or "").lower(), None))
        self.query = validated(takes.query or self.default_query, request.query_params)
        if takes.no_body and request.method not in SAFE_METHODS and request.data:
            validated(NoFields, request.data)
        key = request.headers.get(idempotency.HEADER)
        if takes.creates and key is not None:
            create = cast(Callable[..., Response], getattr(self, "post"))  # noqa: B009 - not in APIView
            run = partial(create, request, *args, **kwargs)
            # DRF calls the method of this name after `initial`.
            self.post = lambda *_, **__: idempotency.answer_once(key, run, request)

    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        """Return the response with the headers that caches need."""
        final = super().finalize_response(request, response, *args, **kwargs)
        if request.method in headers.READS and final.status_code == HTTPStatus.OK:
            is_public = "GET" not in self.needs and "HTTP_AUTHORIZATION" not in request.META
            private = self.cached.replace("public", "private")
            final["Cache-Control"] = self.cached if is_public else private
            patch_vary_headers(final, ["Authorization"])
        return final

    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:
        """Return no body; the header Allow lists the methods."""
        return Response(status=204)

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
        context = {"request": self.request}
        data = serializer(rows, many=True, context=context).data
        return self.paginator.get_paginated_response(data)


def checked(serializer: type[BaseSerializer[Any]], request: Request) -> dict[str, Any]:
    """Return the validated body of a request.

    Raises:
        ProblemError: ``invalid``: an unknown field, a wrong type or a wrong value.
    """
    return validated(serializer, request.data)


def created(data: Any, *path: str | int, status: int = 201) -> Response:
    """Return the answer to a creating call.

    Args:
        data: of the new object.
        path: the parts of its address below ``/api/v1/``.
        status: 201, or 202 if the object is not complete yet.
    """
    location = "/".join(quote(str(part), safe="") for part in path)
    return Response(data, status, headers={"Location": f"{API_ROOT}{location}"})


def signed_in(request: Request) -> User:
    """Return the account of a request whose permission needs an owner token."""
    if not isinstance(request.user, User):
        raise ProblemError("not-authenticated")
    return request.user


def find_bot(name: str) -> Bot:
    """Return a bot by name.

    Raises:
        ProblemError: ``not-found``.
        BotMovedError: the bot has another name now.
    """
    try:
        return _find(Bot.objects.select_related("owner", "current"), "bot", name=name)
    except ProblemError as error:
        renamed = find_renamed(name)
        if renamed is None:
            raise _with_names(error, nearest(name, names_like(name)), []) from None
        raise BotMovedError(name, renamed.name) from None


def find_ladder(slug: str) -> Ladder:
    """Return a ladder by its slug, or raise the problem ``not-found``."""
    try:
        return _find(Ladder.objects.select_related("anchor"), "ladder", slug=slug)
    except ProblemError as error:
        slugs = list(Ladder.objects.order_by("slug").values_list("slug", flat=True)[:200])
        # People write 12-days for twelve-days.
        near = nearest(slug, slugs) or nearest(slug.replace("12", "twelve"), slugs)
        raise _with_names(error, near, slugs) from None


def find_tournament(queryset: QuerySet[Tournament], tournament_id: int) -> Tournament:
    """Return a tournament by its id, or raise the problem ``not-found``."""
    return _find(queryset, "tournament", pk=tournament_id)


def find_match(queryset: QuerySet[Match], match_id: int) -> Match:
    """Return a match by its id, or raise the problem ``not-found``."""
    return _find(queryset, "match", pk=match_id)


def find_comparison(queryset: QuerySet[Comparison], comparison_id: int) -> Comparison:
    """Return a comparison by its id, or raise the problem ``not-found``."""
    return _find(queryset, "comparison", pk=comparison_id)


def _with_names(error: ProblemError, near: str, known: list[str]) -> ProblemError:
    """Return the problem with the nearest name in its detail, or else with the known names."""
    detail = error.detail
    if near:
        detail += f" Did you mean {near}?"
    elif known:
        detail += f" The ladders are {listed(known)}."
    return ProblemError(error.code, detail)


def _find(queryset: QuerySet[Row], kind: str, **key: str | int) -> Row:
    found = queryset.filter(**key).first()
    if found is None:
        [value] = key.values()
        raise ProblemError("not-found", f"There is no {kind} {value}.")
    return found
