"""Tournaments: their settings, entries and rounds."""

from rest_framework import serializers

from api.serializers.fields import LadderField, OneOfField, owner_field
from api.serializers.ladders import RoundSerializer
from api.serializers.moderation import SeenFields
from league.models import Block, Round, Tournament, TournamentEntry
from league.models.limits import BLOCKS_PER_ROUND, EXTRA_BLOCKS, SWISS_ROUNDS, TABLES
from league.visibility import public_seed

FORMATS = (
    "`round-robin`: all possible tables, or a balanced choice of them. `swiss`: bots with similar "
    "scores meet. `knockout`: the better half of each table goes on."
)


class TournamentSerializer(serializers.ModelSerializer[Tournament]):
    """A tournament."""

    ladder = serializers.CharField(
        source="ladder.slug", help_text="Slug of the ladder that rates its blocks."
    )
    blocks_per_table = serializers.IntegerField(
        source="blocks", help_text="Number of blocks that a table plays in a round."
    )
    entries = serializers.IntegerField(
        source="entry_count", help_text="Number of entries, including bots that have left."
    )
    seed = serializers.SerializerMethodField(
        help_text="The seed as 64 hex digits; null until the tournament is finished."
    )

    set_aside = serializers.SerializerMethodField(
        help_text="True if a setting is invalid, or if the league could not open a stage. Then the "
        "league opens no stage of the tournament. Organisers must correct an invalid setting; "
        "after a failure the league tries again each minute."
    )

    class Meta:
        model = Tournament
        fields = (
            "id",
            "title",
            "ladder",
            "format",
            "state",
            "entries_open_at",
            "starts_at",
            "finished_at",
            "cancel_reason",
            "changed_at",
            "note",
            "set_aside",
            "blocks_per_table",
            "swiss_rounds",
            "late_entry",
            "house_bots",
            "fill_in",
            "max_tables",
            "extra_blocks",
            "entries",
            "commitment",
            "seed",
        )
        read_only_fields = fields
        extra_kwargs = {
            "id": {"help_text": "Id of the tournament."},
            "title": {"help_text": "The title, for people."},
            "format": {"help_text": FORMATS},
            "state": {
                "help_text": "`announced`: entries are not open yet. `open`: entries are open. "
                "`running`: it has started. `finished`: all rounds are rated. `cancelled`: it was "
                "called off; `cancel_reason` has the reason."
            },
            "entries_open_at": {"help_text": "When entries open."},
            "starts_at": {"help_text": "When it starts."},
            "finished_at": {"help_text": "When it finished; null before."},
            "cancel_reason": {"help_text": "Why it is cancelled; else empty."},
            "changed_at": {
                "help_text": "When an organiser last changed it; send it with your changes."
            },
            "note": {"help_text": "Why the league moved the start; empty if it did not."},
            "swiss_rounds": {
                "help_text": "Number of rounds of a Swiss. Null: the base-2 logarithm of the "
                "number of entrants, rounded up, plus 2. So 16 bots play 6 rounds."
            },
            "late_entry": {"help_text": "Whether bots may enter while it runs."},
            "house_bots": {"help_text": "Whether the house bots enter at the start."},
            "fill_in": {
                "help_text": "Whether other house bots take empty seats; they are not ranked."
            },
            "max_tables": {"help_text": "The most tables of a round robin."},
            "extra_blocks": {
                "help_text": "The most extra blocks that a table of a knockout plays to break a "
                "tie for a place in the next stage. If bots still tie, the bot with the better "
                "seeding goes on."
            },
            "commitment": {
                "help_text": "SHA-256 of the seed as 64 hex digits, public from the start."
            },
        }

    def get_set_aside(self, tournament: Tournament) -> bool:
        """Return whether the tournament is set aside."""
        return bool(tournament.set_aside)

    def get_seed(self, tournament: Tournament) -> str | None:
        """Return the seed if it is public."""
        return public_seed(tournament)


class EventSettingsSerializer(serializers.Serializer[None]):
    """How a tournament is played."""

    format = OneOfField(Tournament.Format.choices, required=False, help_text=FORMATS)
    blocks_per_table = serializers.IntegerField(
        min_value=1,
        max_value=int(BLOCKS_PER_ROUND.high),
        required=False,
        allow_null=True,
        help_text="Number of blocks that a table plays in a round. Null: 2 in a Swiss, 1 in other "
        "formats.",
    )
    swiss_rounds = serializers.IntegerField(
        min_value=1,
        max_value=int(SWISS_ROUNDS.high),
        required=False,
        allow_null=True,
        help_text="Number of rounds of a Swiss. Null: the base-2 logarithm of the number of "
        "entrants, rounded up, plus 2. So 16 bots play 6 rounds.",
    )
    late_entry = serializers.BooleanField(
        required=False,
        help_text="Accept entries while it runs; not in a knockout.",
    )
    house_bots = serializers.BooleanField(
        required=False, help_text="Enter the house bots at the start."
    )
    fill_in = serializers.BooleanField(
        required=False,
        help_text="Let house bots that are not entered take empty seats.",
    )
    max_tables = serializers.IntegerField(
        min_value=1,
        max_value=int(TABLES.high),
        required=False,
        help_text="The most tables of a round robin. If the bots can form more tables, the "
        "league plays a balanced choice of them: each bot plays equally often. The number of "
        "tables is above `max_tables` only if no smaller choice is balanced.",
    )
    extra_blocks = serializers.IntegerField(
        min_value=0,
        max_value=int(EXTRA_BLOCKS.high),
        required=False,
        help_text="The most extra blocks that a table of a knockout plays to break a tie for a "
        "place in the next stage. If bots still tie, the bot with the better seeding goes on.",
    )


