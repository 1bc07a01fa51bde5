"""The connections that Celery's processes keep between tasks."""

import psycopg
import pytest
from celery import Celery
from django.db import connection

from config import celery
from config.kept_connections import Fixup, WorkerFixup
from league.tasks import follow_up

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def process() -> WorkerFixup:
    """The adapter in a process of a prefork pool."""
    made = WorkerFixup(Celery("test"))
    made.on_worker_process_init()
    return made


def server_process() -> int:
    """Return the process id of PostgreSQL's process for this connection."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def end_of(process: WorkerFixup) -> None:
    """Do what Celery does between two tasks."""
    process.on_task_postrun(sender=follow_up)
    process.on_task_prerun(sender=follow_up)


def test_the_league_uses_this_adapter() -> None:
    [fixup] = celery.app._fixups
    assert isinstance(fixup, Fixup)
    assert isinstance(fixup.worker_fixup, WorkerFixup)


def test_the_next_task_of_a_process_uses_the_same_connection(process: WorkerFixup) -> None:
    before = server_process()
    end_of(process)
    assert server_process() == before


def test_the_next_task_of_a_process_opens_a_connection_if_the_server_closed_it(
    process: WorkerFixup,
) -> None:
    before = server_process()
    end_of(process)
    with pytest.raises(psycopg.OperationalError, match="terminating connection"):
        connection.connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    end_of(process)
    assert server_process() != before


def test_the_next_task_of_a_process_opens_a_connection_if_the_last_one_is_old(
    process: WorkerFixup,
) -> None:
    before = server_process()
    connection.close_at = 0
    end_of(process)
    assert server_process() != before


def test_a_process_does_not_use_the_connection_of_its_worker() -> None:
    before = server_process()
    WorkerFixup(Celery("test")).on_worker_process_init()
    assert server_process() != before


def test_a_thread_keeps_no_connection_between_tasks() -> None:
    before = server_process()
    end_of(WorkerFixup(Celery("test")))
    assert connection.connection is None
    assert server_process() != before
