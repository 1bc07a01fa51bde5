"""Bots and their versions."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.serializers.fields import OneOfField, owner_field
from league import visibility
from league.accounts.quarantines import quarantine_of
from league.bots import check_seconds_left, is_online
from league.models import Bot, BotVersion, QualifyingMatch
from league.models.limits import CHALLENGES_PER_DAY
from league.play.bot_output import kept_until

NEW_TOKEN = "The bot token. Keep it: the league shows it only now."


class BotSerializer(serializers.ModelSerializer[Bot]):
    """A bot, as everybody may see it."""

    owner = owner_field("owner")
    version = serializers.IntegerField(
        source="current.number",
        read_only=True,
        default=None,
        allow_null=True,
        help_text="Number of the current version, which plays; null if there is none yet.",
    )
    online = serializers.SerializerMethodField(
        help_text="Whether the bot can play now: a remote bot must have asked for turns in the "
        "last 60 seconds."
    )

    kind = OneOfField(
        ["house", "remote", "hosted"],
        read_only=True,
        help_text="`remote`: runs on its owner's machine and calls the API. `hosted`: "
        "uploaded, and runs on the league's workers. `house`: a bot of the league itself.",
    )
    quarantined = serializers.SerializerMethodField(
        help_text="Whether an organiser keeps the bot or its account out of new matches. The owner "
        "gets the reason and the end from `bots/{name}/quarantine`."
    )

    class Meta:
        model = Bot
        fields: tuple[str, ...] = (
            "name",
            "kind",
            "owner",
            "description",
            "paused",
            "challenges_from",
            "max_challenges_per_day",
            "quarantined",
            "version",
            "online",
            "created_at",
            "retired_at",
        )
        read_only_fields = fields
        extra_kwargs = {
            "name": {"help_text": "The bot's name, unique in the league."},
            "description": {"help_text": "The owner's text about the bot; may be empty."},
            "paused": {"help_text": "If true, the bot gets no new matches."},
            "challenges_from": {
                "help_text": "Who may challenge the bot: `anyone` or `nobody` but its owner. House "
                "bots accept every challenge."
            },
            "max_challenges_per_day": {
                "help_text": "How many challenges of other owners the bot accepts in 24 "
                "hours. A table that another person starts with the bot counts too."
            },
            "created_at": {"help_text": "When the bot was created."},
            "retired_at": {"help_text": "When its owner deleted it; null if it was not deleted."},
        }

    def get_quarantined(self, bot: Bot) -> bool:
        """Return whether the bot is in quarantine; lists annotate it."""
        known: bool | None = getattr(bot, "quarantined", None)
        return quarantine_of(bot) is not None if known is None else known

    def get_online(self, bot: Bot) -> bool:
        """Return whether rounds may draw the bot."""
        return is_online(bot, timezone.now())


def name_field(**options: Any) -> serializers.RegexField:
    """Return the field for the name that a bot is to get."""
    return serializers.RegexField(
        r"^[a-z0-9-]{3,32}\Z",
        error_messages={"invalid": "A bot's name has 3 to 32 characters: a-z, 0-9 and -."},
        help_text="3 to 32 characters: `a-z`, `0-9` and `-`. The name must not be the name of "
        "another bot, or one of its last 3 former names.",
        **options,
    )


class NewBotSerializer(serializers.Serializer[None]):
    """A bot to create."""

    name = name_field()
    kind = OneOfField(
        ["remote", "hosted"],
        help_text="`remote`: you run the bot, and it calls the API. `hosted`: you upload the bot, "
        "and the league runs it.",
    )


class BotChangesSerializer(serializers.Serializer[None]):
    """Changes to a bot; a field that you leave out stays as it is."""

    name = name_field(required=False)
    paused = serializers.BooleanField(
        required=False,
        help_text="If true, the bot gets no new matches, and no points for rounds of tournaments "
        "that it misses. If a knockout draws the bot for its next stage while the bot is paused, "
        "the league withdraws the bot, and the bot can't enter this knockout again.",
    )
    description = serializers.CharField(
        required=False, max_length=500, allow_blank=True, help_text="A public text about the bot."
    )
    challenges_from = OneOfField(
        Bot.Challengers.values,
        required=False,
        help_text="Who may challenge the bot: `anyone`, or `nobody` but you.",
    )
    max_challenges_per_day = serializers.IntegerField(
        required=False,
        min_value=int(CHALLENGES_PER_DAY.low),
        max_value=int(CHALLENGES_PER_DAY.high),
        help_text="How many challenges of other owners the bot accepts in 24 hours. A table that "
        "another person starts with the bot counts too.",
    )


class BotTokenSerializer(serializers.Serializer[None]):
    """A new bot token."""

    token = serializers.CharField(help_text=NEW_TOKEN)


class CreatedBotSerializer(BotSerializer):
    """A new bot with its token."""

    token = serializers.CharField(help_text=NEW_TOKEN)

    class Meta(BotSerializer.Meta):
        fields = (*BotSerializer.Meta.fields, "token")
        read_only_fields = fields


class VersionSerializer(serializers.ModelSerializer[BotVersion]):
    """A version of a bot: one upload."""

    bot = serializers.CharField(source="bot.name", help_text="Name of the bot.")
    note = serializers.SerializerMethodField(
        help_text="The owner's text about the version; null for everybody else."
    )

    check_seconds_left = serializers.SerializerMethodField(
        help_text="Estimated seconds until its check ends, from the times of the last checks. Null "
        "if the check is over, or if no version was checked before."
    )

    class Meta:
        model = BotVersion
        fields: tuple[str, ...] = (
            "bot",
            "number",
            "state",
            "check_seconds_left",
            "note",
            "held",
            "created_at",
        )
        read_only_fields = fields
        extra_kwargs = {
            "number": {"help_text": "Versions of a bot are numbered from 1."},
            "state": {
                "help_text": "`checking`: its check runs. `ready`: it passed and may play. "
                "`refused`: it failed the check; the version's log has the reason."
            },
            "held": {
                "help_text": "A held version does not become current after its check. You can "
                "promote it later, or allow a comparison to promote it if it is better."
            },
            "created_at": {"help_text": "When it was uploaded."},
        }

    def get_check_seconds_left(self, version: BotVersion) -> float | None:
        """Return about how long its check still takes."""
        return check_seconds_left(version, timezone.now())

    def get_note(self, version: BotVersion) -> str | None:
        """Return the note if the request is the owner's."""
        user = self.context["request"].user
        return version.note if visibility.owns(user, version.bot) else None


