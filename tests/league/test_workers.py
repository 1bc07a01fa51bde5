"""What a worker does when it starts."""

import os
from pathlib import Path
from threading import Event

import pytest
from celery import current_app
from pytest_django import Settings

from league import health, tasks, workers
from league.bots import jails
from league.models.limits import BANK_SECONDS_LIMITS, MOVE_SECONDS_LIMITS, SEATS


@pytest.mark.parametrize("leads_session", [True, False])
def test_a_worker_lowers_its_priority_and_that_of_its_own_session_only(
    leads_session: bool,
) -> None:
    autogroup = Path("/proc/self/autogroup")
    before = autogroup.read_text() if autogroup.exists() else ""
    child = os.fork()
    if not child:
        wrong = 1
        try:
            if leads_session:
                os.setsid()
            nice = os.nice(0)
            workers.Priority(None, nice=7)
            lowered = not autogroup.exists() or autogroup.read_text().endswith(" nice 7\n")
            wrong = int(os.nice(0) != min(19, nice + 7) or (leads_session and not lowered))
        finally:
            os._exit(wrong)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not autogroup.exists() or autogroup.read_text() == before


@pytest.mark.parametrize(("queues", "proves"), [(["ratings"], False), (["control", "seats"], True)])
def test_only_a_worker_that_may_run_uploaded_bots_proves_its_sandbox(
    queues: list[str], proves: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    proven = Event()
    monkeypatch.setattr(jails, "prove", proven.set)
    monkeypatch.setattr(current_app.amqp.queues, "_consume_from", dict.fromkeys(queues))
    workers.prove_sandbox()
    assert proven.wait(60 if proves else 0.2) == proves


def test_the_clock_shares_its_queue_with_nothing_else(settings: Settings) -> None:
    routes = {
        name.rpartition(".")[2]: route["queue"]
        for name, route in settings.CELERY_TASK_ROUTES.items()
    }
    assert {task for task, queue in routes.items() if queue == "clock"} <= {
        "tick",
        "upkeep",
        "expire_overdue",
    }
    assert routes["check_version"] == "checks"
    assert {"clock", "checks", "play", "seats", "ratings"} <= set(health.QUEUES)


def test_work_on_all_records_of_a_ladder_shares_its_queue_with_nothing_else(
    settings: Settings,
) -> None:
    routes = settings.CELERY_TASK_ROUTES.items()
    assert {name.rpartition(".")[2] for name, to in routes if to["queue"] == "ratings"} == {
        "fit_performance",
        "correct_ladder",
        "check_ladder",
        "count_luck",
        "archive_rounds",  # it reads records too, and may wait for hours
    }


def test_no_task_limit_ends_a_match_that_its_clocks_allow() -> None:
    moves = 300  # of a seat, more than any preset has
    longest = SEATS.high * (BANK_SECONDS_LIMITS.high + moves * MOVE_SECONDS_LIMITS.high)
    assert tasks.play_match.time_limit > longest
