"""Calls at the same moment, each in its own thread with its own connection to the database."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

from django.db import connection

SECONDS = 20.0
"""Time within which each call ends."""
T = TypeVar("T")


def in_thread(call: Callable[[], T]) -> Future[T]:
    """Begin a call in another thread; return its answer or error to come."""
    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(call())
        except BaseException as error:
            answer.set_exception(error)
        finally:
            connection.close()

    Thread(target=run, daemon=True).start()
    return answer


def until_one_waits() -> None:
    """Wait until a call waits for a lock of the database."""
    end = time.monotonic() + SECONDS
    with connection.cursor() as cursor:
        while time.monotonic() < end:
            cursor.execute(
                "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid IN "
                "(SELECT pid FROM pg_stat_activity WHERE datname = current_database())"
            )
            if cursor.fetchone()[0]:
                return
            time.sleep(0.01)
    raise TimeoutError("no call waits for a lock")
