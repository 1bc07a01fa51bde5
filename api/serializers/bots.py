"""Bots and their versions."""

from django.utils import timezone
from rest_framework import serializers

from league.bots import is_online
from league.models import Bot, BotVersion, QualifyingMatch

KINDS = [("remote", "remote"), ("hosted", "hosted")]


class BotSerializer(serializers.ModelSerializer[Bot]):
    """A bot, as everybody may see it."""

    owner = serializers.CharField(
        source="owner.username",
        read_only=True,
        default=None,
        allow_null=True,
        help_text="Null: a house bot.",
    )
    version = serializers.IntegerField(
        source="current.number",
        read_only=True,
        default=None,
        allow_null=True,
        help_text="Number of the version that plays; null while there is none.",
    )
    online = serializers.SerializerMethodField(
        help_text="Whether it would be drawn: a remote bot must have asked for turns of late."
    )

    class Meta:
        model = Bot
        fields = (
            "name",
            "kind",
            "owner",
            "description",
            "paused",
            "version",
            "online",
            "created_at",
        )
        read_only_fields = fields

    def get_online(self, bot: Bot) -> bool:
        """Return whether the bot would answer now."""
        return is_online(bot, timezone.now())


class NewBotSerializer(serializers.Serializer[None]):
    """A bot to create."""

    name = serializers.RegexField(
        r"^[a-z0-9-]{3,32}\Z",
        error_messages={
            "invalid": "A bot's name is 3 to 32 of the characters a-z, 0-9 and -.",
        },
    )
    kind = serializers.ChoiceField(KINDS)


class BotChangesSerializer(serializers.Serializer[None]):
    """What to change of a bot."""

    paused = serializers.BooleanField(
        required=False,
        help_text="A paused bot is not drawn: it sits out rounds of ladders and tournaments, "
        "without points, and is out of a knockout that would seat it.",
    )
    description = serializers.CharField(required=False, max_length=500, allow_blank=True)


class BotTokenSerializer(serializers.Serializer[None]):
    """A new bot token."""

    token = serializers.CharField(help_text="The bot token. It is shown this once.")


class CreatedBotSerializer(BotSerializer):
    """A bot just created, with its token."""

    token = serializers.CharField(help_text="The bot token. It is shown this once.")

    class Meta(BotSerializer.Meta):
        fields = (*BotSerializer.Meta.fields, "token")  # type: ignore[assignment]
        read_only_fields = fields


class VersionSerializer(serializers.ModelSerializer[BotVersion]):
    """A version of a bot."""

    bot = serializers.CharField(source="bot.name")

    class Meta:
        model = BotVersion
        fields = ("bot", "number", "state", "note", "held", "created_at")
        read_only_fields = fields


class UploadSerializer(serializers.Serializer[None]):
    """A version to upload."""

    source = serializers.FileField(
        allow_empty_file=True,
        help_text="A Python file, or a zip archive with a bot.py; 1 MiB at most.",
    )
    note = serializers.CharField(required=False, max_length=500, allow_blank=True)
    held = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Don't have it take over when it is ready; it can be compared and promoted.",
    )


class QualifyingMatchSerializer(serializers.ModelSerializer[QualifyingMatch]):
    """A qualifying match."""

    observation = serializers.DictField(
        allow_null=True, help_text="What it was asked when it failed."
    )

    class Meta:
        model = QualifyingMatch
        fields = ("game", "passed", "reason", "printed", "observation", "played_at")
        read_only_fields = fields


class VersionLogSerializer(VersionSerializer):
    """How a version was checked."""

    qualifying = QualifyingMatchSerializer(many=True)

    class Meta(VersionSerializer.Meta):
        fields = (*VersionSerializer.Meta.fields, "reason", "qualifying")  # type: ignore[assignment]
        read_only_fields = fields
