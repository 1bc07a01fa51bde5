"""What the API's tests share: a client with tokens, and limits that no test runs into."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import Client
from pytest_django import Settings

from league import accounts, bots
from league.models import Bot, Tournament
from tests.league import small
from tests.league.kept import kept
from tests.responses import Response

JSON = "application/json"


class Api:
    """Calls the API as a program does, from the raw bytes up."""

    def __init__(self) -> None:
        self.client = Client(raise_request_exception=False)

    def call(
        self, method: str, path: str, body: Any = None, token: str = "", **headers: str
    ) -> Response:
        """Return the response to a call; a body of bytes goes out as it is."""
        if token:
            headers["Authorization"] = f"Bearer {token}"
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body)
        kind = headers.pop("content_type", JSON)
        url = path if path.startswith(("/", "http")) else f"/api/v1/{path}"
        return self.client.generic(method, url, data, kind, headers=headers)

    def get(self, path: str, **kwargs: Any) -> Response:
        return self.call("GET", path, **kwargs)

    def post(self, path: str, body: Any = None, **kwargs: Any) -> Response:
        return self.call("POST", path, body, **kwargs)


def assert_problem(response: Response | httpx.Response, status: int, code: str) -> dict[str, Any]:
    """Return a problem document, having looked that it is one, with this status and code."""
    assert response.status_code == status, response.content
    assert response.headers["Content-Type"] == "application/problem+json"
    problem: dict[str, Any] = response.json()
    assert (problem["status"], problem["code"]) == (status, code), problem
    assert problem["request_id"] == response.headers["X-Request-ID"]
    assert problem["type"] == f"/api/v1/docs/#{code}"
    assert problem["title"]
    assert problem["detail"]
    return problem


def fields_of(problem: dict[str, Any]) -> set[str]:
    """Return the fields that the errors of a problem name."""
    assert all(error.keys() == {"field", "message"} for error in problem["errors"]), problem
    return {error["field"] for error in problem["errors"]}


@pytest.fixture(autouse=True)
def quick_and_alone(settings: Settings) -> None:
    """Cheap password hashes, and a cache of this process's own."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    cache.clear()


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def ada(db: None) -> tuple[User, str]:
    """An account and its token."""
    return accounts.create_account(username="ada", password="a long enough secret")


@pytest.fixture
def eve(db: None) -> tuple[User, str]:
    """Another account."""
    return accounts.create_account(username="eve", password="another long secret")


@pytest.fixture
def organiser(eve: tuple[User, str]) -> str:
    user, token = eve
    user.is_staff = True
    user.save()
    return token


@pytest.fixture
def bot(ada: tuple[User, str]) -> tuple[Bot, str]:
    """A remote bot of Ada's and its token."""
    return bots.create_bot(owner=ada[0], name="ada-bot", kind="remote")


@pytest.fixture
@kept
def cup(db: None) -> Tournament:
    """A knockout of seven bots, played to its end."""
    small.bots(7)
    cup = small.tournament(small.ladder(seats=3), format="knockout")
    small.run_all()
    return cup


@pytest.fixture
def kept_connection(db: None) -> Iterator[None]:
    """Keep the database connection open after a request, as Django's test client does."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)
