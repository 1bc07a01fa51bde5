"""Filters of lists by query parameters."""

from typing import Any, ClassVar, TypeVar

import django_filters
from django import forms
from django.db.models import Exists, Model, OuterRef, QuerySet
from drf_spectacular.utils import extend_schema_field
from rest_framework.request import Request

from league.models import Match, MatchSeat

Row = TypeVar("Row", bound=Model)


@extend_schema_field(
    {"type": "integer", "description": "Id of a tournament: list its matches only."}
)
class _TournamentFilter(django_filters.NumberFilter):
    field_class = forms.IntegerField


class MatchFilter(django_filters.FilterSet):
    """Matches by bot, ladder, tournament or status."""

    bot = django_filters.CharFilter(method="of_bot", label="Name of a bot: list its matches only.")
    ladder = django_filters.CharFilter(
        "block__round__ladder__slug", label="Slug of a ladder: list its matches only."
    )
    tournament = _TournamentFilter("block__round__tournament_id")
    status = django_filters.ChoiceFilter(
        choices=Match.Status.choices,
        label="List matches with this status only.",
        error_messages={"invalid_choice": f"Must be one of: {', '.join(Match.Status.values)}."},
    )

    class Meta:
        model = Match
        fields: ClassVar[list[Any]] = ["bot", "ladder", "tournament", "status"]

    def of_bot(self, queryset: QuerySet[Match], name: str, value: str) -> QuerySet[Match]:
        """Return the matches with a bot."""
        seats = MatchSeat.objects.filter(match=OuterRef("pk"), bot__name=value)
        return queryset.filter(Exists(seats))


def by_bot(rows: QuerySet[Row], request: Request) -> QuerySet[Row]:
    """Return the rows of the bot that the query parameter ``bot`` names; all rows without it."""
    name = request.query_params.get("bot")
    if name is None:
        return rows
    # PostgreSQL can't compare a text with a NUL character.
    return rows.filter(bot__name=name) if "\0" not in name else rows.none()
