"""The runner against a stub league: nothing that could be played is lost."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from bots_sdk import runner
from bots_sdk.bot_files import load
from bots_sdk.deciding import MoveChooser
from bots_sdk.errors import ProblemError
from bots_sdk.runner import Runner
from tests.bots_sdk.stub import DROP, LOSE, StubLeague

LAST = "def choose(observation): return observation['legal_moves'][-1]"


class Running:
    """A runner in a thread, and its events."""

    def __init__(self, stub: StubLeague, path: Path, faults: Path) -> None:
        self.reported: list[dict[str, Any]] = []
        self.error: BaseException | None = None
        self._stub, self._path, self._faults = stub, path, faults
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _report(self, event: str, text: str, /, **facts: Any) -> None:
        self.reported.append({"event": event, "text": text, **facts})

    def _run(self) -> None:
        async def main() -> None:
            self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
            self.runner = Runner(
                load(self._path), self._stub.url, "tn_b_stub", self._report, faults=self._faults
            )
            self._ready.set()
            await self.runner.run(self._stop)

        try:
            asyncio.run(main())
        except BaseException as error:
            self.error = error

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(10)

    def stop(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(20)
        assert not self._thread.is_alive()

    def events(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.reported if event["event"] == kind]


@contextmanager
def running(stub: StubLeague, tmp_path: Path, source: str = LAST) -> Iterator[Running]:
    path = tmp_path / "mybot.py"
    path.write_text(source)
    found = Running(stub, path, tmp_path / "faults")
    found.start()
    try:
        yield found
    finally:
        found.stop()


def until(done: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_an_answer_that_is_older_than_the_end_of_a_match_does_not_begin_it_again(
    tmp_path: Path,
) -> None:
    stub = StubLeague(1)
    turn = stub.matches[1].turn()
    with stub.serving(), running(stub, tmp_path) as bot:
        until(lambda: bool(bot.events("finished")))

        async def arrive() -> None:
            bot.runner._take([turn], sent_at=0.0)  # type: ignore[list-item] # the stub's turn

        asyncio.run_coroutine_threadsafe(arrive(), bot._loop).result(10)
    assert len(bot.events("match")) == 1
    assert len(bot.events("move")) == len(stub.matches[1].decided)


def test_a_result_that_is_still_hidden_is_not_printed(tmp_path: Path) -> None:
    stub = StubLeague(1)
    stub.matches[1].hides_result = True
    with stub.serving(), running(stub, tmp_path) as bot:
        until(lambda: bool(bot.events("finished")))
    [event] = bot.events("finished")
    assert "its result is hidden until all matches with the same deal are finished" in event["text"]
    assert "None" not in event["text"]


def test_many_matches_are_played_at_once_to_their_ends(tmp_path: Path) -> None:
    stub = StubLeague(16)
    with stub.serving(), running(stub, tmp_path) as bot:
        until(lambda: stub.over and len(bot.events("finished")) == 16, 40)
    moves = sum(len(match.decided) for match in stub.matches.values())
    assert bot.error is None
    # On a slow machine a turn may come twice; the second move is answered with the first verdict.
    decided = {(event["match"], event["turn"]) for event in bot.events("move")}
    assert len(decided) == moves
    assert len(bot.events("move")) == bot.runner.status.moves
    assert bot.events("fault") == bot.events("refused") == []
    assert stub.requests.count(("POST", "moves")) < moves / 5  # many in one request
    polls = stub.requests.count(("GET", "turns"))
    assert polls < 10  # the answers of moves bring the turns


def test_lost_answers_and_connections_lose_and_repeat_no_move(tmp_path: Path) -> None:
    stub = StubLeague(3)
    for trouble in (DROP, LOSE, 503, 502, LOSE, (429, {"Retry-After": "0"}), 504, LOSE):
        stub.trouble += [None, trouble, trouble]
    with stub.serving(), running(stub, tmp_path) as bot:
        until(lambda: stub.over)
    assert bot.events("refused") == []
    assert all(match.expired == 0 for match in stub.matches.values())


def test_an_outage_in_mid_match_is_reported_once_and_survived(tmp_path: Path) -> None:
    stub = StubLeague(5)
    with ExitStack() as stack:
        with stub.serving():
            bot = stack.enter_context(running(stub, tmp_path))
            until(lambda: len(bot.events("move")) > 10)
        assert not stub.over
        until(lambda: bool(bot.events("away")))
        time.sleep(1)
        stack.enter_context(stub.serving())
        until(lambda: stub.over)
        bot.stop()
    assert len(bot.events("away")) == 1
    assert [event["text"] for event in bot.events("connected")][-1] == "connected again"
    assert all(match.expired == 0 for match in stub.matches.values())


def test_a_league_that_is_not_up_yet_is_waited_for(tmp_path: Path) -> None:
    stub = StubLeague(1)
    with stub.serving():
        pass  # only to have a port
    with running(stub, tmp_path) as bot:
        until(lambda: bool(bot.events("away")))
        with stub.serving():
            until(lambda: stub.over)
            bot.stop()


def test_after_an_exception_the_first_legal_move_is_played_and_reported(tmp_path: Path) -> None:
    source = """
def choose(observation):
    observation["legal_moves"].clear()
    raise LookupError("no idea")
