"""The tasks that write the feed and find highlights."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from league import activity, tasks
from league.models import FeedItem, Highlight, Match
from tests.league import small

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_tasks_store_items_and_the_highlights_of_a_day_that_has_just_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small.tournament(small.ladder("eagles", seats=2))
    small.bots(2)
    small.run_all()
    cache.clear()
    activity.note()
    tasks.write_feed()
    assert FeedItem.objects.filter(kind="finished").count() == 1
    midnight = datetime(2026, 1, 7, tzinfo=UTC)
    Match.objects.update(finished_at=midnight - timedelta(minutes=1))
    monkeypatch.setattr(timezone, "now", lambda: midnight + timedelta(hours=1))
    tasks.find_highlights()
    assert not Highlight.objects.exists()
    monkeypatch.setattr(timezone, "now", lambda: midnight + timedelta(minutes=5))
    tasks.find_highlights()
    assert {each.day.day for each in Highlight.objects.all()} == {6}
