"""Moves, one or many at once."""

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import BotToken
from api.problems import ProblemError, problem
from api.serializers.matches import (
    AcceptedSerializer,
    MoveSerializer,
    MovesSerializer,
    VerdictsSerializer,
)
from api.views.base import ApiView, checked
from league import play

REFUSALS = ("turn-already-decided", "turn-not-open", "turn-expired", "illegal-move")


class MatchMovesView(ApiView):
    """A move in a match."""

    needs: ClassVar = {"POST": BotToken}
    problems: ClassVar = {"POST": REFUSALS}
    rate = "play"

    @extend_schema(
        operation_id="matches_move", request=MoveSerializer, responses={200: AcceptedSerializer}
    )
    def post(self, request: Request, match_id: int) -> Response:
        """Make a move in an open turn. Sending it again is safe: it gets the same answer."""
        sent = request.data
        if not _is_plain(sent, {"turn", "move"}):
            sent = checked(MoveSerializer, request)
        move = play.Move(match_id, sent["turn"], sent["move"])
        try:
            verdict = play.submit(request.auth.bot, move, timezone.now())
        except play.MoveRefusedError as error:
            raise ProblemError(error.code, str(error), **error.members) from None
        return Response(verdict.as_json())


class MovesView(ApiView):
    """Moves in several matches."""

    needs: ClassVar = {"POST": BotToken}
    rate = "play"

    @extend_schema(
        operation_id="moves_create", request=MovesSerializer, responses={200: VerdictsSerializer}
    )
    def post(self, request: Request) -> Response:
        """Make up to 100 moves, one after the other, and get the turns that are open then."""
        bot = request.auth.bot
        moves = [
            play.Move(sent["match"], sent["turn"], sent["move"]) for sent in _all_sent(request)
        ]
        answers = play.submit_all(bot, moves, timezone.now())
        verdicts = [
            {"match": move.match_id, "turn": move.turn, **_as_json(answer)}
            for move, answer in zip(moves, answers, strict=True)
        ]
        turns = play.open_turns(bot, timezone.now())
        return Response({"verdicts": verdicts, "turns": turns})


def _as_json(answer: play.Verdict | play.MoveRefusedError) -> dict[str, Any]:
    if isinstance(answer, play.MoveRefusedError):
        return problem(answer.code, str(answer), **answer.members)
    return answer.as_json()


_LONGEST = 40
"""Of a move's text as bots send it; what is longer is looked at closely."""


def _is_plain(sent: Any, members: set[str]) -> bool:
    """Return whether something is a move as nearly all are, which needs no serializer to see."""
    return (
        type(sent) is dict
        and sent.keys() == members
        and type(sent["turn"]) is int
        and 0 <= sent["turn"] < 2**31
        and type(sent.get("match", 1)) is int
        and 0 < sent.get("match", 1) < 2**63
        and type(sent["move"]) is str
        and len(sent["move"]) <= _LONGEST
        and sent["move"].isprintable()
    )


def _all_sent(request: Request) -> list[dict[str, Any]]:
    data = request.data
    moves = data.get("moves") if type(data) is dict and len(data) == 1 else None
    members = {"match", "turn", "move"}
    few = type(moves) is list and len(moves) <= MovesSerializer.MOST
    if few and all(_is_plain(sent, members) for sent in moves):
        return moves
    taken: list[dict[str, Any]] = checked(MovesSerializer, request)["moves"]
    return taken
