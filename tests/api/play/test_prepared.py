"""Statements that the event loop waits for: values, rows, errors, and waits that end early."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TypeVar

import pytest
from django.db import DataError

from api.play.connections import LoopConnections
from league.play.statements import Rows, Run

pytestmark = pytest.mark.django_db(transaction=True)

Result = TypeVar("Result")


def on_a_connection(*works: Callable[[Run], Awaitable[Result]]) -> list[Result]:
    """Do works one after another, with one connection."""

    async def do_all() -> list[Result]:
        connections = LoopConnections(1)
        try:
            return [await connections.do(work) for work in works]
        finally:
            await connections.close()

    return asyncio.run(do_all())


def test_rows_have_python_s_types() -> None:
    async def work(run: Run) -> object:
        return await run(
            "SELECT n, %(text)s::text, NULL, %(at)s::timestamptz, %(bytes)s::bytea, n > 1 "
            "FROM unnest(%(numbers)s::int[]) AS n",
            {
                "numbers": "{1,2}",
                "text": "twelve drummers %s 🥁",
                "at": "2026-01-06 12:00:00.5+01:00",
                "bytes": "\\x00ff",
            },
        )

    [rows] = on_a_connection(work)
    at = datetime(2026, 1, 6, 11, 0, 0, 500_000, UTC)
    rest = ("twelve drummers %s 🥁", None, at, b"\x00\xff")
    assert rows == [(1, *rest, False), (2, *rest, True)]


def test_a_statement_is_prepared_once_and_may_name_a_value_twice() -> None:
    async def work(run: Run) -> tuple[list[Rows], Rows]:
        sums = [
            await run("SELECT %(a)s::int + %(b)s::int - %(a)s::int", {"b": str(b), "a": "40"})
            for b in (2, 3)
        ]
        prepared = await run("SELECT statement FROM pg_prepared_statements ORDER BY 1", {})
        return sums, prepared

    [(sums, prepared)] = on_a_connection(work)
    assert sums == [[(2,)], [(3,)]]
    assert [text for (text,) in prepared] == [
        "SELECT $1::int + $2::int - $1::int",
        "SELECT statement FROM pg_prepared_statements ORDER BY 1",
    ]


def test_a_value_larger_than_the_buffers_of_the_socket_arrives_whole() -> None:
    async def work(run: Run) -> Rows:
        return await run("SELECT length(%(text)s), %(text)s", {"text": "x" * 20_000_000})

    [[(length, text)]] = on_a_connection(work)
    assert (length, len(text)) == (20_000_000, 20_000_000)


def test_after_an_error_the_next_statement_has_its_own_answer() -> None:
    async def divide(run: Run) -> object:
        with pytest.raises(DataError, match="division by zero"):
            await run("SELECT 1 / %(n)s::int", {"n": "0"})
        return await run("SELECT 1 / %(n)s::int", {"n": "1"})

    async def wrong(run: Run) -> object:
        await run("SELECT %(n)s::int", {"n": "partridge"})
        raise AssertionError("no number was refused")

    assert on_a_connection(divide) == [[(1,)]]
    with pytest.raises(DataError, match="partridge"):
        on_a_connection(wrong)


def test_after_a_wait_that_was_cancelled_the_next_statement_has_its_own_answer() -> None:
    async def run_both() -> object:
        connections, others = LoopConnections(1), LoopConnections(1)
        asleep = asyncio.create_task(
            connections.do(lambda run: run("SELECT 'late', pg_sleep(3)", {}))
        )
        sleeping = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
        while not await others.do(lambda run: run(sleeping, {})):
            pass
        asleep.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asleep
        assert not connections._idle  # its answer is still to come
        try:
            return await connections.do(lambda run: run("SELECT 'next'", {}))
        finally:
            await connections.close()
            await others.close()

    assert asyncio.run(asyncio.wait_for(run_both(), 20)) == [("next",)]
