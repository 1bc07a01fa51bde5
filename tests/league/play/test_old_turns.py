"""Turns go some days after their match; those of a match in play stay."""

from datetime import datetime, timedelta
from itertools import count

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from league import play, tasks
from league.models import LiveMove, Match, Turn
from league.play import old_turns
from tests.league import small

pytestmark = pytest.mark.django_db


@pytest.fixture
def now() -> datetime:
    return timezone.now()


def turns(now: datetime, ages: list[float], status: str) -> list[int]:
    """Store a match with turns that opened so many days ago; return their ids."""
    owner = User.objects.create(username=f"ada-{status}")
    bots = small.bots(3, owner, prefix=f"{status}-bot")
    match = play.open_unrated_match(
        game="twelve-days", rules="eight-nights", versions=small.versions(bots)
    )
    Match.objects.filter(pk=match.pk).update(
        status=status, packed_record=b"record" if status == "finished" else None
    )
    made = Turn.objects.bulk_create(
        Turn(
            match=match,
            seat=0,
            bot=bots[0],
            number=number,
            ply=number,
            opened_at=now - timedelta(days=age),
            deadline=now,
            bank_ms=0,
            decided_at=now,
        )
        for number, age in enumerate(ages)
    )
    return [turn.pk for turn in made]


def kept() -> list[int]:
    return list(Turn.objects.order_by("pk").values_list("pk", flat=True))


@pytest.mark.parametrize("status", ["finished", "void"])
def test_turns_of_a_match_that_is_over_are_removed_after_their_days(
    now: datetime, status: str, settings: Settings
) -> None:
    settings.MAX_OUTPUT_DAYS = 14
    _, _, young = turns(now, [20, 14.1, 13.9], status)
    assert old_turns.remove_old_turns(now) == 2
    assert kept() == [young]
    assert old_turns.remove_old_turns(now) == 0


def test_moves_of_a_void_match_go_with_its_turns_but_not_those_of_a_match_in_play(
    now: datetime,
) -> None:
    for status in ("void", "playing"):
        turns(now, [20], status)
        match = Match.objects.get(status=status)
        LiveMove.objects.create(match=match, ply=0, seat=0, text="give 4")
    old_turns.remove_old_turns(now)
    assert [move.match.status for move in LiveMove.objects.all()] == ["playing"]


def test_turns_of_a_match_in_play_stay(now: datetime) -> None:
    in_play = turns(now, [30, 20], "playing")
    assert old_turns.remove_old_turns(now) == 0
    assert kept() == in_play


def test_old_turns_behind_those_of_a_long_match_are_found(
    now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(old_turns, "BATCH", 2)
    in_play = turns(now, [30, 30, 30], "playing")
    turns(now, [20, 20, 20], "finished")
    assert old_turns.remove_old_turns(now) == 3
    assert kept() == in_play


def test_a_call_removes_all_old_turns_if_its_time_is_enough(
    now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(old_turns, "BATCH", 1)
    turns(now, [20] * 250, "finished")
    assert old_turns.remove_old_turns(now) == 250


def test_a_call_begins_no_batch_after_its_time_and_the_next_call_goes_on(
    now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(old_turns, "BATCH", 2)
    seconds = count(step=old_turns.MAX_SECONDS / 2)
    monkeypatch.setattr(old_turns, "monotonic", lambda: next(seconds))
    turns(now, [20] * 5, "finished")
    assert [old_turns.remove_old_turns(now) for _ in range(4)] == [2, 2, 1, 0]


def test_the_task_that_removes_output_removes_turns(now: datetime) -> None:
    turns(now, [100], "finished")
    tasks.remove_old_output()
    assert kept() == []