class NewTournamentSerializer(EventSettingsSerializer):
    """A tournament to announce."""

    title = serializers.CharField(max_length=80, help_text="The title, for people.")
    ladder = LadderField(help_text="Slug of the ladder that rates its blocks.")
    starts_at = serializers.DateTimeField(help_text="When it starts.")
    entries_open_at = serializers.DateTimeField(
        required=False, help_text="When entries open; now if you leave it out."
    )


class TournamentChangesSerializer(EventSettingsSerializer):
    """Changes to a tournament before its start; a field that you leave out stays as it is."""

    title = serializers.CharField(max_length=80, required=False, help_text="The title, for people.")
    starts_at = serializers.DateTimeField(required=False, help_text="When it starts.")
    entries_open_at = serializers.DateTimeField(
        required=False, help_text="When entries open; you can't change it after that."
    )
    changed_at = serializers.DateTimeField(
        required=False,
        help_text="The tournament's `changed_at` as you read it. If somebody else has changed the "
        "tournament since, your changes are refused. If you leave it out, the league makes your "
        "changes in any case.",
    )


class TournamentEntrySerializer(serializers.ModelSerializer[TournamentEntry]):
    """A bot's entry in a tournament."""

    tournament = serializers.IntegerField(source="tournament_id", help_text="Id of the tournament.")
    bot = serializers.CharField(source="bot.name", help_text="Name of the bot.")
    owner = owner_field("bot.owner")

    class Meta:
        model = TournamentEntry
        fields = (
            "tournament",
            "bot",
            "owner",
            "entered_at",
            "state",
            "rating",
            "first_round",
            "left_after",
            "missed_rounds",
            "reason",
        )
        read_only_fields = fields
        extra_kwargs = {
            "entered_at": {"help_text": "When the bot entered."},
            "state": {
                "help_text": "`entered`: takes part. `withdrawn`: its owner or an organiser "
                "withdrew it. `disqualified`: an organiser disqualified it."
            },
            "rating": {
                "help_text": "Rating at the start, or at a late entry, in thousandths of an Elo "
                "point; null before."
            },
            "first_round": {
                "help_text": "The first round that may draw the bot; above 1 for a late entry."
            },
            "left_after": {
                "help_text": "Number of rounds that the league had opened before the bot left; "
                "null if the bot takes part."
            },
            "missed_rounds": {
                "help_text": "The rounds that were drawn after the bot left and before it came "
                "back; empty if there are none."
            },
            "reason": {"help_text": "Why organisers disqualified or withdrew the bot; else empty."},
        }


class DisqualificationSerializer(SeenFields):
    """The reason of a disqualification."""

    reason = serializers.CharField(max_length=200, help_text="The reason; it is public.")


class ByeSerializer(serializers.Serializer[None]):
    """A bye: a bot that does not play in a round, because seats or opponents are missing."""

    bot = serializers.CharField(source="bot.name", help_text="Name of the bot.")
    blocks = serializers.IntegerField(
        help_text="Number of blocks that it misses. In a Swiss or round robin each counts half."
    )


class TournamentBlockSerializer(serializers.ModelSerializer[Block]):
    """A block of a tournament's round."""

    rated = serializers.BooleanField(
        help_text="False if two bots of one owner had to sit at one table; then no rating changes."
    )
    bots = serializers.SerializerMethodField(help_text="Names of the bots at the table.")

    class Meta:
        model = Block
        fields = ("number", "state", "void_reason", "rated", "duplicate", "bots")
        read_only_fields = fields
        extra_kwargs = {
            "number": {"help_text": "Number of the block in the whole tournament, from 0."},
            "void_reason": {"help_text": "Why the block is void; else empty."},
            "state": {"help_text": "`playing`, `finished` or `void` (cancelled; rates no bot)."},
            "duplicate": {"help_text": "Whether all its matches use one deal."},
        }

    def get_bots(self, block: Block) -> list[str]:
        """Return the names of the bots."""
        return [seat.bot.name for seat in block.bots.all()]


class TournamentRoundSerializer(RoundSerializer):
    """A round of a tournament, with its tables and byes."""

    replays_round = serializers.IntegerField(
        source="replays.number",
        read_only=True,
        default=None,
        allow_null=True,
        help_text="Number of the round with the block that this round plays again; null if none.",
    )
    superseded = serializers.SerializerMethodField(
        help_text="True if the stage was drawn again. Then this round does not count."
    )
    byes = ByeSerializer(many=True, help_text="Bots that do not play.")
    tables = TournamentBlockSerializer(
        source="blocks", many=True, help_text="The blocks, ascending by number."
    )

    class Meta(RoundSerializer.Meta):
        fields = (
            *RoundSerializer.Meta.fields,
            "stage",
            "extra",
            "replays_round",
            "superseded",
            "byes",
            "tables",
        )
        read_only_fields = fields
        extra_kwargs = {
            **RoundSerializer.Meta.extra_kwargs,
            "stage": {"help_text": "Number of the round in the tournament, from 1."},
            "extra": {
                "help_text": "0 for a normal round; 1, 2, ... for the extra blocks that break a "
                "tie in a knockout."
            },
        }

    def get_superseded(self, round_: Round) -> bool:
        """Return whether a decision of an organiser superseded the round."""
        return round_.superseded_by_id is not None
