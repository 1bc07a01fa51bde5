"""The league survives killed parts and restarted servers. Nothing is lost."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.journeys.running import (
    League,
    RemoteBot,
    folded,
    league,
    recompute_agrees,
    remote_bot,
    sign_up,
    tournament,
    wait_for,
    wait_for_end,
)

pytestmark = pytest.mark.timeout(600)

SET_UP = """
from league.models import Ladder
Ladder.objects.update(paused=True)
Ladder.objects.create(slug="quick", title="Quick", game="twelve-days", rules="eight-nights",
                      seats=3, move_seconds=10, bank_seconds=60)
"""

MAKE_ORGANISER = """
from django.core.management import call_command
call_command("make_organiser", "olivia")
"""

PARTS = 8
"""The parts that use a server: web, gateway, play, clock, seats, checks, ratings and beat."""
TWO = {"HOUSE_BOTS": "house-random,house-thumb"}


def set_up(running: League, more: str = "") -> str:
    """Make a ladder of short matches, the only one that plays; return an organiser's token."""
    organiser = sign_up(running, "olivia")
    # In one process, as a start takes a second of CPU time. The blocks of docs/moderation.md run
    # the command alone.
    running.manage("shell", "-c", SET_UP + more + MAKE_ORGANISER)
    return organiser


def kill(running: League, part: str) -> None:
    """End a part with all its processes as a crash would."""
    os.killpg(running.part(part), signal.SIGKILL)


def child_of(pid: int) -> int:
    """Return the pid of a child of a process."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    return int(wait_for(lambda: children.read_text().split())[0])


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
        accepted: dict[tuple[int, int], str] = {}
        for match_id, turn, move in bot.moves:
            # A turn whose answer came twice is one move.
            assert accepted.setdefault((match_id, turn), move) == move
        for (match_id, turn), move in accepted.items():
            # What was accepted is in the record, and once: it is taken out.
            left = records[match_id][bot.name]
            assert move in left, (bot.name, match_id, turn, move, left, bot.moves)
            left.remove(move)
    shown = {row["bot"]: row["rating"] for row in running.all(f"ladders/{ladder}/standings")}
    assert shown == folded(running, ladder)
    assert sum(shown.values()) == 1_500_000 * len(shown)
    wait_for(lambda: recompute_agrees(running, ladder), running.log)
    return matches


def thoughtful(seen: Any) -> str:
    """Take a little time, so that there is a middle in which to kill."""
    time.sleep(0.01)
    moves: list[str] = seen["legal_moves"]
    return moves[len(moves) // 2]


def test_a_tournament_is_played_to_its_end_although_processes_are_killed(tmp_path: Path) -> None:
    with league(tmp_path / "var", variables=TWO) as running:
        survive(running)
        assert log_lines(running, "the broker does not answer") <= PARTS
        assert log_lines(running, "the database does not answer") <= PARTS


def log_lines(running: League, text: str) -> int:
    return running.whole_log().count(text)


def survive(running: League) -> None:
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
    web = running.part("granian")
    os.kill(child_of(web), signal.SIGKILL)
    wait_for(lambda: finished(running, number) >= 3, running.log)
    assert running.part("granian") == web  # it has replaced the worker
    kill(running, "granian")
    kill(running, "valkey-server")
    wait_for(lambda: finished(running, number) >= 4, running.log)
    kill(running, "caddy")
    os.kill(running.part("postgres -D"), signal.SIGKILL)

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
