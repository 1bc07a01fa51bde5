"""Ladders, standings, rounds and entries."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from league.models import Ladder, LadderEntry, Match, Revision, Round, RoundEntry, Standing
from league.models.ladders import Hidden
from league.ratings.ledger import Change
from league.ratings.twins import TwinGap, twin_gaps
from league.visibility import is_open_to_all, may_show_seed


class LadderSerializer(serializers.ModelSerializer[Ladder]):
    """A ladder."""

    anchor = serializers.CharField(
        source="anchor.name",
        read_only=True,
        default=None,
        allow_null=True,
        help_text="The bot whose performance is 1500; null: the mean of all bots is.",
    )

    class Meta:
        model = Ladder
        fields = (
            "slug",
            "title",
            "game",
            "rules",
            "seats",
            "move_seconds",
            "bank_seconds",
            "anchor",
            "idle_days",
            "revision",
            "alarm",
            "frozen_round",
            "checked_at",
            "checked_round",
            "paused",
            "created_at",
        )
        read_only_fields = fields


class TwinsSerializer(serializers.Serializer[TwinGap]):
    """Two house bots that are the same program."""

    bot = serializers.CharField()
    twin = serializers.CharField()
    gap = serializers.IntegerField(
        help_text="Between their ratings, in thousandths of an Elo point: that much of today's "
        "ratings is luck."
    )


class LadderDetailSerializer(LadderSerializer):
    """A ladder, and how much of its ratings is luck."""

    twins = serializers.SerializerMethodField(
        help_text="Pairs of house bots that are the same program; none before both are rated."
    )

    class Meta(LadderSerializer.Meta):
        fields = (*LadderSerializer.Meta.fields, "twins")
        read_only_fields = fields

    @extend_schema_field(TwinsSerializer(many=True))
    def get_twins(self, ladder: Ladder) -> list[dict[str, object]]:
        """Return the gaps between twins."""
        return [twins._asdict() for twins in twin_gaps(ladder)]


class RevisionSerializer(serializers.ModelSerializer[Revision]):
    """A correction of a ladder."""

    class Meta:
        model = Revision
        fields = ("number", "from_round", "reason", "made_at")
        read_only_fields = fields


class ChangedByMatchSerializer(serializers.ModelSerializer[Match]):
    """A match that a change of a rating was made of."""

    deal_seed = serializers.SerializerMethodField(
        help_text="In hex; null where it may not be known yet."
    )

    class Meta:
        model = Match
        fields = ("id", "number", "status", "commitment", "deal_seed")
        read_only_fields = fields

    def get_deal_seed(self, match: Match) -> str | None:
        """Return the deal seed once it may be known."""
        return bytes(match.deal_seed).hex() if is_open_to_all(match) else None


class ChangeSerializer(serializers.Serializer[Change]):
    """What a block did to a bot's rating."""

    block = serializers.IntegerField(
        source="entry.block.number", help_text="Its number in the round."
    )
    delta = serializers.IntegerField(
        source="entry.delta", help_text="In thousandths of an Elo point."
    )
    void_reason = serializers.CharField(
        source="entry.block.void_mark.reason",
        read_only=True,
        default=None,
        allow_null=True,
        help_text="Why the block was taken out of the ratings, under a later revision than this "
        "row's.",
    )
    matches = ChangedByMatchSerializer(many=True)


class RatingChangeSerializer(serializers.ModelSerializer[RoundEntry]):
    """A row of the ledger: what a round did to a bot's rating."""

    round = serializers.IntegerField(source="round.number")
    bot = serializers.CharField(source="bot.name")
    changes = ChangeSerializer(many=True, help_text="Block by block; they add up.")

    class Meta:
        model = RoundEntry
        fields = ("round", "bot", "revision", "rating_before", "rating_after", "changes")
        read_only_fields = fields


