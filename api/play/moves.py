"""Calls with which a bot moves: one move, or moves in several matches.

`league.play.moves` decides on them; ``docs/moves.md`` has a diagram.
"""

from typing import Any, ClassVar, TypeGuard, cast

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from structlog.contextvars import bind_contextvars

from api.authentication import BotToken
from api.base import ApiView, checked
from api.operations import operation
from api.problems import ProblemError, problem
from api.serializers.turns import (
    AcceptedSerializer,
    MoveSerializer,
    MovesSerializer,
    VerdictsSerializer,
)
from league import play
from league.models import Bot, Token

REFUSALS = ("turn-already-decided", "turn-not-open", "turn-expired", "illegal-move")


class MatchMovesView(ApiView):
    """A move in a match."""

    needs: ClassVar = {"POST": BotToken}
    problems: ClassVar = {"POST": REFUSALS}
    rate = "play"

    @operation("matches_move", body=MoveSerializer, answers={200: AcceptedSerializer})
    def post(self, request: Request, match_id: int) -> Response:
        """Make a move in an open turn. If you send the same move again, the answer is the same."""
        bind_contextvars(match_id=match_id)
        data: object = request.data
        sent = data if _is_plain(data, {"turn", "move"}) else checked(MoveSerializer, request)
        move = play.Move(match_id, sent["turn"], sent["move"])
        try:
            verdict = play.submit(_bot(request), move, timezone.now())
        except play.MoveRefusedError as error:
            raise ProblemError(error.code, str(error), **error.members) from None
        return Response(verdict.as_json())


class MovesView(ApiView):
    """Moves in several matches."""

    needs: ClassVar = {"POST": BotToken}
    rate = "play"

    @operation("moves_create", body=MovesSerializer, answers={200: VerdictsSerializer})
    def post(self, request: Request) -> Response:
        """Make up to 100 moves in their order, then get the turns that are open."""
        bot = _bot(request)
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


def _bot(request: Request) -> Bot:
    """Return the bot of a request that `BotToken` has let pass."""
    bot = cast(Token, request.auth).bot
    assert bot is not None
    return bot


def _as_json(answer: play.Verdict | play.MoveRefusedError) -> dict[str, Any]:
    if isinstance(answer, play.MoveRefusedError):
        return problem(answer.code, str(answer), **answer.members)
    return answer.as_json()


_MAX_PLAIN = 40
"""Characters of a move's text; a serializer checks a longer one."""


def _is_plain(sent: object, members: set[str]) -> TypeGuard[dict[str, Any]]:
    """Return whether this is a well-formed move, as nearly all are. It spares the serializer."""
    return (
        isinstance(sent, dict)
        and sent.keys() == members
        and type(sent["turn"]) is int
        and 0 <= sent["turn"] < 2**31
        and type(sent.get("match", 1)) is int
        and 0 < sent.get("match", 1) < 2**63
        and type(sent["move"]) is str
        and len(sent["move"]) <= _MAX_PLAIN
        and sent["move"].isprintable()
    )


def _all_sent(request: Request) -> list[dict[str, Any]]:
    """Return the moves of a request, checked."""
    data: object = request.data
    moves = data.get("moves") if isinstance(data, dict) and len(data) == 1 else None
    if isinstance(moves, list) and len(moves) <= MovesSerializer.MOST:
        members = {"match", "turn", "move"}
        plain = [sent for sent in moves if _is_plain(sent, members)]
        if len(plain) == len(moves):
            return plain
    taken: list[dict[str, Any]] = checked(MovesSerializer, request)["moves"]
    return taken
