"""The remote runner plays a bot from a file in all its matches in parallel, over the API.

Three tasks run at once: one gets turns, one sends moves in batches, one checks for finished
matches. Bots run in threads. An answer to a batch of moves contains the next open turns, so the
runner asks for turns only when no move is under way, or when a bot takes long. The runner keeps
each move until the league confirms it, and sends it again after an outage: a move that arrives
twice counts once.

`deciding` gets the moves, and plays the first legal move after a fault of the bot. A fault at the
league would count towards a forfeit.
"""

import asyncio
import math
import random
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from bots_sdk import calls
from bots_sdk.answers import MatchMove, Turn, Verdict, WatchedMatch
from bots_sdk.bot import BotFile
from bots_sdk.call import Call
from bots_sdk.client import AsyncClient, Retry
from bots_sdk.deciding import MoveChooser
from bots_sdk.errors import LeagueError, ProblemError
from bots_sdk.fault_files import FaultFiles
from bots_sdk.remote_match import MIN_CHECK_SECONDS, RemoteMatch
from bots_sdk.reports import Report, RunnerStatus

Result = TypeVar("Result")

THREADS = 4
WAIT_SECONDS = 25.0
STOP_SECONDS = 10.0
"""The time for moves in hand after a stop signal."""

_POLL_SECONDS = 1.0
_MAX_LAST_CHECK_SECONDS = 2.0
_MAX_CHECK_SECONDS = 60.0
_LATE_SECONDS = 300.0
"""The time after the end of a match in which an older answer with one of its turns may arrive."""
_UNTIL_IT_WORKS = Retry(seconds=math.inf, max_wait_seconds=2.0)
_FATAL_STATUSES = frozenset({401, 403})


