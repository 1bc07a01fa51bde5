"""Remote bots that answer at once, with a list of the moves that the league has accepted."""

import asyncio
import json
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import httpx

from benchmarks.killing.league import League
from bots_sdk.bot_files import load
from bots_sdk.runner import Runner

COUNT = 4
LADDERS = ("twelve-days", "partridge")
RANDOM_BOT = """
import random

def choose(observation):
    return random.choice(observation["legal_moves"])
"""


class Bots:
    """Remote bots in play, each under a runner of the SDK in a thread.

    Attributes:
        names: of the bots.
        moves: the accepted move by match, bot and turn.
        problems: what should not have happened.

    Args:
        league: where they play.
        url: the address that they use; by default that of the league.
    """

    def __init__(self, league: League, url: str = "") -> None:
        self.names = [f"remote-{number}" for number in range(COUNT)]
        self.moves: dict[tuple[int, str, int], str] = {}
        self.problems: list[str] = []
        self._events: Counter[str] = Counter()
        self._directory = tempfile.TemporaryDirectory(prefix="kills-bots-")
        self._stops: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        file = Path(self._directory.name) / "bot.py"
        file.write_text(RANDOM_BOT)
        self._threads = [
            threading.Thread(
                target=self._run,
                args=[url or league.url, name, _enter(league, name), file],
                daemon=True,
            )
            for name in self.names
        ]
        for thread in self._threads:
            thread.start()

    def _run(self, url: str, name: str, token: str, file: Path) -> None:
        try:
            asyncio.run(self._play(url, name, token, file))
        except Exception as error:
            self.problems.append(f"the runner of {name} ended: {error!r}")

    async def _play(self, url: str, name: str, token: str, file: Path) -> None:
        def report(event: str, text: str, /, **facts: Any) -> None:
            self._events[event] += 1
            if event == "move":
                self._note(name, **facts)
            elif event in ("fault", "void") or facts.get("code") == "turn-expired":
                self.problems.append(f"{name}: {event}: {text}")

        stop = asyncio.Event()
        self._stops.append((asyncio.get_running_loop(), stop))
        faults = Path(self._directory.name) / "faults"
        await Runner(load(file), url, token, report, threads=1, faults=faults).run(stop)

    def _note(self, name: str, match: int, turn: int, move: str) -> None:
        known = self.moves.setdefault((match, name, turn), move)
        if known != move:
            self.problems.append(f"{name}: match {match}, turn {turn}: {known} and {move} accepted")

    def counts(self) -> dict[str, int]:
        """Return the number of accepted moves, and of the events of all runners."""
        return {"accepted": len(self.moves), **dict(sorted(self._events.items()))}

    def save(self, path: Path) -> None:
        """Write the accepted moves to a file."""
        path.write_text(json.dumps([[*key, move] for key, move in self.moves.items()]))

    def stop(self) -> None:
        """Stop all runners."""
        for loop, stop in self._stops:
            if not loop.is_closed():
                loop.call_soon_threadsafe(stop.set)
        for thread in self._threads:
            thread.join(30)
        self._directory.cleanup()


def _enter(league: League, name: str) -> str:
    """Create a remote bot with its own owner, enter it on the ladders; return its token."""
    with httpx.Client(base_url=f"{league.url}/api/v1/", timeout=30) as client:
        account = {"username": f"owner-of-{name}", "password": "four calling birds"}
        owner = client.post("accounts", json=account).raise_for_status().json()["token"]
        client.headers["Authorization"] = f"Bearer {owner}"
        bot = client.post("bots", json={"name": name, "kind": "remote"}).raise_for_status().json()
        for ladder in LADDERS:
            client.put(f"ladders/{ladder}/entries/{name}").raise_for_status()
        return str(bot["token"])
