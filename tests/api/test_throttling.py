"""Rate limits."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from league.accounts import throttles
from league.models import Bot
from tests.api.conftest import Api, assert_problem

pytestmark = pytest.mark.django_db


@pytest.fixture
def two_an_hour(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "general": (2, 3600)}
    monkeypatch.setattr(throttles, "_cache_away_until", 0.0)


def test_a_request_beyond_the_limit_is_refused_with_a_retry_time(
    api: Api, two_an_hour: None
) -> None:
    first, second, third = (api.get("games") for _ in range(3))
    assert [first.status_code, second.status_code] == [200, 200]
    assert first["RateLimit-Policy"] == '"general";q=2;w=3600'
    assert first["RateLimit"].startswith('"general";r=1;t=')
    assert second["RateLimit"].startswith('"general";r=0;t=')
    problem = assert_problem(third, 429, "too-many-requests")
    assert problem["detail"].startswith("The limit is 2 requests in 3600 s. Try again in ")
    assert 1 <= int(third["Retry-After"]) <= 3600
    assert third["RateLimit"].startswith('"general";r=0;t=')


def test_each_token_has_its_own_limits(
    api: Api, two_an_hour: None, ada: tuple[User, str], bot: tuple[Bot, str]
) -> None:
    for token in ("", ada[1], bot[1]):
        assert [api.get("games", token=token).status_code for _ in range(3)] == [200, 200, 429]


def test_calls_that_are_refused_count_too(
    api: Api, two_an_hour: None, ada: tuple[User, str], bot: tuple[Bot, str]
) -> None:
    assert [api.post("bots", {}).status_code for _ in range(3)] == [401, 401, 429]
    refused = [api.post("bots", {}, token=bot[1]) for _ in range(3)]
    assert [answer.status_code for answer in refused] == [403, 403, 429]
    assert refused[0]["RateLimit"].startswith('"general";r=1;t=')


def test_guessing_tokens_uses_up_the_limit_of_the_address(api: Api, two_an_hour: None) -> None:
    answers = [api.get("games", token=f"tn_o_{number}") for number in range(3)]
    assert [answer.status_code for answer in answers] == [401, 401, 429]


@pytest.mark.parametrize(
    ("rate", "path", "body"),
    [
        ("accounts", "accounts", {"username": "ada", "password": "x"}),
        ("passwords", "tokens", {"username": "ada", "password": "x"}),
    ],
)
def test_calls_with_their_own_limit_reach_it(
    api: Api, bot: tuple[Bot, str], settings: Settings, rate: str, path: str, body: Any
) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, rate: (2, 3600)}
    token = bot[1] if rate == "play" else ""
    answers = [api.post(path, body, token=token) for _ in range(3)]
    assert [answer.status_code == 429 for answer in answers] == [False, False, True]
    assert answers[2]["RateLimit-Policy"] == f'"{rate}";q=2;w=3600'


def test_a_made_up_forwarded_address_changes_nothing(api: Api, two_an_hour: None) -> None:
    codes = [
        api.get("games", **{"X-Forwarded-For": f"10.0.0.{number}"}).status_code
        for number in range(3)
    ]
    assert codes == [200, 200, 429]


def test_without_the_cache_there_is_no_limit(
    api: Api, two_an_hour: None, settings: Settings
) -> None:
    settings.CACHES = {
        "default": {
            "BACKEND": "config.cache.Cache",
            "LOCATION": "unix:///nowhere/redis.sock",
        }
    }
    assert [api.get("games").status_code for _ in range(3)] == [200] * 3


def test_limits_are_counted_in_redis(api: Api, two_an_hour: None, settings: Settings) -> None:
    settings.CACHES = {
        "default": {
            "BACKEND": "config.cache.Cache",
            "LOCATION": settings.REDIS_URL,
            "KEY_PREFIX": f"test-{id(api)}",
        }
    }
    assert [api.get("games").status_code for _ in range(3)] == [200, 200, 429]
