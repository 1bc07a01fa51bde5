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
        sent = checked(MoveSerializer, request)
        now = timezone.now()
        try:
            verdict = play.submit(request.auth.bot, match_id, sent["turn"], sent["move"], now)
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
        verdicts: list[dict[str, Any]] = []
        for sent in checked(MovesSerializer, request)["moves"]:
            verdict: dict[str, Any] = {"match": sent["match"], "turn": sent["turn"]}
            try:
                move = play.submit(bot, sent["match"], sent["turn"], sent["move"], timezone.now())
                verdict |= move.as_json()
            except play.MoveRefusedError as error:
                verdict |= problem(error.code, str(error), **error.members)
            verdicts.append(verdict)
        turns = play.open_turns(bot, timezone.now())
        return Response({"verdicts": verdicts, "turns": turns})
