"""Work that one worker at a time may do: advisory locks of PostgreSQL, free again if it dies."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

from django.db import connection


class Work(IntEnum):
    """A kind of work; the value is the first key of its locks, so each kind has its own."""

    CHECK_OF_OWNER = 7302
    CHECK_OF_LADDER = 0x12_A1
    CORRECTION_OF_LADDER = 0x12_C0


@contextmanager
def single_worker(work: Work, number: int) -> Iterator[bool]:
    """Hold the right to some work, if it is free; give whether it was.

    Args:
        work: its kind.
        number: id of the row that the work is about.
    """
    key = [work, number % 2**31]
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s::int)", key)
        [free] = cursor.fetchone() or [False]
    try:
        yield bool(free)
    finally:
        if free:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s, %s::int)", key)


def hold_in_transaction(work: Work, number: int) -> bool:
    """Hold the right to some work until the transaction ends; return whether it was free."""
    with connection.cursor() as cursor:
        key = [work, number % 2**31]
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s::int)", key)
        return bool((cursor.fetchone() or [False])[0])
