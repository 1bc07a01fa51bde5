"""What lists can be narrowed by."""

from typing import Any, ClassVar

import django_filters
from django import forms
from django.db.models import Exists, OuterRef, QuerySet
from drf_spectacular.utils import extend_schema_field

from league.models import Match, MatchSeat


@extend_schema_field(int)
class _WholeNumberFilter(django_filters.NumberFilter):
    field_class = forms.IntegerField


class MatchFilter(django_filters.FilterSet):
    """Matches of a bot, of a ladder or tournament, or in a status."""

    bot = django_filters.CharFilter(method="of_bot", label="A bot at the table, by name.")
    ladder = django_filters.CharFilter("block__round__ladder__slug", label="A ladder's slug.")
    tournament = _WholeNumberFilter("block__round__tournament_id", label="A tournament's id.")
    status = django_filters.ChoiceFilter(choices=Match.Status.choices, label="How far it is.")

    class Meta:
        model = Match
        fields: ClassVar[list[Any]] = ["bot", "ladder", "tournament", "status"]

    def of_bot(self, queryset: QuerySet[Match], name: str, value: str) -> QuerySet[Match]:
        """Return the matches that a bot sits at."""
        seats = MatchSeat.objects.filter(match=OuterRef("pk"), bot__name=value)
        return queryset.filter(Exists(seats))
