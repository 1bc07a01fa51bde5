"""Ticks of a league at rest: they cost little, and see at once what changes."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from engine.rating import elo
from league import activity, competitions, tasks, workers
from league.competitions import ladder_rounds
from league.models import Ladder, Standing
from league.play.turns import note_all_seen
from tests.league import small

pytestmark = pytest.mark.django_db(transaction=True)

MOST_STATEMENTS = 16


@pytest.fixture
def resting() -> Ladder:
    """A ladder of house bots that have played enough blocks."""
    ladder = small.ladder()
    for bot in small.bots(4):
        competitions.enter_ladder(ladder=ladder, bot=bot)
        Standing.objects.update_or_create(
            ladder=ladder,
            bot=bot,
            defaults={
                "version": 1,
                "rating": elo.START,
                "blocks": ladder_rounds.SETTLED_BLOCKS,
            },
        )
    return ladder


def test_a_tick_at_rest_takes_few_statements(resting: Ladder) -> None:
    tasks.tick()
    with CaptureQueriesContext(
        connection,
    ) as queries:
        tasks.tick()
    assert len(queries) <= MOST_STATEMENTS, [query["sql"][:90] for query in queries]


def test_a_ladder_at_rest_is_not_locked(resting: Ladder) -> None:
    assert competitions.ladders_to_pair() == []


def test_a_new_bot_ends_the_rest(resting: Ladder) -> None:
    [bot] = small.bots(1, prefix="new")
    competitions.enter_ladder(ladder=resting, bot=bot)
    assert competitions.ladders_to_pair() == [resting.pk]
    tasks.tick()
    assert resting.rounds.exists()


def looks() -> int:
    """Return how often beat would queue a tick in three seconds, in a league that was at rest."""
    return sum(activity.may_look("tick", 60) for _ in range(3))


@pytest.mark.parametrize(("method", "times"), [("get", 1), ("post", 3), ("delete", 3)])
def test_a_request_that_may_change_something_ends_the_rest(
    client: Client, method: str, times: int
) -> None:
    cache.clear()
    getattr(client, method)("/api/v1/bots/nobody/")
    assert looks() == times


def test_a_bot_that_asks_for_turns_ends_the_rest() -> None:
    cache.clear()
    [bot] = small.bots(1)
    note_all_seen([bot.pk], timezone.now())
    assert looks() == 3


@pytest.mark.django_db
def test_a_remote_bot_is_online_since_it_asked_after_a_minute_of_silence() -> None:
    [bot] = small.bots(1)
    now = timezone.now()
    for seconds, since in [(0, 0), (30, 0), (60, 0), (125, 125), (131, 125)]:
        note_all_seen([bot.pk], now + timedelta(seconds=seconds))
        bot.refresh_from_db()
        assert bot.online_since == now + timedelta(seconds=since)


def test_a_worker_that_starts_ends_the_rest() -> None:
    cache.clear()
    workers.note_start()
    assert looks() == 3


def test_due_work_ends_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(competitions, "ladders_to_pair", lambda: [1])
    monkeypatch.setattr(competitions, "open_ladder_round", lambda ladder: None)
    assert activity.may_look("tick", 60)
    assert not activity.may_look("tick", 60)
    tasks.follow_up()
    assert activity.may_look("tick", 60)
    cache.clear()


@pytest.mark.parametrize(("seconds", "times"), [(30, 3), (3000, 1)])
def test_upkeep_ends_the_rest_shortly_before_a_tournament_starts(
    resting: Ladder, seconds: int, times: int
) -> None:
    now = timezone.now()
    competitions.announce_tournament(
        title="A cup",
        ladder=resting,
        starts_at=now + timedelta(seconds=seconds),
        entries_open_at=now - timedelta(hours=1),
    )
    cache.clear()
    tasks.upkeep()
    assert looks() == times


def test_without_the_broker_due_work_is_looked_for(settings: Settings) -> None:
    settings.CACHES = {
        "default": settings.CACHES["default"] | {"LOCATION": "unix:///nowhere/valkey.sock"}
    }
    assert all(activity.may_look("tick", 60) for _ in range(2))


def test_a_step_of_the_sweep_that_fails_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = []

    def fail(*_: object) -> None:
        ran.append("failed")
        raise ValueError("broken row")

    monkeypatch.setattr("league.accounts.repetitions.sweep", fail)
    monkeypatch.setattr("league.bots.erase_sources", fail)
    monkeypatch.setattr("league.competitions.remove_old_tables", lambda _: ran.append("tables"))
    tasks.sweep()
    assert ran == ["failed", "failed", "tables"]


def test_the_sweep_deletes_sessions_that_are_over(client: Client) -> None:
    for name in ("viola", "orsino"):
        client.force_login(User.objects.create_user(name))
        client.cookies.clear()  # nobody signs out
    over = timezone.now() - timedelta(seconds=1)
    [old, _] = Session.objects.order_by("pk")
    Session.objects.filter(pk=old.pk).update(expire_date=over)
    tasks.sweep()
    assert Session.objects.count() == 1
    assert not Session.objects.filter(pk=old.pk).exists()


def test_old_turns_are_removed_even_if_old_output_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []

    def fail(_: object) -> None:
        raise ValueError("broken row")

    monkeypatch.setattr("league.play.remove_old_output", fail)
    monkeypatch.setattr("league.play.remove_old_turns", lambda _: ran.append("turns"))
    tasks.remove_old_output()
    assert ran == ["turns"]
