"""Answers of the league that overtake each other reach the runner."""

import asyncio
from pathlib import Path
from typing import Any

from bots_sdk.answers import MatchMove, Turn, Verdict
from bots_sdk.bot_files import load
from bots_sdk.runner import Runner

LAST = "def choose(observation): return observation['legal_moves'][-1]"


def a_turn(number: int, *legal_moves: str) -> Turn:
    """Return a turn in match 1."""
    return {
        "match": 1,
        "seat": 0,
        "turn": number,
        "deadline": "2026-12-25T00:00:00.000Z",
        "remaining_ms": 30_000,
        "bank_ms": 0,
        "observation": {
            "game": "twelve-days",
            "rules": "calliope",
            "seats": 4,
            "legal_moves": list(legal_moves),
        },
    }


class RunnerByHand:
    """A runner whose calls a test answers in its own order."""

    def __init__(self, path: Path, source: str = LAST) -> None:
        path.joinpath("mybot.py").write_text(source)
        self.reported: list[tuple[str, dict[str, Any]]] = []
        self.runner = Runner(
            load(path / "mybot.py"),
            "http://127.0.0.1:9",
            "t",
            lambda event, text, /, **facts: self.reported.append((event, facts)),
            faults=path / "faults",
        )

    def receive(self, turn: Turn) -> None:
        """Answer a call that was sent now with this open turn."""
        self.runner._take([turn], asyncio.get_running_loop().time())

    async def chosen(self, number: int) -> MatchMove:
        """Return the move in a turn when it is to be sent."""
        async with asyncio.timeout(10):
            while [move["turn"] for move in self.runner._outbox.values()] != [number]:
                await asyncio.sleep(0.005)
        return self.runner._outbox[1]

    async def two_chosen(self) -> tuple[MatchMove, MatchMove]:
        """Return the move in turn 7, whose verdict is late, and the one in turn 8."""
        self.receive(a_turn(7, "play 3", "play 9"))
        seventh = await self.chosen(7)
        self.receive(a_turn(8, "give 0", "give 5"))
        return seventh, await self.chosen(8)

    def accept(self, move: MatchMove) -> None:
        """Answer the call that made a move."""
        verdict: Verdict = {"match": 1, "turn": move["turn"], "status": "accepted"}
        self.runner._settle(move, verdict)


def test_a_verdict_that_the_next_turn_overtakes_removes_no_newer_move(tmp_path: Path) -> None:
    async def main() -> None:
        bot = RunnerByHand(tmp_path)
        seventh, eighth = await bot.two_chosen()
        bot.accept(seventh)
        assert bot.runner._outbox == {1: eighth}
        assert eighth["move"] == "give 5"
        assert [facts["move"] for event, facts in bot.reported if event == "move"] == ["play 9"]

    asyncio.run(main())


def waiting_bot(first_move: str, go_on: Path) -> str:
    """Return a bot that waits for a file in turns with this first legal move."""
    return f"""
import pathlib, time
def start(info):
    return Bot()
class Bot:
    def choose(self, observation):
        may_go_on = pathlib.Path({str(go_on)!r}).exists
        while observation["legal_moves"][0] == {first_move!r} and not may_go_on():
            time.sleep(0.005)
        return observation["legal_moves"][-1]
"""


def test_a_turn_in_hand_stays_in_hand_when_an_older_verdict_arrives(tmp_path: Path) -> None:
    go_on = tmp_path / "go-on"

    async def main() -> None:
        bot = RunnerByHand(tmp_path, waiting_bot("give 0", go_on))
        bot.receive(a_turn(7, "play 3", "play 9"))
        seventh = await bot.chosen(7)
        bot.receive(a_turn(8, "give 0", "give 5"))
        bot.accept(seventh)  # while the bot chooses a move in turn 8
        await asyncio.sleep(0)
        bot.receive(a_turn(8, "give 0", "give 5"))
        assert len(bot.runner._choosing) == 1
        go_on.touch()
        bot.accept(await bot.chosen(8))
        moves = [facts["move"] for event, facts in bot.reported if event == "move"]
        assert moves == ["play 9", "give 5"]

    asyncio.run(main())


def test_an_illegal_move_in_a_closed_turn_changes_no_newer_move(tmp_path: Path) -> None:
    async def main() -> None:
        bot = RunnerByHand(tmp_path)
        seventh, eighth = await bot.two_chosen()
        bot.runner._settle(
            seventh,
            {
                "match": 1,
                "turn": 7,
                "status": 400,
                "code": "illegal-move",
                "answers_left": 3,
                "legal_moves": ["play 3"],
            },
        )
        assert bot.runner._outbox == {1: eighth}
        [(_, facts)] = [each for each in bot.reported if each[0] == "refused"]
        assert (facts["turn"], facts["code"]) == (7, "illegal-move")

    asyncio.run(main())


def test_a_move_in_a_turn_that_the_league_has_closed_is_not_sent(tmp_path: Path) -> None:
    go_on = tmp_path / "go-on"

    async def main() -> None:
        bot = RunnerByHand(tmp_path, waiting_bot("play 3", go_on))
        bot.receive(a_turn(7, "play 3", "play 9"))
        bot.receive(a_turn(8, "give 0", "give 5"))  # turn 7 has expired
        eighth = await bot.chosen(8)
        go_on.touch()
        await asyncio.gather(*bot.runner._choosing)
        assert bot.runner._outbox == {1: eighth}
        assert eighth["move"] == "give 5"
        [(_, facts)] = [each for each in bot.reported if each[0] == "refused"]
        assert (facts["turn"], bot.runner.status.lost) == (7, 1)

    asyncio.run(main())
