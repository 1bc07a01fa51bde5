"""Comparisons: A/B tests of versions."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from league.competitions import comparisons
from league.models import Comparison


class ComparisonSerializer(serializers.ModelSerializer[Comparison]):
    """Whether a version is better than another, by swap blocks and the SPRT."""

    bot = serializers.CharField(source="bot.name")
    ladder = serializers.CharField(source="ladder.slug")
    new = serializers.IntegerField(source="new.number", help_text="The version that may be better.")
    old = serializers.IntegerField(source="old.number", help_text="The version it is compared to.")
    not_promoted = serializers.CharField(
        read_only=True, help_text="Why the new one was not promoted though it is better; or empty."
    )
    verdict = serializers.CharField(
        help_text="better, not better, undecided or no difference in behaviour; empty before."
    )

    class Meta:
        model = Comparison
        fields = (
            "id",
            "bot",
            "ladder",
            "new",
            "old",
            "promote",
            "promoted",
            "not_promoted",
            "state",
            "verdict",
            "created_at",
            "ended_at",
        )
        read_only_fields = fields


class NewComparisonSerializer(serializers.Serializer[None]):
    """A comparison to start."""

    ladder = serializers.SlugField(help_text="Whose game and field it is played with.")
    new = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    old = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    promote = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Have the new one play from then on if better; the old one must play now.",
    )


class StepSerializer(serializers.Serializer[None]):
    """The test after some swap blocks."""

    blocks = serializers.IntegerField()
    mean = serializers.FloatField(help_text="Of d = S_new - S_old.")
    llr = serializers.FloatField(help_text="Log-likelihood ratio of +20 Elo to none.")


class ComparisonDetailSerializer(ComparisonSerializer):
    """A comparison with the path of its log-likelihood ratio."""

    lower = serializers.SerializerMethodField(help_text="Below this LLR it is not better.")
    upper = serializers.SerializerMethodField(help_text="Above this LLR it is better.")
    path = serializers.SerializerMethodField()

    class Meta(ComparisonSerializer.Meta):
        fields = (*ComparisonSerializer.Meta.fields, "lower", "upper", "path")  # type: ignore[assignment]
        read_only_fields = fields

    def get_lower(self, comparison: Comparison) -> float:
        """Return the lower bound."""
        return comparisons.plan_of(comparison).lower

    def get_upper(self, comparison: Comparison) -> float:
        """Return the upper bound."""
        return comparisons.plan_of(comparison).upper

    @extend_schema_field(StepSerializer(many=True))
    def get_path(self, comparison: Comparison) -> list[Any]:
        """Return the test after each swap block."""
        return list(StepSerializer(comparisons.steps(comparison), many=True).data)
