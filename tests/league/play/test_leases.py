"""Leases, and the recovery when a worker or the queue is lost."""

import threading
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from celery.signals import worker_ready
from django.core.cache import cache
from django.db import DatabaseError
from django.utils import timezone
from structlog.contextvars import bound_contextvars

from engine.games.game import Observation
from engine.referee import Player
from league import competitions, heartbeats, play, queueing, tasks
from league.bots import HostedBot, jails, sandbox_reports
from league.models import Match, Tournament
from league.play import hosted, leases, match_queue
from tests import logs
from tests.league import small
from tests.league.bots.uploaded import owner, ready_bot

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def running() -> Tournament:
    """A tournament whose first round is open and not played."""
    tournament = small.tournament(small.ladder())
    small.bots(4)
    competitions.advance_tournament(tournament.pk)
    return tournament


def test_a_lease_is_renewed_while_its_match_is_played(
    running: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "RENEW_EVERY", 0.01)
    match = Match.objects.earliest("pk")
    lease = leases.take(match.pk)
    assert lease is not None
    match.refresh_from_db()
    first = match.leased_until
    assert first is not None

    def renewed() -> bool:
        match.refresh_from_db()
        assert match.leased_until is not None
        return match.leased_until > first

    with leases.kept(match.pk, lease.id):
        until = time.monotonic() + 10
        while not renewed():
            assert time.monotonic() < until
            time.sleep(0.01)
    assert match.due_at == match.leased_until