@extend_schema_field(
    {"type": "string", "format": "binary", "contentMediaType": "application/octet-stream"}
)
class UploadedFileField(serializers.FileField):
    """A file in a form; its bytes are sent as they are."""


class UploadSerializer(serializers.Serializer[None]):
    """A version to upload, as a form."""

    source = UploadedFileField(  # type: ignore[assignment] # DRF takes fields off the class
        allow_empty_file=True,
        help_text="A Python file, or a zip archive with a `bot.py` at its top, of at most 8 MiB; "
        "or a WebAssembly module of at most 4 MiB."
        " Unpacked: at most 32 MiB, 200 files and 8 levels of folders.",
    )
    note = serializers.CharField(
        required=False, max_length=500, allow_blank=True, help_text="A text about the version."
    )
    held = serializers.BooleanField(
        required=False,
        default=False,
        help_text="If true, the version does not become current after its check. You can compare "
        "it with others and promote it later.",
    )
    again = serializers.BooleanField(
        required=False,
        default=False,
        help_text="If true, the file may be the same as that of the current version, or of a "
        "version in its check.",
    )


class VersionChangesSerializer(serializers.Serializer[None]):
    """Changes to a version."""

    note = serializers.CharField(
        max_length=500, allow_blank=True, help_text="Your text about the version."
    )


class QualifyingMatchSerializer(serializers.ModelSerializer[QualifyingMatch]):
    """A qualifying match: the one match of a game in a version's check."""

    observation = serializers.DictField(
        allow_null=True, help_text="Input at the first fault; null without a fault."
    )
    printed_until = serializers.SerializerMethodField(
        help_text="When the league removes the output at the latest; null without output."
    )

    class Meta:
        model = QualifyingMatch
        fields = (
            "game",
            "passed",
            "reason",
            "printed",
            "printed_until",
            "observation",
            "played_at",
        )
        read_only_fields = fields
        extra_kwargs = {
            "game": {"help_text": "`twelve-days` or `partridge`."},
            "passed": {"help_text": "Whether the version played without a fault."},
            "reason": {"help_text": "The first fault; empty if it passed."},
            "printed": {"help_text": "The output of the bot, shortened if it is long."},
            "played_at": {"help_text": "When the match was played."},
        }

    def get_printed_until(self, match: QualifyingMatch) -> datetime | None:
        """Return when the output is removed at the latest."""
        return kept_until(match.played_at) if match.printed else None


class VersionLogSerializer(VersionSerializer):
    """A version with the results of its check."""

    qualifying = QualifyingMatchSerializer(
        many=True, help_text="Its qualifying matches, one for each game."
    )

    class Meta(VersionSerializer.Meta):
        fields = (*VersionSerializer.Meta.fields, "reason", "qualifying")
        read_only_fields = fields
        extra_kwargs = {
            **VersionSerializer.Meta.extra_kwargs,
            "reason": {"help_text": "Why the version was refused; else empty."},
        }
