"""A bot on a ladder: its standing, its performance by round, its head-to-head results."""

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from api.base import ApiView, ListView, find_bot, find_ladder
from api.filters import BotQuery, by_bot
from api.operations import operation
from api.problems import ProblemError
from api.serializers.standings import (
    BotStandingSerializer,
    MeetingSerializer,
    PerformanceSerializer,
)
from league.models import Standing
from league.ratings import standings


class BotStandingView(ApiView):
    """A bot's standing on a ladder."""

    @operation("bots_standing", answers=BotStandingSerializer)
    def get(self, request: Request, name: str, slug: str) -> Response:
        """Get a bot's standing on a ladder, with a sentence on its next block."""
        standing = standings.public_standing(_find_standing(name, slug))
        [row] = standings.standing_rows(standing.ladder, [standing])
        return Response(BotStandingSerializer(row).data)


class PerformanceHistoryView(ListView):
    """A bot's performance on a ladder by round."""

    ordering: ClassVar = ("-round__applied_number",)

    @operation("bots_performance_history", answers=PerformanceSerializer(many=True))
    def get(self, request: Request, name: str, slug: str) -> Response:
        """List a bot's performance after each round that rated it, the newest first."""
        rows = standings.public_performances(_find_standing(name, slug)).select_related("round")
        return self.answer(PerformanceSerializer, self.page(rows))


class LadderCrossTableView(ListView):
    """The cross table of a ladder."""

    ordering: ClassVar = ("bot_id", "opponent_id")
    problems: ClassVar = {"GET": ("invalid",)}

    @operation(
        "ladders_cross_table",
        query=BotQuery,
        answers=MeetingSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """List the results of each bot against each opponent in rated blocks.

        They stay up to date while the standings are frozen.
        """
        rows = standings.meetings(find_ladder(slug))
        return self.answer(MeetingSerializer, self.page(by_bot(rows, self.query)))


def _find_standing(name: str, slug: str) -> Standing:
    bot, ladder = find_bot(name), find_ladder(slug)
    row = ladder.standings.filter(bot=bot).first()
    if row is None:
        raise ProblemError(
            "not-found", f"The bot {bot} has no rating on the ladder {ladder.slug} yet."
        )
    row.bot, row.ladder = bot, ladder
    return row
