"""The queue holds a task of each waiting match once, whatever happens to workers and broker."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
import redis
from celery import current_app
from django.conf import settings
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from league import competitions, heartbeats, play, queueing, tasks
from league.models import Match
from league.play import match_queue
from tests.league import small
from tests.league.play.live import START, match_of, remote_bots

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def broker(monkeypatch: pytest.MonkeyPatch) -> Iterator[redis.Redis]:
    """The broker with empty queues; no worker takes tasks out."""
    monkeypatch.setattr(heartbeats, "broker_was_emptied", lambda: False)
    monkeypatch.setattr(heartbeats, "worker_was_started", lambda: False)
    monkeypatch.setattr(match_queue, "AHEAD", 1000)
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.delete("play", "control", "seats", "clock")
        yield client
        client.delete("play", "control", "seats", "clock")


@pytest.fixture
def waiting() -> set[int]:
    """Ids of the matches of a tournament's first round; nobody plays them."""
    tournament = small.tournament(small.ladder())
    small.bots(4)
    competitions.advance_tournament(tournament.pk)
    return set(Match.objects.values_list("pk", flat=True))


def let_a_minute_pass() -> None:
    Match.objects.filter(status="waiting").update(due_at=timezone.now() - timedelta(seconds=1))


def test_while_no_worker_runs_ticks_queue_each_match_once(
    waiting: set[int], broker: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        monkeypatch.setattr(heartbeats, "worker_was_started", lambda n=number: n % 2)
        tasks.tick()
        let_a_minute_pass()
        assert broker.llen("play") == len(waiting)
    assert queueing.waiting_ids("play_match") == waiting


def test_if_the_broker_loses_the_queue_each_match_is_queued_once_more(
    waiting: set[int], broker: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks.tick()
    broker.delete("play")
    tasks.tick()
    assert broker.llen("play") == 0
    monkeypatch.setattr(heartbeats, "broker_was_emptied", lambda: True)
    tasks.tick()
    tasks.tick()
    assert broker.llen("play") == len(waiting)
    assert queueing.waiting_ids("play_match") == waiting


def test_a_task_that_a_killed_worker_had_taken_out_is_queued_again(
    waiting: set[int], broker: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks.tick()
    broker.lpop("play")
    monkeypatch.setattr(heartbeats, "worker_was_started", lambda: True)
    tasks.tick()
    assert broker.llen("play") == len(waiting)
    assert queueing.waiting_ids("play_match") == waiting


def test_a_copy_of_a_task_costs_one_query(
    waiting: set[int], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    match_id = min(waiting)
    assert play.play_match(match_id, players=small.players)
    with django_assert_num_queries(1):
        assert not play.play_match(match_id, players=small.players)


def group(**values: int | bool | None) -> match_queue._Group:
    empty = {"ladder": None, "tournament": None, "swap": False, "due": 0, "queued": 0, "playing": 0}
    return match_queue._Group(**{**empty, **values})  # type: ignore[arg-type]


@pytest.mark.parametrize(("playing", "share"), [(0, 1), (2, 1), (16, 8)])
@pytest.mark.parametrize("swap", [True, False])
def test_unrated_matches_hold_an_equal_share_of_the_workers_while_rated_ones_wait(
    playing: int, share: int, swap: bool
) -> None:
    ladder = group(ladder=1, due=5, playing=playing)
    unrated = group(ladder=1 if swap else None, swap=swap, due=50)
    assert dict(match_queue._rooms([ladder, unrated]))[unrated] == share
    held = unrated._replace(playing=share)
    others = ladder._replace(playing=max(0, playing - share))
    assert held not in dict(match_queue._rooms([others, held]))


def test_unrated_matches_take_all_workers_that_have_nothing_rated_to_play() -> None:
    ladder, unrated = group(ladder=1, playing=1), group(due=50, playing=1)
    assert dict(match_queue._rooms([ladder, unrated]))[unrated] >= match_queue.AHEAD


def test_a_live_match_that_waits_in_a_queue_is_not_queued_again(broker: redis.Redis) -> None:
    remote, house = remote_bots(2), small.bots(1)
    match = match_of([*remote, *house])
    assert broker.llen("seats") == 1, "the house bot is to move"
    for _ in range(5):
        Match.objects.update(due_at=START)
        tasks.follow_up()
        assert broker.llen("control") == 0
    broker.delete("seats")
    for _ in range(5):
        Match.objects.update(due_at=START)
        tasks.follow_up()
        assert queueing.waiting_ids("open_live_match") == {match.pk}
        assert broker.llen("control") == 1


def test_tasks_of_another_kind_and_queues_that_cannot_be_read_are_not_mistaken_for_waiting_ones(
    broker: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    current_app.send_task("league.tasks.check_ladder", [7])
    assert queueing.waiting_ids("open_live_match") == set()
    assert queueing.waiting_ids("check_ladder") == {7}
    monkeypatch.setattr(settings, "REDIS_URL", "unix:///nowhere/valkey.sock")
    assert queueing.waiting_ids("check_ladder") == set()
