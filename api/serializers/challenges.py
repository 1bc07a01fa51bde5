"""Challenges: one unrated block of your bot against bots that you name."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.serializers.fields import OneOfField
from api.serializers.matches import MatchSerializer
from engine.games.catalogue import GAMES
from league.competitions import challenges
from league.models import Challenge, ChallengeBot


class NewChallengeSerializer(serializers.Serializer[None]):
    """A challenge to start."""

    bot = serializers.CharField(max_length=32, help_text="Name of one of your bots.")
    opponents = serializers.ListField(
        child=serializers.CharField(max_length=32),
        min_length=1,
        max_length=7,
        help_text="Names of the other bots, each once: house bots, your bots, and bots of others "
        "that accept challenges.",
    )
    game = OneOfField(
        sorted(GAMES),
        required=False,
        help_text="`twelve-days` or `partridge`. If you leave it out, the league takes game, "
        "preset and clocks from a ladder that allows this number of bots. It prefers a ladder that "
        "your bot is on.",
    )
    rules = serializers.CharField(
        required=False,
        max_length=40,
        help_text="Name of a preset of the game, such as `calliope`. Only together with `game`. If "
        "you leave it out, the league takes preset and clocks from a ladder of the game that "
        "allows this number of bots; without such a ladder, the first preset that allows it.",
    )


class ChallengeBotSerializer(serializers.ModelSerializer[ChallengeBot]):
    """A bot in a challenge."""

    bot = serializers.CharField(source="bot.name", help_text="Name of the bot.")
    version = serializers.IntegerField(
        source="version.number", help_text="Number of the bot's version that plays."
    )

    class Meta:
        model = ChallengeBot
        fields = ("bot", "version")
        read_only_fields = fields


class PairResultSerializer(serializers.Serializer[challenges.PairResult]):
    """The bot's result against one opponent in the finished matches."""

    opponent = serializers.CharField(help_text="Name of the opponent.")
    share = serializers.FloatField(
        help_text="Mean pair result, from 0 to 1: a win counts 1, a tied place 1/2, a loss 0."
    )
    low = serializers.FloatField(
        help_text="Lower end of the 95 % interval of `share` (Wilson's score)."
    )
    high = serializers.FloatField(help_text="Upper end of this interval.")


class ChallengeSerializer(serializers.ModelSerializer[Challenge]):
    """A challenge: one unrated block of a bot against others."""

    bot = serializers.CharField(source="bot.name", help_text="Name of the bot that challenges.")
    bots = ChallengeBotSerializer(
        many=True, help_text="All bots in the challenge; the first one challenges."
    )

    class Meta:
        model = Challenge
        fields: tuple[str, ...] = ("id", "bot", "bots", "game", "rules", "duplicate", "created_at")
        read_only_fields = fields
        extra_kwargs = {
            "id": {"help_text": "Id of the challenge."},
            "game": {"help_text": "`twelve-days` or `partridge`."},
            "rules": {"help_text": "Name of the preset."},
            "duplicate": {
                "help_text": "Whether all matches use one deal. This is so if all bots run at the "
                "league; the matches are then secret until the last one is over."
            },
            "created_at": {"help_text": "When it was started."},
        }


class ChallengeDetailSerializer(ChallengeSerializer):
    """A challenge with its matches and its result so far."""

    state = serializers.SerializerMethodField(
        help_text="`waiting`: no match has begun. `playing`: in play. `finished`: all matches are "
        "over. `void`: a match could not be played, so the challenge has no result."
    )
    matches_finished = serializers.SerializerMethodField(help_text="Number of finished matches.")
    win_share = serializers.SerializerMethodField(
        help_text="Mean of the pair results of `bot`, from 0 to 1. Null until a match is finished. "
        "If all matches use one deal (`duplicate`), null until the last match is over."
    )
    results = serializers.SerializerMethodField(
        help_text="The result of `bot` against each opponent; empty as long as `win_share` is null."
    )
    matches = serializers.SerializerMethodField(
        help_text="The matches. The bots change seats from match to match."
    )

    class Meta(ChallengeSerializer.Meta):
        fields = (
            *ChallengeSerializer.Meta.fields,
            "state",
            "matches_finished",
            "win_share",
            "results",
            "matches",
        )
        read_only_fields = fields

    def to_representation(self, instance: Challenge) -> dict[str, Any]:
        """Return the answer; the result is computed once for all its fields."""
        self._result = challenges.result(instance)
        return super().to_representation(instance)

    @extend_schema_field(serializers.ChoiceField(choices=Challenge.State.values))
    def get_state(self, _: Challenge) -> str:
        """Return how far it is."""
        return self._result.state

    def get_matches_finished(self, _: Challenge) -> int:
        """Return the number of finished matches."""
        return self._result.finished

    def get_win_share(self, _: Challenge) -> float | None:
        """Return the win share of the bot that challenges."""
        return self._result.win_share

    @extend_schema_field(PairResultSerializer(many=True))
    def get_results(self, _: Challenge) -> list[dict[str, object]]:
        """Return its result against each opponent."""
        return [dict(PairResultSerializer(pair).data) for pair in self._result.pairs]

    @extend_schema_field(MatchSerializer(many=True))
    def get_matches(self, _: Challenge) -> list[dict[str, object]]:
        """Return its matches."""
        return [dict(MatchSerializer(match).data) for match in self._result.matches]
