"""Tournaments and entries."""

from rest_framework import serializers

from api.serializers.fields import LadderField
from api.serializers.ladders import RoundSerializer
from engine.pairing import MAX_BLOCKS_PER_ROUND
from league.models import Block, Round, Tournament, TournamentEntry
from league.models.tournaments import EXTRA_BLOCKS_LIMIT, SWISS_ROUNDS_LIMIT, TABLES_LIMIT


class TournamentSerializer(serializers.ModelSerializer[Tournament]):
    """A tournament."""

    ladder = serializers.CharField(source="ladder.slug", help_text="That it is rated on.")
    blocks_per_table = serializers.IntegerField(
        source="blocks", help_text="That a table plays in a round."
    )
    entries = serializers.IntegerField(source="entry_count", help_text="How many bots.")
    seed = serializers.SerializerMethodField(help_text="In hex; null until it is finished.")

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

    def get_seed(self, tournament: Tournament) -> str | None:
        """Return the seed once it may be known."""
        finished = tournament.state == Tournament.State.FINISHED
        return bytes(tournament.seed).hex() if finished else None


class EventSettingsSerializer(serializers.Serializer[None]):
    """How a tournament is played."""

    format = serializers.ChoiceField(Tournament.Format.choices, required=False)
    blocks_per_table = serializers.IntegerField(
        min_value=1,
        max_value=MAX_BLOCKS_PER_ROUND,
        required=False,
        allow_null=True,
        help_text="That a table plays in a round; null for 2 in a swiss, else 1.",
    )
    swiss_rounds = serializers.IntegerField(
        min_value=1,
        max_value=SWISS_ROUNDS_LIMIT,
        required=False,
        allow_null=True,
        help_text="Of a swiss; null for log2 of the entrants, rounded up, and 2.",
    )
    late_entry = serializers.BooleanField(
        required=False, help_text="Take entries while it runs; not in a knockout."
    )
    house_bots = serializers.BooleanField(required=False, help_text="Enter them at the start.")
    fill_in = serializers.BooleanField(
        required=False, help_text="House bots that are not entered take empty seats."
    )
    max_tables = serializers.IntegerField(
        min_value=1,
        max_value=TABLES_LIMIT,
        required=False,
        help_text="Of a round robin, 500 by default: of more a balanced choice is played; more "
        "only where it takes them to seat everybody equally often.",
    )
    extra_blocks = serializers.IntegerField(
        min_value=0,
        max_value=EXTRA_BLOCKS_LIMIT,
        required=False,
        help_text="Of a knockout, 4 by default: played at most for a tie at the cut; then the "
        "better seed goes on.",
    )


class NewTournamentSerializer(EventSettingsSerializer):
    """A tournament to announce."""

    title = serializers.CharField(max_length=80)
    ladder = LadderField()
    starts_at = serializers.DateTimeField()
    entries_open_at = serializers.DateTimeField(required=False, help_text="By default now.")


class TournamentChangesSerializer(EventSettingsSerializer):
    """What to change of a tournament that has not begun."""

    title = serializers.CharField(max_length=80, required=False)
    starts_at = serializers.DateTimeField(required=False)
    entries_open_at = serializers.DateTimeField(
        required=False, help_text="Only while entries are not open yet."
    )


class TournamentEntrySerializer(serializers.ModelSerializer[TournamentEntry]):
    """That a bot is entered for a tournament."""

    tournament = serializers.IntegerField(source="tournament_id")
    bot = serializers.CharField(source="bot.name")
    owner = serializers.CharField(
        source="bot.owner.username", read_only=True, default=None, allow_null=True
    )

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
            "reason",
        )
        read_only_fields = fields


class DisqualificationSerializer(serializers.Serializer[None]):
    """Why a bot is disqualified."""

    reason = serializers.CharField(max_length=200, help_text="For everybody to read.")


class ByeSerializer(serializers.Serializer[None]):
    """A bot that sits blocks out, for want of a seat or of opponents."""

    bot = serializers.CharField(source="bot.name")
    blocks = serializers.IntegerField(help_text="Each counts half in a swiss and a round robin.")


class TournamentBlockSerializer(serializers.ModelSerializer[Block]):
    """A block of a tournament's round."""

    rated = serializers.BooleanField(help_text="Not where one owner's bots had to sit together.")
    bots = serializers.SerializerMethodField(help_text="At its table.")

    class Meta:
        model = Block
        fields = ("number", "state", "rated", "duplicate", "bots")
        read_only_fields = fields

    def get_bots(self, block: Block) -> list[str]:
        """Return the names of the bots."""
        return [seat.bot.name for seat in block.bots.all()]


class TournamentRoundSerializer(RoundSerializer):
    """A round of a tournament."""

    byes = ByeSerializer(many=True)
    tables = TournamentBlockSerializer(source="blocks", many=True, help_text="Block by block.")

    class Meta:
        model = Round
        fields = (*RoundSerializer.Meta.fields, "stage", "extra", "byes", "tables")
        read_only_fields = fields


