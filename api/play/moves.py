"""The calls with which a bot moves: one move, or moves in several matches.

`league.play.moves` decides on them, and `api.play.move_queue` makes them in groups;
``docs/moves.md`` has a diagram.
"""

import json
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from django.utils import timezone
from structlog.contextvars import bind_contextvars

from api.middleware import MAX_BODY_BYTES
from api.play import bodies
from api.play.database import Database
from api.play.move_queue import MoveQueue
from api.play.requests import Request
from api.problems import ProblemError, problem
from api.serializers.turns import MoveSerializer, MovesSerializer
from api.strictness import validated
from api.tokens import token_text
from league import play
from league.models import Bot
from league.play.writing import Wake

REFUSALS = ("turn-already-decided", "turn-not-open", "turn-expired", "illegal-move")
"""Codes of problems with which a move may be answered, beside ``not-found``."""


class MoveCalls:
    """The two calls.

    Args:
        authenticate: returns the bot of a request and counts the request.
        database: hands out the open turns.
        wake: wakes the requests of this process that wait for turns of bots.
    """

    def __init__(
        self, authenticate: Callable[[Request], Awaitable[Bot]], database: Database, wake: Wake
    ) -> None:
        self._authenticate, self._database = authenticate, database
        self.queue = MoveQueue(wake)

    async def move(self, request: Request, match_id: int) -> None:
        """Make a move in an open turn; respond with the verdict."""
        received_at, body = await self._read(request)
        with self.queue.admitted(1, request.client, _token(request)):
            bot = await self._authenticate(request)
            request.query(())
            bind_contextvars(match_id=match_id)
            sent = bodies.parsed(body, request.header(b"content-type"))
            if not bodies.is_plain_move(sent):
                sent = await self._database.run(lambda: validated(MoveSerializer, sent))
            move = play.Move(match_id, sent["turn"], sent["move"])
            answer = await self.queue.submit(_received(bot, move, received_at))
        if isinstance(answer, play.MoveRefusedError):
            raise ProblemError(answer.code, str(answer), **answer.members)
        await request.respond(200, _encoded(answer.as_json()), "application/json")

    async def move_all(self, request: Request) -> None:
        """Make up to 100 moves in their order; respond with verdicts and the turns then open."""
        received_at, body = await self._read(request)
        count = max(1, min(MovesSerializer.MOST, body.count(b'"turn"')))
        with self.queue.admitted(count, request.client, _token(request)):
            bot = await self._authenticate(request)
            request.query(())
            sent = bodies.parsed(body, request.header(b"content-type"))
            if not bodies.is_plain_list(sent):
                sent = await self._database.run(lambda: validated(MovesSerializer, sent))
            moves = [play.Move(each["match"], each["turn"], each["move"]) for each in sent["moves"]]
            answers = await self.queue.submit_all(
                [_received(bot, move, received_at) for move in moves]
            )
            turns = await self._database.open_turns(bot)
        verdicts = [
            {"match": move.match_id, "turn": move.turn, **_as_json(answer)}
            for move, answer in zip(moves, answers, strict=True)
        ]
        body = b",".join(turn.body for turn in turns)
        body = b'{"verdicts":' + _encoded(verdicts) + b',"turns":[' + body + b"]}"
        await request.respond(200, body, "application/json")

    async def _read(self, request: Request) -> tuple[datetime, bytes]:
        """Return the time at which the whole request was there, and its body."""
        if not bodies.accepts_json(request.header(b"accept")):
            raise ProblemError("not-acceptable")
        body = await request.body(MAX_BODY_BYTES)
        return timezone.now(), body


def _token(request: Request) -> str:
    return token_text(request.header(b"authorization"))


def _received(bot: Bot, move: play.Move, received_at: datetime) -> play.ReceivedMove:
    return play.ReceivedMove(play.SentMove(bot, move), received_at)


def _as_json(answer: play.Answer) -> dict[str, Any]:
    if isinstance(answer, play.MoveRefusedError):
        return problem(answer.code, str(answer), **answer.members)
    return answer.as_json()


def _encoded(data: Any) -> bytes:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode()
