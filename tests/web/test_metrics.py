"""Metrics for operators."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from league import competitions, durations, heartbeats
from league.models import Ladder
from league.queueing import broker
from tests.journeys.running import wait_for
from tests.league import small

pytestmark = pytest.mark.django_db(transaction=True)


def figures(client: Client) -> dict[str, float]:
    response = client.get("/metrics")
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/plain")
    lines = response.content.decode().splitlines()
    return {
        name: float(value)
        for name, _, value in (line.rpartition(" ") for line in lines if not line.startswith("#"))
    }


def test_an_empty_league_has_metrics(client: Client) -> None:
    found = figures(client)
    assert found["league_rounds_open"] == found["league_turns_open"] == 0
    assert "league_ready" in found


def test_metrics_have_the_time_since_each_queue_s_last_heartbeat(client: Client) -> None:
    heartbeats.note_worker(["play"])
    assert 0 <= figures(client)['league_worker_silent_seconds{queue="play"}'] < 60


def test_metrics_count_the_work_to_do(client: Client) -> None:
    tournament = small.tournament(small.ladder())
    small.bots(3)
    competitions.advance_tournament(tournament.pk)
    found = figures(client)
    assert found['league_matches_unfinished{status="waiting"}'] == 3
    assert found["league_rounds_open"] == 1
    assert found['league_bots{kind="house"}'] == 3
    small.play_due()
    assert figures(client)["league_matches_finished_last_hour"] == 3


def test_a_ladder_with_an_alarm_is_counted_and_the_last_good_check_ages(client: Client) -> None:
    good, bad = small.ladder(), small.ladder("bad")
    hours = timedelta(hours=30)
    Ladder.objects.filter(pk=good.pk).update(checked_at=timezone.now() - hours)
    assert figures(client)["league_alarms"] == 0
    Ladder.objects.filter(pk=bad.pk).update(alarm="1 number differs.")
    found = figures(client)
    assert found["league_alarms"] == 1
    assert found['league_checked_seconds{ladder="quick"}'] == pytest.approx(30 * 3600, abs=60)
    assert found['league_checked_seconds{ladder="bad"}'] < 60  # never checked: since it was made


def test_with_a_token_set_only_who_sends_it_reads_the_metrics(
    client: Client, settings: Settings
) -> None:
    settings.METRICS_TOKEN = "partridge"
    for header in (None, "partridge", "Bearer", "Bearer pear", "Bearer pärtridge"):
        refused = client.get("/metrics", headers={"Authorization": header} if header else {})
        assert refused.status_code == 401
        assert b"league_" not in refused.content
    assert (
        b"league_ready"
        in client.get("/metrics", headers={"Authorization": "Bearer partridge"}).content
    )


def test_without_the_database_the_metrics_say_that_the_league_is_not_ready(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the alert would blame the web process, which can't be read then."""
    heartbeats.note_worker(["play"])
    connection.close()
    monkeypatch.setitem(connection.settings_dict, "HOST", "/nowhere")
    found = figures(client)
    assert found["league_ready"] == 0
    assert 'league_worker_silent_seconds{queue="play"}' in found
    assert "league_turns_open" not in found


def test_requests_are_counted_by_route_in_buckets_that_add_up(client: Client) -> None:
    broker().delete("league:durations")
    durations.send()
    broker().delete("league:durations")
    client.get("/bots/no-such-bot/")
    client.get("/docs/operate/")
    client.get("/docs/glossary/")
    client.get("/no-such-page/")
    client.get("/")
    client.get("/healthz")
    durations.note_request("gateway", "/api/v1/turns", 200, 20)
    durations.note_request("gateway", "/api/v1/turns", 200, 40)
    durations.send()
    found = {name: value for name, value in figures(client).items() if "_request_seconds" in name}
    pages = 'part="web",route="/docs/<path:path>/",status="2xx"'
    assert found[f"league_request_seconds_count{{{pages}}}"] == 2
    assert found[f"league_request_seconds_sum{{{pages}}}"] > 0
    for route, status in (("/bots/<slug:name>/", "4xx"), ("none", "4xx"), ("/", "2xx")):
        labels = f'part="web",route="{route}",status="{status}"'
        assert found[f"league_request_seconds_count{{{labels}}}"] == 1
    polls = 'part="gateway",route="/api/v1/turns",status="2xx"'
    buckets = [
        value
        for name, value in found.items()
        if name.startswith("league_request_seconds_bucket") and "/api/v1/turns" in name
    ]
    assert buckets == [0] * 11 + [1, 2]
    assert found[f"league_request_seconds_sum{{{polls}}}"] == 60
    assert not any("healthz" in name for name in found)


def test_counts_are_sent_by_themselves(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    durations.send()  # what other tests have left
    broker().delete("league:durations")
    monkeypatch.setattr(durations, "SEND_EVERY_SECONDS", 0.01)
    durations.note_request("web", "/ladders/", 200, 0.1)
    durations.note_request("web", "/ladders/", 200, 0.3)
    kind = durations.Kind("request", ("web", "/ladders/", "2xx"))

    def both_are_sent() -> bool:
        times = durations.read().get(kind)
        return times is not None and times.total == pytest.approx(0.4)

    wait_for(both_are_sent, durations.read)


def test_requests_cost_nothing_while_the_broker_is_away(client: Client, settings: Settings) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    durations.note_request("web", "/ladders/", 200, 0.1)
    durations.send()
    assert figures(client)["league_turns_open"] == 0
