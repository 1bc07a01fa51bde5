"""Beat without its broker: no task of the schedule is lost."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache

from config.beat import LEASE_KEY, BeatThread, Scheduler
from config.celery import app
from config.schedule import BEAT_SCHEDULE, REST_SECONDS
from league import activity, health, heartbeats
from league.queueing import broker
from tests.journeys.running import wait_for


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[Scheduler]:
    made = Scheduler(app=app, schedule_filename=str(tmp_path / "schedule"))
    yield made
    made.close()


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the tasks that are queued; while the first is "away", the broker is."""
    names: list[str] = []

    def send(self: Scheduler, entry: Any, **_: Any) -> None:
        if names == ["away"]:
            raise ConnectionRefusedError
        names.append(entry.name)

    monkeypatch.setattr(Scheduler, "apply_async", send)
    return names


def run_until_idle(scheduler: Scheduler) -> None:
    for _ in range(20):
        if scheduler.tick():
            return


def test_beat_queues_each_due_task_once_the_broker_is_back(
    scheduler: Scheduler, queued: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    activity.note()
    clock = [datetime.now(UTC)]
    monkeypatch.setattr("celery.schedules.BaseSchedule.now", lambda self: clock[0])
    run_until_idle(scheduler)
    queued[:] = ["away"]
    clock[0] += timedelta(hours=1)  # more than the machine may stall here
    for _ in range(10):  # more often than there are tasks
        assert scheduler.tick() == 0.5
    queued.clear()
    run_until_idle(scheduler)
    assert {"tick", "prove-sandbox"} <= set(queued)


def test_a_beat_that_tries_to_reach_the_broker_counts_as_alive(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(settings, "ALIVE_FILE", str(tmp_path / "alive"))
    monkeypatch.setattr(settings, "REDIS_URL", "unix:///nowhere/valkey.sock")
    assert scheduler.tick() == 0.5
    assert (tmp_path / "alive").exists()


@pytest.mark.parametrize("rests", [False, True])
def test_beat_goes_on_if_the_clock_is_set_back(
    scheduler: Scheduler, queued: list[str], monkeypatch: pytest.MonkeyPatch, rests: bool
) -> None:
    monkeypatch.setattr("config.beat.REST_PAUSE_SECONDS", 0)
    cache.clear()
    if not rests:
        activity.note()
    clock = [datetime.now(UTC)]
    monkeypatch.setattr("celery.schedules.BaseSchedule.now", lambda self: clock[0])
    clock[0] += timedelta(seconds=10)
    run_until_idle(scheduler)
    queued.clear()
    clock[0] -= timedelta(hours=1)
    assert scheduler.tick() < 2
    clock[0] += timedelta(seconds=10)
    run_until_idle(scheduler)
    assert {"tick", "upkeep"} <= set(queued)


def test_at_rest_beat_queues_a_tick_only_now_and_then(
    scheduler: Scheduler, queued: list[str]
) -> None:
    cache.clear()
    for name in ("tick", "tick", "upkeep", "sweep", "tick", "upkeep", "sweep"):
        scheduler.apply_entry(scheduler.schedule[name])
    assert queued == ["tick", "upkeep", "sweep", "sweep"]
    activity.note()
    scheduler.apply_entry(scheduler.schedule["tick"])
    assert queued[4:] == ["tick"]


def test_at_rest_beat_searches_its_schedule_only_now_and_then_until_the_rest_ends(
    scheduler: Scheduler, queued: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("config.beat.REST_PAUSE_SECONDS", 600)  # the machine may stall
    cache.clear()
    clock = [datetime.now(UTC)]
    monkeypatch.setattr("celery.schedules.BaseSchedule.now", lambda self: clock[0])
    run_until_idle(scheduler)
    queued.clear()
    clock[0] += timedelta(hours=1)
    assert scheduler.tick() == 1.0
    assert queued == []
    activity.note()
    run_until_idle(scheduler)
    assert "tick" in queued


def test_every_pause_at_rest_belongs_to_an_entry_of_the_schedule() -> None:
    assert REST_SECONDS.keys() <= BEAT_SCHEDULE.keys()


def test_a_broker_that_can_not_be_reached_is_tried_again(
    scheduler: Scheduler, queued: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Scheduler) -> None:
        raise ConnectionRefusedError

    with monkeypatch.context() as patch:
        patch.setattr(Scheduler, "_ensure_connected", refuse)
        assert scheduler.tick() == 0.5
    run_until_idle(scheduler)
    assert scheduler._heap


def test_beat_gives_signs_of_life(scheduler: Scheduler, queued: list[str]) -> None:
    cache.delete("part:beat")
    scheduler.tick()
    assert (heartbeats.seconds_since_part("beat") or 0) < 5
    assert heartbeats.seconds_since_part("beat") is not None


def test_a_beat_in_a_worker_runs_again_after_a_failure_and_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts, runs = [], threading.Event()

    def tick(self: Scheduler) -> float:
        starts.append(self)
        if len(starts) == 1:
            raise RuntimeError("a beat that fails")
        runs.set()
        return 0.01

    monkeypatch.setattr(Scheduler, "tick", tick)
    thread = BeatThread(app, str(tmp_path / "schedule"))
    thread.start()
    assert runs.wait(10)
    thread.stop()
    assert not thread.is_alive()
    assert starts[0] is not starts[1]


def test_one_beat_queues_tasks_while_the_others_stand_by(
    scheduler: Scheduler,
    queued: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [datetime.now(UTC)]
    monkeypatch.setattr("celery.schedules.BaseSchedule.now", lambda self: clock[0])
    monkeypatch.setattr("config.beat.LEASE_MILLISECONDS", 600_000)  # the machine may stall
    broker().delete(LEASE_KEY)
    activity.note()
    other = Scheduler(app=app, schedule_filename=str(tmp_path / "other"))
    run_until_idle(scheduler)
    clock[0] += timedelta(hours=1)
    run_until_idle(scheduler)
    assert "tick" in queued
    queued.clear()
    try:
        assert other.tick() == 0.5
        assert queued == []
        scheduler.close()  # it frees the lease, so the other one need not wait
        run_until_idle(other)
        assert "tick" in queued
    finally:
        other.close()


def test_another_beat_takes_over_when_the_active_one_is_killed(tmp_path: Path) -> None:
    broker().delete(LEASE_KEY)
    options = ["-A", "config", "--quiet", "beat", "--loglevel", "WARNING", "--pidfile="]
    beats = {
        each.pid: each
        for each in (
            subprocess.Popen(
                [sys.executable, "-m", "celery", *options, "--schedule", str(tmp_path / name)]
            )
            for name in ("one", "two")
        )
    }

    def active() -> int | None:
        holder = broker().get(LEASE_KEY)
        return int(holder.decode().split("/")[1]) if isinstance(holder, bytes) else None

    try:
        wait_for(lambda: active() in beats, active)
        first = active()
        assert first is not None
        beats[first].kill()
        wait_for(lambda: active() in beats.keys() - {first}, active)
        cache.delete("part:beat")
        wait_for(lambda: heartbeats.seconds_since_part("beat") is not None, active)
    finally:
        for beat in beats.values():
            beat.kill()
            beat.wait()
        broker().delete(LEASE_KEY)
        for queue in health.QUEUES:
            broker().delete(queue)
