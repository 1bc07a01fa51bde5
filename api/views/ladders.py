"""Ladders: settings, standings, rounds and entries."""

from typing import ClassVar

from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import AnyToken, check_owner_or_bot
from api.base import ApiView, ListView, find_bot, find_ladder
from api.exports import LinesRenderer, download
from api.filters import LedgerQuery, StandingsQuery, by_bot
from api.operations import operation
from api.pagination import PeriodQuery
from api.problems import ProblemError
from api.renderers import Renderer
from api.schema import NO_CONTENT
from api.serializers.ladder_places import LadderPlaceSerializer
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
from league.ratings.exporting import export_ladder


class LaddersView(ListView):
    """The ladders."""

    ordering: ClassVar = ("slug",)

    @operation("ladders_list", answers=LadderSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the ladders by slug."""
        return self.answer(LadderSerializer, self.page(Ladder.objects.select_related("anchor")))


class LadderView(ApiView):
    """A ladder."""

    @operation("ladders_show", answers=LadderDetailSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Get a ladder."""
        return Response(LadderDetailSerializer(find_ladder(slug)).data)


class LadderStandingsView(ListView):
    """The standings of a ladder."""

    ordering: ClassVar = standings.ORDER
    problems: ClassVar = {"GET": ("invalid",)}

    @operation(
        "ladders_standings",
        query=StandingsQuery,
        answers=StandingSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """List the bots of a ladder by rating: bots with a rank first, then provisional bots."""
        ladder = find_ladder(slug)
        rows = standings.standings_in_order(ladder, hidden=self.query["hidden"])
        page = self.page(rows)
        return self.answer(StandingSerializer, standings.standing_rows(ladder, page))


class LadderRoundsView(ListView):
    """The rounds of a ladder."""

    ordering: ClassVar = ("-number",)

    @operation("ladders_rounds", query=PeriodQuery, answers=RoundSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the rounds of a ladder, the newest first."""
        rounds = (
            Round.objects.with_block_counts()
            .select_related("placed")
            .filter(ladder=find_ladder(slug))
        )
        rounds = rounds.select_related("ladder", "tournament", "placed")
        return self.answer(RoundSerializer, self.page(rounds, time="opened_at"))


class LadderLedgerView(ListView):
    """The ledger of a ladder."""

    ordering: ClassVar = ("-round__applied_number", "bot_id")
    problems: ClassVar = {"GET": ("invalid",)}

    @operation(
        "ladders_ledger",
        query=LedgerQuery,
        answers=RatingChangeSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """List every change of a rating with its blocks, matches and seeds, the newest first."""
        ladder = find_ladder(slug)
        revision = self.query.get("revision")
        if revision is not None and revision > ladder.revision:
            problem = f"There is no revision {revision}; the newest is {ladder.revision}."
            raise ProblemError("invalid", errors={"revision": [problem]})
        rows = ledger.round_entries(ladder, revision).select_related("round", "bot")
        if "round" in self.query:
            rows = rows.filter(round__number=self.query["round"])
        changes = ledger.rating_changes(
            self.page(by_bot(rows, self.query), time="round__applied_at")
        )
        return self.answer(RatingChangeSerializer, changes)


class LadderExportView(ApiView):
    """The export of a ladder."""

    rate = "exports"
    renderer_classes = (LinesRenderer, Renderer)

    @operation(
        "ladders_export",
        answers={(200, LinesRenderer.media_type): OpenApiTypes.STR},
    )
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        """Download all rated rounds of a ladder as JSON Lines.

        The file has blocks, records, ledger and standings. The program `recompute_ladder.py`, which
        the ladder's page links to, computes every rating from this file and compares it with the
        rating in the file.
        """
        ladder = find_ladder(slug)
        return download(request, export_ladder(ladder), f"{ladder.slug}.jsonl")


class LadderRevisionsView(ListView):
    """The corrections of a ladder."""

    ordering: ClassVar = ("-number",)

    @operation("ladders_revisions", query=PeriodQuery, answers=RevisionSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the corrections of a ladder, the newest first. Revision 1 is not a correction."""
        return self.answer(
            RevisionSerializer,
            self.page(ledger.revisions_of(find_ladder(slug)), time="made_at"),
        )


class LadderEntryView(ApiView):
    """A bot's entry on a ladder."""

    needs: ClassVar = {"PUT": AnyToken, "DELETE": AnyToken}
    problems: ClassVar = {
        "PUT": (
            "not-your-bot",
            "no-version",
            "bot-paused",
            "not-qualified",
            "bot-retired",
            "quarantined",
        ),
        "DELETE": ("not-your-bot",),
    }

    @operation("ladders_entry", answers=LadderPlaceSerializer)
    def get(self, request: Request, slug: str, name: str) -> Response:
        """Get a bot's entry on a ladder: its blocks, and when it plays next or why it does not."""
        ladder, bot = find_ladder(slug), find_bot(name)
        entry = ladder.entries.select_related("ladder", "bot__current").filter(bot=bot).first()
        if entry is None:
            raise ProblemError("not-found", f"The bot {bot} is not on the ladder {ladder.slug}.")
        return Response(LadderPlaceSerializer(entry).data)

    @operation("ladders_enter", answers=LadderEntrySerializer)
    def put(self, request: Request, slug: str, name: str) -> Response:
        """Enter a bot on a ladder. Rounds of the ladder may then draw it for a table.

        If the bot is already on the ladder, nothing changes.
        """
        ladder, bot = find_ladder(slug), find_bot(name)
        check_owner_or_bot(request, bot)
        entry = competitions.enter_ladder(ladder=ladder, bot=bot)
        return Response(LadderEntrySerializer(entry).data)

    @operation("ladders_leave", answers={204: NO_CONTENT})
    def delete(self, request: Request, slug: str, name: str) -> Response:
        """Take a bot off a ladder. The standings hide it, and its rating stays.

        If the bot is not on the ladder, nothing changes.
        """
        ladder, bot = find_ladder(slug), find_bot(name)
        check_owner_or_bot(request, bot)
        competitions.leave_ladder(ladder=ladder, bot=bot)
        return Response(status=204)
