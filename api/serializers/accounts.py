"""Accounts and tokens."""

from rest_framework import serializers


class CredentialsSerializer(serializers.Serializer[None]):
    """A name and a password."""

    username = serializers.CharField(max_length=150)
    password = serializers.CharField(max_length=200, trim_whitespace=False, write_only=True)


class OwnerTokenSerializer(serializers.Serializer[None]):
    """A new owner token."""

    username = serializers.CharField()
    token = serializers.CharField(help_text="The owner token. It is shown this once.")
