"""The addresses for load balancers and operators, and the errors of pages and ticks."""

import re
import time
from pathlib import Path
from typing import NoReturn

import pytest
from celery.signals import heartbeat_sent
from django.core.cache import cache
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from config import celery
from league import health, heartbeats, ratings, tasks
from league.play import outages
from tests import logs
from web.selectors import tournaments as selectors

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _no_tick() -> None:
    cache.delete("tick-finished")
    cache.delete("part:deadlines")
    heartbeats.note_worker(health.QUEUES)
    for part in ("beat", "gateway"):
        heartbeats.note_part(part)


def note_clock_and_tick() -> None:
    heartbeats.note_part("deadlines")
    tasks.tick()


def test_a_process_is_alive_while_servers_are_down(client: Client, settings: Settings) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    assert client.get("/healthz").json() == {"status": "ok"}


def test_a_league_without_ticks_is_not_ready_and_names_the_parts_to_start(client: Client) -> None:
    response = client.get("/readyz")
    assert response.status_code == 503
    assert set(response.json()["faults"]) == {"clock", "tick"}
    assert "start a worker for the queue clock" in response.json()["faults"]["clock"]
    assert "beat" in response.json()["faults"]["tick"]


def test_a_clock_and_a_tick_make_the_league_ready(client: Client) -> None:
    note_clock_and_tick()
    assert client.get("/readyz").json() == {"status": "ready", "faults": {}, "limits": {}}


def test_a_clock_that_has_stopped_is_noticed(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    note_clock_and_tick()
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 4.9)
    heartbeats.note_tick()  # live ticks and parts don't hide it
    heartbeats.note_worker(health.QUEUES)
    for part in ("beat", "gateway"):
        heartbeats.note_part(part)
    faults = client.get("/readyz").json()["faults"]
    assert set(faults) == {"clock"}
    assert re.search(r"no heartbeat for ([5-9]|\d\d) s", faults["clock"])


def test_ticks_that_fail_are_noticed_although_deadlines_are_handled(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    note_clock_and_tick()
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + health.MAX_TICK_AGE_SECONDS + 1)
    heartbeats.note_part("deadlines")  # as the clock does
    heartbeats.note_worker(health.QUEUES)
    for part in ("beat", "gateway"):
        heartbeats.note_part(part)
    faults = client.get("/readyz").json()["faults"]
    assert set(faults) == {"tick"}
    assert "has finished for 61 s" in faults["tick"]


@pytest.mark.parametrize("part", ["beat", "gateway"])
def test_a_part_without_signs_of_life_is_named(
    client: Client, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + health.MAX_HEARTBEAT_AGE_SECONDS + 1)
    note_clock_and_tick()
    heartbeats.note_worker(health.QUEUES)
    heartbeats.note_part({"beat": "gateway", "gateway": "beat"}[part])
    faults = client.get("/readyz").json()["faults"]
    assert faults == {part: "no heartbeat for 6 s: check that it runs"}


def test_a_league_without_a_worker_for_matches_is_not_ready(client: Client) -> None:
    note_clock_and_tick()
    cache.delete("worker:play")
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["faults"] == {"workers": "no worker serves the queues play: start one"}


def test_a_worker_that_has_gone_silent_is_noticed(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + health.MAX_HEARTBEAT_AGE_SECONDS + 1)
    note_clock_and_tick()
    assert "play" in client.get("/readyz").json()["faults"]["workers"]


def test_each_heartbeat_of_a_worker_stores_the_queues_that_it_serves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cache.delete_many(f"worker:{queue}" for queue in health.QUEUES)
    monkeypatch.setattr(celery.app.amqp.queues, "_consume_from", {"play": None})
    heartbeat_sent.send(sender=None)
    assert list(health.heartbeat_ages()) == ["play"]


def test_each_heartbeat_of_a_worker_touches_the_file_for_health_checks(
    settings: Settings, tmp_path: Path
) -> None:
    settings.ALIVE_FILE = str(tmp_path / "alive")
    heartbeat_sent.send(sender=None)
    assert (tmp_path / "alive").exists()


def test_servers_that_are_away_are_named(client: Client, settings: Settings) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    heartbeats.note_tick()
    response = client.get("/readyz")
    assert response.status_code == 503
    assert "REDIS_URL can't be reached" in response.json()["faults"]["broker"]


def test_calls_of_bots_that_fail_are_named_since_their_deadlines_wait(client: Client) -> None:
    """Their certificate may have expired, for example, while each part does its work."""
    note_clock_and_tick()
    now = timezone.now()
    works = outages.Probe("play", "https://league.example/healthz/play", "")
    outages.keep(now, [works])
    assert client.get("/readyz").status_code == 200
    outages.keep(now, [works._replace(fault="certificate has expired")])
    response = client.get("/readyz")
    assert response.status_code == 503
    [fault] = response.json()["faults"].values()
    assert "calls of https://league.example/healthz/play fail: certificate has expired." in fault
    assert "no deadline of a bot passes" in fault
    outages.keep(now, [works])
    assert client.get("/readyz").status_code == 200


def test_one_round_that_cannot_be_closed_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closed = []

    def close(round_id: int) -> None:
        if round_id == 1:
            raise ValueError("a broken round")
        closed.append(round_id)

    monkeypatch.setattr(ratings, "rounds_to_apply", lambda: [1, 2])
    monkeypatch.setattr(ratings, "apply_round", close)
    with logs.captured() as events:
        tasks.follow_up()
    assert closed == [2]
    [event] = events
    assert "a broken round" in event["exception"]
    assert (event["step"], event["id"]) == ("_apply_round", 1)


def test_without_the_database_a_page_is_a_503_and_one_line_of_the_log(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost() -> None:
        raise OperationalError("connection is bad:\n no such socket")

    monkeypatch.setattr(selectors, "tournaments_to_come", lost)
    with logs.captured() as events:
        response = client.get("/")
    assert (response.status_code, response["Retry-After"]) == (503, "2")
    assert "No match is lost" in response.content.decode()
    [event] = [event for event in events if event["logger"] == "web.outages"]
    assert event["error"] == "connection is bad: no such socket"
    assert "exception" not in event


def test_the_door_of_pages_is_open_while_the_database_can_be_reached(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.get("/healthz/web").status_code == 200

    def away() -> NoReturn:
        raise OperationalError("no such socket")

    monkeypatch.setattr("web.health.connection.cursor", away)
    with logs.captured() as events:
        assert client.get("/healthz/web").status_code == 503
    assert {event["log_level"] for event in events} <= {"debug"}


@pytest.mark.parametrize("path", ["/healthz", "/healthz/web", "/readyz", "/metrics"])
def test_probes_inside_the_league_get_no_redirect_to_tls(
    client: Client, settings: Settings, path: str
) -> None:
    settings.SECURE_SSL_REDIRECT = True
    assert client.get(path).status_code in (200, 503)
    assert client.get("/").status_code == 301


@pytest.mark.parametrize("path", ["/healthz", "/healthz/web", "/readyz", "/metrics"])
@pytest.mark.parametrize("host", ["10.1.2.3:8001", "web", "two words", ""])
def test_probes_are_answered_at_any_host(client: Client, path: str, host: str) -> None:
    assert client.get(path, headers={"Host": host}).status_code in (200, 503)
    assert client.get("/", headers={"Host": "10.1.2.3:8001"}).status_code == 400
