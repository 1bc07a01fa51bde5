"""Workers that sleep while the league is at rest."""

import asyncio
import os
import sys
import time
import uuid
from contextlib import closing
from pathlib import Path

import pytest
import redis
from django.core.cache import cache
from kombu.transport.redis import Channel

from config.schedule import REST_SECONDS, TASK_ROUTES
from devserver.output import Output
from devserver.part import Part
from devserver.sleep import ACTIVE_KEY, HEARTBEAT_KEY, HELD_KEY, Work, sleep_with
from devserver.supervisor import Supervisor
from league import activity, heartbeats, queueing
from tests.servers import redis_url


def found(
    work: Work, now: float, *, waits: bool = False, rests: bool = True, held: bool = False
) -> bool:
    work.note(now, waits=waits, rests=rests, is_held=held, after=60)
    return work.gone.is_set()


def test_work_is_gone_after_a_minute_of_rest_without_a_task() -> None:
    work = Work()
    assert [found(work, now) for now in (0, 59, 60)] == [False, False, True]
    assert not found(work, 61, waits=True)
    assert work.there.is_set()


def test_activity_and_tasks_begin_the_minute_anew() -> None:
    work = Work()
    assert not found(work, 0)
    assert not found(work, 59, rests=False)
    assert [found(work, now) for now in (60, 119)] == [False, False]
    assert not found(work, 120, waits=True)
    assert [found(work, now) for now in (121, 180, 181)] == [False, False, True]


def test_no_worker_falls_asleep_while_a_task_is_in_hand() -> None:
    work = Work()
    assert [found(work, 0), found(work, 60, held=True), found(work, 60.5)] == [False, False, True]


@pytest.fixture
def url(worker_id: str) -> str:
    """The URL of a database that is not the broker's first, which a mistake would take.

    It is the worker's own. The leagues of journeys have those from the ninth on, and a league that
    plays lets no worker sleep.
    """
    return redis_url(1) if worker_id == "master" else os.environ["REDIS_URL"]


def test_a_sleeping_workers_queues_have_a_heartbeat_and_a_task_wakes_it(url: str) -> None:
    broker = redis.Redis.from_url(url)
    broker.delete(ACTIVE_KEY, HELD_KEY)  # of earlier tests
    names = [f"queue-{uuid.uuid4()}" for _ in range(2)]

    async def run() -> None:
        sleep = sleep_with(url)
        assert sleep
        sleep.after = 0
        work = sleep.work(names)
        watching = asyncio.create_task(sleep.watch())
        async with asyncio.timeout(60):
            await work.gone.wait()
            work.sleeps = True
            while not broker.exists(HEARTBEAT_KEY.format(names[1])):
                await asyncio.sleep(0.01)
            assert not work.there.is_set()
            broker.lpush(names[1], "task")
            await work.there.wait()
        watching.cancel()

    try:
        asyncio.run(run())
        age = time.time() - int(broker.get(HEARTBEAT_KEY.format(names[0])) or 0)
        assert age < 60
    finally:
        broker.delete(*names, *(HEARTBEAT_KEY.format(name) for name in names))
        broker.close()


def test_the_names_of_keys_are_those_of_the_league() -> None:
    assert cache.make_key(activity._ACTIVE_KEY) == ACTIVE_KEY
    assert cache.make_key(heartbeats._worker_key("play")) == HEARTBEAT_KEY.format("play")
    assert Channel.unacked_key == HELD_KEY


def test_a_heartbeat_in_whole_seconds_counts() -> None:
    key = cache.make_key(heartbeats._worker_key("play"))
    queueing.broker().set(key, f"{time.time():.0f}")
    assert abs(heartbeats.seconds_since_worker(["play"])["play"]) < 60


def test_at_rest_beat_seldom_queues_tasks_of_workers_that_sleep() -> None:
    awake = {"clock", "checks", "trials"}
    often = {name for name, seconds in REST_SECONDS.items() if seconds < 3600}
    assert {TASK_ROUTES[f"league.tasks.{name}"]["queue"] for name in often} <= awake


def test_a_part_without_work_ends_and_starts_again_with_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    starts, work = tmp_path / "starts", Work()
    script = (
        f"import signal, time; open({str(starts)!r}, 'a').write('x')\n"
        "signal.signal(signal.SIGTERM, lambda *_: print('ends in order') or exit())\n"
        "time.sleep(60)"
    )

    async def until(seen: int) -> None:
        while not (starts.exists() and len(starts.read_text()) == seen):
            await asyncio.sleep(0.01)

    async def run(output: Output) -> None:
        supervisor = Supervisor(os.environ, tmp_path, output=output)
        part = Part(name="part", command=[sys.executable, "-c", script], work=work)
        running = asyncio.create_task(supervisor.run([[part]]))
        async with asyncio.timeout(60):
            await until(1)
            work.gone.set()
            while not work.sleeps:
                await asyncio.sleep(0.01)
            assert len(starts.read_text()) == 1
            work.gone.clear()
            work.there.set()
            await until(2)
            supervisor.stop.set()
            await running
        assert not work.sleeps

    with closing(Output(tmp_path / "log")) as output:
        asyncio.run(run(output))
    assert "part | sleeps until it has work" in (tmp_path / "log").read_text()
    assert capsys.readouterr().out == ""
