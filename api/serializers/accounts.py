"""Accounts and owner tokens."""

from rest_framework import serializers


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


class OwnerTokenSerializer(serializers.Serializer[None]):
    """A new owner token."""

    username = serializers.CharField(help_text="The account's name.")
    token = serializers.CharField(
        help_text="The owner token. Keep it: the league shows it only now."
    )
