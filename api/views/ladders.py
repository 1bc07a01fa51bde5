"""Ladders: standings, rounds, and who is on them."""

from typing import ClassVar

from django.http import StreamingHttpResponse
from django.middleware.gzip import GZipMiddleware
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import Throttled
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import AnyToken, check_owner_or_bot
from api.exports import BusyError, Export
from api.problems import ProblemError
from api.schema import NO_CONTENT
from api.serializers.ladders import (
    LadderDetailSerializer,
    LadderEntrySerializer,
    LadderSerializer,
    RatingChangeSerializer,
    RevisionSerializer,
    RoundSerializer,
    StandingSerializer,
)
from api.views.base import ApiView, ListView, find_bot, find_ladder
from league import competitions
from league.models import Ladder, Round
from league.ratings import ledger, standings


class LaddersView(ListView):
    """Ladders."""

    ordering: ClassVar = ("slug",)

    @extend_schema(operation_id="ladders_list", responses=LadderSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the ladders."""
        return self.answer(LadderSerializer, self.page(Ladder.objects.select_related("anchor")))


class LadderView(ApiView):
    """A ladder."""

    @extend_schema(operation_id="ladders_show", responses=LadderDetailSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Look at a ladder."""
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
                description="Whether hidden bots are listed too, after all others: those that no "
                "round has rated for the ladder's idle_days, and those that left it.",
            )
        ],
        responses=StandingSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """See who stands where: bots with a rank by rating, then the provisional ones."""
        ladder, hidden = find_ladder(slug), _yes_or_no(request, "hidden")
        page = self.page(standings.standings_in_order(ladder, hidden=hidden))
        return self.answer(StandingSerializer, standings.standing_rows(ladder, page))


class LadderRoundsView(ListView):
    """The rounds of a ladder."""

    ordering: ClassVar = ("-number",)

    @extend_schema(operation_id="ladders_rounds", responses=RoundSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the rounds of a ladder, the latest first."""
        rounds = Round.objects.with_block_counts().filter(ladder=find_ladder(slug))
        rounds = rounds.select_related("ladder", "tournament")
        return self.answer(RoundSerializer, self.page(rounds))


class LadderLedgerView(ListView):
    """The ledger of a ladder."""

    ordering: ClassVar = ("-round_id", "bot_id")
    problems: ClassVar = {"GET": ("invalid",)}

    @extend_schema(
        operation_id="ladders_ledger",
        parameters=[
            OpenApiParameter("bot", str, description="A bot, by name."),
            OpenApiParameter("round", int, description="A round, by its number."),
            OpenApiParameter(
                "revision", int, description="As it stood under an older revision; see there."
            ),
        ],
        responses=RatingChangeSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """See every change of a rating, with its blocks, matches and seeds; the latest first."""
        ladder = find_ladder(slug)
        revision = _whole_number(request, "revision")
        if revision is not None and not 1 <= revision <= ladder.revision:
            allowed = f"A whole number from 1 to {ladder.revision}."
            raise ProblemError("invalid", errors={"revision": [allowed]})
        rows = ledger.round_entries(ladder, revision).select_related("round", "bot")
        if (number := _whole_number(request, "round")) is not None:
            rows = rows.filter(round__number=number)
        if (name := request.query_params.get("bot")) is not None:
            rows = rows.filter(bot__name=name) if "\0" not in name else rows.none()
        return self.answer(RatingChangeSerializer, ledger.rating_changes(self.page(rows)))


_gzip = GZipMiddleware(lambda request: StreamingHttpResponse())


class LinesRenderer(JSONRenderer):
    """Lets a client ask for JSON Lines by name."""

    media_type = "application/x-ndjson"
    format = "jsonl"


class LadderExportView(ApiView):
    """A ladder as one file."""

    rate = "exports"
    renderer_classes = (LinesRenderer, JSONRenderer)

    @extend_schema(
        operation_id="ladders_export",
        responses={(200, LinesRenderer.media_type): OpenApiTypes.STR},
    )
    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        """Get all rated rounds of a ladder as JSON Lines: blocks, records, ledger, standings.

        recompute_ladder.py, linked on the ladder's page, works out every rating from this file and
        compares.
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
        """List the corrections of a ladder, the latest first; revision 1 was none."""
        return self.answer(RevisionSerializer, self.page(find_ladder(slug).revisions.all()))


class LadderEntryView(ApiView):
    """A bot's entry on a ladder."""

    needs: ClassVar = {"PUT": AnyToken, "DELETE": AnyToken}
    problems: ClassVar = {"PUT": ("not-your-bot", "not-qualified"), "DELETE": ("not-your-bot",)}

    @extend_schema(operation_id="ladders_enter", request=None, responses=LadderEntrySerializer)
    def put(self, request: Request, slug: str, name: str) -> Response:
        """Enter a bot; entering it again changes nothing."""
        ladder, bot = find_ladder(slug), find_bot(name)
        check_owner_or_bot(request, bot)
        entry = competitions.enter_ladder(ladder=ladder, bot=bot)
        return Response(LadderEntrySerializer(entry).data)

    @extend_schema(operation_id="ladders_leave", responses={204: NO_CONTENT})
    def delete(self, request: Request, slug: str, name: str) -> Response:
        """Take a bot off: it is hidden, its rating stays. Nothing changes for one that isn't on."""
        ladder, bot = find_ladder(slug), find_bot(name)
        check_owner_or_bot(request, bot)
        competitions.leave_ladder(ladder=ladder, bot=bot)
        return Response(status=204)


def _yes_or_no(request: Request, name: str) -> bool:
    """Return a truth of the query string, False where it isn't there; else it is ``invalid``."""
    text = request.query_params.get(name, "false")
    if text not in ("true", "false"):
        raise ProblemError("invalid", errors={name: ["true or false."]})
    return text == "true"


def _whole_number(request: Request, name: str) -> int | None:
    """Return a number of the query string, None where it isn't there; else it is ``invalid``."""
    text = request.query_params.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ProblemError("invalid", errors={name: ["A whole number."]})
    return int(text)
