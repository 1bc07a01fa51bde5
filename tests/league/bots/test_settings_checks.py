"""The checks of bots, which forms, API, admin and commands share."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import DataError, IntegrityError, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from league.bots import bot_problems
from league.models import Bot, BotVersion
from league.models.settings_problems import values_of
from tests.league import small

BOT = values_of(Bot(name="feste", kind="remote", owner_id=1))


def test_a_bot_has_no_problem_by_default() -> None:
    assert bot_problems(BOT) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("name", name) for name in ("", "ab", "x" * 33, "Feste", "a b c", "abc\n", None, 5)),
        ("kind", "robot"),
        ("kind", "house"),
        ("owner_id", None),
        ("description", "x" * 501),
        ("description", "\0"),
        ("description", None),
    ],
)
def test_a_wrong_value_is_named_with_its_field(field: str, value: Any) -> None:
    [problem] = bot_problems({**BOT, field: value})
    assert problem.field == ("kind" if field == "owner_id" else field)


@pytest.mark.django_db
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.text(max_size=35), st.text("abyz09-", min_size=1, max_size=35)))
def test_the_database_stores_a_name_only_if_the_check_allows_it(name: str) -> None:
    owner, _ = User.objects.get_or_create(username="ada")
    allowed = not bot_problems({**BOT, "name": name})
    try:
        with transaction.atomic():
            Bot.objects.create(name=name, kind="remote", owner=owner).delete()
    except (DataError, IntegrityError, ValueError):
        assert not allowed
    else:
        assert allowed


@pytest.mark.django_db
def test_a_bot_whose_current_version_is_not_ready_is_left_out() -> None:
    [bot] = small.bots(1)
    assert bot in Bot.objects.playable()
    BotVersion.objects.filter(bot=bot).update(state="refused")
    assert bot not in Bot.objects.playable()
