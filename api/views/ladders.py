"""Ladders: standings, rounds, and who is on them."""

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import AnyToken, check_owner_or_bot
from api.schema import NO_CONTENT
from api.serializers.ladders import (
    LadderEntrySerializer,
    LadderSerializer,
    RoundSerializer,
    StandingSerializer,
)
from api.views.base import ApiView, ListView, find_bot, find_ladder
from league import events
from league.models import Ladder
from league.standings import listing


class LaddersView(ListView):
    """Ladders."""

    ordering: ClassVar = ("slug",)

    @extend_schema(operation_id="ladders_list", responses=LadderSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the ladders."""
        return self.answer(LadderSerializer, self.page(Ladder.objects.select_related("anchor")))


class LadderView(ApiView):
    """A ladder."""

    @extend_schema(operation_id="ladders_show", responses=LadderSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Look at a ladder."""
        return Response(LadderSerializer(find_ladder(slug)).data)


class LadderStandingsView(ListView):
    """The standings of a ladder."""

    ordering: ClassVar = listing.ORDER

    @extend_schema(operation_id="ladders_standings", responses=StandingSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """See who stands where: bots with a rank by rating, then the provisional ones."""
        ladder = find_ladder(slug)
        rows = self.page(listing.standings_in_order(ladder))
        listing.add_ranks(rows)
        listing.add_trends(ladder, rows)
        return self.answer(StandingSerializer, rows)


class LadderRoundsView(ListView):
    """The rounds of a ladder."""

    ordering: ClassVar = ("-number",)

    @extend_schema(operation_id="ladders_rounds", responses=RoundSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the rounds of a ladder, the latest first."""
        rounds = events.rounds_with_counts().filter(ladder=find_ladder(slug))
        return self.answer(RoundSerializer, self.page(rounds))


class LadderEntryView(ApiView):
    """A bot's entry on a ladder."""

    needs: ClassVar = {"PUT": AnyToken, "DELETE": AnyToken}
    problems: ClassVar = {"PUT": ("not-your-bot", "not-qualified"), "DELETE": ("not-your-bot",)}

    @extend_schema(operation_id="ladders_enter", request=None, responses=LadderEntrySerializer)
    def put(self, request: Request, slug: str, name: str) -> Response:
        """Enter a bot; entering it again changes nothing."""
        ladder, bot = find_ladder(slug), find_bot(name)
        check_owner_or_bot(request, bot)
        entry = events.enter_ladder(ladder=ladder, bot=bot)
        return Response(LadderEntrySerializer(entry).data)

    @extend_schema(operation_id="ladders_leave", responses={204: NO_CONTENT})
    def delete(self, request: Request, slug: str, name: str) -> Response:
        """Take a bot off; its rating stays. Nothing changes for one that isn't on."""
        ladder, bot = find_ladder(slug), find_bot(name)
        check_owner_or_bot(request, bot)
        events.leave_ladder(ladder=ladder, bot=bot)
        return Response(status=204)
