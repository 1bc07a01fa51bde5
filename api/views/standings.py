"""How a bot stands on a ladder, how it got there, and whom it beats."""

from typing import ClassVar

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.problems import ProblemError
from api.serializers.standings import (
    BotStandingSerializer,
    MeetingSerializer,
    PerformanceSerializer,
)
from api.views.base import ApiView, ListView, find_bot, find_ladder
from league.models import Standing
from league.ratings import standings


class BotStandingView(ApiView):
    """A bot's standing on a ladder."""

    @extend_schema(operation_id="bots_standing", responses=BotStandingSerializer)
    def get(self, request: Request, name: str, slug: str) -> Response:
        """See where a bot stands on a ladder, when it plays next, and what halves its error."""
        standing = standings.public_standing(_find_standing(name, slug))
        [row] = standings.standing_rows(standing.ladder, [standing])
        return Response(BotStandingSerializer(row).data)


class PerformanceHistoryView(ListView):
    """How a bot's performance went on a ladder."""

    ordering: ClassVar = ("-round_id",)

    @extend_schema(
        operation_id="bots_performance_history", responses=PerformanceSerializer(many=True)
    )
    def get(self, request: Request, name: str, slug: str) -> Response:
        """See a bot's performance with its band after each round that rated it, latest first."""
        rows = standings.public_performances(_find_standing(name, slug)).select_related("round")
        return self.answer(PerformanceSerializer, self.page(rows))


class LadderCrossTableView(ListView):
    """Who beats whom on a ladder."""

    ordering: ClassVar = ("bot_id", "opponent_id")
    problems: ClassVar = {"GET": ("invalid",)}

    @extend_schema(
        operation_id="ladders_cross_table",
        parameters=[OpenApiParameter("bot", str, description="What this bot took, by name.")],
        responses=MeetingSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """See what each bot took from each that it has met in rated blocks.

        That goes on being counted while the standings are frozen.
        """
        rows = standings.meetings(find_ladder(slug))
        if (name := request.query_params.get("bot")) is not None:
            rows = rows.filter(bot__name=name) if "\0" not in name else rows.none()
        return self.answer(MeetingSerializer, self.page(rows))


def _find_standing(name: str, slug: str) -> Standing:
    bot, ladder = find_bot(name), find_ladder(slug)
    row = ladder.standings.filter(bot=bot).first()
    if row is None:
        raise ProblemError("not-found", f"{bot} has not been rated on {ladder} yet.")
    row.bot, row.ladder = bot, ladder
    return row
