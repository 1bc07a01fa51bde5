"""Readers without cookies share a page for a moment; nobody else gets it."""

import time
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.test import Client
from pytest_django import Settings

from league.models import Ladder
from tests.league import small
from web import shared_pages

pytestmark = pytest.mark.django_db
PAGE = "/ladders/quick/"


@pytest.fixture(autouse=True)
def _shared(settings: Settings) -> None:
    settings.SHARED_PAGE_SECONDS = 60
    caches["pages"].clear()


@pytest.fixture
def renamed() -> str:
    """Rename a ladder whose page a reader without cookies has just had; return the new title."""
    small.ladder()
    assert "Quick" in shown(Client())
    Ladder.objects.update(title="Renamed")
    return "Renamed"


def shown(client: Client, page: str = PAGE) -> str:
    response = client.get(page)
    assert response.status_code == 200
    return response.content.decode()


def test_the_next_reader_without_cookies_gets_the_same_page(renamed: str) -> None:
    assert renamed not in shown(Client())


def test_a_shared_page_has_the_same_headers_and_a_request_id_of_its_own() -> None:
    small.ladder()
    first, second = Client().get(PAGE), Client().get(PAGE)
    ids = first.headers.pop("X-Request-ID"), second.headers.pop("X-Request-ID")
    assert ids[0] != ids[1]
    assert dict(first.items()) == dict(second.items())


def test_a_page_is_shared_for_the_seconds_of_the_setting(renamed: str, settings: Settings) -> None:
    settings.SHARED_PAGE_SECONDS = 0
    assert renamed in shown(Client())


def test_somebody_with_a_session_gets_a_page_of_the_present(renamed: str) -> None:
    ann = Client()
    ann.force_login(User.objects.create_user("annabel"))
    assert renamed in shown(ann)
    assert "annabel" not in shown(Client())


def test_another_address_is_another_page(renamed: str) -> None:
    assert renamed in shown(Client(), PAGE + "?view=statistics")
    assert renamed in Client().get(PAGE, HTTP_HOST="127.0.0.1").content.decode()


def test_a_page_that_sets_a_cookie_is_not_shared() -> None:
    first, second = (Client().get("/account/sign-up/") for _ in range(2))
    assert first.cookies["csrftoken"].value != second.cookies["csrftoken"].value


def test_errors_and_the_api_are_not_shared() -> None:
    assert Client().get(PAGE).status_code == 404
    small.ladder()
    assert Client().get(PAGE).status_code == 200
    api = "/api/v1/ladders/quick"
    assert Client().get(api).json()["title"] == "Quick"
    Ladder.objects.update(title="Renamed")
    assert Client().get(api).json()["title"] == "Renamed"


def test_while_one_reader_waits_for_a_new_page_others_get_the_old_one(
    renamed: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = time.monotonic() + settings.SHARED_PAGE_SECONDS + 1
    monkeypatch.setattr(shared_pages, "time", SimpleNamespace(monotonic=lambda: later))
    seen: list[str] = []

    def look_meanwhile(_: object) -> bool:
        seen.append(shown(Client()))
        return True

    monkeypatch.setattr(shared_pages, "_is_for_all", look_meanwhile)
    assert renamed in shown(Client())
    assert len(seen) == 1
    assert renamed not in seen[0]
    assert renamed in shown(Client())
