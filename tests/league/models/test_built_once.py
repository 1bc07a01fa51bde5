"""Queries that are built once: their times move with the clock, and values can be given."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, models
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from league.models import Bot, BotVersion, Round
from league.models.built_once import Given, built_once, objects_built_once
from tests.league import small

pytestmark = pytest.mark.django_db


def test_a_time_in_a_query_moves_with_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    @built_once
    def seen() -> QuerySet[Bot, tuple[str]]:
        """Bots that were seen in the last minute."""
        since = timezone.now() - timedelta(minutes=1)
        return Bot.objects.filter(seen_at__gte=since).values_list("name")

    now = timezone.now()
    early, late = small.bots(2)
    Bot.objects.filter(pk=early.pk).update(seen_at=now)
    Bot.objects.filter(pk=late.pk).update(seen_at=now + timedelta(seconds=50))
    assert sorted(seen()) == [(early.name,), (late.name,)]
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(seconds=90))
    assert seen() == [(late.name,)]
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(seconds=111))
    assert seen() == []


def test_a_given_value_is_that_of_each_call() -> None:
    builds = []

    @built_once
    def names() -> QuerySet[Bot, tuple[str]]:
        """The name of a bot by its id."""
        builds.append(1)
        return Bot.objects.filter(pk=Given("bot", models.BigIntegerField())).values_list("name")

    bots = small.bots(2)
    assert [names(bot=bot.pk) for bot in bots] == [[(bot.name,)] for bot in bots]
    assert len(builds) == 1


def test_a_call_sends_the_query_that_django_builds() -> None:
    def alive() -> QuerySet[Bot, tuple[Any, ...]]:
        """Two conditions with values of different types."""
        return Bot.objects.filter(paused=False, kind="house").order_by("-name").values_list("pk")

    small.bots(3)
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert built_once(alive)() == list(alive())
    first, second = (query["sql"] for query in captured)
    assert first == second


def test_objects_are_those_that_django_reads(django_assert_num_queries: Any) -> None:
    def versions() -> QuerySet[BotVersion]:
        """All versions."""
        return BotVersion.objects.order_by("-pk")

    small.bots(3)
    expected = list(versions().select_related("bot"))
    with django_assert_num_queries(1):
        found = objects_built_once(versions, "bot")()
        bots = [version.bot for version in found]
    assert len(found) == 3
    for objects, others in ((found, expected), (bots, [version.bot for version in expected])):
        assert [_columns(each) for each in objects] == [_columns(each) for each in others]
        assert not any(each._state.adding for each in objects)


def test_objects_with_columns_that_need_a_conversion_are_refused() -> None:
    with pytest.raises(TypeError, match="columns of Round need a conversion"):
        objects_built_once(Round.objects.all)()


def _columns(item: models.Model) -> dict[str, Any]:
    return {field.attname: getattr(item, field.attname) for field in item._meta.concrete_fields}
