"""Moves in groups: what shares statements, what delays nobody, and what a failure leaves behind."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import httpx
import pytest
from django.utils import timezone
from pytest_django import Settings

from api.play.connections import LoopConnections
from api.play.move_queue import ALONE, GROUPS
from league import accounts, play
from league.models import Bot, LiveMove, Match, Turn
from league.play import moves as moves_module
from league.play import statements, writing
from league.play.statements import Run
from league.play.writing import Wake
from tests import logs
from tests.api.conftest import assert_problem
from tests.api.play.sites import (
    SOON,
    Site,
    await_true,
    first_moves,
    gateway_process,
    move_of,
    open_match,
    served,
)
from tests.league.play.live import play_on, remote_bots

pytestmark = pytest.mark.django_db(transaction=True)


class Gate:
    """Holds groups of moves until it opens.

    Attributes:
        groups: the number of moves of each group that came to the gate.
    """

    def __init__(self) -> None:
        self.groups: list[int] = []
        self._open = threading.Event()
        self._submit_group = play.submit_group

    async def submit_group(
        self, received: Sequence[play.ReceivedMove], now: datetime, run: Run, wake: Wake
    ) -> list[play.Answer | None]:
        self.groups.append(len(received))
        assert await asyncio.to_thread(self._open.wait, 20)
        return await self._submit_group(received, now, run, wake)

    def has(self, groups: int) -> bool:
        return len(self.groups) == groups

    def open(self) -> None:
        self._open.set()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    gate = Gate()
    monkeypatch.setattr(play, "submit_group", gate.submit_group)
    yield gate
    gate.open()


Held = list[Future[httpx.Response]]


def hold_all_groups(
    site: Site, gate: Gate, sent: list[tuple[str, dict[str, Any]]], bot: Bot
) -> Held:
    """Send a move for each group that can run at a time; the gate holds them."""
    held = []
    for number in range(GROUPS):
        held.append(site.start_post(*sent.pop(), bot.name))
        await_true(partial(gate.has, number + 1))
    return held


def await_waiting(site: Site, moves: int) -> None:
    """Wait until some moves wait for the groups that the gate holds."""
    await_true(lambda: len(site.queue._groups) == moves)


def test_moves_that_come_while_a_statement_runs_share_the_next_one(
    site: Site, bots: list[Bot], gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = first_moves(bots, GROUPS + 5)
    statements_run: list[str] = []
    real = LoopConnections._run

    async def run(connections: LoopConnections, prepared: Any, statement: str, values: Any) -> Any:
        statements_run.append(statement)
        return await real(connections, prepared, statement, values)

    monkeypatch.setattr(LoopConnections, "_run", run)
    held = hold_all_groups(site, gate, sent, bots[0])
    together = [site.start_post(*each, bots[0].name) for each in sent]
    await_waiting(site, 5)
    gate.open()
    assert [each.result(SOON).json()["status"] for each in held + together] == ["accepted"] * 7
    assert gate.groups[:GROUPS] == [1] * GROUPS
    assert sum(gate.groups) == GROUPS + 5
    assert max(gate.groups) == 5
    assert statements_run.count(statements.READ) == len(gate.groups)
    assert statements_run.count(statements.WRITE) == len(gate.groups)
    assert len(site.queue) == 0


@pytest.fixture
def lock(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """An event without which no match is changed under its lock."""
    free, real = threading.Event(), writing._change_under_lock

    def change(*args: Any) -> Any:
        assert free.wait(20)
        return real(*args)

    monkeypatch.setattr(writing, "_change_under_lock", change)
    yield free
    free.set()


def test_an_illegal_move_delays_no_move_of_its_group(
    site: Site, bots: list[Bot], gate: Gate, lock: threading.Event
) -> None:
    sent = first_moves(bots, GROUPS + 2)
    held = hold_all_groups(site, gate, sent, bots[0])
    (path, body), plain = sent
    illegal = site.start_post(path, {**body, "move": "give 99"}, bots[0].name)
    together = site.start_post(*plain, bots[0].name)
    await_waiting(site, 2)
    gate.open()
    assert all(each.result(SOON).status_code == 200 for each in [*held, together])
    assert gate.groups[-1] == 2
    assert not illegal.done()
    lock.set()
    assert_problem(illegal.result(SOON), 422, "illegal-move")


def test_a_move_that_fails_fails_alone(
    site: Site, bots: list[Bot], gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = first_moves(bots, GROUPS + 2)
    held = hold_all_groups(site, gate, sent, bots[0])
    decide: Callable[..., Any] = moves_module.decide

    def fail_for_one(bot: Bot, move: play.Move, *args: Any) -> Any:
        if f"matches/{move.match_id}/moves" == sent[0][0]:
            raise RuntimeError("a defect")
        return decide(bot, move, *args)

    monkeypatch.setattr(moves_module, "decide", fail_for_one)
    failing, together = [site.start_post(*each, bots[0].name) for each in sent]
    await_waiting(site, 2)
    gate.open()
    assert all(each.result(SOON).status_code == 200 for each in [*held, together])
    assert gate.groups[-1] == 2
    with logs.captured():
        assert_problem(failing.result(SOON), 500, "internal-error")


def test_a_group_that_cannot_be_read_fails_only_the_move_that_breaks_it(
    site: Site, bots: list[Bot], gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = first_moves(bots, GROUPS + 2)
    held = hold_all_groups(site, gate, sent, bots[0])
    broken = int(sent[0][0].split("/")[1])
    real = writing._live_matches

    def read(snapshots: Any, *others: Any) -> Any:
        if broken in snapshots:
            raise KeyError("a move that no game knows")
        return real(snapshots, *others)

    monkeypatch.setattr(writing, "_live_matches", read)
    failing, together = [site.start_post(*each, bots[0].name) for each in sent]
    await_waiting(site, 2)
    gate.open()
    assert all(each.result(SOON).status_code == 200 for each in [*held, together])
    assert_problem(failing.result(SOON), 500, "internal-error")


def test_moves_that_end_their_matches_delay_no_other_move(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    finishing, free, real = threading.Semaphore(0), threading.Event(), writing._finish

    def finish(*args: Any) -> None:
        finishing.release()
        assert free.wait(20)
        real(*args)

    tables = [remote_bots(3) for _ in range(ALONE)]
    matches = [open_match(bots) for bots in tables]
    ends: list[tuple[Bot, dict[str, Any]]] = []
    for bots in tables:
        last = play_up_to_the_end(bots)
        ends.append(last)
    others = remote_bots(3)
    [(path, body)] = first_moves(others, 1)
    monkeypatch.setattr(writing, "_finish", finish)
    ending = [
        site.start_post(f"matches/{turn['match']}/moves", move_of(turn), bot.name)
        for bot, turn in ends
    ]
    for _ in ending:
        assert finishing.acquire(timeout=20)
    assert site.post(path, body, token=others[0].name).status_code == 200
    assert not any(each.done() for each in ending)
    free.set()
    assert all(each.result(SOON).status_code == 200 for each in ending)
    assert {Match.objects.get(pk=match.pk).status for match in matches} == {"finished"}


class EndsError(Exception):
    """The match would be over."""


def play_up_to_the_end(bots: list[Bot]) -> tuple[Bot, dict[str, Any]]:
    """Play the match of bots up to the move that ends it; return that move's bot and turn."""

    def refuse(*_: Any) -> NoReturn:
        raise EndsError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "_finish", refuse)
        with pytest.raises(EndsError):
            play_on(bots, timezone.now())
    [last] = [(bot, turn) for bot in bots for turn in play.open_turns(bot, timezone.now())]
    return last


