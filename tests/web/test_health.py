"""Whether the league says how it is."""

import time

import pytest
from celery.signals import heartbeat_sent
from django.core.cache import cache
from django.db import OperationalError
from django.test import Client

from config import celery
from league import health, tasks
from web.selectors import tournaments as selectors

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _no_pulse():
    cache.delete("pulse")
    health.note_worker(health.QUEUES)


def test_a_process_that_answers_is_alive_whatever_else_is_down(client: Client, settings) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    assert client.get("/healthz").json() == {"status": "ok"}


def test_a_league_without_ticks_is_not_ready_and_says_what_to_start(client: Client) -> None:
    response = client.get("/readyz")
    assert response.status_code == 503
    assert set(response.json()["faults"]) == {"clock"}
    assert "beat" in response.json()["faults"]["clock"]


def test_a_tick_makes_the_league_ready(client: Client) -> None:
    tasks.tick()
    assert client.get("/readyz").json() == {"status": "ready", "faults": {}, "limits": {}}


def test_a_clock_that_has_stopped_is_noticed(client: Client, monkeypatch) -> None:
    tasks.tick()
    now = time.time()
    monkeypatch.setattr(health.time, "time", lambda: now + health.SILENT_SECONDS + 1)
    assert "no tick for 16 s" in client.get("/readyz").json()["faults"]["clock"]


def test_a_league_without_a_worker_for_matches_is_not_ready(client: Client) -> None:
    tasks.tick()
    cache.delete("worker:play")
    told = client.get("/readyz")
    assert told.status_code == 503
    assert told.json()["faults"] == {
        "workers": "no worker is heard of for the queues play: start one"
    }


def test_a_worker_that_has_gone_silent_is_noticed(client: Client, monkeypatch) -> None:
    now = time.time()
    monkeypatch.setattr(health.time, "time", lambda: now + health.SILENT_SECONDS + 1)
    tasks.tick()
    assert "play" in client.get("/readyz").json()["faults"]["workers"]


def test_a_worker_says_with_each_heartbeat_which_queues_it_serves(monkeypatch) -> None:
    cache.delete_many(f"worker:{queue}" for queue in health.QUEUES)
    monkeypatch.setattr(celery.app.amqp.queues, "_consume_from", {"play": None})
    heartbeat_sent.send(sender=None)
    assert list(health.workers_silent()) == ["play"]


def test_servers_that_are_away_are_named(client: Client, settings) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    tasks.health.note_pulse()
    response = client.get("/readyz")
    assert response.status_code == 503
    assert "REDIS_URL can't be reached" in response.json()["faults"]["broker"]


def test_one_round_that_cannot_be_closed_does_not_stop_the_others(monkeypatch, caplog) -> None:
    closed = []

    def close(round_id: int) -> None:
        if round_id == 1:
            raise ValueError("a broken round")
        closed.append(round_id)

    monkeypatch.setattr(tasks.ratings, "rounds_to_close", lambda: [1, 2])
    monkeypatch.setattr(tasks.ratings, "close_round", close)
    tasks.follow_up()
    assert closed == [2]
    assert "a broken round" in caplog.text


def test_a_page_says_that_the_database_is_away_and_when_to_come_back(
    client: Client, monkeypatch, caplog
) -> None:
    def lost() -> None:
        raise OperationalError("connection is bad:\n no such socket")

    monkeypatch.setattr(selectors, "tournaments_to_come", lost)
    response = client.get("/")
    assert (response.status_code, response["Retry-After"]) == (503, "2")
    assert "Matches under way are kept" in response.content.decode()
    [record] = [record for record in caplog.records if record.name == "web.outages"]
    assert record.exc_info is None
