"""The queue of moves: moves that come while a statement is under way share the next one.

A *group* is at most 100 moves in different matches: one read, one write for all. Moves that would
delay the others of their group are left out of it and made *alone*, each with its own statements,
by other threads. ``docs/moves.md`` has a diagram.
"""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import Context

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError
from django.utils import timezone

from api.bounds import too_many_at_once
from api.play.connections import LoopConnections
from api.play.groups import Groups
from api.play.threads import ConnectedThreads
from api.problems import busy
from api.shares import FairShares
from league import accounts, play
from league.play.statements import Run
from league.play.writing import Wake

log = structlog.get_logger(__name__)

GROUPS = 2
"""Groups that run at a time."""
PATIENCE_SECONDS = 0.005
"""Time that a group takes before the next one starts beside it: one may wait for a lock in the
database. Large groups take less time for each move than small ones."""
ALONE = 2
"""Moves that are made alone at a time."""
_ENDING_SECONDS = 5.0
"""The time that groups get at the end of the process."""


class MoveQueue:
    """The moves of all requests of this process.

    Args:
        wake: wakes the requests of this process that wait for turns of bots.
    """

    def __init__(self, wake: Wake) -> None:
        self._wake = wake
        self._connections = LoopConnections(GROUPS)
        self._alone_threads = ConnectedThreads(ALONE, "moves-alone")
        self._groups = Groups(self._start_group, runs=GROUPS, patience=PATIENCE_SECONDS)
        self._under_way: set[asyncio.Task[Sequence[play.Answer | None]]] = set()
        self._matches = _MatchesInUse()
        self._shares = FairShares()

    def __len__(self) -> int:
        """Return the number of moves that are queued or under way."""
        return len(self._shares)

    async def close(self) -> None:
        """End the groups and the threads, and close their connections.

        Groups under way get some time: a move that is stored but not announced leaves bots waiting.
        """
        self._groups.close()
        if self._under_way:
            _, hanging = await asyncio.wait(self._under_way, timeout=_ENDING_SECONDS)
            for group in hanging:
                group.cancel()
            await asyncio.gather(*hanging, return_exceptions=True)
        await self._connections.close()
        self._alone_threads.close()

    async def check(self) -> None:
        """Read from the database on a connection of the groups.

        Raises:
            OperationalError, InterfaceError: it can't be reached.
        """
        await self._connections.do(_check)

    @contextmanager
    def admitted(self, moves: int, address: str, token: str) -> Iterator[None]:
        """Count the moves of a request while the context lasts; call it before authentication.

        Bots of one class share an address. So if the address holds its share, the moves count for
        their bot, if its token has worked here before.

        Args:
            moves: how many the request has.
            address: the client of the request's address, as `throttles` names it.
            token: the token of the request.

        Raises:
            ProblemError: ``busy`` or ``too-many-at-once``.
        """
        places, share = settings.MAX_QUEUED_MOVES, settings.FAIR_QUEUED_MOVES
        if len(self._shares) + moves > places:
            raise busy()
        client = address
        if not self._shares.enter(client, moves, of=places, share=share):
            client = f"token:{token}"
            if not (
                accounts.has_worked(token)
                and self._shares.enter(client, moves, of=places, share=share)
            ):
                raise too_many_at_once(share, "moves")
        try:
            yield
        finally:
            self._shares.leave(client, moves)

    async def submit(self, received: play.ReceivedMove) -> play.Answer:
        """Make a move; return the answer once it is committed."""
        match_id = received.sent.move.match_id
        await self._matches.take(match_id)
        try:
            answer = await self._groups.add(received)
            return await self._alone(received) if answer is None else answer
        finally:
            self._matches.leave(match_id)

    async def submit_all(self, received: Sequence[play.ReceivedMove]) -> list[play.Answer]:
        """Make the moves of one request; return their answers in order.

        If several moves are for one match, each is decided on the match as the move before left it.
        """
        answers: dict[int, play.Answer] = {}
        left = dict(enumerate(received))
        while left:
            first_of: dict[int, int] = {}
            for number, each in left.items():
                first_of.setdefault(each.sent.move.match_id, number)
            answers |= await self._submit_wave({n: left.pop(n) for n in first_of.values()})
        return [answers[number] for number in range(len(received))]

    async def _submit_wave(self, wave: dict[int, play.ReceivedMove]) -> dict[int, play.Answer]:
        """Make moves in different matches; return the answers by the moves' numbers."""
        free = {
            number: each
            for number, each in wave.items()
            if self._matches.take_free(each.sent.move.match_id)
        }
        others = [number for number in wave if number not in free]
        made, answers = await asyncio.gather(
            self._submit_parcel(free),
            asyncio.gather(*(self.submit(wave[number]) for number in others)),
        )
        return made | dict(zip(others, answers, strict=True))

    async def _submit_parcel(self, parcel: dict[int, play.ReceivedMove]) -> dict[int, play.Answer]:
        """Make moves in matches that are taken for them, and leave the matches."""
        if not parcel:
            return {}
        try:
            in_group = await self._groups.add_all([*parcel.values()])
        except BaseException:
            for each in parcel.values():
                self._matches.leave(each.sent.move.match_id)
            raise
        answers: dict[int, play.Answer] = {}
        slow: list[int] = []
        for number, answer in zip(parcel, in_group, strict=True):
            if answer is None:
                slow.append(number)
            else:
                answers[number] = answer
                self._matches.leave(parcel[number].sent.move.match_id)
        alone = await asyncio.gather(*(self._alone_and_leave(parcel[n]) for n in slow))
        return answers | dict(zip(slow, alone, strict=True))

    async def _alone_and_leave(self, received: play.ReceivedMove) -> play.Answer:
        try:
            return await self._alone(received)
        finally:
            self._matches.leave(received.sent.move.match_id)

    def _start_group(
        self, received: Sequence[play.ReceivedMove], context: Context
    ) -> asyncio.Task[Sequence[play.Answer | None]]:
        group = asyncio.create_task(self._submit_group(received), context=context)
        self._under_way.add(group)
        group.add_done_callback(self._under_way.discard)
        return group

    async def _submit_group(
        self, received: Sequence[play.ReceivedMove]
    ) -> Sequence[play.Answer | None]:
        """Make moves together; return no answer to those that are to be made alone."""
        try:
            return await self._connections.do(
                lambda run: play.submit_group(received, timezone.now(), run, self._wake)
            )
        except (OperationalError, InterfaceError):
            raise
        except Exception as error:  # one match may have a row that can't be read
            about = {"moves": len(received), "error": str(error)}
            if isinstance(error, DatabaseError):
                log.warning("a group of moves failed; each is made alone", **about)
            else:
                log.exception("a group of moves failed; each is made alone", **about)
            return [None] * len(received)

    async def _alone(self, received: play.ReceivedMove) -> play.Answer:
        return await self._alone_threads.run(lambda: play.submit_alone(received, timezone.now()))


async def _check(run: Run) -> None:
    await run("SELECT 1", {})


class _MatchesInUse:
    """Matches with a move under way. Further moves of a match wait in their order."""

    def __init__(self) -> None:
        self._waiting: dict[int, deque[asyncio.Future[None]]] = {}

    def take_free(self, match_id: int) -> bool:
        """Take a match if no move of it is under way; return whether it is taken."""
        if match_id in self._waiting:
            return False
        self._waiting[match_id] = deque()
        return True

    async def take(self, match_id: int) -> None:
        """Take a match, after the moves that came before."""
        if self.take_free(match_id):
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting[match_id].append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave(match_id)
            raise

    def leave(self, match_id: int) -> None:
        """Pass a match on to the move that waits first, or let it be free."""
        waiting = self._waiting[match_id]
        while waiting:
            turn = waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        del self._waiting[match_id]
