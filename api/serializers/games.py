"""Games and their presets."""

from rest_framework import serializers


class PresetSerializer(serializers.Serializer[None]):
    """A preset: an edition or variant."""

    name = serializers.CharField()
    min_seats = serializers.IntegerField()
    max_seats = serializers.IntegerField()
    options = serializers.DictField(
        help_text="What makes it this preset; differs by game. `cards` is by number of seats."
    )


class GameSerializer(serializers.Serializer[None]):
    """A game."""

    game = serializers.CharField()
    presets = PresetSerializer(many=True, help_text="The default one first.")


class GamesSerializer(serializers.Serializer[None]):
    """All games: as other lists, but always on one page."""

    results = GameSerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text="Always null.")
    previous = serializers.CharField(allow_null=True, help_text="Always null.")