class Runner:
    """Plays the matches of one bot.

    Attributes:
        status: the runner's counts of matches, turns, moves and faults.
    """

    def __init__(
        self,
        bot: BotFile,
        url: str,
        token: str,
        report: Report,
        *,
        threads: int = THREADS,
        faults: Path = Path("faults"),
    ) -> None:
        """Create a runner; `run` connects.

        Args:
            bot: the bot.
            url: the address of the league.
            token: the bot's token.
            report: receives the events.
            threads: the number of turns to compute in parallel.
            faults: the directory for the observations of faults.
        """
        self._report = report
        self._client = AsyncClient(url, token, retry=_UNTIL_IT_WORKS, on_retry=self._note_outage)
        self._matches: dict[int, RemoteMatch] = {}
        self._ended_at: dict[int, float] = {}
        self._outbox: dict[int, MatchMove] = {}
        self._choosing: set[asyncio.Task[None]] = set()
        self._failure: asyncio.Future[None] | None = None
        """Receives the exception of a task that chooses a move, which ends `run`."""
        self._moves_wait = asyncio.Event()
        self._nothing_to_do = asyncio.Event()
        self._nothing_to_do.set()
        self._takes_turns = True
        self._connected = False
        self.status = RunnerStatus()
        self._chooser = MoveChooser(
            bot,
            self._client,
            report,
            self.status,
            threads=threads,
            faults=FaultFiles(faults, bot.path),
        )

    async def run(self, stop: asyncio.Event) -> None:
        """Play until the event is set, then finish the moves in hand.

        Raises:
            ProblemError: the token does not work, or no league is at the address.
        """
        failure = self._failure = asyncio.get_running_loop().create_future()
        getting = asyncio.create_task(self._get_turns())
        others = [
            asyncio.create_task(self._send_moves()),
            asyncio.create_task(self._check_for_ends()),
        ]
        stopping = asyncio.create_task(stop.wait())
        try:
            done, _ = await asyncio.wait(
                {getting, *others, stopping, failure}, return_when=asyncio.FIRST_COMPLETED
            )
            if stopping in done:
                getting.cancel()
                self._takes_turns = False
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._nothing_to_do.wait(), STOP_SECONDS)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._check_all(), _MAX_LAST_CHECK_SECONDS)
            for task in done - {stopping}:
                task.result()  # a task ends only by an exception
        finally:
            tasks = {getting, *others, stopping, failure, *self._choosing}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._client.close()
        left = len(self._matches)
        text = "stopped"
        if left:
            text += f"; up to {left} {'match' if left == 1 else 'matches'} may still be in play. "
            text += "Run the bot again soon, or it runs out of time there"
        self._report("stopped", text, matches=sorted(self._matches))

    # -- Turns in ----------------------------------------------------------------------------

    async def _get_turns(self) -> None:
        while True:
            # `asyncio.wait_for` of Python 3.11 may lose the cancellation that ends this task.
            with suppress(TimeoutError):
                async with asyncio.timeout(_POLL_SECONDS):
                    await self._nothing_to_do.wait()
            # The turns in hand are open too: with one of them, a waiting call returns at once.
            # The first call is answered at once, and so reports the connection.
            idle = self._connected and self._nothing_to_do.is_set()
            wait = WAIT_SECONDS if idle else 0.0
            sent_at = _now()
            turns = (await self._send(calls.turns(wait)))["turns"]
            self._take(turns, sent_at)

    def _take(self, turns: list[Turn], sent_at: float) -> None:
        """Start to choose moves for the new turns in the answer to a call sent at a time."""
        for turn in turns if self._takes_turns else ():
            match = self._matches.get(turn["match"])
            if match is None:
                if sent_at <= self._ended_at.get(turn["match"], -math.inf):
                    continue  # the answer is older than the end of the match
                match = self._begin(turn)
            again = turn["turn"] <= match.turn
            if again and (match.answered_at is None or sent_at <= match.answered_at):
                continue  # in hand, or the answer is older than the verdict
            # The turn is open although the league confirmed a move: the league lost that move,
            # for example because its operator restored a backup.
            last = match.last_move
            known = last["move"] if last and last["turn"] == turn["turn"] else ""
            match.turn, match.answered_at = turn["turn"], None
            task = asyncio.create_task(self._decide(match, turn, known))
            self._choosing.add(task)
            task.add_done_callback(self._decided)
        self._note_work()

    def _begin(self, turn: Turn) -> RemoteMatch:
        match = self._matches[turn["match"]] = RemoteMatch(turn["match"])
        seen = turn["observation"]
        self._report(
            "match",
            f"match {match.id}: {seen.get('game')} {seen.get('rules')}, "
            f"{seen.get('seats')} seats, seat {turn['seat']}  {self._page(match)}",
            match=match.id,
            seat=turn["seat"],
            game=seen.get("game"),
            rules=seen.get("rules"),
            url=self._page(match),
        )
        return match

    def _page(self, match: RemoteMatch) -> str:
        return f"{self._client.url}/matches/{match.id}/"

    async def _decide(self, match: RemoteMatch, turn: Turn, known: str) -> None:
        """Put a move in the outbox before the turn's clock runs out, even if the bot hangs."""
        if known:
            await asyncio.sleep(_POLL_SECONDS)
            move = known
        else:
            move = await self._chooser.move(match.player, turn)
        if match.turn != turn["turn"]:  # the league has closed the turn: a newer one is in hand
            self._note_closed(turn)
            return
        self._outbox[match.id] = {"match": match.id, "turn": turn["turn"], "move": move}
        self._moves_wait.set()

    def _note_closed(self, turn: Turn) -> None:
        """Report a turn that ran out of time while the bot chose, or got a move elsewhere."""
        where = f"match {turn['match']}, turn {turn['turn']}"
        text = (
            f"{where}: the league closed the turn before this program had a move: the time was "
            "over, or another program moved"
        )
        self.status.lost += 1
        self._report("refused", text, match=turn["match"], turn=turn["turn"], code="turn-expired")

    def _decided(self, task: asyncio.Task[None]) -> None:
        self._choosing.discard(task)
        self._note_work()
        error = None if task.cancelled() else task.exception()
        if error and self._failure and not self._failure.done():
            self._failure.set_exception(error)

    def _note_work(self) -> None:
        self.status.matches = len(self._matches)
        self.status.turns = len(self._choosing) + len(self._outbox)
        if self.status.turns:
            self._nothing_to_do.clear()
        else:
            self._nothing_to_do.set()

    # -- Moves out ---------------------------------------------------------------------------

    async def _send_moves(self) -> None:
        while True:
            await self._moves_wait.wait()
            self._moves_wait.clear()
            while self._outbox:
                await self._send_batch(list(self._outbox.values())[: calls.MAX_MOVES])

    async def _send_batch(self, batch: list[MatchMove]) -> None:
        sent_at = _now()
        try:
            answer = await self._send(calls.moves(batch))
        except ProblemError as error:
            if error.status in _FATAL_STATUSES:
                raise
            # The league refuses the batch as a whole: one bad move must not block the others.
            if len(batch) > 1:
                for move in batch:
                    await self._send_batch([move])
                return
            (move,) = batch
            self._report("warning", f"match {move['match']}: move refused: {error}")
            self._settle(
                move,
                {
                    "match": move["match"],
                    "turn": move["turn"],
                    "status": error.status,
                    "code": error.code,
                },
            )
            self._note_work()
            return
        for move, verdict in zip(batch, answer["verdicts"], strict=True):
            self._settle(move, verdict)
        self._take(answer["turns"], sent_at)

    def _settle(self, move: MatchMove, verdict: Verdict) -> None:
        """Note the verdict on a move."""
        match = self._matches[move["match"]]
        # The answer to a call for turns may overtake this verdict, and bring the next turn.
        in_outbox, is_newest = self._outbox.get(match.id) is move, match.turn == move["turn"]
        code = verdict.get("code", "")
        where = f"match {move['match']}, turn {move['turn']}"
        legal_moves = verdict.get("legal_moves")
        if code == "illegal-move" and verdict.get("answers_left") and legal_moves and in_outbox:
            move["move"] = legal_moves[0]  # still in the outbox
            self._report(
                "warning",
                f"{where}: {verdict.get('detail')}; this program sends {move['move']!r}, the first "
                "legal move, instead",
            )
            return
        match.last_move = move
        if in_outbox:
            del self._outbox[match.id]
        if is_newest:
            match.answered_at = _now()
            match.check_seconds = MIN_CHECK_SECONDS
            match.check_at = match.answered_at + match.check_seconds
        if verdict["status"] == "accepted":
            self.status.moves += 1
            self._report("move", "", match=move["match"], turn=move["turn"], move=move["move"])
            return
        self.status.lost += code == "turn-expired"
        facts = {"match": move["match"], "turn": move["turn"], "code": code}
        if "fault" in verdict:
            facts["fault"] = verdict["fault"]
        self._report("refused", f"{where}: {verdict.get('detail', code)}", **facts)

    # -- Ends --------------------------------------------------------------------------------

    async def _check_for_ends(self) -> None:
        """Check matches without a new turn from time to time."""
        while True:
            await asyncio.sleep(_POLL_SECONDS / 4)
            idle = [match for match in self._matches.values() if match.answered_at is not None]
            match = min(idle, key=lambda match: match.check_at, default=None)
            if match is None or match.check_at > _now():
                continue
            await self._check(match)

    async def _check_all(self) -> None:
        for match in list(self._matches.values()):
            await self._check(match)

    async def _check(self, match: RemoteMatch) -> None:
        """If a match is over, report and forget it."""
        found = await self._get(match)
        match.check_seconds = min(2 * match.check_seconds, _MAX_CHECK_SECONDS)
        match.check_at = _now() + match.check_seconds
        over = found is None or found["status"] in ("finished", "void")
        if over and match.answered_at is not None and match.id in self._matches:
            del self._matches[match.id]
            self._note_end(match)
            self._note_work()
            self._report_end(match, found)

    def _note_end(self, match: RemoteMatch) -> None:
        """Note when a match was over; forget those whose last turns can't arrive any more."""
        now = _now()
        self._ended_at = {
            ended: at for ended, at in self._ended_at.items() if now - at < _LATE_SECONDS
        }
        self._ended_at[match.id] = now

    async def _get(self, match: RemoteMatch) -> WatchedMatch | None:
        """Return a match as it is now, or None if the league has no such match any more."""
        try:
            return await self._send(calls.match(match.id))
        except ProblemError as error:
            if error.code != "not-found":
                raise
            return None

    def _report_end(self, match: RemoteMatch, found: WatchedMatch | None) -> None:
        if found is None or found["status"] == "void":
            self._report("void", f"match {match.id} is void: it changes no rating", match=match.id)
            return
        self.status.finished += 1
        table = sorted(found["seating"], key=lambda seat: (seat["place"] or 0, seat["seat"]))
        places = ", ".join(f"{seat['place']}. {seat['bot']} {seat['score']}" for seat in table)
        result = f"is finished: {places}"
        if any(seat["place"] is None for seat in table):
            result = (
                "is finished; its result is hidden until all matches with the same deal are "
                "finished"
            )
        self._report(
            "finished",
            f"match {match.id} {result}  {self._page(match)}",
            match=match.id,
            table=[{key: seat.get(key) for key in ("bot", "place", "score")} for seat in table],
            url=self._page(match),
        )

    # -- The league --------------------------------------------------------------------------

    async def _send(self, call: Call[Result]) -> Result:
        """Make a call, through outages.

        After one answer of a league, an unexpected answer counts as an outage.
        """
        while True:
            try:
                result = await self._client.send(call)
            except ProblemError as error:
                if error.code != "unexpected-answer" or not self._connected:
                    raise
                self._note_outage(error, seconds := random.uniform(1, 3))
                await asyncio.sleep(seconds)
                continue
            if not self._connected or self.status.outage:
                text = "connected again" if self._connected else f"connected to {self._client.url}"
                self._connected, self.status.outage = True, ""
                self._report("connected", text, url=self._client.url)
            return result

    def _note_outage(self, error: LeagueError, seconds: float) -> None:
        """Report an outage once."""
        if not self.status.outage:
            self._report(
                "away",
                f"{str(error).removesuffix('.')}. This program tries until the league answers.",
                reason=str(error),
            )
        self.status.outage = str(error)


def _now() -> float:
    return asyncio.get_running_loop().time()
