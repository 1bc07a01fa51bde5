"""Blocks: tables of bots with their matches."""

from rest_framework import serializers

from league.models import Block


class ReplacedBlockSerializer(serializers.Serializer[Block]):
    """The round and the number of another block of the same ladder."""

    round = serializers.IntegerField(
        source="round.number", help_text="Number of the block's round."
    )
    block = serializers.IntegerField(
        source="number", help_text="Number of the block in that round."
    )


class BlockSerializer(serializers.ModelSerializer[Block]):
    """A block: a set of matches at one table, in which each bot sits once in each seat."""

    ladder = serializers.CharField(source="round.ladder.slug", help_text="Slug of the ladder.")
    round = serializers.IntegerField(source="round.number", help_text="Number of the round.")
    tournament = serializers.IntegerField(
        source="round.tournament_id",
        allow_null=True,
        help_text="Id of the round's tournament; null without one.",
    )
    bots = serializers.SerializerMethodField(help_text="Names of the bots at the table.")
    matches = serializers.SerializerMethodField(help_text="Ids of its matches, in their order.")
    replaces = ReplacedBlockSerializer(
        allow_null=True, help_text="The void block that this block plays again; null if none."
    )

    class Meta:
        model = Block
        fields = (
            "ladder",
            "round",
            "number",
            "tournament",
            "state",
            "void_reason",
            "rated",
            "duplicate",
            "bots",
            "matches",
            "replaces",
        )
        read_only_fields = fields
        extra_kwargs = {
            "number": {
                "help_text": "Number of the block in its round, from 0. In a tournament: its "
                "number in the whole tournament, from 0."
            },
            "state": {"help_text": "`playing`, `finished` or `void` (cancelled; rates no bot)."},
            "void_reason": {
                "help_text": "Why the block is void, or why it will be void in a few seconds; "
                "otherwise empty."
            },
            "rated": {"help_text": "False if two bots of one owner had to sit at one table."},
            "duplicate": {"help_text": "Whether all its matches use one deal."},
        }

    def get_bots(self, block: Block) -> list[str]:
        """Return the names of the bots."""
        return sorted(seat.bot.name for seat in block.bots.all())

    def get_matches(self, block: Block) -> list[int]:
        """Return the ids of the matches."""
        return [match.pk for match in block.matches.all()]