class TournamentRowSerializer(serializers.Serializer[None]):
    """How an entrant stands."""

    rank = serializers.IntegerField(
        source="row.rank", allow_null=True, help_text="Null if it is disqualified."
    )
    bot = serializers.CharField(source="bot.name")
    owner = serializers.CharField(
        source="bot.owner.username", read_only=True, default=None, allow_null=True
    )
    state = serializers.CharField(source="entry.state", help_text="Whether it is still in.")
    reason = serializers.CharField(source="entry.reason", help_text="Why it is disqualified.")
    round_reached = serializers.IntegerField(
        source="row.round_reached",
        allow_null=True,
        help_text="In a knockout, the last round that it was in.",
    )
    table_place = serializers.IntegerField(
        source="row.table_place",
        allow_null=True,
        help_text="In a knockout, its place at its table there; null while that is not decided.",
    )
    score = serializers.FloatField(
        source="row.score",
        help_text="The sum over its finished blocks of the mean share of opponents beaten; in a "
        "swiss and a round robin half for each block sat out or given up. Extra blocks of a "
        "knockout don't count.",
    )
    head_to_head = serializers.FloatField(
        source="row.head_to_head",
        allow_null=True,
        help_text="What it took from those with the same score; null unless all of these have met.",
    )
    buchholz = serializers.FloatField(
        source="row.buchholz", help_text="The mean score of its opponents, the lowest left out."
    )
    sonneborn_berger = serializers.FloatField(
        source="row.sonneborn_berger",
        help_text="Of each opponent its score, times the share taken from it, summed.",
    )
    wins = serializers.IntegerField(source="row.wins", help_text="Matches in first place alone.")
    mean_points = serializers.FloatField(source="row.mean_points")
    lot = serializers.CharField(
        source="row.lot_text",
        help_text="Drawn from the tournament's seed: 16 hex digits, the higher stands first.",
    )
    decided_by = serializers.CharField(
        source="row.decided_by",
        allow_null=True,
        help_text="The first of these in which it differs from the row above; lot if in none.",
    )
    blocks = serializers.IntegerField(
        source="row.blocks", help_text="That it finished; extra ones of a knockout don't count."
    )
    byes = serializers.IntegerField(help_text="Blocks that it sat out, or that were given up.")
    matches = serializers.IntegerField(source="row.matches")


class TournamentStandingsSerializer(serializers.Serializer[None]):
    """All entrants: as other lists, but always on one page."""

    results = TournamentRowSerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text="Always null.")
    previous = serializers.CharField(allow_null=True, help_text="Always null.")


class MetSerializer(serializers.Serializer[None]):
    """What a bot took from an opponent."""

    opponent = serializers.CharField()
    blocks = serializers.IntegerField(help_text="Finished, at one table.")
    taken = serializers.FloatField(
        help_text="The sum over these of the share of matches in which it came before; ties half."
    )


class CrossRowSerializer(serializers.Serializer[None]):
    """What an entrant took from each that it met."""

    rank = serializers.IntegerField(allow_null=True)
    bot = serializers.CharField()
    met = MetSerializer(many=True, help_text="In the order of the standings.")


class CrossTableSerializer(serializers.Serializer[None]):
    """Who took what from whom: as other lists, but always on one page."""

    results = CrossRowSerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text="Always null.")
    previous = serializers.CharField(allow_null=True, help_text="Always null.")


class BracketSeatSerializer(serializers.Serializer[None]):
    """A bot at a table of a knockout."""

    bot = serializers.CharField(source="bot.name")
    seed = serializers.IntegerField(
        allow_null=True, help_text="1 the best; null for a house bot that fills in."
    )
    scores = serializers.ListField(
        child=serializers.FloatField(),
        help_text="Of the regular blocks together, then of each extra block.",
    )
    goes_on = serializers.BooleanField(
        allow_null=True, help_text="In the final: has won. Null while that is not decided."
    )


class BracketTableSerializer(serializers.Serializer[None]):
    """A table of a knockout's round."""

    seats = BracketSeatSerializer(many=True, help_text="Best first.")
    extra_blocks = serializers.IntegerField(help_text="Played for a tie at the cut.")
    by_seed = serializers.BooleanField(help_text="Still tied then, so the better seed went on.")


class BracketRoundSerializer(serializers.Serializer[None]):
    """A round of a knockout."""

    stage = serializers.IntegerField(source="number")
    final = serializers.BooleanField()
    tables = BracketTableSerializer(many=True)
    byes = BracketSeatSerializer(many=True, help_text="They go on without playing.")


class BracketSerializer(serializers.Serializer[None]):
    """The rounds of a knockout: as other lists, but always on one page."""

    results = BracketRoundSerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text="Always null.")
    previous = serializers.CharField(allow_null=True, help_text="Always null.")
