"""Ladders: settings, standings, rounds and entries."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.serializers.fields import owner_field
from bots_sdk.explanations import WIN_SHARE_FIELD
from league.models import Ladder, LadderEntry, Round
from league.models.standings import Hidden
from league.ratings.standings import StandingRow
from league.ratings.twins import Twins, twins_on
from league.visibility import public_seed


class LadderSerializer(serializers.ModelSerializer[Ladder]):
    """A ladder: a lasting ranking of bots at one game, preset and number of seats."""

    anchor = serializers.CharField(
        source="anchor.name",
        read_only=True,
        default=None,
        allow_null=True,
        help_text="Name of the bot whose performance is set to 1500; null if the mean of all bots "
        "is set to 1500.",
    )

    set_aside = serializers.SerializerMethodField(
        help_text="True if a setting is invalid, or if the league could not open or rate a round. "
        "Then the league opens no round of the ladder. Organisers must correct an invalid setting; "
        "after a failure the league tries again each minute."
    )

    class Meta:
        model = Ladder
        fields: tuple[str, ...] = (
            "slug",
            "title",
            "game",
            "rules",
            "seats",
            "move_seconds",
            "bank_seconds",
            "anchor",
            "idle_days",
            "ranked_from",
            "revision",
            "alarm",
            "frozen_rounds",
            "checked_at",
            "checked_rounds",
            "paused",
            "set_aside",
            "created_at",
        )
        read_only_fields = fields
        extra_kwargs = {
            "slug": {"help_text": "The ladder's name in addresses."},
            "title": {"help_text": "The title, for people."},
            "game": {"help_text": "`twelve-days` or `partridge`."},
            "rules": {"help_text": "Name of the preset."},
            "seats": {"help_text": "Number of seats at a table."},
            "move_seconds": {"help_text": "Time for each move, in seconds."},
            "bank_seconds": {
                "help_text": "Extra time of each seat for the whole match, in seconds. A move uses "
                "it after its own time."
            },
            "idle_days": {
                "help_text": "A bot that no round has rated for this number of days is hidden from "
                "the standings."
            },
            "ranked_from": {
                "help_text": "A bot gets a rank and a rank band after this number of rated blocks "
                "of its current version."
            },
            "revision": {
                "help_text": "Number of the ledger's revision that counts now. It starts at 1, and "
                "each correction adds 1."
            },
            "alarm": {
                "help_text": "Differences between the ratings and the records; empty if there are "
                "none. While this field is not empty, standings are frozen."
            },
            "frozen_rounds": {
                "help_text": "Number of rated rounds (rounds that have changed the ratings) in the "
                "frozen standings; null if `alarm` is empty."
            },
            "checked_at": {
                "help_text": "When the ratings were last recomputed from the records and did not "
                "differ; null if never."
            },
            "checked_rounds": {
                "help_text": "Number of rated rounds (rounds that have changed the ratings) in "
                "that check; null if never."
            },
            "paused": {"help_text": "If true, the ladder opens no rounds."},
            "created_at": {"help_text": "When the ladder was created."},
        }

    def get_set_aside(self, ladder: Ladder) -> bool:
        """Return whether the ladder is set aside."""
        return bool(ladder.set_aside)


class TwinsSerializer(serializers.Serializer[Twins]):
    """Two house bots that run the same program."""

    bot = serializers.CharField(help_text="Name of one bot.")
    twin = serializers.CharField(help_text="Name of the other bot.")
    gap = serializers.IntegerField(
        help_text="Difference of their ratings, in thousandths of an Elo point. It is only luck."
    )


class LadderDetailSerializer(LadderSerializer):
    """A ladder, with a measure of the luck in its ratings."""

    twins = serializers.SerializerMethodField(
        help_text="Pairs of house bots that run the same program; empty until both are rated."
    )

    class Meta(LadderSerializer.Meta):
        fields = (*LadderSerializer.Meta.fields, "twins")
        read_only_fields = fields

    @extend_schema_field(TwinsSerializer(many=True))
    def get_twins(self, ladder: Ladder) -> list[dict[str, object]]:
        """Return the gaps between twins."""
        return [
            {"bot": twins.bot.name, "twin": twins.twin.name, "gap": twins.gap}
            for twins in twins_on(ladder)
        ]


class StandingSerializer(serializers.Serializer[StandingRow]):
    """A bot's row in the standings of a ladder."""

    rank = serializers.IntegerField(
        allow_null=True,
        help_text="1 plus the number of bots with a higher rating; null for a provisional or "
        "hidden bot.",
    )
    band = serializers.IntegerField(
        source="standing.band",
        allow_null=True,
        help_text="Rank band, 1 the best: bots in one band are statistically tied with its best "
        "bot. Null for a provisional or hidden bot.",
    )
    best_chance = serializers.FloatField(
        source="standing.best_chance",
        allow_null=True,
        help_text="Probability that the bot is the strongest of all ranked bots, from 0 to 1, by "
        "the last estimate of `performance`. Null for a provisional or hidden bot.",
    )
    bot = serializers.CharField(source="standing.bot.name", help_text="Name of the bot.")
    owner = owner_field("standing.bot.owner")
    quarantined = serializers.BooleanField(
        help_text="Whether the bot is in quarantine: it gets no new match, and its results stay."
    )
    version = serializers.IntegerField(
        source="standing.version", help_text="Number of the version that was rated last."
    )
    rating = serializers.IntegerField(
        source="standing.rating", help_text="In thousandths of an Elo point."
    )
    provisional = serializers.BooleanField(
        source="standing.is_provisional",
        help_text="A bot is provisional, without a rank, until its current version has played the "
        "ladder's `ranked_from` rated blocks.",
    )
    performance = serializers.FloatField(
        source="standing.performance",
        allow_null=True,
        help_text="Strength in Elo, estimated from all blocks of the bot's current version on a "
        "scale with the ladder's anchor at 1500. Null before the first estimate of that version.",
    )
    performance_error = serializers.FloatField(
        source="standing.performance_error",
        allow_null=True,
        help_text="Uncertainty (standard error) of the distance between this bot's performance and "
        "the mean of all bots, in Elo.",
    )
    performance_margin = serializers.FloatField(
        source="standing.performance_margin",
        allow_null=True,
        help_text="`performance` ± this number is the 95 % interval. With few blocks it is more "
        "than 1.96 standard errors, because the error itself is uncertain.",
    )
    performance_blocks = serializers.IntegerField(
        source="standing.performance_blocks",
        help_text="Number of blocks of the bot's current version in the estimate of `performance`.",
    )
    blocks = serializers.IntegerField(
        source="standing.blocks",
        help_text=(
            "Number of rated blocks. It decides K, the number that sets the size of rating "
            "changes. If the bot gets a new version and has more blocks than the ladder's limit "
            "(by default 10), this number falls to the limit."
        ),
    )
    matches = serializers.IntegerField(
        source="standing.matches", help_text="Number of rated matches."
    )
    win_share = serializers.FloatField(
        source="standing.win_share",
        allow_null=True,
        help_text=f"{WIN_SHARE_FIELD} Null before its first match.",
    )
    mean_points = serializers.FloatField(
        source="standing.mean_points",
        allow_null=True,
        help_text="Mean score a match; null before its first match.",
    )
    trend = serializers.IntegerField(
        allow_null=True,
        help_text="Change of the rating over the ladder's last 10 rounds, in thousandths of an Elo "
        "point; null if none of them rated the bot.",
    )
    hidden = serializers.SerializerMethodField(
        help_text="Why the standings list the bot only on request: `idle` (no round has rated it "
        "for the ladder's `idle_days`) or `withdrawn` (it left the ladder). Null if it is shown."
    )
    hidden_at = serializers.DateTimeField(
        source="standing.hidden_at",
        allow_null=True,
        help_text="When the bot was hidden; null if it is shown.",
    )

    @extend_schema_field(serializers.ChoiceField(choices=Hidden.values, allow_null=True))
    def get_hidden(self, row: StandingRow) -> str | None:
        """Return why it is hidden."""
        return row.standing.hidden or None


