"""Games and their presets."""

from typing import Any

from rest_framework import serializers

from api.serializers.fields import OnePageSerializer


class PresetSerializer(serializers.Serializer[None]):
    """A preset: an edition or variant of a game."""

    name = serializers.CharField(help_text="Name of the preset, for the field `rules`.")
    min_seats = serializers.IntegerField(help_text="The fewest seats at a table.")
    max_seats = serializers.IntegerField(help_text="The most seats at a table.")
    options = serializers.DictField(
        help_text="The rules of the preset; the keys differ by game. `cards` has the number of "
        "cards in a hand by number of seats."
    )


class GameSerializer(serializers.Serializer[None]):
    """A game with its presets."""

    game = serializers.CharField(help_text="`twelve-days` or `partridge`.")
    rules_url = serializers.CharField(help_text="Address of the rules, below the league's address.")
    presets = PresetSerializer(many=True, help_text="The presets; the default preset is first.")


class GamesSerializer(OnePageSerializer[dict[str, Any]]):
    """All games, always on one page."""

    results = GameSerializer(many=True)
