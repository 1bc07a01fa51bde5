"""Comparisons: A/B tests of two versions of a bot."""

from typing import ClassVar

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import OwnerToken, check_owner
from api.base import ApiView, ListView, checked, created, find_bot, find_comparison, find_ladder
from api.operations import operation
from api.pagination import PeriodQuery
from api.problems import ProblemError
from api.serializers.comparisons import (
    ComparisonDetailSerializer,
    ComparisonSerializer,
    NewComparisonSerializer,
)
from league import competitions
from league.models import Comparison


class BotComparisonsView(ListView):
    """The comparisons of a bot's versions."""

    needs: ClassVar = {"POST": OwnerToken}
    problems: ClassVar = {
        "POST": (
            "not-your-bot",
            "bot-retired",
            "not-hosted",
            "not-qualified",
            "comparison-running",
            "too-few-opponents",
            "quarantined",
        )
    }
    ordering: ClassVar = ("-id",)

    @operation("comparisons_list", query=PeriodQuery, answers=ComparisonSerializer(many=True))
    def get(self, request: Request, name: str) -> Response:
        """List the comparisons of a bot's versions, the newest first."""
        found = _comparisons().filter(bot=find_bot(name))
        return self.answer(ComparisonSerializer, self.page(found, time="created_at"))

    @operation(
        "comparisons_create",
        body=NewComparisonSerializer,
        answers={201: ComparisonSerializer},
    )
    def post(self, request: Request, name: str) -> Response:
        """Start a comparison: test whether a version of a hosted bot is better than another.

        Both versions sit at one table with bots of a ladder, and play swap blocks (pairs of
        matches). In a swap block both versions play one deal twice. For the second match they
        exchange their seats. No rating changes.
        """
        bot = find_bot(name)
        check_owner(request, bot)
        if bot.retired_at is not None:
            raise ProblemError("bot-retired", f"The bot {name} was deleted, so it can't play.")
        sent = checked(NewComparisonSerializer, request)
        made = competitions.compare(bot=bot, **{**sent, "ladder": find_ladder(sent["ladder"])})
        return created(ComparisonSerializer(made).data, "comparisons", made.pk)


class ComparisonView(ApiView):
    """A comparison."""

    @operation("comparisons_show", answers=ComparisonDetailSerializer)
    def get(self, request: Request, comparison_id: int) -> Response:
        """Get a comparison with the state of its test after each swap block."""
        return Response(ComparisonDetailSerializer(_find(comparison_id)).data)


class CancelComparisonView(ApiView):
    """Cancelling a comparison."""

    needs: ClassVar = {"POST": OwnerToken}
    problems: ClassVar = {"POST": ("not-your-bot",)}

    @operation("comparisons_cancel", answers=ComparisonSerializer)
    def post(self, request: Request, comparison_id: int) -> Response:
        """Cancel a comparison. A comparison that has ended stays as it is."""
        found = _find(comparison_id)
        check_owner(request, found.bot)
        competitions.cancel_comparison(found)
        return Response(ComparisonSerializer(_find(comparison_id)).data)


def _comparisons() -> QuerySet[Comparison]:
    return Comparison.objects.select_related("bot", "ladder", "new", "old")


def _find(comparison_id: int) -> Comparison:
    return find_comparison(_comparisons(), comparison_id)
