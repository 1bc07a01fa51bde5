"""Comparisons: A/B tests of two versions of a bot."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engine.rating.sprt import PathPoint
from league.competitions import comparisons
from league.models import Comparison


class ComparisonSerializer(serializers.ModelSerializer[Comparison]):
    """An A/B test: is a version of a bot better than another version?"""

    bot = serializers.CharField(source="bot.name", help_text="Name of the bot.")
    ladder = serializers.CharField(
        source="ladder.slug", help_text="Slug of the ladder whose game and bots the test uses."
    )
    new = serializers.IntegerField(
        source="new.number", help_text="Number of the version that may be better."
    )
    old = serializers.IntegerField(
        source="old.number", help_text="Number of the version to compare it with."
    )
    not_promoted_reason = serializers.CharField(
        source="not_promoted",
        read_only=True,
        help_text="Why a better version did not become current although `promote` is true; else "
        "empty.",
    )
    verdict = serializers.CharField(
        help_text="`better`, `not better`, `undecided` or `no difference in behaviour`; empty "
        "while the comparison runs."
    )

    class Meta:
        model = Comparison
        fields: tuple[str, ...] = (
            "id",
            "bot",
            "ladder",
            "new",
            "old",
            "promote",
            "promoted",
            "not_promoted_reason",
            "state",
            "verdict",
            "created_at",
            "ended_at",
        )
        read_only_fields = fields
        extra_kwargs = {
            "id": {"help_text": "Id of the comparison."},
            "promote": {"help_text": "If the new version is better, it becomes current."},
            "promoted": {"help_text": "Whether the new version became current."},
            "state": {"help_text": "`running`, `finished` or `cancelled`."},
            "created_at": {"help_text": "When the owner started it."},
            "ended_at": {"help_text": "When it ended; null while it runs."},
        }


class NewComparisonSerializer(serializers.Serializer[None]):
    """A comparison to start."""

    ladder = serializers.SlugField(
        help_text="Slug of the ladder whose game and bots the test uses."
    )
    new = serializers.IntegerField(
        min_value=1, max_value=2**31 - 1, help_text="Number of the version that may be better."
    )
    old = serializers.IntegerField(
        min_value=1, max_value=2**31 - 1, help_text="Number of the version to compare it with."
    )
    promote = serializers.BooleanField(
        required=False,
        default=False,
        help_text="If the new version is better, make it current. `old` must be the current "
        "version.",
    )


class StepSerializer(serializers.Serializer[PathPoint]):
    """State of the test after some swap blocks."""

    blocks = serializers.IntegerField(help_text="Number of swap blocks so far.")
    mean = serializers.FloatField(
        help_text="Mean over the blocks of the new version's score minus the old version's."
    )
    llr = serializers.FloatField(
        help_text="Log-likelihood ratio of a difference of +20 Elo to no difference."
    )


class ComparisonDetailSerializer(ComparisonSerializer):
    """A comparison with the course of its log-likelihood ratio (LLR)."""

    lower = serializers.SerializerMethodField(
        help_text="If the LLR falls to this bound, the new version is not better."
    )
    upper = serializers.SerializerMethodField(
        help_text="If the LLR rises to this bound, the new version is better."
    )
    path = serializers.SerializerMethodField(help_text="The test after each swap block.")

    class Meta(ComparisonSerializer.Meta):
        fields = (*ComparisonSerializer.Meta.fields, "lower", "upper", "path")
        read_only_fields = fields

    def get_lower(self, comparison: Comparison) -> float:
        """Return the lower bound."""
        return comparisons.plan_of(comparison).lower

    def get_upper(self, comparison: Comparison) -> float:
        """Return the upper bound."""
        return comparisons.plan_of(comparison).upper

    @extend_schema_field(StepSerializer(many=True))
    def get_path(self, comparison: Comparison) -> list[dict[str, object]]:
        """Return the test after each swap block."""
        return [dict(StepSerializer(step).data) for step in comparisons.steps(comparison)]
