"""Rate limits."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from league.accounts import throttles
from league.accounts.throttles import parse_rate
from tests.api.conftest import assert_problem

pytestmark = pytest.mark.django_db


@pytest.fixture
def two_a_minute(settings, monkeypatch):
    settings.API_RATES = {**settings.API_RATES, "general": "2/hour"}
    monkeypatch.setattr(throttles, "_away_until", 0.0)


def test_whoever_asks_too_often_is_told_when_to_go_on(api, two_a_minute):
    first, second, third = (api.get("games") for _ in range(3))
    assert [first.status_code, second.status_code] == [200, 200]
    assert first["RateLimit-Policy"] == '"general";q=2;w=3600'
    assert first["RateLimit"].startswith('"general";r=1;t=')
    assert second["RateLimit"].startswith('"general";r=0;t=')
    assert_problem(third, 429, "too-many-requests")
    assert 1 <= int(third["Retry-After"]) <= 3600
    assert third["RateLimit"].startswith('"general";r=0;t=')


def test_each_token_has_limits_of_its_own(api, two_a_minute, ada, bot):
    for token in ("", ada[1], bot[1]):
        assert [api.get("games", token=token).status_code for _ in range(3)] == [200, 200, 429]


def test_calls_that_are_refused_count_too(api, two_a_minute, ada, bot):
    assert [api.post("bots", {}).status_code for _ in range(3)] == [401, 401, 429]
    refused = [api.post("bots", {}, token=bot[1]) for _ in range(3)]
    assert [answer.status_code for answer in refused] == [403, 403, 429]
    assert refused[0]["RateLimit"].startswith('"general";r=1;t=')


def test_tokens_can_t_be_tried_out_faster_than_that(api, two_a_minute):
    answers = [api.get("games", token=f"tn_o_{number}") for number in range(3)]
    assert [answer.status_code for answer in answers] == [401, 401, 429]


@pytest.mark.parametrize(
    ("rate", "path", "body"),
    [
        ("accounts", "accounts", {"username": "ada", "password": "x"}),
        ("passwords", "tokens", {"username": "ada", "password": "x"}),
        ("play", "moves", {"moves": []}),
        ("play", "matches/1/moves", {"turn": 0, "move": "x"}),
    ],
)
def test_what_has_a_rate_of_its_own_reaches_it(api, bot, settings, rate, path, body):
    settings.API_RATES = {**settings.API_RATES, rate: "2/hour"}
    token = bot[1] if rate == "play" else ""
    answers = [api.post(path, body, token=token) for _ in range(3)]
    assert [answer.status_code == 429 for answer in answers] == [False, False, True]
    assert answers[2]["RateLimit-Policy"] == f'"{rate}";q=2;w=3600'


def test_a_made_up_forwarded_address_changes_nothing(api, two_a_minute):
    codes = [
        api.get("games", **{"X-Forwarded-For": f"10.0.0.{number}"}).status_code
        for number in range(3)
    ]
    assert codes == [200, 200, 429]


def test_without_the_cache_nobody_is_turned_away(api, two_a_minute, settings):
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "unix:///nowhere/redis.sock",
        }
    }
    assert [api.get("games").status_code for _ in range(3)] == [200] * 3


def test_limits_are_counted_in_redis(api, two_a_minute, settings):
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": settings.REDIS_URL,
            "KEY_PREFIX": f"test-{id(api)}",
        }
    }
    assert [api.get("games").status_code for _ in range(3)] == [200, 200, 429]


@pytest.mark.parametrize("rate", ["", "many", "10", "10/day", "-1/minute", "x/minute"])
def test_a_rate_that_is_none_is_named(rate):
    with pytest.raises(ImproperlyConfigured, match="rate"):
        parse_rate(rate)
