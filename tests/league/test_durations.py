"""The histograms: each kind of work notes how long it took."""

import time
from types import SimpleNamespace
from typing import Any

import pytest
from celery.signals import before_task_publish, task_prerun

from league import bots, durations, play, ratings, workers
from league.models import BotVersion
from league.queueing import broker
from tests.league import small
from tests.league.bots.uploaded import FIRST, hosted_bot, owner
from tests.league.play.live import match_of, remote_bots, second

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def nothing_counted() -> None:
    """Forget what other tests have counted."""
    durations.send()
    broker().delete("league:durations")


def counted(name: str) -> dict[tuple[str, ...], durations.Times]:
    """Return the times of a histogram by the values of its labels."""
    durations.send()
    return {kind.labels: times for kind, times in durations.read().items() if kind.name == name}


def number(times: durations.Times) -> int:
    return sum(times.counts)


def test_a_turn_counts_from_its_opening_to_its_handing_out_to_its_answer() -> None:
    players = remote_bots(3)
    match = match_of(players)
    [turn] = play.open_turns(players[0], second(0.7))
    [handed_out] = counted("turn_handed_out").values()
    assert number(handed_out) == 1
    assert handed_out.total == pytest.approx(0.7)
    play.open_turns(players[0], second(0.9))  # it keeps its first receipt
    move = play.Move(match.pk, turn["turn"], turn["observation"]["legal_moves"][0])
    play.submit(players[0], move, second(1.2))
    play.expire_overdue(second(60))
    answered = counted("turn_answered")
    assert answered["",].total == pytest.approx(0.5)
    assert number(answered["",]) == 1
    assert number(counted("turn_handed_out")[()]) == 1


def test_an_answer_of_the_referee_counts_by_its_fault() -> None:
    players = remote_bots(3)
    match_of(players)
    play.open_turns(players[0], second(0))
    play.expire_overdue(second(60))
    assert number(counted("turn_answered")["timeout",]) == 1


def test_matches_and_rounds_count_from_start_to_end() -> None:
    ladder = small.ladder()
    table = [bot.pk for bot in small.bots(3)]
    small.play_round(ladder, table)
    assert number(counted("match")["twelve-days", "hosted"]) == 3
    assert number(counted("round")["ladder",]) == 1
    assert ratings.rounds_to_apply() == []


def test_a_check_and_the_start_of_its_bot_count() -> None:
    version = bots.upload(bot=hosted_bot(owner()), data=FIRST)
    assert bots.check_version(version.pk)
    version.refresh_from_db()
    assert version.state == BotVersion.State.READY
    assert number(counted("check")["ready",]) == 1
    assert number(counted("sandbox_start")[()]) >= 2


def test_the_wait_of_a_task_counts_by_its_queue() -> None:
    headers: dict[str, Any] = {}
    before_task_publish.send(sender="league.tasks.tick", headers=headers)
    assert headers["sent_at"] == pytest.approx(time.time(), abs=60)
    request = SimpleNamespace(
        sent_at=headers["sent_at"] - 7, delivery_info={"routing_key": "ratings"}
    )
    task_prerun.send(sender=None, task_id="1", task=SimpleNamespace(request=request))
    [wait] = counted("queue_wait").values()
    assert 7 <= wait.total < 60
    old = SimpleNamespace(delivery_info={"routing_key": "ratings"})
    workers.note_wait(task=SimpleNamespace(request=old))  # sent by an older version
    assert number(counted("queue_wait")["ratings",]) == 1


def test_a_histogram_of_a_newer_version_is_left_out() -> None:
    broker().hset("league:durations", "something_new\n3", 1)
    assert durations.read() == {}
