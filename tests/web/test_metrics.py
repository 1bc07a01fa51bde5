"""Metrics for operators."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from league import competitions, heartbeats
from league.models import Ladder
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
    assert figures(client)['league_tasks_queued{queue="play"}'] >= 0
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
