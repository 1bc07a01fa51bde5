"""Outages in the log: one line when a server goes away, one when it answers again."""

import io
import logging
import os
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis
from django.conf import settings
from django.db import OperationalError

from config import environment, outage_log
from config import logging as logs
from config.outage_log import BROKER, DATABASE, OutageFilter, server_of
from tests.journeys.running import wait_for

REFUSED = psycopg.OperationalError("connection failed:\n no such socket")
NO_BROKER = redis.ConnectionError("Connection refused")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage_log, "TRY_EVERY_SECONDS", 0.01)
    monkeypatch.setattr(outage_log, "LATE_SECONDS", 0.01)
    monkeypatch.setattr(os, "getsid", lambda _: os.getpid())  # other workers are other parts


class Server:
    """A server that is away until `is_back` is set."""

    def __init__(self) -> None:
        self.is_back = False

    def attempt(self) -> None:
        if not self.is_back:
            raise REFUSED


class Part:
    """The log of a process of a part, and the servers as the process sees them."""

    def __init__(self, name: str) -> None:
        self.database, self.broker = Server(), Server()
        self.written = io.StringIO()
        handler = logging.StreamHandler(self.written)
        handler.addFilter(
            OutageFilter({DATABASE: self.database.attempt, BROKER: self.broker.attempt})
        )
        self.log = logging.getLogger(f"tests.{name}")
        self.log.propagate = False
        self.log.handlers = [handler]
        outage_log.log.addHandler(handler)
        self._handler = handler

    def end(self) -> None:
        """End the outages of this process."""
        self.database.is_back = self.broker.is_back = True
        for thread in threading.enumerate():
            if thread.name == "outage":
                thread.join(10)
        outage_log.log.removeHandler(self._handler)

    def fail(self, error: Exception) -> None:
        """Log an error as a view or task does."""
        try:
            raise error
        except Exception:
            self.log.exception("it failed")

    def lines(self) -> list[str]:
        return self.written.getvalue().splitlines()


@pytest.fixture
def part(request: pytest.FixtureRequest) -> Iterator[Part]:
    part = Part(request.node.name)
    yield part
    part.end()


def test_an_outage_is_a_line_at_its_start_and_a_line_at_its_end(part: Part) -> None:
    for _ in range(50):
        part.fail(REFUSED)
    [first] = part.lines()
    message = r"the database does not answer: connection failed: no such socket"
    assert re.fullmatch(rf"{message} \(from [\w.]+, config/test_outage_log\.py:\d+\)", first)
    part.database.is_back = True
    wait_for(lambda: len(part.lines()) == 2, part.lines, every=0.01)
    last = r"the database answered again after \d+\.\d s; 49 more lines about it are left out"
    assert re.fullmatch(last, part.lines()[1])


def test_a_long_outage_has_further_lines_at_growing_intervals(
    part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outage_log, "REMIND_SECONDS", 0.2)
    began = time.monotonic()
    part.fail(NO_BROKER)
    wait_for(lambda: len(part.lines()) >= 4, part.lines, every=0.01)
    assert time.monotonic() - began >= 0.2 + 0.4 + 0.8
    assert all(line.startswith("the broker has not answered for ") for line in part.lines()[1:])


def test_the_next_outage_has_lines_too(part: Part) -> None:
    for number in (1, 2):
        part.database.is_back = False
        part.fail(REFUSED)
        part.database.is_back = True
        wait_for(lambda n=number: len(part.lines()) == 2 * n, part.lines, every=0.01)  # type: ignore[misc]


def test_a_process_without_a_free_thread_logs_an_outage_later(
    part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a process ends, Python starts no thread any more."""

    def fail(_: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    with monkeypatch.context() as no_threads:
        no_threads.setattr(threading.Thread, "start", fail)
        part.fail(REFUSED)
    part.fail(REFUSED)
    part.end()
    assert "answered again" in part.lines()[-1]


def test_the_servers_have_outages_of_their_own(part: Part) -> None:
    part.fail(REFUSED)
    part.fail(NO_BROKER)
    assert [line.split(" does")[0] for line in part.lines()] == ["the database", "the broker"]


def test_the_processes_of_a_part_write_each_line_once(part: Part) -> None:
    part.fail(REFUSED)
    other = Part("other")  # from now on both write the lines about outages
    other.fail(REFUSED)
    assert other.lines() == []
    part.database.is_back = True
    other.end()
    [end] = other.lines()
    assert part.lines()[1:] == [end]


def test_an_error_behind_another_error_counts(part: Part) -> None:
    wrapped = OperationalError("lost")
    wrapped.__cause__ = REFUSED
    part.fail(wrapped)
    [line] = part.lines()
    assert line.startswith("the database does not answer: lost (from ")


def test_an_error_that_is_being_handled_counts(part: Part) -> None:
    try:
        raise NO_BROKER
    except redis.RedisError:
        part.log.warning("a heartbeat could not be stored")
    part.log.error("Cannot connect: %s. Trying again", NO_BROKER)
    [line] = part.lines()
    assert line.startswith("the broker does not answer: Connection refused (from ")


@pytest.mark.parametrize(
    "error", [psycopg.errors.DeadlockDetected("a deadlock"), OSError("no space"), KeyError("gold")]
)
def test_other_errors_are_written_with_their_traceback(part: Part, error: Exception) -> None:
    part.fail(error)
    assert part.lines()[:2] == ["it failed", "Traceback (most recent call last):"]


def test_lines_below_a_warning_and_the_last_words_of_a_process_are_written(part: Part) -> None:
    try:
        raise REFUSED
    except psycopg.Error:
        part.log.setLevel(logging.INFO)
        part.log.info("request finished")
        part.log.critical("the process ends")
    assert part.lines() == ["request finished", "the process ends"]


def test_a_503_is_no_line_and_a_500_is_one() -> None:
    def record(status: int) -> logging.LogRecord:
        made = logging.makeLogRecord({"name": "django.request", "levelno": logging.ERROR})
        made.status_code = status
        return made

    assert not logs.AnsweredFilter().filter(record(503))
    assert logs.AnsweredFilter().filter(record(500))


@pytest.mark.parametrize(
    ("name", "server"),
    [("kombu.message", BROKER), ("celery.worker.request", BROKER), ("celery.worker", None)],
)
def test_a_task_that_cannot_be_acknowledged_belongs_to_the_outage_of_the_broker(
    name: str, server: str | None
) -> None:
    error = redis.ConnectionError("away")
    record = logging.LogRecord(
        name, logging.CRITICAL, __file__, 1, "Couldn't ack", None, (type(error), error, None)
    )
    assert server_of(record) == server


def test_the_database_is_tried_with_every_part_of_its_address(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Else an outage would never end, and no later line about the database would be written."""
    given = settings.DATABASES["default"]
    service = tmp_path / "services"
    service.write_text(f"[league]\nhost={given['HOST']}\nuser={given['USER']}\ndbname=postgres\n")
    monkeypatch.setenv("PGSERVICEFILE", str(service))
    monkeypatch.setenv("DATABASE_URL", "postgresql://?service=league")
    monkeypatch.setitem(settings.DATABASES, "default", environment.database("DATABASE_URL"))
    outage_log.try_database()
