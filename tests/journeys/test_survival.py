"""The league survives killed parts and restarted servers. Nothing is lost."""

import os
import signal
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from devserver.servers import Servers, local_servers
from tests.journeys.running import (
    League,
    RemoteBot,
    folded,
    league,
    remote_bot,
    sign_up,
    tournament,
    wait_for,
    wait_for_end,
)

pytestmark = pytest.mark.timeout(240)

SET_UP = """
from league.models import Ladder
Ladder.objects.update(paused=True)
Ladder.objects.create(slug="quick", title="Quick", game="twelve-days", rules="eight-nights",
                      seats=3, move_seconds=10, bank_seconds=60)
"""


TWO = {"HOUSE_BOTS": "house-random,house-thumb"}


def set_up(running: League, more: str = "") -> str:
    """Make a ladder of short matches, the only one that plays; return an organiser's token."""
    running.manage("shell", "-c", SET_UP + more)
    organiser = sign_up(running, "olivia")
    running.manage("make_organiser", "olivia")
    return organiser


def kill(running: League, part: str) -> None:
    """End a part with all its processes as a crash would."""
    os.killpg(running.part(part), signal.SIGKILL)


def finished(running: League, number: int) -> int:
    """Return how many matches of a tournament are over; 0 while nobody answers."""
    try:
        found = running.client.get(f"matches?tournament={number}&status=finished&limit=200")
    except httpx.HTTPError:
        return 0
    return len(found.json()["results"]) if found.status_code == 200 else 0


def check_all_is_whole(
    running: League, number: int, bots: list[RemoteBot], ladder: str = "quick"
) -> list[Any]:
    """Check that nothing is stuck, lost or rated twice; return the matches."""
    matches: list[Any] = running.all(f"matches?tournament={number}")
    assert {match["status"] for match in matches} == {"finished"}
    records = {}
    for match in matches:
        record = running.get(f"matches/{match['id']}/record")
        own: dict[str, list[str]] = {seat["bot"]: [] for seat in match["seating"]}
        for seat, text in record["moves"]:
            own[match["seating"][seat]["bot"]].append(text)
        records[match["id"]] = own
    for bot in bots:
        for match_id, _, move in bot.moves:
            # What was accepted is in the record, and once: it is taken out.
            records[match_id][bot.name].remove(move)
    shown = {row["bot"]: row["rating"] for row in running.all(f"ladders/{ladder}/standings")}
    assert shown == folded(running, ladder)
    assert sum(shown.values()) == 1_500_000 * len(shown)
    assert "0 differ" in running.manage("recompute", ladder)
    return matches


class Server:
    """PostgreSQL or Valkey, that a test may restart; Valkey forgets all when it is."""

    def __init__(self, directory: Path, **elsewhere: Any) -> None:
        self._start = partial(local_servers, directory, **elsewhere)
        self._running = ExitStack()

    def __enter__(self) -> Servers:
        return self._running.enter_context(self._start())

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def restart(self) -> None:
        """Stop it and start it again."""
        self._running.close()
        self._running.enter_context(self._start())


def thoughtful(seen: Any) -> str:
    """Take a little time, so that there is a middle in which to kill."""
    time.sleep(0.01)
    moves: list[str] = seen["legal_moves"]
    return moves[len(moves) // 2]


def test_a_tournament_is_played_to_its_end_although_processes_are_killed(tmp_path: Path) -> None:
    postgres = Server(tmp_path / "postgres", redis_url="redis://nowhere")
    valkey = Server(tmp_path / "valkey", database_url="postgresql://nowhere")
    with postgres as database, valkey as broker:
        variables = TWO | {"DATABASE_URL": database.database_url, "REDIS_URL": broker.redis_url}
        with league(tmp_path / "var", variables=variables) as running:
            survive(running, postgres, valkey)


def survive(running: League, postgres: Server, valkey: Server) -> None:
    organiser = set_up(running)
    owners = {f"feste-{i}": sign_up(running, f"owner-{i}") for i in range(2)}
    bots = [remote_bot(running, owner, name, choose=thoughtful) for name, owner in owners.items()]
    number = tournament(running, organiser, owners, ladder="quick", house_bots=True)
    wait_for(lambda: finished(running, number) >= 1, running.log)

    kill(running, "clock@")
    kill(running, "seats@")
    kill(running, "play@")
    kill(running, "uvicorn")
    wait_for(lambda: finished(running, number) >= 2, running.log)
    kill(running, "granian")
    wait_for(lambda: finished(running, number) >= 3, running.log)
    valkey.restart()
    wait_for(lambda: finished(running, number) >= 4, running.log)
    kill(running, "caddy")
    postgres.restart()

    assert wait_for_end(running, number, seconds=150)["state"] == "finished"
    for bot in bots:
        bot.stop()
    matches = check_all_is_whole(running, number, bots)
    assert not any(seat["faults"] for match in matches for seat in match["seating"])
    assert any(bot.outages for bot in bots)
    for problem in (each for bot in bots for each in bot.problems):
        assert problem.headers["Content-Type"] == "application/problem+json"
        assert (problem.status_code, problem.json()["code"]) == (503, "unavailable")
        assert int(problem.headers["Retry-After"]) <= 5
    for bot in bots:
        bot.join(30)
