"""Moderation: quarantines, decisions with their previews, and the moderation log."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.pagination import PeriodQuery
from api.serializers.fields import OneOfField
from league.models import ModerationEntry, Quarantine
from league.moderation import Preview
from league.moderation.log import FORMATS
from league.moderation.previews import Advance, PlaceChange, RatingChange

Action = ModerationEntry.Action
REASON = "Why; the moderation log keeps it."
SEEN = (
    "The field `seen` of the preview that you have read. If the state has changed since, the call "
    "is refused and shows both states. If you leave `seen` out, the league makes the decision in "
    "any state."
)


def name_field(source: str, what: str) -> serializers.CharField:
    """Return the field for a name at a path that may be empty."""
    return serializers.CharField(
        source=source, read_only=True, default=None, allow_null=True, help_text=what
    )


class QuarantineSerializer(serializers.ModelSerializer[Quarantine]):
    """A quarantine: an organiser keeps a bot, or all bots of an account, out of new matches."""

    bot = name_field("bot.name", "Name of the bot; null for the quarantine of an account.")
    account = name_field(
        "account.username", "Name of the account; null for the quarantine of a bot."
    )
    made_by = name_field("made_by.username", "Name of the organiser; null for the operator.")

    class Meta:
        model = Quarantine
        fields = ("id", "bot", "account", "reason", "begun_at", "ends_at", "made_by")
        read_only_fields = fields
        extra_kwargs = {
            "id": {"help_text": "Id of the quarantine."},
            "reason": {"help_text": "Why. The owner and organisers see it; it is not public."},
            "begun_at": {"help_text": "When it began."},
            "ends_at": {"help_text": "When it ends; null: an organiser must lift it."},
        }


class NewQuarantineSerializer(serializers.Serializer[None]):
    """A quarantine to begin, or a new reason and end for a quarantine that has begun."""

    reason = serializers.CharField(
        max_length=500, help_text="Why. The owner and organisers see it; it is not public."
    )
    ends_at = serializers.DateTimeField(
        required=False, allow_null=True, help_text="When it ends; null: an organiser must lift it."
    )
    replaces = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=2**63 - 1,
        help_text="Id of the quarantine that you have read, null for none. If the league has "
        "another quarantine by now, it refuses the call and returns both. If you leave the id out, "
        "the call replaces any quarantine.",
    )


class SeenFields(serializers.Serializer[None]):
    """The state that the caller has seen."""

    seen = serializers.CharField(required=False, max_length=60, help_text=SEEN)


class DecisionSerializer(SeenFields):
    """A decision with its reason."""

    reason = serializers.CharField(max_length=500, help_text="Why; it is public.")


class ReplaySerializer(DecisionSerializer):
    """A decision to have a block played again."""

    later_stages = OneOfField(
        ["keep", "again"],
        required=False,
        help_text="For a knockout. `keep`: later stages stay as they were drawn and played. "
        "`again`: they become void and are drawn again. Default: `keep`.",
    )


class ReplayQuery(serializers.Serializer[None]):
    """Parameters of the preview of a replay."""

    later_stages = OneOfField(
        ["keep", "again"],
        required=False,
        help_text="For a knockout: whether later stages stay (`keep`) or are drawn again "
        "(`again`).",
    )


class ReasonQuery(serializers.Serializer[None]):
    """The reason why a quarantine is lifted."""

    reason = serializers.CharField(required=False, max_length=500, help_text=REASON)


class RestoreQuery(ReasonQuery, SeenFields):
    """Parameters for taking a decision back."""


class LiftQuery(ReasonQuery):
    """Parameters for lifting a quarantine."""

    id = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=2**63 - 1,
        help_text="Id of the quarantine that you have read. If the league has another quarantine "
        "by now, it refuses the call and returns that one. If you leave the id out, the call lifts "
        "any quarantine.",
    )


class EntryReasonQuery(serializers.Serializer[None]):
    """Why an organiser enters or withdraws a bot, and the state of the bot in the preview."""

    reason = serializers.CharField(
        required=False,
        max_length=500,
        help_text="The reason of an organiser; the moderation log keeps it. The owner of the bot "
        "needs none. If an organiser withdraws a bot after the start, the reason is public and has "
        "at most 200 characters.",
    )
    seen = serializers.CharField(
        required=False,
        max_length=60,
        help_text="For organisers: the field `seen` of the preview of a disqualification of this "
        "bot. If its entry has changed since, the league refuses the call.",
    )


class RestoreTournamentQuery(RestoreQuery):
    """Parameters for taking a cancellation back."""

    starts_at = serializers.DateTimeField(
        required=False, help_text="The new start, if the planned start is over."
    )


class CancellationSerializer(SeenFields):
    """The reason of a cancellation."""

    reason = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=200,
        help_text="Why; it is public. Default: `Decision of the organisers.`",
    )


class RatingChangeRowSerializer(serializers.Serializer[RatingChange]):
    """A bot whose rating or rank would change."""

    bot = serializers.CharField(source="bot.name", help_text="Name of the bot.")
    rating_now = serializers.IntegerField(
        allow_null=True,
        help_text="Rating in thousandths of an Elo point; null without a rating.",
    )
    rating_then = serializers.IntegerField(
        allow_null=True, help_text="Rating after the decision; null if the bot would have none."
    )
    rank_now = serializers.IntegerField(
        allow_null=True, help_text="Rank on the ladder; null for a provisional or hidden bot."
    )
    rank_then = serializers.IntegerField(
        allow_null=True, help_text="Rank on the ladder after the decision."
    )


class PlaceChangeSerializer(serializers.Serializer[PlaceChange]):
    """A bot whose rank or score in the tournament would change."""

    bot = serializers.CharField(source="bot.name", help_text="Name of the bot.")
    rank_now = serializers.IntegerField(
        allow_null=True, help_text="Rank in the tournament; null for a disqualified bot."
    )
    rank_then = serializers.IntegerField(
        allow_null=True, help_text="Rank in the tournament after the decision."
    )
    score_now = serializers.FloatField(help_text="Score in the tournament.")
    score_then = serializers.FloatField(help_text="Score in the tournament after the decision.")


class AdvanceSerializer(serializers.Serializer[Advance]):
    """The bots that reach the next stage of a knockout; for its final, the winner."""

    stage = serializers.IntegerField(help_text="Number of the stage, from 1.")
    now = serializers.SerializerMethodField(help_text="Names of the bots that go on now.")
    then = serializers.SerializerMethodField(
        help_text="Names of the bots that go on if the decision is made."
    )

    def get_now(self, advance: Advance) -> list[str]:
        """Return names."""
        return [bot.name for bot in advance.now]

    def get_then(self, advance: Advance) -> list[str]:
        """Return names."""
        return [bot.name for bot in advance.then]


class PreviewSerializer(serializers.Serializer[Preview]):
    """What a decision would change. Nothing is stored."""

    action = serializers.CharField(help_text="The decision, as the moderation log names it.")
    subject = serializers.CharField(help_text="The block, bot or tournament.")
    ratings = RatingChangeRowSerializer(
        many=True, help_text="Ratings and ranks that would change, in the order of present ranks."
    )
    places = PlaceChangeSerializer(
        many=True, help_text="Ranks and scores in the tournament that would change."
    )
    advancing = AdvanceSerializer(
        allow_null=True, help_text="Who goes on from the block's stage; null outside a knockout."
    )
    superseded = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="Stages of a knockout that would become void and be drawn again.",
    )
    notes = serializers.ListField(
        child=serializers.CharField(), help_text="Sentences on what else happens."
    )
    seen = serializers.CharField(
        help_text="The state now, such as `finished` or `void:17`. Send it with your decision: if "
        "the state has changed by then, the league refuses the decision."
    )


class ModerationEntrySerializer(serializers.ModelSerializer[ModerationEntry]):
    """A row of the moderation log: who did what to whom, when and why."""

    made_by = name_field("made_by.username", "Name of the organiser; null for the operator.")
    details = serializers.SerializerMethodField(
        help_text="More about the decision, such as the settings before and after a change."
    )

    class Meta:
        model = ModerationEntry
        fields = ("id", "made_at", "made_by", "action", "subject", "reason", "details")
        read_only_fields = fields
        extra_kwargs = {
            "id": {"help_text": "Id of the row; later rows have higher ids."},
            "made_at": {"help_text": "When."},
            "action": {
                "help_text": "What: " + ", ".join(f"`{value}`" for value in Action.values) + "."
            },
            "subject": {"help_text": "The bot, account, block or tournament, in words."},
            "reason": {"help_text": "Why; may be empty."},
        }

    @extend_schema_field(serializers.DictField())
    def get_details(self, entry: ModerationEntry) -> dict[str, Any]:
        """Return the details as they are."""
        return dict(entry.details)


class LogQuery(PeriodQuery):
    """Rows of the moderation log by action, text and time."""

    action = OneOfField(Action.values, required=False, help_text="List only rows of this action.")
    q = serializers.CharField(
        required=False,
        max_length=100,
        help_text="List only rows with this text in the subject, the reason or the organiser's "
        "name.",
    )


class LogExportQuery(serializers.Serializer[None]):
    """The format of the exported log."""

    format = OneOfField(
        sorted(FORMATS), required=False, help_text="`ndjson` or `csv`. Default: `ndjson`."
    )
