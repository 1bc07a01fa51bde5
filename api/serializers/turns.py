"""Turns, moves, and the verdicts on moves."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from league.models.limits import MAX_MOVES


class MoveSerializer(serializers.Serializer[None]):
    """A move in an open turn."""

    turn = serializers.IntegerField(
        min_value=0, max_value=2**31 - 1, help_text="The field `turn` of the open turn."
    )
    move = serializers.CharField(
        allow_blank=True,
        trim_whitespace=False,
        max_length=4096,
        help_text="One of the `legal_moves` of the turn's observation. The order of the cards and "
        "the number of spaces don't matter.",
    )


class AcceptedSerializer(serializers.Serializer[None]):
    """The answer to a move that the league accepted."""

    status = serializers.ChoiceField([("accepted", "accepted")], help_text="Always `accepted`.")
    move = serializers.CharField(help_text="The move in its canonical form.")
    turn = serializers.IntegerField(help_text="The turn that the move decided.")
    remaining_ms = serializers.IntegerField(
        help_text="Milliseconds that were left until the turn's deadline."
    )


class MatchMoveSerializer(MoveSerializer):
    """A move with its match."""

    match = serializers.IntegerField(min_value=1, max_value=2**63 - 1, help_text="Id of the match.")


class MovesSerializer(serializers.Serializer[None]):
    """Several moves."""

    MOST = MAX_MOVES

    moves: serializers.ListSerializer[None] = serializers.ListSerializer(
        child=MatchMoveSerializer(),
        allow_empty=True,
        max_length=MOST,
        help_text=f"At most {MOST} moves.",
    )


class TurnSerializer(serializers.Serializer[None]):
    """A turn: a decision that the league waits for."""

    match = serializers.IntegerField(help_text="Id of the match.")
    seat = serializers.IntegerField(help_text="The bot's seat in the match.")
    turn = serializers.IntegerField(
        help_text="Number of the seat's turn in this match, from 0. Send it with your move."
    )
    deadline = serializers.DateTimeField(
        help_text="When the referee plays for the seat, if it has not answered."
    )
    remaining_ms = serializers.IntegerField(
        help_text="Milliseconds until the deadline. They include the bank, the seat's extra time "
        "for the whole match."
    )
    bank_ms = serializers.IntegerField(
        help_text="Milliseconds in the seat's bank when the turn opened."
    )
    observation = serializers.DictField(
        help_text="Everything that the seat may see, with its `legal_moves`."
    )


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

    match = serializers.IntegerField(help_text="Id of the match.")
    turn = serializers.IntegerField(help_text="The turn of the move.")
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
    decided = serializers.BooleanField(
        required=False,
        help_text="With `illegal-move`: true after the fifth illegal move; then the referee has "
        "played `move`.",
    )
    fault = serializers.ChoiceField(
        [("timeout", "timeout"), ("illegal", "illegal")],
        required=False,
        help_text="Why the referee played: `timeout` or `illegal`.",
    )


class VerdictsSerializer(serializers.Serializer[None]):
    """The verdicts on several moves, and the turns that are open now."""

    verdicts = VerdictSerializer(
        many=True, help_text="One for each move, in the order of the moves."
    )
    turns = TurnSerializer(many=True, help_text="The turns of this bot that are open now.")