"""
    stub = StubLeague(1, game="twelve-days")
    with stub.serving(), running(stub, tmp_path, source) as bot:
        until(lambda: stub.over)
    fault = bot.events("fault")[0]
    assert fault["kind"] == "crash"
    assert "line 4, in choose" in fault["traceback"]
    assert "runner.py" not in fault["traceback"]
    assert "the first legal move, instead" in fault["text"]
    saved = json.loads(Path(fault["saved"]).read_text())
    assert saved["observation"]["legal_moves"][0] == fault["played"] == stub.matches[1].decided[0]
    assert saved["reason"] == "LookupError: no idea"
    assert len(bot.events("fault")) == len(stub.matches[1].decided)


@pytest.mark.parametrize("answer", ["None", "'fly 7'", "'award 99'", "7"])
def test_an_illegal_answer_is_never_sent(tmp_path: Path, answer: str) -> None:
    stub = StubLeague(1, game="twelve-days")
    source = f"def choose(observation): return {answer}"
    with stub.serving(), running(stub, tmp_path, source) as bot:
        until(lambda: stub.over)
    assert {event["kind"] for event in bot.events("fault")} == {"illegal"}
    assert bot.events("refused") == bot.events("warning") == []


def test_a_move_written_in_another_order_is_the_move(tmp_path: Path) -> None:
    source = """
def choose(observation):
    verb, *cards = observation["legal_moves"][-1].split()
    return "  ".join([verb, *reversed(cards)])
"""
    stub = StubLeague(1, game="partridge")
    with stub.serving(), running(stub, tmp_path, source) as bot:
        until(lambda: stub.over)
    assert bot.events("fault") == []


def test_the_runner_moves_for_a_hanging_bot_before_its_clock_runs_out(tmp_path: Path) -> None:
    source = """
import time
def choose(observation):
    if observation["phase"] == "give" and observation["day"] <= 2:
        time.sleep(3600)
    return observation["legal_moves"][-1]
"""
    stub = StubLeague(6, game="twelve-days", seconds=2.0)  # more than there are threads
    with stub.serving(), running(stub, tmp_path, source) as bot:
        until(lambda: stub.over)
    assert {event["kind"] for event in bot.events("fault")} == {"timeout"}
    assert all(": timeout: it had no move after" in event["text"] for event in bot.events("fault"))
    assert bot.events("refused") == []
    assert all(match.expired == 0 for match in stub.matches.values())


def test_other_matches_go_on_while_a_bot_computes(tmp_path: Path) -> None:
    source = """
import time
def start(info):
    global slow
    slow = info["bank_seconds"] == 8
def choose(observation):
    if slow:
        time.sleep(3)
    return observation["legal_moves"][-1]
"""
    stub = StubLeague(3)
    slow = stub.matches[1]
    slow.bank_seconds = 8.0
    with stub.serving(), running(stub, tmp_path, source) as bot:
        until(lambda: all(stub.matches[number].state.is_over for number in (2, 3)))
        assert len(slow.decided) < 3
    assert bot.error is None


def test_start_gets_the_time_control_of_the_match(tmp_path: Path) -> None:
    source = """
def start(info):
    global found
    found = info
def choose(observation):
    raise LookupError(str(sorted(found.items())))
"""
    stub = StubLeague(1, game="twelve-days", seconds=31.0)
    with stub.serving(), running(stub, tmp_path, source) as bot:
        until(lambda: stub.over)
    assert bot.events("fault")[0]["reason"] == (
        "LookupError: [('bank_seconds', 7.0), ('game', 'twelve-days'), ('move_seconds', 31.0), "
        "('rules', 'calliope'), ('seat', 0), ('seats', 4)]"
    )


def test_a_league_that_lost_a_move_gets_it_again(tmp_path: Path) -> None:
    stub = StubLeague(1, game="twelve-days")
    match = stub.matches[1]
    dealt = match.state.copy()
    with stub.serving(), running(stub, tmp_path) as bot:
        until(lambda: len(bot.events("move")) >= 3)
        with stub.lock:
            kept = dict(match.decided)
            match.state, match.decided = dealt, {}
        until(lambda: stub.over)
    assert {turn: match.decided[turn] for turn in kept} == kept


def test_an_error_of_the_program_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: Any) -> str:
        raise LookupError("broken")

    monkeypatch.setattr(MoveChooser, "move", fail)
    stub = StubLeague(1)
    with stub.serving(), running(stub, tmp_path) as bot:
        until(lambda: bot.error is not None)
    assert isinstance(bot.error, LookupError)
    assert len(stub.requests) < 10


@pytest.mark.parametrize("status", [401, 403])
def test_a_token_that_does_not_work_ends_it(tmp_path: Path, status: int) -> None:
    stub = StubLeague(1)
    stub.trouble = [status]
    with stub.serving(), running(stub, tmp_path) as bot:
        until(lambda: bot.error is not None)
    assert isinstance(bot.error, ProblemError)
    assert bot.error.status == status


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_when_the_moves_in_hand_are_sent(tmp_path: Path, number: int) -> None:
    stub = StubLeague(4, game="twelve-days")
    path = tmp_path / "mybot.py"
    path.write_text(
        "import time\ndef choose(o):\n print('chosen')\n time.sleep(0.5)\n"
        " return o['legal_moves'][-1]\n"
    )
    script = f"from bots_sdk.running import run; run({str(path)!r}, {{!r}}, 't', as_json=True)"
    with stub.serving() as url:
        process = subprocess.Popen(
            [sys.executable, "-c", script.format(url)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(runner.__file__).parents[1],
            env={**os.environ, "PYTHONPATH": ""},
        )
        try:
            assert process.stdout
            found = []
            for line in process.stdout:
                found.append(json.loads(line))  # without the bot's output
                if len(found) == 10:
                    process.send_signal(number)
            assert process.wait(20) == 0
        finally:
            process.kill()
            rest = process.communicate()
    assert "chosen" in rest[1]
    assert found[-1]["event"] == "stopped"
    assert found[-1]["matches"] == [1, 2, 3, 4]
    sent = sum(event["event"] == "move" for event in found)
    assert sent == sum(len(match.decided) for match in stub.matches.values())
