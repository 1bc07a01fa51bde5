"""Wrong passwords are limited by account and address; hashes are cheap, few, and never wasted."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher, check_password, make_password
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from league.accounts import hashing, throttles
from league.accounts.hashing import Argon2Hasher, BusyError, Turns

pytestmark = pytest.mark.django_db

RIGHT = {"username": "ada", "password": "four calling birds"}
WRONG = {"username": "ada", "password": "three french hens"}
Post = Callable[..., Any]


@pytest.fixture(autouse=True)
def few_guesses(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    settings.RATE_LIMITS = {
        **settings.RATE_LIMITS,
        "guesses": (3, 3600),
        "account-guesses": (5, 3600),
    }
    monkeypatch.setattr(throttles, "_cache_away_until", 0.0)
    cache.clear()


@pytest.fixture
def ada() -> User:
    return User.objects.create_user(**RIGHT)


def sign_in(body: dict[str, str], address: str) -> Any:
    """Return the answer of the API to a sign-in from an address."""
    return Client().post(
        "/api/v1/tokens", body, content_type="application/json", REMOTE_ADDR=address
    )


def test_after_some_wrong_passwords_an_address_waits_and_the_owner_elsewhere_does_not(
    ada: User,
) -> None:
    guesses = [sign_in(WRONG, "192.0.2.1").status_code for _ in range(4)]
    assert guesses == [401, 401, 401, 429]
    refused = sign_in(RIGHT, "192.0.2.1")
    assert (refused.status_code, refused.json()["code"]) == (429, "too-many-tries")
    assert 1 <= int(refused["Retry-After"]) <= 3600
    assert sign_in(RIGHT, "192.0.2.2").status_code == 201


def test_many_addresses_together_are_stopped_but_not_an_address_that_signed_in_before(
    ada: User,
) -> None:
    assert sign_in(RIGHT, "192.0.2.9").status_code == 201
    guesses = [sign_in(WRONG, f"192.0.2.{number}").status_code for number in range(1, 8)]
    assert guesses == [401] * 5 + [429] * 2
    assert sign_in(RIGHT, "192.0.2.8").status_code == 429
    assert sign_in(RIGHT, "192.0.2.9").status_code == 201


def test_right_passwords_use_up_nothing(ada: User) -> None:
    assert [sign_in(RIGHT, "192.0.2.1").status_code for _ in range(7)] == [201] * 7


def test_a_name_without_an_account_gets_the_same_answers(ada: User) -> None:
    nobody = {**WRONG, "username": "nobody"}
    for number in range(5):
        one, other = sign_in(WRONG, "192.0.2.1"), sign_in(nobody, "192.0.2.1")
        assert one.status_code == other.status_code == (401 if number < 3 else 429)
        same = ("code", "title", "status")
        assert [one.json()[name] for name in same] == [other.json()[name] for name in same]


def test_another_case_of_letters_counts_for_the_same_account(ada: User) -> None:
    for name in ("ada", "ADA", "Ada"):
        sign_in({**WRONG, "username": name}, "192.0.2.1")
    assert sign_in(RIGHT, "192.0.2.1").status_code == 429


@pytest.mark.parametrize("path", ["/account/sign-in/", "/admin/login/"])
def test_the_pages_have_the_same_limit(ada: User, path: str, client: Client) -> None:
    for _ in range(3):
        assert client.post(path, WRONG).status_code == 200
    page = client.post(path, RIGHT)
    assert page.status_code == 429
    assert "Too many wrong passwords" in page.content.decode()
    assert int(page["Retry-After"]) > 0


def test_a_refused_sign_in_computes_no_hash(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        sign_in(WRONG, "192.0.2.1")

    def fail(*args: object) -> None:
        raise AssertionError("a hash was computed")

    monkeypatch.setattr(Argon2Hasher, "verify", fail)
    monkeypatch.setattr(Argon2Hasher, "encode", fail)
    assert sign_in(RIGHT, "192.0.2.1").status_code == 429
    taken = Client().post("/api/v1/accounts", RIGHT, content_type="application/json")
    assert taken.status_code == 400, "nor does a refused sign-up"


def test_without_the_cache_the_owner_signs_in(ada: User, settings: Settings) -> None:
    settings.CACHES = {
        "default": {
            "BACKEND": "config.cache.Cache",
            "LOCATION": "unix:///nowhere/redis.sock",
        }
    }
    assert sign_in(RIGHT, "192.0.2.1").status_code == 201


def test_hashes_have_the_parameters_of_owasp_and_older_ones_are_replaced(
    settings: Settings,
) -> None:
    encoded = make_password("four calling birds")
    assert encoded.startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$")
    quick = PBKDF2PasswordHasher()
    old = quick.encode("four calling birds", "salt" * 6, iterations=1000)
    replaced: list[str] = []
    assert check_password("four calling birds", old, replaced.append)
    assert replaced == ["four calling birds"]


def test_beyond_the_places_a_hash_is_refused_at_once_and_the_others_end() -> None:
    turns, inside, go = Turns(1), threading.Semaphore(0), threading.Event()
    ended: list[bool] = []

    def compute() -> None:
        inside.release()
        with turns.taken():
            go.wait(10)
            ended.append(True)

    threads = [threading.Thread(target=compute) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in threads:
        inside.acquire()
    while turns._inside._value:  # both are inside
        pass
    with pytest.raises(BusyError), turns.taken():
        pass
    go.set()
    for thread in threads:
        thread.join()
    assert ended == [True, True]
    with turns.taken():
        pass


def test_a_busy_league_answers_503_with_a_retry_time(
    ada: User, monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    full = Turns(1)
    monkeypatch.setattr(hashing, "_turn", full.taken)
    monkeypatch.setattr(hashing, "WAIT_SECONDS", 0)
    with full.taken():
        answer = sign_in(RIGHT, "192.0.2.1")
        page = client.post("/account/sign-in/", RIGHT)
    assert (answer.status_code, answer.json()["code"]) == (503, "busy")
    assert (page.status_code, page["Retry-After"]) == (503, "1")
    assert int(answer["Retry-After"]) == 1
    assert sign_in(RIGHT, "192.0.2.1").status_code == 201