def test_moves_of_one_match_are_decided_in_their_order(
    site: Site, bots: list[Bot], gate: Gate
) -> None:
    [(path, body)] = first_moves(bots, 1)
    first = site.start_post(path, body, bots[0].name)
    await_true(lambda: gate.groups == [1])
    again = [site.start_post(path, body, bots[0].name) for _ in range(3)]
    await_true(lambda: len(site.queue) == 4)
    gate.open()
    answers = [each.result(SOON).json() for each in [first, *again]]
    assert answers == [answers[0]] * 4
    assert gate.groups == [1] * 4
    assert LiveMove.objects.count() == 1


def test_a_request_with_moves_in_a_match_in_use_waits_for_that_match_only(
    site: Site, bots: list[Bot], gate: Gate
) -> None:
    sent = first_moves(bots, 2)
    moves = [{"match": int(path.split("/")[1]), **body} for path, body in sent]
    first = site.start_post(*sent[0], bots[0].name)
    await_true(lambda: gate.groups == [1])
    batch = site.start_post("moves", {"moves": [*moves, moves[1]]}, bots[0].name)
    await_true(lambda: gate.groups == [1, 1])
    gate.open()
    assert first.result(SOON).status_code == 200
    answer = batch.result(SOON).json()
    assert [verdict["status"] for verdict in answer["verdicts"]] == ["accepted"] * 3
    assert answer["turns"] == []


