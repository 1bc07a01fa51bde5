"""How a bot stands on a ladder: what is due, how it got there, and whom it beats."""

from rest_framework import serializers

from api.serializers.ladders import StandingSerializer
from engine.pairing import blocks_to_halve_error
from league.competitions import describe_next_block
from league.models import HeadToHead, Performance
from league.ratings.standings import StandingRow


class BotStandingSerializer(StandingSerializer):
    """A bot's place on a ladder, and what comes next."""

    ladder = serializers.CharField(source="standing.ladder.slug")
    due = serializers.SerializerMethodField(help_text="When it plays next, or why it doesn't.")
    blocks_to_halve_error = serializers.SerializerMethodField(
        help_text="About how many blocks more would halve its performance's standard error; null "
        "where it has none."
    )

    def get_due(self, row: StandingRow) -> str:
        """Return when it plays next, in a sentence or two."""
        return describe_next_block(row.standing)

    def get_blocks_to_halve_error(self, row: StandingRow) -> int | None:
        """Return how many blocks that takes."""
        if row.standing.performance_error is None:
            return None
        return blocks_to_halve_error(row.standing.performance_blocks)


class PerformanceSerializer(serializers.ModelSerializer[Performance]):
    """What a bot's current version of then had shown up to a round in which it was rated."""

    round = serializers.IntegerField(source="round.number")
    performance = serializers.FloatField(source="elo", help_text="As on its standing.")
    performance_error = serializers.FloatField(
        source="error", allow_null=True, help_text="As on its standing; null below 5 blocks."
    )

    class Meta:
        model = Performance
        fields = (
            "round",
            "performance",
            "performance_error",
            "band",
            "blocks",
            "matches",
            "win_share",
            "mean_points",
        )
        read_only_fields = fields


class MeetingSerializer(serializers.ModelSerializer[HeadToHead]):
    """What a bot took from an opponent, whatever their versions."""

    bot = serializers.CharField(source="bot.name")
    opponent = serializers.CharField(source="opponent.name")
    matches = serializers.IntegerField(source="pairs", help_text="In which they met.")
    share = serializers.SerializerMethodField(
        help_text="0 to 1: in how many of these it finished before the opponent, ties being half."
    )

    class Meta:
        model = HeadToHead
        fields = ("bot", "opponent", "matches", "share")
        read_only_fields = fields

    def get_share(self, met: HeadToHead) -> float:
        """Return the share."""
        return met.half_wins / (2 * met.pairs)
