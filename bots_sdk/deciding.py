"""From a turn to a move: the bot's code runs in a thread, and the turn's clock never runs out.

If the bot raises an exception, returns an illegal move, or is still busy shortly before the
deadline, the runner plays its **first legal move**. It reports the fault and saves the
observation.
"""

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass

from bots_sdk import calls
from bots_sdk.answers import Turn
from bots_sdk.bot import BotFile, Choose, MatchInfo, match_info
from bots_sdk.choosing import BotFaultError, in_thread, legal_move
from bots_sdk.client import AsyncClient
from bots_sdk.errors import LeagueError
from bots_sdk.fault_files import FaultFiles
from bots_sdk.reports import Report, RunnerStatus
from engine.faults import fault_noun
from engine.referee import TimeControl

_MAX_INFO_SECONDS = 2.0


@dataclass(slots=True)
class MatchPlayer:
    """A bot in one match.

    Attributes:
        choose: the function that chooses moves; None before the first move, and after a move
            that took too long.
    """

    choose: Choose | None = None


class MoveChooser:
    """Chooses the moves of one bot in all its matches."""

    def __init__(
        self,
        bot: BotFile,
        client: AsyncClient,
        report: Report,
        status: RunnerStatus,
        *,
        threads: int,
        faults: FaultFiles,
    ) -> None:
        """Create a chooser.

        Args:
            bot: the bot.
            client: the client that gets the time control of a match for the bot's ``start``.
            report: receives the faults.
            status: the runner's counts of moves and faults.
            threads: the number of turns to compute in parallel.
            faults: the files for the observations of faults.
        """
        self._bot, self._client, self._report, self._status = bot, client, report, status
        self._slots = asyncio.Semaphore(threads)
        self._faults = faults

    async def move(self, player: MatchPlayer, turn: Turn) -> str:
        """Return a legal move before the turn's clock runs out, even if the bot fails or hangs."""
        began = _now()
        seconds = turn["remaining_ms"] / 1000
        deadline = began + seconds - min(1.0, 0.1 + seconds / 10)
        try:
            async with asyncio.timeout_at(deadline):
                move = await self._choose(player, turn)
            self._status.note_move(_now() - began)
        except TimeoutError:
            reason = f"it had no move after {_now() - began:.1f} s, shortly before the deadline"
            return self._fall_back(turn, BotFaultError("timeout", reason))
        except BotFaultError as fault:
            return self._fall_back(turn, fault)
        return move

    async def _choose(self, player: MatchPlayer, turn: Turn) -> str:
        info = await self._info(player, turn)
        async with self._slots:
            # A copy: the bot may change it, and the saved observation must be its input.
            observation = json.loads(json.dumps(turn["observation"]))
            choose = player.choose
            if choose is None:
                choose = await in_thread(self._bot, info)
            player.choose = None  # a thread that never returns is not used again
            try:
                answer = await in_thread(choose, observation)
            except BotFaultError:
                player.choose = choose
                raise
            player.choose = choose
            return legal_move(answer, turn["observation"])

    async def _info(self, player: MatchPlayer, turn: Turn) -> MatchInfo:
        """Return the argument of the bot's ``start``.

        If the league does not return the match in time, the time control comes from the turn.
        """
        clock = TimeControl(
            move_seconds=max(0.0, (turn["remaining_ms"] - turn["bank_ms"]) / 1000),
            bank_seconds=turn["bank_ms"] / 1000,
        )
        if self._bot.wants_info and player.choose is None:
            with suppress(TimeoutError, LeagueError):
                async with asyncio.timeout(min(_MAX_INFO_SECONDS, turn["remaining_ms"] / 4000)):
                    match = await self._client.send(calls.match(turn["match"]))
                clock = TimeControl(match["move_seconds"], match["bank_seconds"])
        seen = turn["observation"]
        return match_info(seen["game"], seen["rules"], seen["seats"], turn["seat"], clock)

    def _fall_back(self, turn: Turn, fault: BotFaultError) -> str:
        """Report a fault and save its observation; return the first legal move."""
        move: str = turn["observation"]["legal_moves"][0]
        self._status.faults += 1
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
            f"match {turn['match']}, turn {turn['turn']}: "
            f"{fault_noun(fault.kind)}: {str(fault).removesuffix('.')}. "
            f"This program plays {move!r}, the first legal move, instead. {saved.note}"
        )
        if fault.traceback:
            text = f"{fault.traceback.rstrip()}\n{text}"
        self._report("fault", text, **facts, saved=saved.path and str(saved.path))
        return move


def _now() -> float:
    return asyncio.get_running_loop().time()
