"""Ladders, standings, rounds and entries."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from league.models import Ladder, LadderEntry, Match, Revision, Round
from league.models.ladders import Hidden
from league.ratings.ledger import Change, RatingChange
from league.ratings.standings import StandingRow
from league.ratings.twins import TwinGap, twin_gaps
from league.visibility import may_see_record, may_see_seed


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
        return bytes(match.deal_seed).hex() if may_see_record(match) else None


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


class RatingChangeSerializer(serializers.Serializer[RatingChange]):
    """A row of the ledger: what a round did to a bot's rating."""

    round = serializers.IntegerField(source="entry.round.number")
    bot = serializers.CharField(source="entry.bot.name")
    revision = serializers.IntegerField(source="entry.revision")
    rating_before = serializers.IntegerField(source="entry.rating_before")
    rating_after = serializers.IntegerField(source="entry.rating_after")
    changes = ChangeSerializer(many=True, help_text="Block by block; they add up.")


class StandingSerializer(serializers.Serializer[StandingRow]):
    """A bot's place on a ladder."""

    rank = serializers.IntegerField(
        allow_null=True, help_text="Null for a provisional or hidden bot."
    )
    band = serializers.IntegerField(
        source="standing.band",
        allow_null=True,
        help_text="Rank band, 1 the best: no bot of a band can be told from the best of it. Null "
        "for a provisional or hidden bot.",
    )
    bot = serializers.CharField(source="standing.bot.name")
    owner = serializers.CharField(
        source="standing.bot.owner.username", default=None, allow_null=True
    )
    version = serializers.IntegerField(source="standing.version")
    rating = serializers.IntegerField(
        source="standing.rating", help_text="In thousandths of an Elo point."
    )
    provisional = serializers.BooleanField(
        source="standing.is_provisional",
        help_text="With fewer than 20 blocks, altogether or of its current version.",
    )
    performance = serializers.FloatField(
        source="standing.performance",
        allow_null=True,
        help_text="Strength in Elo, estimated from all that its current version has played, on a "
        "scale where the ladder's anchor has 1500. Null before it was fitted.",
    )
    performance_error = serializers.FloatField(
        source="standing.performance_error",
        allow_null=True,
        help_text="Its standard error in Elo: performance ± 1.96 of it is the 95 % interval of the "
        "bot's strength against the field's mean, not against the anchor.",
    )
    performance_blocks = serializers.IntegerField(
        source="standing.performance_blocks", help_text="That it was fitted to."
    )
    blocks = serializers.IntegerField(
        source="standing.blocks", help_text="Rated blocks, by the count that decides K."
    )
    matches = serializers.IntegerField(source="standing.matches")
    win_share = serializers.FloatField(
        source="standing.win_share",
        allow_null=True,
        help_text="Of the opponents met, match by match: those beaten, a tie being half.",
    )
    mean_points = serializers.FloatField(source="standing.mean_points", allow_null=True)
    trend = serializers.IntegerField(
        allow_null=True,
        help_text="What it won or lost in the ladder's last 10 rounds, in thousandths of an Elo "
        "point; null if it sat them out.",
    )
    hidden = serializers.SerializerMethodField(
        help_text="Why it is listed only on request: idle, or withdrawn from the ladder. Null: it "
        "is shown."
    )
    hidden_at = serializers.DateTimeField(source="standing.hidden_at", allow_null=True)

    @extend_schema_field(serializers.ChoiceField(choices=Hidden.values, allow_null=True))
    def get_hidden(self, row: StandingRow) -> str | None:
        """Return why it is hidden."""
        return row.standing.hidden or None


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
        return bytes(round_.seed).hex() if may_see_seed(round_) else None


class LadderEntrySerializer(serializers.ModelSerializer[LadderEntry]):
    """That a bot is on a ladder."""

    ladder = serializers.CharField(source="ladder.slug")
    bot = serializers.CharField(source="bot.name")

    class Meta:
        model = LadderEntry
        fields = ("ladder", "bot", "entered_at")
        read_only_fields = fields
