"""Matches, their records, and their logs for the owners of bots."""

import json
from typing import ClassVar

from django.db.models import Prefetch, QuerySet
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request
from rest_framework.response import Response

from api import headers
from api.authentication import OwnerToken
from api.base import ApiView, ListView, checked, created, find_match, signed_in
from api.filters import MatchQuery, filtered_matches
from api.operations import operation
from api.problems import ProblemError
from api.serializers.matches import (
    MatchLogSerializer,
    MatchSerializer,
    NewMatchSerializer,
    WatchedMatchSerializer,
)
from league.models import Match, MatchSeat
from league.play import owner_reports, spectating, unrated_matches


class MatchesView(ListView):
    """The matches."""

    needs: ClassVar = {"POST": OwnerToken}
    problems: ClassVar = {"POST": ("not-your-bot", "no-version", "too-many-matches", "quarantined")}
    ordering: ClassVar = ("-id",)

    @operation("matches_list", query=MatchQuery, answers=MatchSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the matches, the newest first."""
        found = filtered_matches(_matches().defer("packed_record"), self.query)
        return self.answer(MatchSerializer, self.page(found, time="created_at"))

    @operation(
        "matches_create",
        body=NewMatchSerializer,
        answers={201: MatchSerializer},
    )
    def post(self, request: Request) -> Response:
        """Start an unrated match between your bots and house bots."""
        match = unrated_matches.invite(
            owner=signed_in(request), **checked(NewMatchSerializer, request)
        )
        data = MatchSerializer(find_match(_matches(), match.pk)).data
        return created(data, "matches", match.pk)


class MatchView(ApiView):
    """A match."""

    @operation("matches_show", answers=WatchedMatchSerializer)
    def get(self, request: Request, match_id: int) -> Response:
        """Get a match with its public view."""
        match = find_match(_matches(), match_id)
        view = spectating.public_view(match)
        return Response({**MatchSerializer(match).data, "view": view})


class RecordView(ApiView):
    """The record of a match."""

    problems: ClassVar = {"GET": ("not-finished", "block-not-finished")}
    cached = headers.IMMUTABLE

    @operation("matches_record", answers={200: OpenApiTypes.OBJECT})
    def get(self, request: Request, match_id: int) -> Response:
        """Get the record of a finished match, with which anyone can replay and check it.

        The record is secret until all matches of the same deal are finished.
        """
        match = find_match(Match.objects.select_related("block"), match_id)
        if match.status == Match.Status.VOID:
            raise ProblemError("not-found", f"Match {match_id} is void; it has no record.")
        if match.status != Match.Status.FINISHED:
            raise ProblemError(
                "not-finished", f"Match {match_id} is {match.status}; it has no record yet."
            )
        record = spectating.public_record_line(match)
        if record is None:
            raise ProblemError("block-not-finished")
        return Response(json.loads(record))


def _matches() -> QuerySet[Match]:
    """Return all matches with their seats, blocks, rounds and ladders."""
    seating = MatchSeat.objects.select_related("bot", "version")
    found = Match.objects.with_deals().select_related("block__round__ladder")
    return found.prefetch_related(Prefetch("seating", seating))


class MatchLogView(ApiView):
    """The log of a match, for the owners of its bots."""

    needs: ClassVar = {"GET": OwnerToken}
    problems: ClassVar = {"GET": ("not-your-bot",)}

    @operation("matches_log", answers=MatchLogSerializer)
    def get(self, request: Request, match_id: int) -> Response:
        """Get the output, the faults and the receipts of your bots in a match."""
        match = find_match(Match.objects.all(), match_id)
        report = owner_reports.owner_report(match, signed_in(request))
        if not report:
            raise ProblemError(
                "not-your-bot",
                f"Match {match_id} has no bot of yours. Only owners of its bots may see the log.",
            )
        return Response(MatchLogSerializer({"results": report}).data)
