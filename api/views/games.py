"""The games and their presets."""

from dataclasses import fields
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from api.base import ApiView
from api.operations import operation
from api.serializers.games import GamesSerializer
from engine.games.catalogue import GAMES
from engine.games.game import Rules


class GamesView(ApiView):
    """The games."""

    @operation("games_list", answers=GamesSerializer)
    def get(self, request: Request) -> Response:
        """List the games with their presets and numbers of seats."""
        games = [
            {
                "game": name,
                "rules_url": f"/docs/rules/{name}/",
                "presets": [_preset(rules) for rules in game.presets.values()],
            }
            for name, game in GAMES.items()
        ]
        return Response(GamesSerializer({"results": games}).data)


def _preset(rules: Rules) -> dict[str, Any]:
    common = {field.name for field in fields(Rules)}
    options = {
        field.name: getattr(rules, field.name)
        for field in fields(rules)
        if field.name not in common
    }
    if hasattr(rules, "hand_size"):
        seats = range(rules.min_seats, rules.max_seats + 1)
        options["cards"] = {str(number): rules.hand_size(number) for number in seats}
    return {
        "name": rules.name,
        "min_seats": rules.min_seats,
        "max_seats": rules.max_seats,
        "options": options,
    }
