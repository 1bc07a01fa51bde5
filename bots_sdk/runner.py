"""The remote runner: plays a bot from a file in all its matches at once, over the API.

One task asks for turns, one sends moves in batches, one looks which matches are over; bots think
in threads. While moves are under way their answers bring the next turns, so it asks only when it
has nothing to do, or when a bot takes long. What the league has not confirmed is kept and sent
again, for as long as it takes: a move sent twice counts once.

What a bot is asked and what is played where it fails is in `deciding`: its first legal move, as
that is one move, and a fault at the league costs the match in the end.
"""

import asyncio
import math
import random
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from bots_sdk import calls
from bots_sdk.answers import MatchMove, Turn, WatchedMatch
from bots_sdk.bot import BotFile, load
from bots_sdk.call import Call
from bots_sdk.client import AsyncClient, Retry
from bots_sdk.deciding import Mind, Thinker
from bots_sdk.errors import LeagueError, ProblemError
from bots_sdk.reports import Report, Tally, reporting
from bots_sdk.thinking import FaultFiles

Result = TypeVar("Result")

THREADS = 4
WAIT_SECONDS = 25.0
STOP_SECONDS = 10.0
"""How long moves that are being thought of may take once it is told to stop."""

_LOOK_AGAIN_SECONDS = 1.0
_LAST_LOOK_SECONDS = 2.0
_FIRST_LOOK_SECONDS, _LONGEST_LOOK_SECONDS = 2.0, 60.0
_UNTIL_IT_WORKS = Retry(seconds=math.inf, max_wait_seconds=2.0)


@dataclass(slots=True)
class _Game:
    """A match in play.

    Attributes:
        id: of the match.
        mind: the bot in it.
        turn: the number of the newest turn.
        move: what was answered in it.
        answered_at: when the league's verdict on that came; None while the turn is in hand.
        look_at: when to look whether the match is over.
        patience: how long to wait before the look after that.
    """

    id: int
    mind: Mind = field(default_factory=Mind)
    turn: int = -1
    move: str = ""
    answered_at: float | None = 0.0
    look_at: float = 0.0
    patience: float = _FIRST_LOOK_SECONDS


