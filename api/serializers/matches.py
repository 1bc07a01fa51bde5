"""Matches, and moves in them."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.serializers.fields import OnePageSerializer
from engine.games.catalogue import GAMES
from league.models import Match, MatchSeat
from league.visibility import may_see_record


class SeatSerializer(serializers.ModelSerializer[MatchSeat]):
    """Who sits where and, once finished, how it came out."""

    bot = serializers.CharField(source="bot.name")
    version = serializers.IntegerField(source="version.number")

    class Meta:
        model = MatchSeat
        fields = ("seat", "bot", "version", "score", "place", "forfeited", "faults")
        read_only_fields = fields


class MatchSerializer(serializers.ModelSerializer[Match]):
    """A match, as everybody may see it."""

    ladder = serializers.CharField(
        source="block.round.ladder.slug",
        read_only=True,
        default=None,
        allow_null=True,
        help_text="Null: unrated.",
    )
    tournament = serializers.IntegerField(
        source="block.round.tournament_id", read_only=True, default=None, allow_null=True
    )
    round = serializers.IntegerField(
        source="block.round.number", read_only=True, default=None, allow_null=True
    )
    block = serializers.IntegerField(
        source="block.number", read_only=True, default=None, allow_null=True
    )
    seating = SeatSerializer(many=True)
    deal_seed = serializers.SerializerMethodField(
        help_text="In hex; null until the match is finished, in a duplicate block until that is."
    )

    class Meta:
        model = Match
        fields = (
            "id",
            "game",
            "rules",
            "seats",
            "status",
            "ladder",
            "tournament",
            "round",
            "block",
            "number",
            "move_seconds",
            "bank_seconds",
            "commitment",
            "deal_seed",
            "seating",
            "created_at",
            "started_at",
            "finished_at",
        )
        read_only_fields = fields

    def get_deal_seed(self, match: Match) -> str | None:
        """Return the deal seed once it may be known."""
        return bytes(match.deal_seed).hex() if may_see_record(match) else None


class WatchedMatchSerializer(MatchSerializer):
    """A match with what the public sees of it."""

    view = serializers.DictField(
        allow_null=True,
        help_text="What a spectator sees: an observation without anybody's secrets. Null where "
        "nothing may be seen: of a void match, or before the other matches of a deal are played.",
    )

    class Meta(MatchSerializer.Meta):
        fields = (*MatchSerializer.Meta.fields, "view")  # type: ignore[assignment]
        read_only_fields = fields


class NewMatchSerializer(serializers.Serializer[None]):
    """An unrated match to play."""

    game = serializers.ChoiceField(sorted(GAMES))
    rules = serializers.CharField(max_length=40, help_text="A preset of the game, by name.")
    bots = serializers.ListField(
        child=serializers.CharField(max_length=32),
        min_length=2,
        max_length=8,
        help_text="Names, by seat: your bots and those of the house, none twice.",
    )


class MoveSerializer(serializers.Serializer[None]):
    """A move in an open turn."""

    turn = serializers.IntegerField(min_value=0, max_value=2**31 - 1)
    move = serializers.CharField(
        allow_blank=True,
        trim_whitespace=False,
        max_length=4096,
        help_text="One of the turn's legal_moves; cards in any order, any spaces between.",
    )


class AcceptedSerializer(serializers.Serializer[None]):
    """A move that counts."""

    status = serializers.ChoiceField([("accepted", "accepted")])
    move = serializers.CharField(help_text="The canonical text.")
    turn = serializers.IntegerField()
    remaining_ms = serializers.IntegerField(help_text="What was left of the turn's clock.")


class MatchMoveSerializer(MoveSerializer):
    """A move, and the match that it is for."""

    match = serializers.IntegerField(min_value=1, max_value=2**63 - 1)


class MovesSerializer(serializers.Serializer[None]):
    """Several moves."""

    MOST = 100

    moves = MatchMoveSerializer(many=True, allow_empty=True, max_length=MOST)


class TurnSerializer(serializers.Serializer[None]):
    """A decision that a bot is asked for."""

    match = serializers.IntegerField()
    seat = serializers.IntegerField()
    turn = serializers.IntegerField(help_text="The seat's turns in this match before this one.")
    deadline = serializers.DateTimeField()
    remaining_ms = serializers.IntegerField(help_text="Until the deadline, the bank included.")
    bank_ms = serializers.IntegerField(help_text="What the seat's bank held as the turn opened.")
    observation = serializers.DictField(help_text="All that the seat may know; see the rules.")


@extend_schema_field(
    {
        "oneOf": [{"type": "string", "enum": ["accepted"]}, {"type": "integer"}],
        "description": "`accepted`, or the HTTP status of the problem.",
    }
)
class VerdictStatusField(serializers.Field[str | int, Any, str | int, Any]):
    """The outcome of one of several moves."""


class VerdictSerializer(serializers.Serializer[None]):
    """The answer to one of several moves: an accepted move, or a problem document."""

    match = serializers.IntegerField()
    turn = serializers.IntegerField()
    status = VerdictStatusField()
    move = serializers.CharField(
        required=False, help_text="The accepted move, or the move that the referee played."
    )
    remaining_ms = serializers.IntegerField(
        required=False, help_text="Milliseconds left on the turn's clock."
    )
    code = serializers.CharField(required=False, help_text="The code of the problem.")
    detail = serializers.CharField(required=False, help_text="The detail of the problem.")
    legal_moves = serializers.ListField(
        required=False,
        child=serializers.CharField(),
        help_text="The legal moves, if the move was illegal.",
    )
    answers_left = serializers.IntegerField(
        required=False, help_text="The number of moves you may still send for this turn."
    )


class VerdictsSerializer(serializers.Serializer[None]):
    """The verdicts on several moves, and the turns that are open now."""

    verdicts = VerdictSerializer(
        many=True, help_text="One for each move, in the order of the moves."
    )
    turns = TurnSerializer(many=True, help_text="The turns of this bot that are open now.")


class FaultSerializer(serializers.Serializer[None]):
    """A move that the referee made in a bot's stead, and why."""

    ply = serializers.IntegerField()
    kind = serializers.CharField()
    reason = serializers.CharField()
    move = serializers.CharField(help_text="What the referee played.")
    observation = serializers.DictField(
        allow_null=True, help_text="What the bot was asked; null once it had forfeited."
    )
    test = serializers.CharField(
        allow_null=True, help_text="A unit test of the bot with this observation."
    )


class ReceiptSerializer(serializers.Serializer[None]):
    """The receipts of a turn's clock."""

    turn = serializers.IntegerField()
    ply = serializers.IntegerField()
    opened_at = serializers.DateTimeField()
    handed_out_at = serializers.DateTimeField(allow_null=True)
    deadline = serializers.DateTimeField()
    decided_at = serializers.DateTimeField(allow_null=True)
    bank_ms = serializers.IntegerField()
    illegal_answers = serializers.IntegerField()
    move = serializers.CharField(help_text="What was played; empty while the turn is open.")
    fault = serializers.CharField(help_text="Why the referee played; empty if the bot did.")


class SeatLogSerializer(serializers.Serializer[None]):
    """What its owner may know of a seat."""

    seat = serializers.IntegerField()
    bot = serializers.CharField()
    version = serializers.IntegerField()
    printed = serializers.CharField(help_text="By a hosted bot.")
    faults = FaultSerializer(many=True)
    turns = ReceiptSerializer(many=True)


class MatchLogSerializer(OnePageSerializer):
    """One's seats at a match: as other lists, but always on one page."""

    results = SeatLogSerializer(many=True)
