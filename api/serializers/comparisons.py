"""Comparisons: A/B tests of two versions of a bot."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from bots_sdk import verdicts
from engine.rating.sprt import Estimate, PathPoint, Plan
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
        help_text="The verdict: `better`, `not better`, `undecided`, or `no difference in "
        "behaviour` if no move differed. Empty while the comparison runs."
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
            "state": {
                "help_text": "`running`, `finished`, or `cancelled`: the owner ended it or deleted "
                f"the bot, or {comparisons.MAX_VOID_BLOCKS} blocks in a row became void."
            },
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
    """The state of the test after some swap blocks."""

    blocks = serializers.IntegerField(help_text="Number of swap blocks so far.")
    mean = serializers.FloatField(
        help_text="Mean difference of the versions: the new version's win share minus the old "
        "version's win share, in each swap block."
    )
    llr = serializers.FloatField(
        help_text="The evidence (log-likelihood ratio, LLR). It is positive if the results fit a "
        "gain of 20 Elo better than no gain."
    )


class EstimateSerializer(serializers.Serializer[Estimate]):
    """A new version's estimated gain. After a verdict it is usually a little too far from 0."""

    elo = serializers.FloatField(help_text="The gain, in Elo.")
    low = serializers.FloatField(help_text="Lower end of its 95 % interval, in Elo.")
    high = serializers.FloatField(help_text="Upper end of its 95 % interval, in Elo.")
    superiority = serializers.FloatField(
        help_text=f"Likelihood of superiority, from 0 to 1: {verdicts.LIKELIHOOD}."
    )


class ComparisonDetailSerializer(ComparisonSerializer):
    """A comparison with its estimate, and the evidence (LLR) after each swap block."""

    lower = serializers.SerializerMethodField(
        help_text="If the LLR falls below this bound, the verdict is `not better`."
    )
    upper = serializers.SerializerMethodField(
        help_text="If the LLR rises above this bound, the verdict is `better`."
    )
    blocks = serializers.SerializerMethodField(help_text="Number of finished swap blocks.")
    blocks_with_different_results = serializers.SerializerMethodField(
        help_text="Number of these swap blocks in which the results of the versions differ. "
        f"{verdicts.rule(Plan(seats=2))}"
    )
    estimate = serializers.SerializerMethodField(
        help_text="The new version's gain; null with fewer than 2 blocks."
    )
    path = serializers.SerializerMethodField(help_text="The test after each swap block.")

    class Meta(ComparisonSerializer.Meta):
        fields = (
            *ComparisonSerializer.Meta.fields,
            "lower",
            "upper",
            "blocks",
            "blocks_with_different_results",
            "estimate",
            "path",
        )
        read_only_fields = fields

    def to_representation(self, instance: Comparison) -> dict[str, Any]:
        """Return the answer; the test is computed once for all its fields."""
        self._progress = comparisons.progress(instance)
        return super().to_representation(instance)

    def get_lower(self, _: Comparison) -> float:
        """Return the lower bound."""
        return self._progress.plan.lower

    def get_upper(self, _: Comparison) -> float:
        """Return the upper bound."""
        return self._progress.plan.upper

    def get_blocks(self, _: Comparison) -> int:
        """Return the number of finished blocks."""
        return len(self._progress.steps)

    def get_blocks_with_different_results(self, _: Comparison) -> int:
        """Return the number of blocks in which d is not 0."""
        return self._progress.differing

    @extend_schema_field(EstimateSerializer(allow_null=True))
    def get_estimate(self, _: Comparison) -> dict[str, object] | None:
        """Return the estimated gain."""
        found = self._progress.estimate
        return None if found is None else dict(EstimateSerializer(found).data)

    @extend_schema_field(StepSerializer(many=True))
    def get_path(self, _: Comparison) -> list[dict[str, object]]:
        """Return the test after each swap block."""
        return [dict(StepSerializer(step).data) for step in self._progress.steps]
