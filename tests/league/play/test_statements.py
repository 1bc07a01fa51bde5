"""The plans of the statements of moves."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from league.play import statements, turn_statements

pytestmark = pytest.mark.django_db

LARGE = {"league_match", "league_turn", "league_livemove"}
"""Tables that grow with the number of matches in play."""


@pytest.mark.parametrize("analysed", [False, True])
@pytest.mark.parametrize("statement", [statements.READ, statements.LOGGED, turn_statements.OPEN])
def test_a_statement_follows_indexes_even_if_it_is_planned_for_empty_tables(
    statement: str, *, analysed: bool
) -> None:
    statements.plan_by_index(connection)
    with connection.cursor() as cursor:
        if analysed:
            cursor.execute("ANALYZE")
        names = ("matches", "bots", "begin", "end")
        text = statement % dict.fromkeys(names, "$1")
        cursor.execute(f"PREPARE planned (text) AS {text}")
        cursor.execute("EXPLAIN (FORMAT JSON) EXECUTE planned ('{1,2}')")
        [[plan]] = cursor.fetchall()
        cursor.execute("DEALLOCATE planned")
        cursor.execute("RESET enable_seqscan")
    read = json.loads(plan) if isinstance(plan, str) else plan
    plans = list(nodes(read[0]["Plan"]))
    scans = {each["Relation Name"]: each["Node Type"] for each in plans if "Relation Name" in each}
    assert scans.keys() & LARGE
    assert {name: kind for name, kind in scans.items() if "Seq" in kind} == {}
    assert not any("Hash" in each["Node Type"] for each in plans)
    assert "turns_overdue" not in {each.get("Index Name") for each in plans}  # all open turns


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the nodes of a plan."""
    yield plan
    for below in plan.get("Plans", []):
        yield from nodes(below)


def test_work_that_waits_for_an_event_loop_can_not_be_done_at_once() -> None:
    async def work() -> None:
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="event loop"):
        statements.at_once(work())