class Runner:
    """Plays the matches of one bot."""

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
        """Ask for nothing yet.

        Args:
            bot: plays.
            url: where the league is.
            token: the bot's.
            report: told what happens.
            threads: how many turns are thought of at once.
            faults: the directory where observations of faults are saved.
        """
        self._report = report
        self._client = AsyncClient(url, token, retry=_UNTIL_IT_WORKS, on_retry=self._note_outage)
        self._games: dict[int, _Game] = {}
        self._outbox: dict[int, MatchMove] = {}
        self._thinking: set[asyncio.Task[None]] = set()
        self._moves_wait = asyncio.Event()
        self._nothing_to_do = asyncio.Event()
        self._nothing_to_do.set()
        self._takes_turns = True
        self._connected = False
        self.tally = Tally()
        self._thinker = Thinker(
            bot,
            self._client,
            report,
            self.tally,
            threads=threads,
            faults=FaultFiles(faults, bot.path),
        )

    async def run(self, stop: asyncio.Event) -> None:
        """Play until told to stop, then finish the moves in hand.

        Raises:
            ProblemError: the token does not work, or this is no league.
        """
        asking = asyncio.create_task(self._ask_for_turns())
        others = [
            asyncio.create_task(self._send_moves()),
            asyncio.create_task(self._look_for_ends()),
        ]
        stopping = asyncio.create_task(stop.wait())
        try:
            done, _ = await asyncio.wait(
                {asking, *others, stopping}, return_when=asyncio.FIRST_COMPLETED
            )
            if stopping in done:
                asking.cancel()
                self._takes_turns = False
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._nothing_to_do.wait(), STOP_SECONDS)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._look_at_all(), _LAST_LOOK_SECONDS)
            for task in done - {stopping}:
                task.result()  # none ends but by an error
        finally:
            tasks = {asking, *others, stopping, *self._thinking}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._client.close()
        left = len(self._games)
        text = "stopped"
        if left:
            text += f" with {left} {_plural(left, 'match', 'matches')} perhaps still in play; "
            text += "turns there run out of time unless the bot runs again"
        self._report("stopped", text, matches=sorted(self._games))

    # -- Turns in ----------------------------------------------------------------------------

    async def _ask_for_turns(self) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._nothing_to_do.wait(), _LOOK_AGAIN_SECONDS)
            # Those in hand are open too, so an answer that may wait would come at once.
            wait = WAIT_SECONDS if self._nothing_to_do.is_set() else 0.0
            asked_at = _now()
            turns = await self._send(calls.turns(wait))
            self._take(turns, asked_at)

    def _take(self, turns: list[Turn], asked_at: float) -> None:
        """Begin to think of the turns that are new, in an answer to what was asked then."""
        for turn in turns if self._takes_turns else ():
            game = self._games.get(turn["match"])
            if game is None:
                game = self._begin(turn)
            again = turn["turn"] <= game.turn
            if again and (game.answered_at is None or asked_at <= game.answered_at):
                continue  # in hand, or the answer is older than the verdict
            # Open though the league confirmed a move: it went back in time, say to a backup.
            kept = game.move if again and turn["turn"] == game.turn else ""
            game.turn, game.answered_at = turn["turn"], None
            task = asyncio.create_task(self._decide(game, turn, kept))
            self._thinking.add(task)
            task.add_done_callback(self._thought)
        self._note_work()

    def _begin(self, turn: Turn) -> _Game:
        game = self._games[turn["match"]] = _Game(turn["match"])
        seen = turn["observation"]
        self._report(
            "match",
            f"match {game.id}: {seen.get('game')} {seen.get('rules')}, "
            f"seat {turn['seat']} of {seen.get('seats')}  {self._page(game)}",
            match=game.id,
            seat=turn["seat"],
            game=seen.get("game"),
            rules=seen.get("rules"),
            url=self._page(game),
        )
        return game

    def _page(self, game: _Game) -> str:
        return f"{self._client.url}/matches/{game.id}/"

    def _thought(self, task: asyncio.Task[None]) -> None:
        self._thinking.discard(task)
        self._note_work()
        if not task.cancelled():
            task.result()

    def _note_work(self) -> None:
        self.tally.matches = len(self._games)
        self.tally.turns = len(self._thinking) + len(self._outbox)
        if self.tally.turns:
            self._nothing_to_do.clear()
        else:
            self._nothing_to_do.set()

    # -- Thinking ----------------------------------------------------------------------------

    async def _decide(self, game: _Game, turn: Turn, kept: str) -> None:
        """Put a move in the outbox, whatever the bot does, before the turn's clock runs out."""
        if kept:
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
            game.move = kept
        else:
            game.move = await self._thinker.move(game.mind, turn)
        self._outbox[game.id] = {"match": game.id, "turn": turn["turn"], "move": game.move}
        self._moves_wait.set()

    # -- Moves out ---------------------------------------------------------------------------

    async def _send_moves(self) -> None:
        while True:
            await self._moves_wait.wait()
            self._moves_wait.clear()
            while self._outbox:
                await self._send_batch(list(self._outbox.values())[: calls.MAX_MOVES])

    async def _send_batch(self, batch: list[MatchMove]) -> None:
        asked_at = _now()
        try:
            answer = await self._send(calls.moves(batch))
        except ProblemError as error:
            if error.status in _FATAL:
                raise
            # It refuses the batch as a whole, so let one move not stand in the others' way.
            if len(batch) > 1:
                for move in batch:
                    await self._send_batch([move])
                return
            self._report("warning", f"match {batch[0]['match']}: move refused: {error}")
            self._settle(batch[0], {**batch[0], "status": error.status, "code": error.code})
            self._note_work()
            return
        for move, verdict in zip(batch, answer["verdicts"], strict=True):
            self._settle(move, verdict)
        self._take(answer["turns"], asked_at)

    def _settle(self, move: MatchMove, verdict: Mapping[str, Any]) -> None:
        """Take note of the verdict on a move."""
        game = self._games[move["match"]]
        code = verdict.get("code", "")
        where = f"match {move['match']}, turn {move['turn']}"
        if code == "illegal-move" and verdict.get("answers_left") and verdict.get("legal_moves"):
            game.move = move["move"] = verdict["legal_moves"][0]  # still in the outbox
            self._report("warning", f"{where}: {verdict.get('detail')}; plays {game.move!r} now")
            return
        game.answered_at = _now()
        game.patience = _FIRST_LOOK_SECONDS
        game.look_at = game.answered_at + game.patience
        del self._outbox[move["match"]]
        if verdict["status"] == "accepted":
            self.tally.moves += 1
            self._report("move", "", match=move["match"], turn=move["turn"], move=move["move"])
            return
        self.tally.lost += code == "turn-expired"
        facts = {"match": move["match"], "turn": move["turn"], "code": code}
        self._report("refused", f"{where}: {verdict.get('detail', code)}", **facts)

    # -- Ends --------------------------------------------------------------------------------

    async def _look_for_ends(self) -> None:
        """Look now and then at matches that have brought no turn for a while."""
        while True:
            await asyncio.sleep(_LOOK_AGAIN_SECONDS / 4)
            idle = [game for game in self._games.values() if game.answered_at is not None]
            game = min(idle, key=lambda game: game.look_at, default=None)
            if game is None or game.look_at > _now():
                continue
            await self._look_at(game)

    async def _look_at_all(self) -> None:
        for game in list(self._games.values()):
            await self._look_at(game)

    async def _look_at(self, game: _Game) -> None:
        """Report a match that is over, and forget it."""
        match = await self._look(game)
        game.patience = min(2 * game.patience, _LONGEST_LOOK_SECONDS)
        game.look_at = _now() + game.patience
        over = match is None or match["status"] in ("finished", "void")
        if over and game.answered_at is not None and game.id in self._games:
            del self._games[game.id]
            self._note_work()
            self._report_end(game, match)

    async def _look(self, game: _Game) -> WatchedMatch | None:
        """Return a match as it is now, or None where there is no such match any more."""
        try:
            return await self._send(calls.match(game.id))
        except ProblemError as error:
            if error.code != "not-found":
                raise
            return None

    def _report_end(self, game: _Game, match: WatchedMatch | None) -> None:
        if match is None or match["status"] == "void":
            self._report("void", f"match {game.id} is void: it counts for nobody", match=game.id)
            return
        self.tally.finished += 1
        table = sorted(match["seating"], key=lambda seat: (seat["place"] or 0, seat["seat"]))
        told = ", ".join(f"{seat['place']}. {seat['bot']} {seat['score']}" for seat in table)
        self._report(
            "finished",
            f"match {game.id} is over: {told}  {self._page(game)}",
            match=game.id,
            table=[{key: seat.get(key) for key in ("bot", "place", "score")} for seat in table],
            url=self._page(game),
        )

    # -- The league --------------------------------------------------------------------------

    async def _send(self, call: Call[Result]) -> Result:
        """Make a call, through outages; what was once a league is trusted to be one again."""
        while True:
            try:
                result = await self._client.send(call)
            except ProblemError as error:
                if error.code != "unexpected-answer" or not self._connected:
                    raise
                self._note_outage(error, seconds := random.uniform(1, 3))
                await asyncio.sleep(seconds)
                continue
            if not self._connected or self.tally.away:
                text = "connected again" if self._connected else f"connected to {self._client.url}"
                self._connected, self.tally.away = True, ""
                self._report("connected", text, url=self._client.url)
            return result

    def _note_outage(self, error: LeagueError, seconds: float) -> None:
        """Report that the league is away, once an outage."""
        if not self.tally.away:
            self._report("away", f"{error}; trying again until it works", reason=str(error))
        self.tally.away = str(error)


