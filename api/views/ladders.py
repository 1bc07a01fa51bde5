"""Ladders: settings, standings, rounds and entries."""

from typing import ClassVar

from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import Throttled
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import AnyToken, check_owner_or_bot
from api.base import ApiView, ListView, find_bot, find_ladder
from api.exports import BusyError, Export
from api.filters import by_bot
from api.problems import ProblemError
from api.schema import NO_CONTENT
from api.serializers.ladders import (
    LadderDetailSerializer,
    LadderEntrySerializer,
    LadderSerializer,
    RoundSerializer,
    StandingSerializer,
)
from api.serializers.ledger import RatingChangeSerializer, RevisionSerializer
from league import competitions
from league.models import Ladder, Round
from league.ratings import ledger, standings


class LaddersView(ListView):
    """The ladders."""

    ordering: ClassVar = ("slug",)

    @extend_schema(operation_id="ladders_list", responses=LadderSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the ladders by slug."""
        return self.answer(LadderSerializer, self.page(Ladder.objects.select_related("anchor")))


class LadderView(ApiView):
    """A ladder."""

    @extend_schema(operation_id="ladders_show", responses=LadderDetailSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Get a ladder."""
        return Response(LadderDetailSerializer(find_ladder(slug)).data)


class LadderStandingsView(ListView):
    """The standings of a ladder."""

    ordering: ClassVar = standings.ORDER
    problems: ClassVar = {"GET": ("invalid",)}

    @extend_schema(
        operation_id="ladders_standings",
        parameters=[
            OpenApiParameter(
                "hidden",
                bool,
                default=False,
                description="true: list hidden bots too, after all others. A bot is hidden if no "
                "round has rated it for the ladder's `idle_days`, or if it left the ladder.",
            )
        ],
        responses=StandingSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """List the bots of a ladder by rating: bots with a rank first, then provisional bots."""
        ladder, hidden = find_ladder(slug), _yes_or_no(request, "hidden")
        page = self.page(standings.standings_in_order(ladder, hidden=hidden))
        return self.answer(StandingSerializer, standings.standing_rows(ladder, page))


class LadderRoundsView(ListView):
    """The rounds of a ladder."""

    ordering: ClassVar = ("-number",)

    @extend_schema(operation_id="ladders_rounds", responses=RoundSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the rounds of a ladder, the newest first."""
        rounds = Round.objects.with_block_counts().filter(ladder=find_ladder(slug))
        rounds = rounds.select_related("ladder", "tournament")
        return self.answer(RoundSerializer, self.page(rounds))


class LadderLedgerView(ListView):
    """The ledger of a ladder."""

    ordering: ClassVar = ("-round__applied_number", "bot_id")
    problems: ClassVar = {"GET": ("invalid",)}

    @extend_schema(
        operation_id="ladders_ledger",
        parameters=[
            OpenApiParameter("bot", str, description="Name of a bot: list its rows only."),
            OpenApiParameter("round", int, description="Number of a round: list its rows only."),
            OpenApiParameter(
                "revision",
                int,
                description="Number of a revision: list the rows that counted under it.",
            ),
        ],
        responses=RatingChangeSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """List every change of a rating with its blocks, matches and seeds, the newest first."""
        ladder = find_ladder(slug)
        revision = _whole_number(request, "revision")
        if revision is not None and not 1 <= revision <= ladder.revision:
            problem = f"There is no revision {revision}; the newest is {ladder.revision}."
            raise ProblemError("invalid", errors={"revision": [problem]})
        rows = ledger.round_entries(ladder, revision).select_related("round", "bot")
        if (number := _whole_number(request, "round")) is not None:
            rows = rows.filter(round__number=number)
        changes = ledger.rating_changes(self.page(by_bot(rows, request)))
        return self.answer(RatingChangeSerializer, changes)


_gzip = GZipMiddleware(lambda request: StreamingHttpResponse())


class LinesRenderer(JSONRenderer):
    """Accepts the media type of JSON Lines, for content negotiation."""

    media_type = "application/x-ndjson"
    format = "jsonl"


class LadderExportView(ApiView):
    """The export of a ladder."""

    rate = "exports"
    renderer_classes = (LinesRenderer, JSONRenderer)

    @extend_schema(
        operation_id="ladders_export",
        responses={(200, LinesRenderer.media_type): OpenApiTypes.STR},
    )
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        """Download all rated rounds of a ladder as JSON Lines.

        The file has blocks, records, ledger and standings. The program `recompute_ladder.py`, which
        the ladder's page links to, computes every rating from this file and compares it.
        """
        ladder = find_ladder(slug)
        try:
            lines = Export(ladder)
        except BusyError as busy:
            raise Throttled(busy.wait, detail=str(busy)) from None
        name = f'attachment; filename="{ladder.slug}.jsonl"'
        response = StreamingHttpResponse(
            lines, content_type=LinesRenderer.media_type, headers={"Content-Disposition": name}
        )
        return _gzip.process_response(request._request, response)


class LadderRevisionsView(ListView):
    """The corrections of a ladder."""

    ordering: ClassVar = ("-number",)

    @extend_schema(operation_id="ladders_revisions", responses=RevisionSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the corrections of a ladder, the newest first. Revision 1 is no correction."""
        return self.answer(RevisionSerializer, self.page(ledger.revisions_of(find_ladder(slug))))


class LadderEntryView(ApiView):
    """A bot's entry on a ladder."""

    needs: ClassVar = {"PUT": AnyToken, "DELETE": AnyToken}
    problems: ClassVar = {"PUT": ("not-your-bot", "not-qualified"), "DELETE": ("not-your-bot",)}

    @extend_schema(operation_id="ladders_enter", request=None, responses=LadderEntrySerializer)
    def put(self, request: Request, slug: str, name: str) -> Response:
        """Enter a bot on a ladder. Rounds of the ladder may then draw it for a table.

        If the bot is on the ladder, nothing changes.
        """
        ladder, bot = find_ladder(slug), find_bot(name)
        check_owner_or_bot(request, bot)
        entry = competitions.enter_ladder(ladder=ladder, bot=bot)
        return Response(LadderEntrySerializer(entry).data)

    @extend_schema(operation_id="ladders_leave", responses={204: NO_CONTENT})
    def delete(self, request: Request, slug: str, name: str) -> Response:
        """Take a bot off a ladder. The standings hide it, and its rating stays.

        If the bot is not on the ladder, nothing changes.
        """
        ladder, bot = find_ladder(slug), find_bot(name)
        check_owner_or_bot(request, bot)
        competitions.leave_ladder(ladder=ladder, bot=bot)
        return Response(status=204)


def _yes_or_no(request: Request, name: str) -> bool:
    """Return a parameter that is true or false, by default False, or raise ``invalid``."""
    text = request.query_params.get(name, "false")
    if text not in ("true", "false"):
        raise ProblemError("invalid", errors={name: ["Must be true or false."]})
    return text == "true"


def _whole_number(request: Request, name: str) -> int | None:
    """Return a parameter that is a whole number, by default None, or raise ``invalid``."""
    text = request.query_params.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ProblemError(
            "invalid", errors={name: ["Must be a whole number from 0 to 999999999."]}
        )
    return int(text)
