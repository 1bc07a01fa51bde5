"""A bot runs only in its own turn, and pays for its CPU time beside the time that passes."""

import os
import threading
import time
from pathlib import Path

import pytest

from bots_sdk.sandbox import timing
from bots_sdk.sandbox.errors import BotTimeoutError
from bots_sdk.sandbox.session import BotProcess
from bots_sdk.sandbox.timing import Meter, MoveTime, MoveTimer
from tests.bots_sdk.sandbox.conftest import Start

# It writes its answer itself and goes on, so that the referee has its answer before it returns.
COMPUTES_AFTER_ITS_ANSWER = (
    "import json, os, sys, time\n"
    "count = 0\n"
    "def choose(observation):\n"
    "    global count\n"
    "    seen, count = count, 0\n"
    "    if observation.get('go_on'):\n"
    "        frame = sys._getframe(1)\n"
    "        while 'answers' not in frame.f_locals: frame = frame.f_back\n"
    "        number, answers = frame.f_locals['request']['id'], frame.f_locals['answers']\n"
    "        os.write(answers, json.dumps({'id': number, 'move': 'x'}).encode() + b'\\n')\n"
    "        while True: count += 1\n"
    "    return str(seen)\n"
)
WAITS = (
    "import time\n"
    "def choose(observation):\n"
    "    end = time.perf_counter() + observation.get('busy', 0)\n"
    "    while time.perf_counter() < end: pass\n"
    "    time.sleep(observation.get('sleep', 0))\n"
    "    return 'x'\n"
)


def _meter(bot: BotProcess) -> Meter:
    assert bot._process is not None
    return bot._process._meter


def _wait_until_stopped(meter: Meter) -> None:
    end = time.monotonic() + 10
    while meter.is_runnable():
        assert time.monotonic() < end
        os.sched_yield()


def test_a_bot_uses_no_cpu_while_it_is_not_to_move(start: Start) -> None:
    bot = start(COMPUTES_AFTER_ITS_ANSWER)
    bot.ready()
    assert bot({"go_on": True}) == "x"
    meter = _meter(bot)
    _wait_until_stopped(meter)
    before = meter.cpu()
    busy = time.process_time() + 0.1
    while time.process_time() < busy:  # the referee thinks, and the bot could have computed
        pass
    assert meter.cpu() == before


def test_a_bot_is_paused_once_it_is_loaded(start: Start) -> None:
    bot = start(
        "import os\nfor d in range(1, 32):\n    try: os.write(d, b'{\"ready\": true}\\n')\n"
        "    except OSError: pass\nwhile True: pass\n"
    )
    bot.ready()
    _wait_until_stopped(_meter(bot))


def test_cpu_time_after_an_answer_counts_in_the_next_move(start: Start) -> None:
    bot = start(COMPUTES_AFTER_ITS_ANSWER, seconds=0.2)
    bot.ready()
    assert bot({"go_on": True}) == "x"
    meter = _meter(bot)
    meter.resume()  # as if the pause came too late
    end = time.monotonic() + 10
    while meter.cpu() - meter.charged_cpu < 0.3:
        assert time.monotonic() < end
    meter.pause()
    with pytest.raises(BotTimeoutError):
        bot({})
    assert bot.move_time is not None
    assert bot.move_time.cpu_seconds >= 0.3
    assert bot.move_time.charged_seconds >= 0.3


def test_the_time_of_a_move_has_its_parts(start: Start) -> None:
    bot = start(WAITS)
    bot.ready()
    bot({"busy": 0.05})
    busy = bot.move_time
    bot({"sleep": 0.2})
    sleeping = bot.move_time
    assert busy is not None
    assert sleeping is not None
    assert busy.wall_seconds >= 0.05
    assert busy.cpu_seconds + busy.waited_seconds > 0.04
    assert sleeping.wall_seconds >= 0.2
    assert sleeping.cpu_seconds < 0.1
    assert sleeping.charged_seconds > 0.1


def test_sleeping_uses_up_the_clock(start: Start) -> None:
    bot = start(WAITS, seconds=0.2)
    bot.ready()
    with pytest.raises(BotTimeoutError):
        bot({"sleep": 5})
    assert bot.move_time is not None
    assert bot.move_time.charged_seconds >= 0.2


def test_a_thread_that_ends_leaves_no_descriptor_open() -> None:
    def measure() -> None:
        thread = threading.Thread(target=lambda: MoveTimer(1.0).read())
        thread.start()
        thread.join()

    measure()
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        measure()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_waiting_for_a_cpu_is_not_charged() -> None:
    assert MoveTime(1.0, 0.25, 0.75).charged_seconds == 0.25
    assert MoveTime(1.0, 0.25, 0.5).charged_seconds == 0.5


def test_cpu_time_of_more_than_one_thread_is_charged() -> None:
    assert MoveTime(1.0, 3.5, 0.0).charged_seconds == 3.5


class Starved(Meter):
    """Two figures of a process that waits for a CPU: the kernel adds the wait when it is over."""

    def __init__(self, waits: list[float], runnable: bool) -> None:
        super().__init__(())
        self.waits, self.runnable = waits, runnable

    def waited(self) -> float:
        return self.waits[0]

    def is_runnable(self) -> bool:
        return self.runnable


@pytest.mark.parametrize("own_waits", [[0.0] * 9, [0.0, *(n / 1000 for n in range(9))]])
def test_a_bot_that_gets_no_cpu_keeps_its_time(
    monkeypatch: pytest.MonkeyPatch, own_waits: list[float]
) -> None:
    own = iter(own_waits)
    monkeypatch.setattr(timing, "_own_waited", lambda: next(own))
    now = 0.0
    meter = Starved([0.0], runnable=True)
    timer = MoveTimer(1.0, lambda: now)
    timer.watch(meter)
    now = 2.0
    assert timer.left() > 0
    now = 4.0
    assert timer.left() > 0
    meter.waits = [3.5]
    assert timer.left() == pytest.approx(0.5, abs=0.01)
    now = 5.1
    meter.waits = [3.6]
    assert timer.left() > 0
    meter.waits = [3.7]  # it ran, and all its waiting is known
    assert timer.left() <= 0


def test_a_bot_that_sleeps_does_not_keep_its_time() -> None:
    now = 0.0
    timer = MoveTimer(1.0, lambda: now)
    timer.watch(Starved([0.0], runnable=False))
    now = 1.1
    assert timer.left() <= 0


def test_waiting_for_a_cpu_prolongs_a_move_by_a_minute_at_most() -> None:
    now = 0.0
    timer = MoveTimer(1.0, lambda: now)
    timer.watch(Starved([0.0], runnable=True))
    now = 61.1
    assert timer.left() <= 0
