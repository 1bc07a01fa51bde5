"""Error reports: a server that understands Sentry's envelopes gets each exception in the log."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from pytest_django import Settings
from structlog.contextvars import bound_contextvars

from config.environment import is_dsn
from config.logging import configure_structlog, django_logging
from league import error_reports
from tests.collector import Collector, collecting


@pytest.fixture
def server(settings: Settings) -> Iterator[Collector]:
    """A server for reports, and a handler of the log that reports to it."""
    error_reports.flush()
    handler = error_reports.ErrorReportHandler()
    configure_structlog()
    with collecting() as collector:
        settings.SENTRY_DSN = collector.url.replace("://", "://partridge@") + "/sub/7"
        logging.getLogger().addHandler(handler)
        yield collector
        logging.getLogger().removeHandler(handler)


def reports(server: Collector) -> list[dict[str, Any]]:
    """Return the reports that the server has got."""
    error_reports.flush()
    found = []
    for post in server.posts:
        assert post.path == "/sub/api/7/envelope/"
        assert "sentry_key=partridge" in post.headers["X-Sentry-Auth"]
        head, kind, event = map(json.loads, post.body.splitlines())
        assert kind == {"type": "event"}
        assert head["event_id"] == event["event_id"]
        found.append(event)
    return found


def _fail() -> None:
    secret = "four calling birds"
    raise KeyError("gold") from ValueError(len(secret))


def test_an_exception_is_reported_with_its_place_its_cause_and_its_ids(server: Collector) -> None:
    try:
        _fail()
    except KeyError:
        with bound_contextvars(request_id="twelve", match_id=7):
            structlog.get_logger("league.somewhere").exception("a match failed", game="partridge")
    [report] = reports(server)
    assert report["message"] == "a match failed"
    assert report["logger"] == "league.somewhere"
    assert report["tags"] == {"request_id": "twelve", "match_id": "7"}
    cause, error = report["exception"]["values"]
    assert (cause["type"], error["type"], error["value"]) == ("ValueError", "KeyError", "'gold'")
    last = error["stacktrace"]["frames"][-1]
    assert (last["function"], last["filename"]) == ("_fail", __file__)
    assert "four calling birds" not in json.dumps(report["exception"]["values"][0]["value"])
    assert "vars" not in last


def test_lines_without_an_exception_and_warnings_are_not_reported(server: Collector) -> None:
    structlog.get_logger("league.somewhere").error("a row is set aside")
    try:
        _fail()
    except KeyError:
        logging.getLogger("library").warning("it tries again", exc_info=True)
        logging.getLogger("library").exception("it gives up")
    assert [report["message"] for report in reports(server)] == ["it gives up"]


def test_a_fault_at_every_request_does_not_flood_the_server(server: Collector) -> None:
    for _ in range(error_reports.MAX_IN_A_MINUTE + 5):
        try:
            _fail()
        except KeyError:
            logging.getLogger("library").exception("again")
    assert len(reports(server)) == error_reports.MAX_IN_A_MINUTE


def test_the_log_reports_only_if_an_address_is_set() -> None:
    assert django_logging("line")["root"]["handlers"] == ["console"]
    assert django_logging("line", reports=True)["root"]["handlers"] == ["console", "reports"]


@pytest.mark.parametrize("wrong", ["sentry.example", "https://sentry.example/7", "https://k@h/"])
def test_an_address_without_key_host_or_project_is_refused(wrong: str) -> None:
    assert is_dsn("https://k@sentry.example/7")
    assert not is_dsn(wrong)
