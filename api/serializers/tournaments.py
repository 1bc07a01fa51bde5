"""Tournaments and entries."""

from rest_framework import serializers

from api.serializers.fields import LadderField
from league.models import Tournament, TournamentEntry


class TournamentSerializer(serializers.ModelSerializer[Tournament]):
    """A tournament."""

    ladder = serializers.CharField(source="ladder.slug", help_text="That it is rated on.")
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
            "house_bots",
            "entries",
            "commitment",
            "seed",
        )
        read_only_fields = fields

    def get_seed(self, tournament: Tournament) -> str | None:
        """Return the seed once it may be known."""
        finished = tournament.state == Tournament.State.FINISHED
        return bytes(tournament.seed).hex() if finished else None


class NewTournamentSerializer(serializers.Serializer[None]):
    """A tournament to announce."""

    title = serializers.CharField(max_length=80)
    ladder = LadderField()
    starts_at = serializers.DateTimeField()
    entries_open_at = serializers.DateTimeField(required=False, help_text="By default now.")
    house_bots = serializers.BooleanField(required=False, help_text="Enter them at the start.")


class TournamentChangesSerializer(serializers.Serializer[None]):
    """What to change of a tournament that has not begun."""

    title = serializers.CharField(max_length=80, required=False)
    starts_at = serializers.DateTimeField(required=False)
    entries_open_at = serializers.DateTimeField(
        required=False, help_text="Only while entries are not open yet."
    )
    house_bots = serializers.BooleanField(required=False)


class TournamentEntrySerializer(serializers.ModelSerializer[TournamentEntry]):
    """That a bot is entered for a tournament."""

    tournament = serializers.IntegerField(source="tournament_id")
    bot = serializers.CharField(source="bot.name")

    class Meta:
        model = TournamentEntry
        fields = ("tournament", "bot", "entered_at")
        read_only_fields = fields


class TournamentRowSerializer(serializers.Serializer[None]):
    """How an entrant stands."""

    rank = serializers.IntegerField(source="row.rank")
    bot = serializers.CharField(source="bot.name")
    owner = serializers.CharField(source="bot.owner.username", default=None, allow_null=True)
    score = serializers.FloatField(
        source="row.score",
        help_text="The sum over its finished blocks of the mean share of opponents beaten.",
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
    decided_by = serializers.CharField(
        source="row.decided_by",
        allow_null=True,
        help_text="The first of these in which it differs from the row above; lot if in none.",
    )
    blocks = serializers.IntegerField(source="row.blocks")
    matches = serializers.IntegerField(source="row.matches")


class TournamentStandingsSerializer(serializers.Serializer[None]):
    """All entrants: as other lists, but always on one page."""

    results = TournamentRowSerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text="Always null.")
    previous = serializers.CharField(allow_null=True, help_text="Always null.")
