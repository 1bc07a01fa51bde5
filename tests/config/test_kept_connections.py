"""The database connections that a worker keeps between tasks."""

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction

from config.postgres import base, kept
from config.postgres.kept import Kept

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Kept]:
    """Keep connections in this process, as in a worker."""
    connections = Kept()
    connections.begin()
    connection.close()
    monkeypatch.setattr(base, "KEPT", connections)
    yield connections
    while (opened := connections.take()) is not None:
        opened.connection.close()


def run_task() -> int:
    """Use the database as a task does; return the process of PostgreSQL that served it."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            return int(cursor.fetchone()[0])
    finally:
        connection.close()  # as Celery does


def test_the_next_task_uses_the_connection_of_the_last_one() -> None:
    assert run_task() == run_task()


def test_a_task_in_another_thread_uses_it_too() -> None:
    first = run_task()
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(run_task).result() == first


def test_two_tasks_at_the_same_time_have_a_connection_each() -> None:
    with ThreadPoolExecutor(1) as threads, connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        assert threads.submit(run_task).result() != cursor.fetchone()[0]


def test_a_connection_that_the_server_has_closed_is_not_used_again(worker: Kept) -> None:
    first = run_task()
    opened = worker.take()
    assert opened is not None
    with pytest.raises(psycopg.OperationalError, match="terminating connection"):
        opened.connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    worker._idle.append((time.monotonic(), opened))
    assert run_task() != first


def test_a_closed_connection_is_not_kept(worker: Kept) -> None:
    run_task()
    opened = worker.take()
    assert opened is not None
    opened.connection.close()
    assert not worker.leave(opened)


def test_a_connection_is_closed_after_a_fault_of_the_database() -> None:
    first = run_task()
    with pytest.raises(DatabaseError), connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM no_such_table")
    connection.close()
    assert run_task() != first


def test_a_connection_in_a_transaction_is_closed() -> None:
    first = run_task()
    with transaction.atomic():
        connection.cursor().execute("SELECT 1")
        connection.close()
    assert run_task() != first


def test_a_connection_with_a_transaction_that_django_did_not_begin_is_closed() -> None:
    first = run_task()
    connection.cursor().execute("BEGIN")
    connection.close()
    assert run_task() != first


def test_an_old_connection_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    first = run_task()
    monkeypatch.setattr(kept, "MAX_SECONDS", 0.0)
    assert run_task() == first
    assert run_task() != first


def test_a_connection_without_use_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    first = run_task()
    monkeypatch.setattr(kept, "MAX_IDLE_SECONDS", 0.0)
    assert run_task() != first


def test_a_process_that_forks_from_the_worker_has_connections_of_its_own(worker: Kept) -> None:
    run_task()
    child = os.fork()
    if not child:
        os._exit(worker.take() is not None)
    assert os.waitpid(child, 0)[1] == 0
    opened = worker.take()
    assert opened is not None
    opened.connection.close()


def test_a_forked_process_does_not_keep_what_the_worker_opened(worker: Kept) -> None:
    run_task()
    opened = worker.take()
    assert opened is not None
    child = os.fork()
    if not child:
        os._exit(worker.leave(opened))
    assert os.waitpid(child, 0)[1] == 0
    assert worker.leave(opened)


def test_outside_a_worker_no_connection_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "KEPT", Kept())
    first = run_task()
    assert run_task() != first
