"""Remote bots play over real HTTP, with a real worker: bots that behave and bots that don't."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from tests.journeys.running import (
    SECONDS,
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
from tests.journeys.test_survival import TWO, check_all_is_whole, set_up

pytestmark = pytest.mark.timeout(600)

LADDERS = """
Ladder.objects.create(slug="strict", title="Strict", game="twelve-days", rules="eight-nights",
                      seats=3, move_seconds=4, bank_seconds=0)
Ladder.objects.bulk_create(
    Ladder(slug=f"other-{i}", title=f"Other {i}", game="twelve-days", rules="eight-nights",
           seats=3, paused=True, revision=2)
    for i in range(40)  # a worker has 32 threads at most
)
"""
"""The ladder of the bots that misbehave, and ladders whose recomputes hang."""


def test_two_tournaments_end_at_once_although_bots_misbehave_and_recomputes_hang(
    tmp_path: Path, own_database: dict[str, str]
) -> None:
    with league(tmp_path / "var", variables=own_database | TWO) as running:
        organiser = set_up(running, LADDERS)
        checks = (
            check_four_bots_play_a_tournament_whose_ladder_is_the_fold_of_its_records,
            check_bots_that_misbehave_harm_only_themselves,
        )
        played = threading.Barrier(len(checks) + 1)
        with ThreadPoolExecutor() as pool:
            with psycopg.connect(own_database["DATABASE_URL"]) as other:
                # A recompute of a corrected ladder waits for this lock; rounds do not.
                other.execute("LOCK TABLE league_revision IN ACCESS EXCLUSIVE MODE")
                running.manage("shell", "-c", "from league import tasks; tasks.check_ratings()")
                wait_for(lambda: hung(other) >= 2, running.log)
                checking = [pool.submit(check, running, organiser, played) for check in checks]
                for done in checking:
                    done.add_done_callback(lambda done: stop_waiting(done, played))
                with suppress(threading.BrokenBarrierError):
                    played.wait(SECONDS)
                    assert running.all("ladders/strict/standings")
                    assert hung(other) >= 2
            for done in checking:
                done.result()


def stop_waiting(done: Future[None], played: threading.Barrier) -> None:
    """After a check that has failed, let nobody wait for it."""
    if done.exception():
        played.abort()


def hung(other: psycopg.Connection[Any]) -> int:
    """Return how many recomputes wait for the lock."""
    found = other.execute(
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'league_revision'::regclass"
    ).fetchone()
    assert found is not None
    return int(found[0])


def check_four_bots_play_a_tournament_whose_ladder_is_the_fold_of_its_records(
    running: League, organiser: str, played: threading.Barrier
) -> None:
    """Play a tournament of complete matches, and fold its public records."""
    owners = {f"feste-{i}": sign_up(running, f"owner-{i}") for i in range(4)}
    bots = [remote_bot(running, owner, name) for name, owner in owners.items()]
    number = tournament(running, organiser, owners)
    assert wait_for_end(running, number)["state"] == "finished"
    played.wait(SECONDS)

    matches = running.all(f"matches?tournament={number}")
    assert [match["status"] for match in matches] == ["finished"] * 4
    assert not any(seat["faults"] for match in matches for seat in match["seating"])
    assert [(code, body) for bot in bots for code, body in bot.answers if code != 200] == []
    for match in matches:
        # Each seed was committed to before the first card; a remote block has a deal a match.
        assert match["deal_seed"] is not None
    assert len({match["deal_seed"] for match in matches}) == 4

    for bot in bots:
        bot.stop()
    rounds = "ladders/twelve-days/rounds"
    wait_for(lambda: all(row["applied_at"] for row in running.all(rounds)), running.log)
    shown = {row["bot"]: row["rating"] for row in running.all("ladders/twelve-days/standings")}
    assert shown.keys() >= owners.keys()
    assert shown == folded(running, "twelve-days")
    assert sum(shown.values()) == 1_500_000 * len(shown)
    wait_for(lambda: recompute_agrees(running, "twelve-days"), running.log)
    page = running.client.get(f"{running.address}/ladders/twelve-days/").text
    assert all(f"{rating / 1000:.0f}" in page for rating in shown.values())
    for bot in bots:
        bot.join(10)


def check_bots_that_misbehave_harm_only_themselves(
    running: League, organiser: str, played: threading.Barrier
) -> None:
    """Play a tournament on the ladder with strict clocks, with bots that break every rule."""
    owners = {
        name: sign_up(running, f"owner-of-{name}")
        for name in ("good", "nonsense", "twice", "silent")
    }
    good = remote_bot(running, owners["good"], "good")
    nonsense = remote_bot(running, owners["nonsense"], "nonsense", choose=lambda seen: "give up")
    twice = Repeater(running, "twice", bot_token(running, owners["twice"], "twice"))
    twice.start()
    silent = bot_token(running, owners["silent"], "silent")
    number = tournament(running, organiser, owners, ladder="strict")
    many = httpx.Client(
        base_url=running.client.base_url,
        timeout=60,
        verify=False,
        limits=httpx.Limits(max_connections=200),
    )
    polls = [Poll(many, silent) for _ in range(200)]
    for poll in polls:
        poll.start()

    assert wait_for_end(running, number, seconds=150)["state"] == "finished"
    played.wait(SECONDS)
    for bot in (good, nonsense, twice):
        bot.stop()
    matches = check_all_is_whole(running, number, [good, twice], "strict")
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
        self._two = [
            httpx.Client(base_url=running.client.base_url, timeout=40, verify=False)
            for _ in range(2)
        ]

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
