"""A bot on a ladder: its standing, its performance by round, its head-to-head results."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.serializers.ladders import StandingSerializer
from bots_sdk.explanations import WIN_SHARE_FIELD
from engine.pairing import blocks_to_halve_error
from league.competitions import describe_next_block
from league.models import HeadToHead, Performance
from league.ratings.habits import Rate, habits_on
from league.ratings.last_matches import RatedMatch, best_and_worst, last_rated
from league.ratings.standings import StandingRow


class RatedMatchSerializer(serializers.Serializer[RatedMatch]):
    """A rated match of a bot, compared with the prediction of the ratings."""

    match = serializers.IntegerField(min_value=1, help_text="Id of the match.")
    place = serializers.IntegerField(
        min_value=1, help_text="The bot's place, as rated: 1 is the best."
    )
    win_share = serializers.FloatField(
        source="share",
        min_value=0,
        max_value=1,
        help_text=WIN_SHARE_FIELD,
    )
    expected = serializers.FloatField(
        min_value=0,
        max_value=1,
        help_text="The win share that the ratings before the round predict, from 0 to 1.",
    )


class HabitSerializer(serializers.Serializer[Rate]):
    """How often a bot makes a kind of move, and how often all bots of the ladder do."""

    name = serializers.CharField(max_length=20, help_text="Name of the habit, such as `passes`.")
    text = serializers.CharField(max_length=100, help_text="What the bot does, in words.")
    did = serializers.IntegerField(min_value=0, help_text="How often the bot did this.")
    times = serializers.IntegerField(min_value=0, help_text="How often the bot could do this.")
    share = serializers.FloatField(min_value=0, max_value=1, help_text="`did / times`.")
    field_share = serializers.FloatField(
        source="field",
        min_value=0,
        max_value=1,
        allow_null=True,
        help_text="The same share for all seats together in the ladder's last 100 rated matches; "
        "null if no seat could do this.",
    )


class BotStandingSerializer(StandingSerializer):
    """A bot's standing on a ladder, with its next block."""

    ladder = serializers.CharField(source="standing.ladder.slug", help_text="Slug of the ladder.")
    next_block = serializers.SerializerMethodField(
        help_text="When the bot plays next, or why it does not, in a sentence or two."
    )
    blocks_to_halve_error = serializers.SerializerMethodField(
        help_text="Estimated number of further blocks after which `performance_error` is half as "
        "large; null if `performance_error` is null."
    )
    best_match = serializers.SerializerMethodField(
        help_text=(
            "The bot's best match compared with the prediction, among its last 200 rated "
            "matches. Null if no win share is above the prediction."
        )
    )
    worst_match = serializers.SerializerMethodField(
        help_text=(
            "The bot's worst match compared with the prediction, among the same matches. Null if "
            "no win share is below the prediction."
        )
    )
    habits = serializers.SerializerMethodField(
        help_text="How often its current version makes each kind of move, in its last 200 rated "
        "matches. These numbers are up to ten minutes old."
    )

    def get_next_block(self, row: StandingRow) -> str:
        """Return when it plays next, or why it does not."""
        return describe_next_block(row.standing)

    def get_blocks_to_halve_error(self, row: StandingRow) -> int | None:
        """Return the number of further blocks."""
        if row.standing.performance_error is None:
            return None
        return blocks_to_halve_error(row.standing.performance_blocks)

    @extend_schema_field(RatedMatchSerializer(allow_null=True))
    def get_best_match(self, row: StandingRow) -> Any:
        """Return the match furthest above the prediction."""
        best, _ = self._best_and_worst(row)
        return best and RatedMatchSerializer(best).data

    @extend_schema_field(RatedMatchSerializer(allow_null=True))
    def get_worst_match(self, row: StandingRow) -> Any:
        """Return the match furthest below the prediction."""
        _, worst = self._best_and_worst(row)
        return worst and RatedMatchSerializer(worst).data

    @extend_schema_field(HabitSerializer(many=True))
    def get_habits(self, row: StandingRow) -> Any:
        """Return the habits of the current version."""
        found = habits_on(row.standing)
        return [HabitSerializer(rate).data for rate in found.rates] if found else []

    def _best_and_worst(self, row: StandingRow) -> tuple[RatedMatch | None, RatedMatch | None]:
        if not hasattr(self, "_found"):
            self._found = best_and_worst(last_rated(row.standing))
        return self._found


class PerformanceSerializer(serializers.ModelSerializer[Performance]):
    """The performance of a bot's current version, up to a round that rated the bot."""

    round = serializers.IntegerField(source="round.number", help_text="Number of the round.")
    performance = serializers.FloatField(
        source="elo", help_text="Strength in Elo, as in the standings."
    )
    performance_error = serializers.FloatField(
        source="error",
        allow_null=True,
        help_text="Its standard error in Elo, as in the standings; null below 5 blocks.",
    )
    performance_margin = serializers.FloatField(
        source="margin",
        allow_null=True,
        help_text="Half the length of its 95 % interval in Elo, as in the standings.",
    )

    class Meta:
        model = Performance
        fields = (
            "round",
            "performance",
            "performance_error",
            "performance_margin",
            "band",
            "best_chance",
            "blocks",
            "matches",
            "win_share",
            "mean_points",
        )
        read_only_fields = fields
        extra_kwargs = {
            "band": {"help_text": "Rank band, 1 the best; null for a provisional bot."},
            "best_chance": {
                "help_text": "Probability that the bot was the strongest of all ranked bots, from "
                "0 to 1; null for a provisional bot."
            },
            "blocks": {"help_text": "Number of blocks of the version so far."},
            "matches": {"help_text": "Number of matches of the version so far."},
            "win_share": {"help_text": WIN_SHARE_FIELD},
            "mean_points": {"help_text": "Mean score a match."},
        }


class MeetingSerializer(serializers.ModelSerializer[HeadToHead]):
    """The results of a bot against one opponent, over all versions of both."""

    bot = serializers.CharField(source="bot.name", help_text="Name of the bot.")
    opponent = serializers.CharField(source="opponent.name", help_text="Name of the opponent.")
    matches = serializers.IntegerField(
        source="pairs", help_text="Number of matches with both bots."
    )
    win_share = serializers.FloatField(
        help_text="Share of these matches in which the bot beat the opponent, from 0 to 1. A tie "
        "is half a win."
    )

    class Meta:
        model = HeadToHead
        fields = ("bot", "opponent", "matches", "win_share")
        read_only_fields = fields
