"""Figures and log lines for those who run the league."""

import json
import logging
import sys
from datetime import timedelta

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.utils import timezone

from config import environment
from config.logs import JsonFormatter
from league import competitions, health
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


def test_an_empty_league_has_figures_too(client: Client) -> None:
    told = figures(client)
    assert told["league_rounds_open"] == told["league_turns_open"] == 0
    assert "league_ready" in told


def test_the_figures_say_when_workers_were_heard_of(client: Client) -> None:
    health.note_worker(["play"])
    assert figures(client)['league_tasks_queued{queue="play"}'] >= 0
    assert 0 <= figures(client)['league_worker_silent_seconds{queue="play"}'] < 60


def test_the_figures_say_how_much_there_is_to_do(client: Client) -> None:
    tournament = small.tournament(small.ladder())
    small.bots(3)
    competitions.advance(tournament.pk)
    told = figures(client)
    assert told['league_matches_unfinished{status="waiting"}'] == 3
    assert told["league_rounds_open"] == 1
    assert told['league_bots{kind="house"}'] == 3
    small.play_due()
    assert figures(client)["league_matches_finished_last_hour"] == 3


def test_a_ladder_with_an_alarm_is_counted_and_the_last_good_check_ages(client: Client) -> None:
    good, bad = small.ladder(), small.ladder("bad")
    hours = timedelta(hours=30)
    Ladder.objects.filter(pk=good.pk).update(checked_at=timezone.now() - hours)
    assert figures(client)["league_alarms"] == 0
    Ladder.objects.filter(pk=bad.pk).update(alarm="1 number differs.")
    told = figures(client)
    assert told["league_alarms"] == 1
    assert told['league_checked_seconds{ladder="quick"}'] == pytest.approx(30 * 3600, abs=60)
    assert told['league_checked_seconds{ladder="bad"}'] < 60  # never checked: since it was made


def record(level: int, text: str, *args: object, **more: object) -> dict[str, object]:
    made = logging.LogRecord("league.play", level, "f.py", 1, text, args, None)
    vars(made).update(more)
    return json.loads(JsonFormatter().format(made))


def test_a_line_of_the_log_is_an_object_with_the_ids_that_it_is_about() -> None:
    line = record(logging.WARNING, "match %s is to be played again: %s", 7, "gone", request_id="r")
    assert line["message"] == "match 7 is to be played again: gone"
    assert (line["level"], line["match_id"], line["request_id"]) == ("warning", 7, "r")


def test_an_error_brings_its_traceback_in_the_same_line() -> None:
    try:
        raise KeyError("gold")
    except KeyError:
        line = record(logging.ERROR, "it failed", exc_info=sys.exc_info())
    assert "KeyError: 'gold'" in line["traceback"]


def test_a_format_that_there_is_not_is_named(monkeypatch) -> None:
    monkeypatch.setenv("LOG_FORMAT", "xml")
    with pytest.raises(ImproperlyConfigured, match="LOG_FORMAT is 'xml'; it is line or json"):
        environment.choice("LOG_FORMAT", ["line", "json"])
