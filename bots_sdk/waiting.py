"""What a remote bot waits for, in a sentence, while its runner has nothing else to report."""

import asyncio
import time
from typing import Any

from bots_sdk import calls
from bots_sdk.client import AsyncClient, Retry
from bots_sdk.errors import LeagueError, ProblemError
from bots_sdk.invoking import typed
from bots_sdk.reports import Report, RunnerStatus
from engine.games.titles import counted

SILENT_SECONDS = 25.0
"""The longest time without a line, so that with a slow answer there is one every 30 s."""


class NotedReports:
    """Passes reports on, and notes when the last line for a person was printed.

    After the first turn that a move of another program decided, it adds the remedy.
    """

    def __init__(self, report: Report, name: str = "") -> None:
        self._report = report
        self._name = name
        self._has_rival = False
        self.last_at = time.monotonic()

    def __call__(self, event: str, text: str, /, **facts: Any) -> None:
        """Report an event."""
        if text:
            self.last_at = time.monotonic()
        self._report(event, text, **facts)
        is_rival = facts.get("code") == "turn-already-decided" and not facts.get("fault")
        if is_rival and not self._has_rival:
            self._has_rival = True
            self._report(
                "warning",
                typed(
                    "If another program runs with this bot's token, stop it. To end one that you "
                    "can't find, stop this program, get a new token with `twelfth-night bot token "
                    f"{self._name or 'NAME'}`, and start this program again."
                ),
            )


async def report_waiting(
    client: AsyncClient, name: str, report: NotedReports, status: RunnerStatus
) -> None:
    """Report what the bot waits for whenever there was no line for a while, until cancelled.

    Args:
        client: a client with the bot's token.
        name: the bot; empty if it is not known.
        report: receives the reports.
        status: the counts of the runner.
    """
    while True:
        wait = report.last_at + SILENT_SECONDS - time.monotonic()
        if wait > 0:
            await asyncio.sleep(wait)
            continue
        report("waiting", await _text(client, name, status), matches=status.matches)


async def _text(client: AsyncClient, name: str, status: RunnerStatus) -> str:
    if status.outage:
        return "still waiting for the league to answer"
    if status.matches:
        matches = counted(status.matches, "match")
        if status.turns:
            return f"{matches} in play; the bot is choosing its move"
        return f"{matches} in play; waiting for the other seats' moves"
    if not name:
        return "waiting for a match"
    try:
        return await _of_ladders(client, name)
    except LeagueError:
        return "waiting for a match"


async def _of_ladders(client: AsyncClient, name: str) -> str:
    if (await client.send(calls.bot(name)))["paused"]:
        return typed(
            f"{name} is paused and gets no new matches. `twelfth-night bot resume {name}` resumes "
            "it."
        )
    texts = []
    async for ladder in client.pages(calls.ladders()):
        try:
            entry = await client.send(calls.ladder_entry(ladder["slug"], name))
        except ProblemError as error:
            if error.code != "not-found":
                raise
            continue
        texts.append(f"waiting for a match on {ladder['slug']}: {entry['next_block']}")
    if not texts:
        enter = f"`twelfth-night enter LADDER {name}` enters it on one."
        return typed(f"{name} is on no ladder. {enter}")
    return " ".join(texts)


def waiting_client(url: str, token: str) -> AsyncClient:
    """Return a client whose calls fail soon: the runner reports outages itself."""
    return AsyncClient(url, token, retry=Retry(seconds=0.0))
