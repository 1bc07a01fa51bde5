"""Lines of the log in both formats, and the ids that are bound to them."""

import io
import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial

import pytest
import structlog
from django.core.exceptions import ImproperlyConfigured
from django_structlog.celery.receivers import CeleryReceiver
from django_structlog.celery.steps import DjangoStructLogInitStep

from config import celery, environment
from config import logging as logs
from league import tasks
from league.bots import jails
from league.error_reports import ErrorReportHandler
from tests.logs import captured


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


@pytest.mark.parametrize(
    "values", [{}, {"path": "/a\nb", "status": 200, "bot": "ada's", "x": None}]
)
def test_a_line_is_the_one_that_structlog_s_renderer_makes(values: dict[str, object]) -> None:
    event = {**values, "event": "request finished", "logger": "api.requests", "level": "info"}
    event["timestamp"] = "2026-01-06T12:00:00.000000Z"
    expected = logs._render_any_line(None, "info", {**event})
    assert logs.render_line(None, "info", {**event}) == expected


@pytest.fixture(params=logs.FORMATS)
def console(request: pytest.FixtureRequest) -> logs.Console:
    """The handler of the log in each format."""
    console = logs.Console(request.param)
    formatter = logs.django_logging(request.param)["formatters"]["structlog"]
    console.setFormatter(formatter.pop("()")(**formatter))
    return console


LOG = structlog.get_logger("league.test_log")


def line_of(
    console: logs.Console, *others: logging.Handler, log: Callable[..., object] = LOG.info
) -> tuple[str, int]:
    """Log an event; return its line without the time, and the number of records that it took.

    Args:
        console: a handler of the root.
        others: the root's other handlers.
        log: a method of a logger.
    """
    records: list[logging.LogRecord] = []

    def count(record: logging.LogRecord) -> bool:
        records.append(record)
        return True

    console.filters = [count]
    console.setStream(output := io.StringIO())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logging.root, "handlers", [console, *others])
        with structlog.contextvars.bound_contextvars(match_id=7):
            log("the match starts", error="a\nb", seat=None)
    return re.sub(r"[0-9-]{10}T[0-9:.]{15}Z", "", output.getvalue()), len(records)


def test_a_plain_line_takes_no_record_and_is_the_same(
    console: logs.Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    line, records = line_of(console)
    assert line.count("match_id") == line.count("\n") == 1
    assert records == 0
    monkeypatch.setattr(logs, "_PLAIN", ())
    assert line_of(console) == (line, 1)


def test_an_event_takes_a_record_if_a_filter_or_another_handler_may_treat_it(
    console: logs.Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert line_of(console, log=LOG.warning)[1] == 1
    assert line_of(console, log=partial(LOG.info, exc_info=KeyError()))[1] == 1
    assert line_of(console, ErrorReportHandler())[1] == 0
    assert line_of(console, logging.NullHandler())[1] == 1
    monkeypatch.setattr(logging.getLogger("league"), "handlers", [logging.NullHandler()])
    assert line_of(console)[1] == 1


def test_a_line_that_cannot_be_written_is_no_error_of_its_logger(
    console: logs.Console, capsys: pytest.CaptureFixture[str]
) -> None:
    output = io.StringIO()
    output.close()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logging.root, "handlers", [console])
        console.setStream(output)
        LOG.info("the match starts")
    assert "ValueError: I/O operation on closed file" in capsys.readouterr().err


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


GATEWAY = """
import logging.config
from uvicorn.config import LOGGING_CONFIG
logging.config.dictConfig(LOGGING_CONFIG)  # as uvicorn does before it loads the application
import django
django.setup()
logging.getLogger("uvicorn.error").info("Started server process [7]")
logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
"""


def test_a_line_of_the_gateway_s_server_has_the_same_form() -> None:
    done = subprocess.run(
        [sys.executable, "-c", GATEWAY],
        env=os.environ
        | {"SECRET_KEY": "any", "DJANGO_SETTINGS_MODULE": "config.settings", "LOG_FORMAT": "json"},
        capture_output=True,
        text=True,
        check=True,
    )
    [line] = done.stderr.splitlines()
    found = json.loads(line)
    assert (found["logger"], found["message"]) == (
        "uvicorn.error",
        "Invalid HTTP request received.",
    )


def test_an_error_has_its_traceback() -> None:
    assert "KeyError: 'gold'" in json.loads(written("json", fail))["exception"]
    assert "KeyError: 'gold'" in written("line", fail)


def test_an_unknown_log_format_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOG_FORMAT", "xml")
    with pytest.raises(ImproperlyConfigured, match="LOG_FORMAT is 'xml'; it must be line or json"):
        environment.choice("LOG_FORMAT", logs.FORMATS)


def test_workers_bind_the_id_and_the_name_of_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    assert DjangoStructLogInitStep in celery.app.steps["worker"]
    receiver = CeleryReceiver()
    receiver.connect_worker_signals()  # as that step does
    monkeypatch.setattr(jails, "prove", lambda: structlog.get_logger("league").info("proven"))
    with captured() as events:
        tasks.prove_sandbox.apply(task_id="some-id")
    structlog.contextvars.clear_contextvars()
    [event] = [event for event in events if event["event"] == "proven"]
    assert (event["task_id"], event["task"]) == ("some-id", "prove_sandbox")
    # Lines of django-structlog itself, several per task, stay out of the log.
    assert {event["log_level"] for event in events if event["event"] != "proven"} == {"debug"}


@pytest.mark.parametrize(
    ("task", "service", "name"),
    [
        (tasks.play_match, "play.play_match", "match_id"),
        (tasks.open_live_match, "play.open_live", "match_id"),
        (tasks.play_house_turns, "play.play_house_turns", "match_id"),
        (tasks.check_version, "bots.check_version", "version_id"),
        (tasks.fit_performance, "ratings.fit_round", "round_id"),
        (tasks.correct_ladder, "ratings.correct", "ladder_id"),
        (tasks.check_ladder, "ratings.check_ladder", "ladder_id"),
    ],
)
def test_a_task_binds_the_id_that_it_takes(
    task: Callable[[int], object], service: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = structlog.get_logger("league.test_log")
    monkeypatch.setattr(f"league.tasks.{service}", lambda number: log.info("begun"))
    with captured() as events:
        task(7)
        log.info("over")
    begun, over = events
    assert begun[name] == 7
    assert name not in over
