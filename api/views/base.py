"""What all views share."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.db.models import QuerySet
from rest_framework.permissions import AllowAny, BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from api.authentication import AnyToken
from api.pagination import KeysetPagination
from api.problems import ProblemError
from league.models import Bot, Ladder, Match, Tournament


class ApiView(APIView):
    """A view: who may call which method, how often, and which problems it may answer with.

    Attributes:
        needs: the permission by method; a method that isn't here is for anyone.
        problems: by method, codes beyond those that every call may answer with.
        rate: one of ``settings.RATE_LIMITS``.
    """

    needs: ClassVar[Mapping[str, type[AnyToken]]] = {}
    problems: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    rate = "general"

    def get_permissions(self) -> list[BasePermission]:
        """Return the permission for the request's method."""
        method = self.request.method or ""
        # What HEAD runs is `get`.
        return [self.needs.get("GET" if method == "HEAD" else method, AllowAny)()]

    def perform_authentication(self, request: Request) -> None:
        """Learn who calls, and count the call, whatever is answered: 401 and 403 are not free."""
        try:
            super().perform_authentication(request)
        finally:
            super().check_throttles(request)

    def check_throttles(self, request: Request) -> None:
        """Do nothing: it was done before the permission was asked for."""


class ListView(ApiView):
    """A view of a list, paged by cursor.

    Attributes:
        ordering: fields that together are unique; see `KeysetPagination`.
    """

    pagination_class = KeysetPagination
    ordering: ClassVar[tuple[str, ...]]

    def page(self, queryset: QuerySet[Any]) -> list[Any]:
        """Return the rows of the page that the request asks for."""
        self.paginator = self.pagination_class()
        return self.paginator.paginate_queryset(queryset, self.request, self)

    def answer(self, serializer: type[BaseSerializer[Any]], rows: list[Any]) -> Response:
        """Return the response for the rows of a page."""
        return self.paginator.get_paginated_response(serializer(rows, many=True).data)


def checked(serializer: type[BaseSerializer[Any]], request: Request) -> dict[str, Any]:
    """Return a request's body as a serializer takes it, or raise the problem ``invalid``."""
    taken = serializer(data=request.data)
    taken.is_valid(raise_exception=True)
    data: dict[str, Any] = taken.validated_data
    return data


def find_bot(name: str) -> Bot:
    """Return a bot by name, or raise the problem ``not-found``."""
    bot = Bot.objects.select_related("owner", "current").filter(name=name).first()
    if bot is None:
        raise ProblemError("not-found", f"There is no bot {name}.")
    return bot


def find_ladder(slug: str) -> Ladder:
    """Return a ladder by its slug, or raise the problem ``not-found``."""
    ladder = Ladder.objects.select_related("anchor").filter(slug=slug).first()
    if ladder is None:
        raise ProblemError("not-found", f"There is no ladder {slug}.")
    return ladder


def find_tournament(queryset: QuerySet[Tournament], tournament_id: int) -> Tournament:
    """Return a tournament by its id, or raise the problem ``not-found``."""
    tournament = queryset.filter(pk=tournament_id).first()
    if tournament is None:
        raise ProblemError("not-found", f"There is no tournament {tournament_id}.")
    return tournament


def find_match(queryset: QuerySet[Match], match_id: int) -> Match:
    """Return a match by its id, or raise the problem ``not-found``."""
    match = queryset.filter(pk=match_id).first()
    if match is None:
        raise ProblemError("not-found", f"There is no match {match_id}.")
    return match
