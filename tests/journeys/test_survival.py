"""What must survive: parts killed, servers restarted, bots that misbehave. Nothing is lost."""

import os
import signal
import threading
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
                      seats=3, move_seconds={move}, bank_seconds={bank})
"""


TWO = {"HOUSE_BOTS": "house-random,house-thumb"}


def set_up(running: League, move: float, bank: float) -> str:
    """Make a ladder of short matches, the only one that plays; return an organiser's token."""
    running.manage("shell", "-c", SET_UP.format(move=move, bank=bank))
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


def check_all_is_whole(running: League, number: int, bots: list[RemoteBot]) -> list[Any]:
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
    shown = {row["bot"]: row["rating"] for row in running.all("ladders/quick/standings")}
    assert shown == folded(running, "quick")
    assert sum(shown.values()) == 1_500_000 * len(shown)
    assert "0 differ" in running.manage("recompute", "quick")
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
    organiser = set_up(running, move=10, bank=60)
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


def test_bots_that_misbehave_harm_nobody_but_themselves(
    tmp_path: Path, own_database: dict[str, str]
) -> None:
    with league(tmp_path / "var", variables=own_database | TWO) as running:
        organiser = set_up(running, move=4, bank=0)
        owners = {
            name: sign_up(running, f"owner-of-{name}")
            for name in ("good", "nonsense", "twice", "silent")
        }
        good = remote_bot(running, owners["good"], "good")
        nonsense = remote_bot(
            running, owners["nonsense"], "nonsense", choose=lambda seen: "give up"
        )
        twice = Repeater(running, "twice", bot_token(running, owners["twice"], "twice"))
        twice.start()
        silent = bot_token(running, owners["silent"], "silent")
        number = tournament(running, organiser, owners, ladder="quick")
        many = httpx.Client(
            base_url=running.client.base_url, timeout=60, limits=httpx.Limits(max_connections=200)
        )
        polls = [Poll(many, silent) for _ in range(200)]
        for poll in polls:
            poll.start()

        assert wait_for_end(running, number, seconds=150)["state"] == "finished"
        for bot in (good, nonsense, twice):
            bot.stop()
        matches = check_all_is_whole(running, number, [good, twice])
        faults = {name: [0, 0, 0] for name in owners}
        for match in matches:
            for seat in match["seating"]:
                counts = faults[seat["bot"]]
                counts[0] += 1
                counts[1] += seat["faults"] > 0
                counts[2] += seat["forfeited"]
        # A block of four bots by threes is three tables each, of three matches.
        assert faults["good"] == faults["twice"] == [9, 0, 0]
        assert faults["nonsense"] == faults["silent"] == [9, 9, 9]
        assert {code for code, _ in good.answers} == {200}
        assert (422, "illegal-move") in nonsense.answers
        # Of two parallel moves the second is refused, or repeats the verdict if both are equal.
        assert set(twice.seconds) <= {(200, ""), (409, "turn-already-decided")}
        assert len(twice.seconds) == len(twice.moves)
        # A body of 10 MB, a body that is not JSON, and a late move are refused.
        assert twice.refused == {413, 400}
        missed = next(
            match for match in matches if "silent" in [seat["bot"] for seat in match["seating"]]
        )
        late = running.client.post(
            f"matches/{missed['id']}/moves",
            json={"turn": 0, "move": "give 1"},
            headers={"Authorization": f"Bearer {silent}"},
        )
        assert (late.status_code, late.json()["code"]) == (409, "turn-expired")
        for poll in polls:
            poll.join(60)
        many.close()
        assert {poll.status for poll in polls} <= {200, 429}
        for bot in (good, nonsense, twice):
            bot.join(30)
        twice.close()


def bot_token(running: League, owner: str, name: str) -> str:
    token: str = running.post("bots", owner, name=name, kind="remote")["token"]
    return token


class Poll(threading.Thread):
    """A long poll that is held open and whose turns nobody plays."""

    def __init__(self, client: httpx.Client, token: str) -> None:
        super().__init__(daemon=True)
        self._client, self._token = client, token
        self.status = 0

    def run(self) -> None:
        headers = {"Authorization": f"Bearer {self._token}"}
        self.status = self._client.get("turns?wait=30", headers=headers).status_code


class Repeater(RemoteBot):
    """Sends each move twice at the same instant on two connections, and rubbish before it."""

    def __init__(self, running: League, name: str, token: str) -> None:
        super().__init__(running, name, token)
        self.seconds: list[tuple[int, str]] = []
        self.refused: set[int] = set()
        self._two = [httpx.Client(base_url=running.client.base_url, timeout=40) for _ in range(2)]

    def close(self) -> None:
        for client in self._two:
            client.close()

    def send(self, client: httpx.Client, path: str, turn: int, move: str) -> httpx.Response:
        for rubbish in (b"x" * 10_000_000, b'{"turn": 0, "move'):
            if not self.answers:
                refused = client.post(path, content=rubbish, headers=self.headers | JSON)
                self.refused.add(refused.status_code)
        both: list[httpx.Response] = []
        gate = threading.Barrier(2)

        def go(own: httpx.Client) -> None:
            gate.wait()
            both.append(super(Repeater, self).send(own, path, turn, move))

        threads = [threading.Thread(target=go, args=[own]) for own in self._two]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        first, second = sorted(both, key=lambda answer: answer.status_code)
        self.seconds.append((second.status_code, second.json().get("code", "")))
        return first


JSON = {"Content-Type": "application/json"}
