"""Accounts and tokens."""

from rest_framework import serializers

from api.serializers.fields import OneOfField
from league.accounts import OWNER_SCOPES
from league.models import Token

SCOPES = (
    "`manage`: change own bots, their entries and tokens. `read`: read what the owner alone may "
    "read, such as logs. `organise`: change tournaments, if the owner is an organiser. `play`: "
    "play as the bot; every bot token has it and no other scope."
)


class CredentialsSerializer(serializers.Serializer[None]):
    """The name and password of an account."""

    username = serializers.CharField(
        max_length=150, help_text="The account's name: letters, digits and @ . + - _."
    )
    password = serializers.CharField(
        max_length=200,
        trim_whitespace=False,
        write_only=True,
        help_text="The password; a new one has at least 8 characters.",
    )


class PasswordChangeSerializer(CredentialsSerializer):
    """A new password for an account."""

    new_password = serializers.CharField(
        max_length=200,
        trim_whitespace=False,
        write_only=True,
        help_text="The new password, of at least 8 characters.",
    )
    revoke_tokens = serializers.BooleanField(
        required=False,
        default=False,
        help_text="If true, the account's owner tokens stop working. Bot tokens keep working.",
    )


class NewTokenSerializer(CredentialsSerializer):
    """The name and password of an account, and settings of a new owner token."""

    name = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=40,
        help_text="A name by which you recognise the token, such as `laptop`.",
    )
    scopes = serializers.ListField(
        child=OneOfField([scope.value for scope in OWNER_SCOPES]),
        required=False,
        min_length=1,
        max_length=len(OWNER_SCOPES),
        help_text="`manage`, `read`, `organise`; all three if you leave it out.",
    )
    expires_at = serializers.DateTimeField(
        required=False,
        allow_null=True,
        help_text="When the token stops working; null or left out for never.",
    )


class TokenSerializer(serializers.ModelSerializer[Token]):
    """A token of yours, or of one of your bots, without its text."""

    bot = serializers.CharField(
        source="bot.name",
        read_only=True,
        default=None,
        allow_null=True,
        help_text="Name of the bot whose token it is; null for an owner token.",
    )
    scopes = serializers.ListField(
        child=serializers.ChoiceField(Token.Scope.choices), read_only=True, help_text=SCOPES
    )

    class Meta:
        model = Token
        fields: tuple[str, ...] = (
            "id",
            "name",
            "bot",
            "prefix",
            "scopes",
            "created_at",
            "expires_at",
            "used_at",
        )
        read_only_fields = fields
        extra_kwargs = {
            "id": {"help_text": "Id of the token."},
            "name": {"help_text": "Your name for it; may be empty."},
            "prefix": {"help_text": "The first characters of the token."},
            "created_at": {"help_text": "When it was created."},
            "expires_at": {"help_text": "When it stops working; null for never."},
            "used_at": {"help_text": "When it was last used, to the minute; null if never."},
        }


class OwnerTokenSerializer(serializers.Serializer[None]):
    """A new owner token."""

    username = serializers.CharField(help_text="The account's name.")
    id = serializers.IntegerField(help_text="Id of the token.")
    scopes = serializers.ListField(
        child=serializers.ChoiceField(Token.Scope.choices), help_text=SCOPES
    )
    expires_at = serializers.DateTimeField(
        allow_null=True, help_text="When it stops working; null for never."
    )
    token = serializers.CharField(
        help_text="The owner token. Keep it: the league shows it only now."
    )