class StandingSerializer(serializers.ModelSerializer[Standing]):
    """A bot's place on a ladder."""

    rank = serializers.IntegerField(
        allow_null=True, help_text="Null for a provisional or hidden bot."
    )
    bot = serializers.CharField(source="bot.name")
    owner = serializers.CharField(
        source="bot.owner.username", read_only=True, default=None, allow_null=True
    )
    rating = serializers.IntegerField(help_text="In thousandths of an Elo point.")
    provisional = serializers.BooleanField(
        help_text="With fewer than 20 blocks, altogether or of its current version."
    )
    win_share = serializers.SerializerMethodField(
        help_text="Of the opponents met, match by match: those beaten, a tie being half."
    )
    mean_points = serializers.SerializerMethodField(help_text="Mean points a match.")
    trend = serializers.IntegerField(
        allow_null=True,
        help_text="What it won or lost in the ladder's last 10 rounds, in thousandths of an Elo "
        "point; null if it sat them out.",
    )
    performance = serializers.FloatField(
        allow_null=True,
        help_text="Strength in Elo, estimated from all that its current version has played, on a "
        "scale where the ladder's anchor has 1500. Null before it was fitted.",
    )
    performance_error = serializers.FloatField(
        allow_null=True,
        help_text="Its standard error in Elo: performance ± 1.96 of it is the 95 % interval of the "
        "bot's strength against the field's mean, not against the anchor.",
    )
    performance_blocks = serializers.IntegerField(help_text="That it was fitted to.")
    band = serializers.IntegerField(
        allow_null=True,
        help_text="Rank band, 1 the best: no bot of a band can be told from the best of it. Null "
        "for a provisional or hidden bot.",
    )
    hidden = serializers.SerializerMethodField(
        help_text="Why it is listed only on request: idle, or withdrawn from the ladder. Null: it "
        "is shown."
    )

    class Meta:
        model = Standing
        fields = (
            "rank",
            "band",
            "bot",
            "owner",
            "version",
            "rating",
            "provisional",
            "performance",
            "performance_error",
            "performance_blocks",
            "blocks",
            "matches",
            "win_share",
            "mean_points",
            "trend",
            "hidden",
            "hidden_at",
        )
        read_only_fields = fields

    @extend_schema_field(serializers.ChoiceField(choices=Hidden.values, allow_null=True))
    def get_hidden(self, standing: Standing) -> str | None:
        """Return why it is hidden."""
        return standing.hidden or None

    def get_win_share(self, standing: Standing) -> float | None:
        """Return the win share, from 0 to 1."""
        return standing.half_wins / (2 * standing.pairs) if standing.pairs else None

    def get_mean_points(self, standing: Standing) -> float | None:
        """Return the points a match."""
        return standing.points / standing.matches if standing.matches else None


class RoundSerializer(serializers.ModelSerializer[Round]):
    """A round of blocks."""

    ladder = serializers.CharField(source="ladder.slug")
    tournament = serializers.IntegerField(source="tournament_id", allow_null=True)
    seed = serializers.SerializerMethodField(
        help_text="In hex; null until the round is applied, and its tournament over."
    )
    blocks = serializers.IntegerField(source="block_count")
    blocks_finished = serializers.IntegerField()
    blocks_void = serializers.IntegerField()

    class Meta:
        model = Round
        fields = (
            "ladder",
            "number",
            "tournament",
            "commitment",
            "seed",
            "blocks",
            "blocks_finished",
            "blocks_void",
            "opened_at",
            "applied_at",
        )
        read_only_fields = fields

    def get_seed(self, round_: Round) -> str | None:
        """Return the seed once it may be known."""
        return bytes(round_.seed).hex() if may_show_seed(round_) else None


class LadderEntrySerializer(serializers.ModelSerializer[LadderEntry]):
    """That a bot is on a ladder."""

    ladder = serializers.CharField(source="ladder.slug")
    bot = serializers.CharField(source="bot.name")

    class Meta:
        model = LadderEntry
        fields = ("ladder", "bot", "entered_at")
        read_only_fields = fields