class RoundSerializer(serializers.ModelSerializer[Round]):
    """A round: blocks that are drawn and rated together."""

    ladder = serializers.CharField(source="ladder.slug", help_text="Slug of the ladder.")
    tournament = serializers.IntegerField(
        source="tournament_id",
        allow_null=True,
        help_text="Id of the round's tournament; null for a round of the ladder itself.",
    )
    placed = serializers.CharField(
        source="placed.name",
        default=None,
        allow_null=True,
        help_text="The new bot whose first blocks the round has; null for other rounds. A new bot "
        "or version plays its first blocks on the ladder in rounds of its own.",
    )
    seed = serializers.SerializerMethodField(
        help_text="The round's seed as 64 hex digits. Null until the round is rated; in a "
        "tournament, until the tournament is finished."
    )
    blocks = serializers.IntegerField(source="block_count", help_text="Number of blocks.")
    blocks_finished = serializers.IntegerField(help_text="Number of finished blocks.")
    blocks_void = serializers.IntegerField(
        help_text="Number of void blocks: cancelled, without a rating change."
    )

    class Meta:
        model = Round
        fields: tuple[str, ...] = (
            "ladder",
            "number",
            "tournament",
            "placed",
            "commitment",
            "seed",
            "blocks",
            "blocks_finished",
            "blocks_void",
            "opened_at",
            "applied_at",
            "applied_number",
        )
        read_only_fields = fields
        extra_kwargs = {
            "number": {
                "help_text": "Number of the round on the ladder, from 1, in the order of drawing."
            },
            "commitment": {
                "help_text": "SHA-256 of the round's seed as 64 hex digits, public from the start."
            },
            "opened_at": {"help_text": "When the round was opened."},
            "applied_at": {"help_text": "When it changed the ratings; null before."},
            "applied_number": {
                "help_text": "Place in the order in which the ladder rated its rounds, from 1 "
                "without a gap; null before. Ratings follow from the rounds in this order."
            },
        }

    def get_seed(self, round_: Round) -> str | None:
        """Return the seed if it is public."""
        return public_seed(round_)


class LadderEntrySerializer(serializers.ModelSerializer[LadderEntry]):
    """A bot's entry on a ladder."""

    ladder = serializers.CharField(source="ladder.slug", help_text="Slug of the ladder.")
    bot = serializers.CharField(source="bot.name", help_text="Name of the bot.")

    class Meta:
        model = LadderEntry
        fields: tuple[str, ...] = ("ladder", "bot", "entered_at")
        read_only_fields = fields
        extra_kwargs = {"entered_at": {"help_text": "When the bot entered."}}
