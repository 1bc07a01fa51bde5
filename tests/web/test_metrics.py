"""Metrics and log lines for operators."""

import io
import json
import logging
from collections.abc import Callable
from datetime import timedelta

import pytest
import structlog
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.utils import timezone

from config import environment
from config import logging as logs
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
    competitions.advance(tournament.pk)
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


def written(log_format: str, log: Callable[[], object]) -> str:
    """Return the lines that a call logs, in a format of LOG_FORMAT."""
    formatter = logs.django_logging(log_format)["formatters"]["structlog"]
    output = io.StringIO()
    handler = logging.StreamHandler(output)
    handler.setFormatter(formatter.pop("()")(**formatter))
    logger = logging.getLogger("league.test_log")
    logger.addHandler(handler)
    try:
        log()
    finally:
        logger.removeHandler(handler)
    return output.getvalue()


def warn() -> None:
    with structlog.contextvars.bound_contextvars(request_id="r", match_id=7):
        structlog.get_logger("league.test_log").warning("the match starts again", error="a\nb")


def fail() -> None:
    try:
        raise KeyError("gold")
    except KeyError:
        structlog.get_logger("league.test_log").exception("it failed")


def test_a_json_line_has_the_values_of_the_event_and_the_bound_ids() -> None:
    line = json.loads(written("json", warn))
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "message": "the match starts again",
        "level": "warning",
        "logger": "league.test_log",
        "request_id": "r",
        "match_id": 7,
        "error": "a\nb",
    }


def test_a_line_has_the_values_of_the_event_and_no_line_break_of_theirs() -> None:
    line = written("line", warn)
    assert line.count("\n") == 1
    assert "the match starts again" in line
    assert "match_id=7" in line
    assert "request_id='r'" in line
    assert "error='a\\nb'" in line


def test_a_line_of_another_library_has_the_same_form() -> None:
    def log() -> None:
        logging.getLogger("league.test_log").warning("%d retries", 3)

    line = json.loads(written("json", log))
    assert (line["message"], line["level"]) == ("3 retries", "warning")


def test_an_error_has_its_traceback() -> None:
    assert "KeyError: 'gold'" in json.loads(written("json", fail))["exception"]
    assert "KeyError: 'gold'" in written("line", fail)


def test_an_unknown_log_format_is_named(monkeypatch) -> None:
    monkeypatch.setenv("LOG_FORMAT", "xml")
    with pytest.raises(ImproperlyConfigured, match="LOG_FORMAT is 'xml'; it must be line or json"):
        environment.choice("LOG_FORMAT", logs.FORMATS)
