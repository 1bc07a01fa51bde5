"""The gateway's requests: limits, the log, failures, and refusals, over real HTTP."""

import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import pytest
import structlog
from django.core.cache import cache
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from api.play import app as gateway
from api.play.refused_writes import refused_writes
from league import accounts, play
from league.accounts import throttles
from league.models import Bot, Token
from tests import logs
from tests.api.play.sites import SOON, WAIT, Site, await_true, open_match, served
from tests.league.play.live import choose

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def two_an_hour(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(throttles, "_cache_away_until", 0.0)
    rates = {"play": (2, 3600), "general": (2, 3600)}
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
    polls = [site.start_poll(bots[0], **WAIT) for _ in range(2)]
    site.await_waiters(2)
    refused = site.get(bots[0], **WAIT)
    assert (refused.status_code, refused.json()["code"]) == (429, "too-many-waiting")
    assert refused.headers["retry-after"] == "5"
    assert site.get(bots[1]).status_code == 200
    open_match(bots)
    assert all(len(poll.result(SOON).json()["turns"]) == 1 for poll in polls)
    assert site.get(bots[0]).status_code == 200
    await_true(lambda: not site.app._waiting)


def test_streams_of_one_bot_and_of_one_address_are_bounded(
    site: Site, bots: list[Bot], settings: Settings
) -> None:
    settings.MAX_STREAMS_PER_BOT, settings.MAX_STREAMS_PER_ADDRESS = 1, 2
    with site.stream(bots[0]), site.stream(bots[1]):
        site.await_waiters(2)
        for bot in (bots[0], bots[2]):
            refused = site.get(bot, "/turns/stream")
            assert (refused.status_code, refused.json()["code"]) == (429, "too-many-streams")
            assert refused.headers["retry-after"] == "5"
        assert site.get(bots[0]).status_code == 200, "a poll is no stream"
    await_true(lambda: not site.app._waiting)


def test_waiting_requests_of_one_address_and_in_all_are_bounded(
    site: Site, bots: list[Bot], settings: Settings
) -> None:
    settings.MAX_WAITING_PER_ADDRESS = 1
    polls = [site.start_poll(bots[0], **WAIT)]
    site.await_waiters(1)
    refused = site.get(bots[1], **WAIT)
    assert (refused.status_code, refused.json()["code"]) == (429, "too-many-waiting")
    other = {"X-Forwarded-For": "203.0.113.5", "Authorization": f"Bearer {bots[1].name}"}
    assert site.client.get("/turns", headers=other).status_code == 200
    settings.MAX_WAITING_IN_ALL = 1
    refused = site.client.get("/turns", headers=other)
    assert (refused.status_code, refused.json()["code"]) == (503, "busy")
    assert refused.headers["retry-after"] == "5"
    open_match(bots)
    assert all(poll.result(SOON).status_code == 200 for poll in polls)
    await_true(lambda: not site.app._waiting)


@pytest.mark.parametrize("path", ["/turns", "/turns/stream"])
def test_requests_count_for_their_address_before_their_token_is_read(
    bots: list[Bot], settings: Settings, path: str
) -> None:
    settings.MAX_WAITING_PER_ADDRESS = 2
    go = threading.Event()

    def find_tokens(texts: Collection[str]) -> dict[str, Token]:
        assert go.wait(20)
        return {text: Token(bot=bots[0]) for text in texts}

    with served(find_tokens) as site:
        polls = [site.start_poll("forged", wait=0) for _ in range(2)]
        await_true(lambda: len(site.app._waiting) == 2)
        refused = site.get("forged", path)
        go.set()
        assert (refused.status_code, refused.json()["code"]) == (429, "too-many-waiting")
        assert all(poll.result(SOON).status_code == 200 for poll in polls)
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
    async def log_and_return(bot_ids: Sequence[int], *_: object) -> dict[int, list[Any]]:
        structlog.get_logger("league.play").info("a query runs")
        return {pk: [] for pk in bot_ids}

    monkeypatch.setattr(play, "hand_out", log_and_return)
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
    def lost(*_: object) -> NoReturn:
        raise OperationalError("no such socket")

    monkeypatch.setattr(play, "hand_out", lost)
    response = site.get(bots[0])
    assert (response.status_code, response.json()["code"]) == (503, "unavailable")
    assert response.headers["retry-after"] == "1"


def test_a_failure_is_a_problem_and_is_logged(
    site: Site, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play, "hand_out", lambda *_: 1 / 0)
    with logs.captured() as events:
        response = site.get(bots[0])
    assert (response.status_code, response.json()["code"]) == (500, "internal-error")
    assert response.headers["content-type"] == "application/problem+json"
    failures = [event for event in events if event["log_level"] == "error"]
    assert "ZeroDivisionError" in failures[0]["exception"]
    assert failures[0]["request_id"] == response.json()["request_id"]


@pytest.mark.parametrize("path", ["/turns", "/turns/stream"])
def test_a_request_without_a_working_bot_token_is_refused(site: Site, path: str) -> None:
    without = site.client.get(path)
    wrong = site.get("nobody", path)
    _, owner_token = accounts.create_account(username="ada", password="a long enough secret")
    owner = site.get(owner_token, path)
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
    assert [error["field"] for error in response.json()["errors"]] == ["wait"]


def test_other_methods_and_paths_are_refused_as_problems(site: Site, bots: list[Bot]) -> None:
    assert site.client.post("/turns").status_code == 405
    assert site.client.post("/turns").headers["allow"] == "GET, OPTIONS"
    assert site.client.head("/turns").status_code == 405
    assert site.get(bots[0], "/turns/").json() == {"turns": []}
    assert site.get(bots[0], "/turns/other").json()["code"] == "not-found"
    named = site.client.get("/turns", headers={"X-Request-ID": "mine"})
    assert named.json()["request_id"] == named.headers["x-request-id"] == "mine"


def test_the_door_for_turns_is_open_while_the_database_can_be_reached(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with logs.captured() as events:
        assert site.client.get("http://testserver/healthz/play").status_code == 200
    assert {event["log_level"] for event in events} <= {"debug"}

    def away() -> NoReturn:
        raise OperationalError("no such socket")

    monkeypatch.setattr(gateway, "check_database", away)
    with logs.captured() as events:
        assert site.client.get("http://testserver/healthz/play").status_code == 503
    assert {event["log_level"] for event in events} <= {"debug"}


@contextmanager
def refusing_moves(sqlstate: str) -> Iterator[None]:
    """Let PostgreSQL refuse all moves with an error while the context lasts."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION USING ERRCODE = '{sqlstate}'; END $$"
        )
        cursor.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON league_livemove EXECUTE FUNCTION refuse()"
        )
        try:
            yield
        finally:
            cursor.execute("DROP FUNCTION refuse CASCADE")


@pytest.mark.parametrize(("sqlstate", "status"), [("53100", 503), ("40P01", 200)])
def test_the_door_for_turns_is_closed_while_the_disk_is_full(
    site: Site, bots: list[Bot], monkeypatch: pytest.MonkeyPatch, sqlstate: str, status: int
) -> None:
    monkeypatch.setattr(refused_writes, "_last", None)  # and so no other test sees this refusal
    match = open_match(bots)
    [turn] = play.open_turns(bots[0], timezone.now())
    body = {"turn": 0, "move": choose(turn["observation"])}
    path = f"/matches/{match.pk}/moves"
    with refusing_moves(sqlstate):
        assert site.post(path, body, token=bots[0].name).status_code == 503
    assert site.client.get("http://testserver/healthz/play").status_code == status
    monkeypatch.setattr("api.play.refused_writes._REMEMBERED_SECONDS", 0.0)
    assert site.client.get("http://testserver/healthz/play").status_code == 200
    assert site.post(path, body, token=bots[0].name).json()["status"] == "accepted"


def test_answers_have_the_security_headers_that_django_sends(
    site: Site, bots: list[Bot], settings: Settings, client: Client
) -> None:
    settings.SECURE_HSTS_SECONDS = 3600
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    names = ["X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Opener-Policy"]
    names += ["X-Frame-Options", "Strict-Transport-Security"]
    for answer in (site.get(bots[0]), site.get("nobody")):
        plain = client.get("/api/v1/ladders")
        assert {name: answer.headers.get(name) for name in names} == {
            name: plain.headers.get(name) for name in names
        }
        assert "Strict-Transport-Security" not in answer.headers
    safe = site.call("GET", "/turns", token="nobody", **{"X-Forwarded-Proto": "https"})
    assert (
        safe.headers["Strict-Transport-Security"]
        == (client.get("/api/v1/ladders", secure=True).headers["Strict-Transport-Security"])
    )