_FATAL = frozenset({401, 403})


def run(
    bot_file: str | Path | BotFile,
    url: str,
    token: str,
    *,
    threads: int = THREADS,
    faults: Path = Path("faults"),
    as_json: bool = False,
) -> Tally:
    """Play a bot from a file at a league until SIGINT or SIGTERM; a second one ends it at once.

    Args:
        bot_file: the bot's Python file, its path or loaded.
        url: where the league is.
        token: the bot's.
        threads: how many turns are thought of at once.
        faults: the directory where observations of faults are saved.
        as_json: print an object a line instead of text.

    Raises:
        BotFileError: the file is no bot.
        ProblemError: the token does not work, or there is no league at the address.
        KeyboardInterrupt: it was told twice to stop.
    """
    bot = bot_file if isinstance(bot_file, BotFile) else load(bot_file)
    return asyncio.run(_run(bot, url, token, threads, faults, as_json))


async def _run(
    bot: BotFile, url: str, token: str, threads: int, faults: Path, as_json: bool
) -> Tally:
    stop = _stop_at_signals()
    with reporting(as_json=as_json) as (report, show):
        runner = Runner(bot, url, token, report, threads=threads, faults=faults)
        show(runner.tally)
        report("ready", f"{bot.path} is ready; Ctrl-C stops it", bot=str(bot.path))
        await runner.run(stop)
    return runner.tally


def _stop_at_signals() -> asyncio.Event:
    """Return an event that SIGINT and SIGTERM set; a second SIGINT interrupts."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def told() -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # on Windows, where Ctrl-C interrupts at once
            loop.add_signal_handler(number, told)
    return stop


def _now() -> float:
    return asyncio.get_running_loop().time()


def _plural(number: int, one: str, more: str) -> str:
    return one if number == 1 else more
