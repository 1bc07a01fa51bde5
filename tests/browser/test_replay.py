"""Stepping through a replay: `replay.js`."""

import re

import pytest
from playwright.sync_api import Browser, Page, Request, expect
from pytest_django.live_server_helper import LiveServer

from league.models import Match, Tournament
from tests.browser.conftest import Visit

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def replay(league: Tournament, visit: Visit) -> Page:
    """The replay of a match of eight days, with all its steps loaded."""
    match = Match.objects.filter(block__round__tournament=league).earliest("pk")
    with visit.page.expect_response(re.compile("/steps/$")) as steps:
        visit.page.goto(f"/matches/{match.pk}/")
    steps.value.finished()
    expect(visit.page.locator("#step h2")).to_have_text("Day 1 of 8")
    return visit.page


def press(page: Page, key: str, title: str) -> None:
    page.keyboard.press(key)
    expect(page.locator("#step h2")).to_have_text(title)


def count_documents(page: Page) -> list[str]:
    """Return a list that receives the address of each page that the tab loads from now on."""
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url) if _is_page(request) else None)
    return loaded


def _is_page(request: Request) -> bool:
    return request.resource_type == "document"


def test_keys_step_through_the_match_without_loading_a_page(replay: Page) -> None:
    loaded = count_documents(replay)
    press(replay, "ArrowRight", "Day 2 of 8")
    assert replay.url.endswith("?step=2")
    assert "Day 2 of 8" in replay.title()
    press(replay, "End", "The end: hands are counted")
    press(replay, "ArrowLeft", "Day 8 of 8")
    press(replay, "Home", "Day 1 of 8")
    press(replay, "ArrowLeft", "Day 1 of 8")
    assert loaded == []


def test_buttons_and_the_list_of_steps_mark_the_step_that_is_shown(replay: Page) -> None:
    disabled = replay.locator(".steps a[aria-disabled]")
    expect(disabled).to_have_count(2)
    replay.locator("[data-go=next]").click()
    expect(replay.locator("[data-at]")).to_have_text("2")
    expect(disabled).to_have_count(0)
    replay.locator("[data-step='5']").click()
    expect(replay.locator("#step h2")).to_have_text("Day 5 of 8")
    expect(replay.locator(".jump [aria-current]")).to_have_text("5")
    replay.locator("[data-go=last]").click()
    expect(replay.locator("[data-at]")).to_have_text("9")
    expect(disabled).to_have_count(2)


def test_the_back_button_shows_the_step_before(replay: Page) -> None:
    press(replay, "ArrowRight", "Day 2 of 8")
    press(replay, "ArrowRight", "Day 3 of 8")
    replay.go_back()
    expect(replay.locator("#step h2")).to_have_text("Day 2 of 8")
    expect(replay.locator("[data-at]")).to_have_text("2")


def test_the_back_button_loads_the_page_of_the_step_if_the_steps_are_missing(
    replay: Page, visit: Visit
) -> None:
    press(replay, "ArrowRight", "Day 2 of 8")
    press(replay, "ArrowRight", "Day 3 of 8")
    replay.route(re.compile("/steps/$"), lambda route: route.fulfill(status=503))
    with replay.expect_response(re.compile("/steps/$")):
        replay.reload()
    loaded = count_documents(replay)
    replay.go_back()
    expect(replay.locator("#step h2")).to_have_text("Day 2 of 8")
    assert [address.partition("?")[2] for address in loaded] == ["step=2"]
    assert all("503" in error for error in visit.errors)
    visit.errors.clear()


def test_each_step_looks_as_the_server_renders_it(replay: Page) -> None:
    stepped = []
    for number in range(1, 10):
        expect(replay.locator("[data-at]")).to_have_text(str(number))
        stepped.append(replay.locator("#step").inner_text())
        replay.keyboard.press("ArrowRight")
    rendered = []
    for number in (1, 4, 9):
        replay.goto(f"{replay.url.split('?')[0]}?step={number}")
        rendered.append(replay.locator("#step").inner_text())
    assert [stepped[number - 1] for number in (1, 4, 9)] == rendered


def test_keys_with_modifiers_and_in_scrollable_regions_do_not_step(replay: Page) -> None:
    replay.keyboard.press("Shift+ArrowRight")
    replay.locator("[role=region][tabindex='0']").first.focus()
    replay.keyboard.press("ArrowRight")
    expect(replay.locator("[data-at]")).to_have_text("1")
    replay.locator("[data-go=next]").focus()
    press(replay, "ArrowRight", "Day 2 of 8")


@pytest.mark.parametrize("has_javascript", [True, False])
def test_links_work_without_javascript_and_without_the_steps(
    league: Tournament, browser: Browser, live_server: LiveServer, has_javascript: bool
) -> None:
    match = Match.objects.filter(block__round__tournament=league).earliest("pk")
    context = browser.new_context(base_url=live_server.url, java_script_enabled=has_javascript)
    page = context.new_page()
    page.route(re.compile("/steps/$"), lambda route: route.fulfill(status=503))
    page.goto(f"/matches/{match.pk}/")
    page.locator("[data-go=next]").click()
    page.wait_for_url("**/?step=2")
    expect(page.locator("#step h2")).to_have_text("Day 2 of 8")
    context.close()
