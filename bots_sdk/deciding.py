"""From a turn to a move: the bot is asked in a thread, and its clock does not run out.

Where the bot raises, answers what is not legal, or is not done shortly before its time is up, its
**first legal move** is played; that is reported, and what it was asked is saved.
"""

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass

from bots_sdk import calls
from bots_sdk.answers import Turn
from bots_sdk.bot import BotFile, Choose, MatchInfo, match_info
from bots_sdk.client import AsyncClient
from bots_sdk.errors import LeagueError
from bots_sdk.reports import Report, Tally
from bots_sdk.thinking import BotFaultError, FaultFiles, checked, in_thread
from engine.referee import TimeControl

_INFO_SECONDS = 2.0


@dataclass(slots=True)
class Mind:
    """A bot in one match.

    Attributes:
        choose: what decides; None before its first move, and after one that it was too slow for.
    """

    choose: Choose | None = None


class Thinker:
    """Finds moves for one bot, in all its matches."""

    def __init__(
        self,
        bot: BotFile,
        client: AsyncClient,
        report: Report,
        tally: Tally,
        *,
        threads: int,
        faults: FaultFiles,
    ) -> None:
        """Think of nothing yet.

        Args:
            bot: that is asked.
            client: asks the league about a match, where the bot wants to know.
            report: told of faults.
            tally: of the runner, in which thoughts and faults are counted.
            threads: how many turns are thought of at once.
            faults: where what it was asked is saved.
        """
        self._bot, self._client, self._report, self._tally = bot, client, report, tally
        self._slots = asyncio.Semaphore(threads)
        self._faults = faults

    async def move(self, mind: Mind, turn: Turn) -> str:
        """Return a legal move for a turn, before its clock runs out, whatever the bot does."""
        began = _now()
        seconds = turn["remaining_ms"] / 1000
        due = began + seconds - min(1.0, 0.1 + seconds / 10)
        try:
            async with asyncio.timeout_at(due):
                move = await self._think(mind, turn)
            self._tally.note_thought(_now() - began)
        except TimeoutError:
            took = f"no answer after {_now() - began:.1f} s, and the clock runs out"
            return self._fall_back(turn, BotFaultError("slow", took))
        except BotFaultError as fault:
            return self._fall_back(turn, fault)
        return move

    async def _think(self, mind: Mind, turn: Turn) -> str:
        info = await self._info(mind, turn)
        async with self._slots:
            # A copy, as the bot may change it, and the one saved is to be what it was asked.
            seen = json.loads(json.dumps(turn["observation"]))
            choose = mind.choose
            if choose is None:
                choose = await in_thread(self._bot, info)
            mind.choose = None  # one whose thread does not come back is not asked again
            try:
                answer = await in_thread(choose, seen)
            except BotFaultError:
                mind.choose = choose
                raise
            mind.choose = choose
            return checked(answer, turn["observation"])

    async def _info(self, mind: Mind, turn: Turn) -> MatchInfo:
        """Return the information for ``start``; without an answer in time, estimate its clock."""
        seen = turn["observation"]
        control = TimeControl(
            max(0.0, (turn["remaining_ms"] - turn["bank_ms"]) / 1000), turn["bank_ms"] / 1000
        )
        if self._bot.wants_info and mind.choose is None:
            with suppress(TimeoutError, LeagueError):
                async with asyncio.timeout(min(_INFO_SECONDS, turn["remaining_ms"] / 4000)):
                    match = await self._client.send(calls.match(turn["match"]))
                control = TimeControl(match["move_seconds"], match["bank_seconds"])
        return match_info(
            game=seen["game"],
            rules=seen["rules"],
            seats=seen["seats"],
            seat=turn["seat"],
            control=control,
        )

    def _fall_back(self, turn: Turn, fault: BotFaultError) -> str:
        """Report a fault and save its observation; return the move to play instead."""
        move: str = turn["observation"]["legal_moves"][0]
        self._tally.faults += 1
        facts = {
            "match": turn["match"],
            "turn": turn["turn"],
            "kind": fault.kind,
            "reason": str(fault),
            "played": move,
            **({"traceback": fault.traceback} if fault.traceback else {}),
        }
        saved = self._faults.save(
            {**facts, "observation": turn["observation"]},
            f"match{turn['match']}-turn{turn['turn']}",
        )
        text = (
            f"match {turn['match']}, turn {turn['turn']}: {fault.kind}: {fault}; "
            f"played {move!r}, the first legal move, instead; {saved.told}"
        )
        if fault.traceback:
            text = f"{fault.traceback.rstrip()}\n{text}"
        self._report("fault", text, **facts, saved=saved.path and str(saved.path))
        return move


def _now() -> float:
    return asyncio.get_running_loop().time()
