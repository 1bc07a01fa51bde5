"""The ledger of a ladder: rating changes and corrections."""

from rest_framework import serializers

from league.models import Match, Revision
from league.ratings.ledger import Change, RatingChange
from league.visibility import public_deal_seed


class RevisionSerializer(serializers.ModelSerializer[Revision]):
    """A correction of a ladder: rounds whose ratings were computed again."""

    from_round = serializers.IntegerField(
        help_text="Number of the first round that was computed again."
    )

    class Meta:
        model = Revision
        fields = ("number", "from_round", "from_applied_number", "reason", "made_at")
        read_only_fields = fields
        extra_kwargs = {
            "number": {"help_text": "From 2; revision 1 is the ledger without a correction."},
            "from_applied_number": {
                "help_text": "`applied_number` of the round `from_round`. All rounds with higher "
                "applied numbers were computed again too."
            },
            "reason": {"help_text": "The reason of the correction."},
            "made_at": {"help_text": "When it was made."},
        }


class ChangedByMatchSerializer(serializers.ModelSerializer[Match]):
    """A match of a block that changed a rating."""

    deal_seed = serializers.SerializerMethodField(
        help_text="The deal seed as 64 hex digits; null while it is secret."
    )

    class Meta:
        model = Match
        fields = ("id", "number", "status", "commitment", "deal_seed")
        read_only_fields = fields
        extra_kwargs = {
            "id": {"help_text": "Id of the match."},
            "number": {"help_text": "Number of the match in its block, from 0."},
            "status": {"help_text": "`waiting`, `playing`, `finished` or `void`."},
            "commitment": {"help_text": "SHA-256 of the deal seed as 64 hex digits."},
        }

    def get_deal_seed(self, match: Match) -> str | None:
        """Return the deal seed if it is public."""
        return public_deal_seed(match)


class ChangeSerializer(serializers.Serializer[Change]):
    """The change of a bot's rating by a block."""

    block = serializers.IntegerField(
        source="entry.block.number", help_text="The field `number` of the block."
    )
    delta = serializers.IntegerField(
        source="entry.delta", help_text="The change, in thousandths of an Elo point."
    )
    void_reason = serializers.SerializerMethodField(
        help_text="If a later revision made the block void, the reason; else null."
    )
    matches = ChangedByMatchSerializer(many=True, help_text="The matches of the block.")

    def get_void_reason(self, change: Change) -> str | None:
        """Return the reason of a void block."""
        return change.entry.block.void_reason or None


class RatingChangeSerializer(serializers.Serializer[RatingChange]):
    """A row of the ledger: the change of a bot's rating by a round."""

    round = serializers.IntegerField(source="entry.round.number", help_text="Number of the round.")
    applied_number = serializers.IntegerField(
        source="entry.applied_number",
        help_text="Place of the round in the order in which the ladder applied its rounds, from 1 "
        "without a gap.",
    )
    bot = serializers.CharField(source="entry.bot.name", help_text="Name of the bot.")
    revision = serializers.IntegerField(
        source="entry.revision", help_text="The revision that wrote the row."
    )
    rating_before = serializers.IntegerField(
        source="entry.rating_before",
        help_text="Rating before the round, in thousandths of an Elo point.",
    )
    rating_after = serializers.IntegerField(
        source="entry.rating_after",
        help_text="Rating after the round, in thousandths of an Elo point.",
    )
    changes = ChangeSerializer(
        many=True, help_text="The changes by the round's blocks; their sum is the whole change."
    )