def test_a_renewal_that_fails_is_logged_with_the_ids_that_the_task_has_bound(
    running: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = threading.Event()

    def fail(**_: object) -> None:
        failed.set()
        raise DatabaseError("no such socket")

    match = Match.objects.earliest("pk")
    lease = leases.take(match.pk)
    assert lease is not None
    monkeypatch.setattr(leases, "RENEW_EVERY", 0.01)
    monkeypatch.setattr(leases, "Match", SimpleNamespace(objects=SimpleNamespace(filter=fail)))
    bound = bound_contextvars(match_id=match.pk)
    with logs.captured() as events, bound, leases.kept(match.pk, lease.id):
        assert failed.wait(10)
    assert events[0]["event"] == "a lease could not be renewed"
    assert events[0]["match_id"] == match.pk


def test_a_lease_that_another_worker_took_over_is_not_renewed(
    running: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "RENEW_EVERY", 0.01)
    match = Match.objects.earliest("pk")
    old = leases.take(match.pk)
    assert old is not None
    Match.objects.filter(pk=match.pk).update(leased_until=timezone.now() - leases.LEASE)
    leases.take(match.pk)
    match.refresh_from_db()
    leases._renew(match.pk, old.id)
    before = match.leased_until
    match.refresh_from_db()
    assert match.leased_until == before


def void(match: Match) -> None:
    play.void_match(match, "an organiser decided it")


def give_to_another_worker(match: Match) -> None:
    Match.objects.filter(pk=match.pk).update(leased_until=timezone.now() - leases.LEASE)
    assert leases.take(match.pk) is not None


@pytest.mark.parametrize(
    ("lose", "status", "losses"),
    [(void, "void", 0), (give_to_another_worker, "playing", 1)],
    ids=["void", "another worker"],
)
def test_a_match_whose_lease_is_lost_stops_at_its_next_move(
    running: Tournament,
    monkeypatch: pytest.MonkeyPatch,
    lose: Callable[[Match], None],
    status: str,
    losses: int,
) -> None:
    monkeypatch.setattr(leases, "LOOK_EVERY", 0.0)
    match = Match.objects.earliest("pk")
    moves: list[str] = []

    def players(seating: hosted.Seating) -> list[Player]:
        def choose(observation: Observation) -> str:
            moves.append(observation["legal_moves"][0])
            if len(moves) == 5:
                lose(match)
            return moves[-1]

        return [choose for _ in seating]

    with logs.captured() as events:
        assert not play.play_match(match.pk, players=players)
    assert len(moves) == 5
    match.refresh_from_db()
    assert (match.status, match.losses, match.failures) == (status, losses, 0)
    assert [event["event"] for event in events if event["log_level"] == "error"] == []


def test_the_sandboxes_of_a_match_that_becomes_void_end(monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox_reports.forget_all()  # of other tests
    monkeypatch.setattr(leases, "LOOK_EVERY", 0.0)
    seated = [ready_bot(owner()) for _ in range(3)]
    match = play.open_unrated_match(
        game="twelve-days", rules="eight-nights", versions=small.versions(seated)
    )
    processes: list[HostedBot] = []

    def load(bot: HostedBot) -> None:
        bot.ready()
        processes.append(bot)
        if len(processes) == 3:
            void(match)

    monkeypatch.setattr(HostedBot, "load", load)
    assert not play.play_match(match.pk)
    assert [bot._asked for bot in processes] == [0, 0, 0]
    assert [bot._process for bot in processes] == [None, None, None]
    assert sandbox_reports.find_fault() is None


def test_a_lease_that_cannot_be_read_is_no_fault_of_a_bot(
    running: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: object) -> None:
        raise DatabaseError("terminating connection")

    match = Match.objects.earliest("pk")
    lease = leases.take(match.pk)
    assert lease is not None
    player = leases.Watch(match.pk, lease.id).watched(lambda observation: "give 1")
    monkeypatch.setattr(leases, "LOOK_EVERY", 0.0)
    monkeypatch.setattr(leases, "Match", SimpleNamespace(objects=SimpleNamespace(filter=fail)))
    assert player({}) == "give 1"


def test_if_the_broker_was_emptied_the_next_tick_queues_matches_again(
    running: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued: list[int] = []
    monkeypatch.setattr(match_queue, "AHEAD", 1000)
    monkeypatch.setattr(tasks.play_match, "apply_async", lambda args, queue: queued.append(*args))
    monkeypatch.setattr(heartbeats, "broker_was_emptied", lambda: False)
    tasks.tick()
    first = sorted(queued)
    tasks.tick()
    assert first
    assert sorted(queued) == first
    monkeypatch.setattr(heartbeats, "broker_was_emptied", lambda: True)
    tasks.tick()
    assert sorted(queued) == sorted(first * 2)


@pytest.fixture
def queued(running: Tournament, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Matches that were queued, each time; nobody plays them."""
    cache.delete_many(["worker-started", "worker-started-pause"])
    found: list[int] = []
    monkeypatch.setattr(match_queue, "AHEAD", 1000)
    monkeypatch.setattr(jails, "prove", lambda: True)
    monkeypatch.setattr(tasks.play_match, "apply_async", lambda args, queue: found.append(*args))
    tasks.tick()
    tasks.tick()
    assert len(found) == len(set(found)) > 0
    return found


def test_when_a_worker_starts_the_matches_of_a_killed_one_are_queued_again(
    queued: list[int],
) -> None:
    first = sorted(queued)
    worker_ready.send(sender=None)
    tasks.tick()
    assert sorted(queued) == sorted(first * 2)
    tasks.tick()
    assert sorted(queued) == sorted(first * 2)


def test_a_worker_that_restarts_often_has_matches_queued_again_only_now_and_then(
    queued: list[int],
) -> None:
    first = len(queued)
    for _ in range(5):
        worker_ready.send(sender=None)
        tasks.tick()
    assert len(queued) == 2 * first
    cache.delete("worker-started-pause")  # as ten seconds later
    tasks.tick()
    assert len(queued) == 3 * first, "the last start is not forgotten"


def test_no_match_is_queued_if_no_worker_takes_tasks_out(
    queued: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = len(queued)
    monkeypatch.setattr(queueing, "tasks_queued", lambda queue: 1000)
    worker_ready.send(sender=None)
    tasks.tick()
    assert len(queued) == first
    monkeypatch.setattr(queueing, "tasks_queued", lambda queue: 999)
    tasks.tick()
    assert len(queued) == 2 * first
