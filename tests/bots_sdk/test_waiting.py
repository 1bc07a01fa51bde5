"""What ``run`` prints while its bot waits."""

import asyncio
from typing import Any

import pytest

from bots_sdk import waiting
from bots_sdk.reports import RunnerStatus
from bots_sdk.waiting import NotedReports, report_waiting, waiting_client
from tests.bots_sdk.stub import StubLeague, problem


def first_report(stub: StubLeague, status: RunnerStatus) -> str:
    """Return the first line about what the bot waits for."""

    async def wait() -> str:
        found: asyncio.Queue[str] = asyncio.Queue()

        def report(event: str, text: str, /, **facts: Any) -> None:
            assert event == "waiting"
            found.put_nowait(text)

        with stub.serving() as url:
            async with waiting_client(url, "tn_b_stub") as client:
                task = asyncio.create_task(
                    report_waiting(client, "mybot", NotedReports(report), status)
                )
                text = await asyncio.wait_for(found.get(), 20)
                task.cancel()
        return text

    return asyncio.run(wait())


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> StubLeague:
    monkeypatch.setattr(waiting, "SILENT_SECONDS", 0.01)
    league = StubLeague()
    ladders = [{"slug": "birds"}, {"slug": "days"}]
    league.answers["GET bots/mybot"] = (200, {"name": "mybot", "paused": False})
    league.answers["GET ladders"] = (200, {"results": ladders, "next": None})
    league.answers["GET ladders/days/entries/mybot"] = (404, problem(404, "not-found"))
    league.answers["GET ladders/birds/entries/mybot"] = (
        200,
        {"next_block": "It waits for more bots."},
    )
    return league


def test_it_waits_for_what_the_league_says(stub: StubLeague) -> None:
    text = first_report(stub, RunnerStatus())
    assert text == "waiting for a match on birds: It waits for more bots."


def test_a_bot_on_no_ladder_gets_the_command(stub: StubLeague) -> None:
    del stub.answers["GET ladders/birds/entries/mybot"]
    assert "`twelfth-night enter LADDER mybot`" in first_report(stub, RunnerStatus())


def test_a_paused_bot_gets_the_command(stub: StubLeague) -> None:
    stub.answers["GET bots/mybot"] = (200, {"name": "mybot", "paused": True})
    assert "`twelfth-night bot resume mybot`" in first_report(stub, RunnerStatus())


def test_with_matches_in_play_it_waits_for_the_other_seats(stub: StubLeague) -> None:
    text = first_report(stub, RunnerStatus(matches=2))
    assert text == "2 matches in play; waiting for the other seats' moves"
    assert not stub.requests


def test_without_an_answer_of_the_league_it_still_prints_a_line(stub: StubLeague) -> None:
    stub.answers.clear()
    assert first_report(stub, RunnerStatus()) == "waiting for a match"


def test_a_line_puts_off_the_next_one() -> None:
    lines: list[str] = []
    report = NotedReports(lambda event, text, /, **facts: lines.append(text))
    before = report.last_at = 0.0
    report("move", "")
    assert report.last_at == before
    report("finished", "match 1 is finished")
    assert report.last_at > before
    assert lines == ["", "match 1 is finished"]


def test_while_the_bot_computes_it_does_not_wait_for_other_seats(stub: StubLeague) -> None:
    waits = first_report(stub, RunnerStatus(matches=2))
    assert waits == "2 matches in play; waiting for the other seats' moves"
    computes = first_report(stub, RunnerStatus(matches=2, turns=1))
    assert computes == "2 matches in play; the bot is choosing its move"


def test_a_second_program_with_the_same_token_is_reported_once_with_the_remedy() -> None:
    shown: list[tuple[str, str]] = []

    def report(event: str, text: str, /, **_: Any) -> None:
        shown.append((event, text))

    noted = NotedReports(report, "mybot")
    code = "turn-already-decided"
    noted("refused", "turn 0", code=code, fault="illegal")
    assert [event for event, _ in shown] == ["refused"]
    noted("refused", "turn 1", code=code)
    noted("refused", "turn 2", code=code)
    [remedy] = [text for event, text in shown if event == "warning"]
    assert "`twelfth-night bot token mybot`" in remedy