def test_a_full_queue_is_a_problem_and_no_stall(
    site: Site, bots: list[Bot], gate: Gate, settings: Settings
) -> None:
    settings.MAX_QUEUED_MOVES = 3
    sent = first_moves(bots, 2)
    held = [site.start_post(*each, bots[0].name) for each in sent]
    await_true(lambda: len(site.queue) == 2)
    two = {"moves": [{"match": 1, "turn": 0, "move": "give 1"}] * 2}
    refused = assert_problem(site.post("moves", two, token=bots[1].name), 503, "busy")
    assert refused["title"].startswith("The league is busy")
    settings.MAX_QUEUED_MOVES = 2
    answer = site.post(*sent[0], token=bots[1].name)
    assert_problem(answer, 503, "busy")
    assert answer.headers["Retry-After"] == "1"
    gate.open()
    assert all(each.result(SOON).status_code == 200 for each in held)
    assert site.post("moves", {"moves": []}, token=bots[1].name).status_code == 200


def test_an_address_with_its_share_of_a_full_queue_leaves_room_for_bots_that_play(
    gate: Gate, settings: Settings
) -> None:
    settings.MAX_QUEUED_MOVES, settings.FAIR_QUEUED_MOVES = 8, 2
    bots = remote_bots(3)
    tokens = [accounts.new_bot_token(bot) for bot in bots]
    with served(accounts.find_tokens) as site:
        for token in tokens[:2]:
            assert site.get(token).status_code == 200
        sent = first_moves(bots, 6)
        held = [site.start_post(*each, tokens[0]) for each in sent]
        await_true(lambda: len(site.queue) == 6)
        for token in ("tn_b_forged", tokens[2]):
            refused = site.post("moves", {"moves": []}, token=token)
            problem = assert_problem(refused, 429, "too-many-at-once")
            assert "at least 2 moves from your IP address" in problem["detail"]
            assert refused.headers["Retry-After"] == "1"
        assert site.post("moves", {"moves": []}, token=tokens[1]).status_code == 200
        other = {"X-Forwarded-For": "203.0.113.5"}
        answer = site.call("POST", "moves", {"moves": []}, tokens[2], **other)
        assert answer.status_code == 200
        gate.open()
        assert all(each.result(SOON).status_code == 200 for each in held)


def test_a_gateway_that_stops_answers_the_moves_under_way(bots: list[Bot], gate: Gate) -> None:
    [(path, body)] = first_moves(bots, 1)
    with served() as site:
        sent = site.start_post(path, body, bots[0].name)
        await_true(lambda: gate.groups == [1])
        site.server.should_exit = True
        await_true(lambda: not site.server.servers[0].is_serving())
        gate.open()
        assert sent.result(SOON).json()["status"] == "accepted"


def test_a_gateway_that_cannot_wait_for_a_move_answers_with_a_problem(
    bots: list[Bot], gate: Gate
) -> None:
    [(path, body)] = first_moves(bots, 1)
    with served() as site:
        sent = site.start_post(path, body, bots[0].name)
        await_true(lambda: gate.groups == [1])
        site.server.should_exit = True
        assert_problem(sent.result(20), 503, "unavailable")
        gate.open()
    with served() as site:
        assert site.post(path, body, token=bots[0].name).json()["status"] == "accepted"
    assert LiveMove.objects.count() == 1


def test_a_move_repeated_after_a_crash_between_commit_and_answer_gets_its_first_answer(
    bots: list[Bot], tmp_path: Path
) -> None:
    token = accounts.new_bot_token(bots[0])
    [(path, body)] = first_moves(bots, 1)
    with gateway_process(tmp_path, "tests.api.play.crashing:application") as crashing:
        headers = {"Authorization": f"Bearer {token}"}
        with pytest.raises(httpx.RemoteProtocolError):
            crashing.client.post(f"/{path}", json=body, headers=headers, timeout=60)
        crashing.process.wait(20)
    decided = Turn.objects.get(bot=bots[0])
    assert decided.decided_at is not None
    left = decided.deadline - decided.decided_at
    with served(accounts.find_tokens) as site:
        answer = site.post(path, body, token=token).json()
    remaining = round(left.total_seconds() * 1000)
    first = {"status": "accepted", "move": body["move"], "turn": 0, "remaining_ms": remaining}
    assert answer == first
    assert LiveMove.objects.count() == 1
