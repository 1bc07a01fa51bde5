"""Pages that update themselves: `live.js`. The tests move the browser's clock by hand."""

from itertools import pairwise

import pytest
from playwright.sync_api import Page, Route, expect

from league.models import Bot, Match
from tests.browser.conftest import Visit
from tests.league.play.live import match_of, play_on, remote_bots

pytestmark = pytest.mark.django_db(transaction=True)

SHORTEST, LONGEST = 3200, 4800
"""Milliseconds after which the page of a match fetches itself: 4 s, by chance 20 % more or less."""

COUNT = """
    window.fetchedAt = [];
    const original = window.fetch;
    window.fetch = (...request) => { fetchedAt.push(Date.now()); return original(...request); };
"""
GIVE = "Now all seats give a card to the left."
PLAY = "Now all seats choose a card to play."


@pytest.fixture
def bots(db: None) -> list[Bot]:
    return remote_bots(3)


@pytest.fixture
def match(bots: list[Bot]) -> Match:
    return match_of(bots)


@pytest.fixture
def live(match: Match, visit: Visit) -> Page:
    """The page of a live match before its first move, with a clock that stands still."""
    visit.page.add_init_script(COUNT)
    visit.page.clock.install(time=0)
    visit.page.clock.pause_at(1)
    visit.page.goto(f"/matches/{match.pk}/")
    expect(visit.page.locator(".note").first).to_have_text(GIVE)
    return visit.page


def play_a_phase(bots: list[Bot]) -> None:
    for bot in bots:
        play_on([bot], until=iter([False, True]).__next__)


def fetch_times(page: Page) -> list[int]:
    times: list[int] = page.evaluate("fetchedAt")
    return times


def refresh(page: Page, step: int = LONGEST) -> None:
    """Move the clock until the page fetches itself once more."""
    before = len(fetch_times(page))
    while len(fetch_times(page)) == before:
        page.clock.run_for(step)


def test_a_live_match_shows_its_new_moves(live: Page, bots: list[Bot]) -> None:
    play_a_phase(bots)
    refresh(live)
    expect(live.locator(".note").first).to_have_text(PLAY)
    play_a_phase(bots)
    refresh(live)
    expect(live.locator(".play")).to_have_count(3)


def test_a_part_with_the_focus_stays_until_the_focus_leaves_it(live: Page, bots: list[Bot]) -> None:
    live.locator("#result a").first.focus()
    play_a_phase(bots)
    for _ in range(2):  # the second fetch starts only after the first answer is shown
        refresh(live)
    expect(live.locator(".note").first).to_have_text(GIVE)
    live.evaluate("document.activeElement.blur()")
    refresh(live)
    expect(live.locator(".note").first).to_have_text(PLAY)


def test_the_replay_appears_when_the_match_ends(live: Page, bots: list[Bot]) -> None:
    play_on(bots)
    refresh(live)
    expect(live.locator(".replay")).to_be_visible()
    expect(live.locator("[data-at]")).to_have_text("1")


def test_after_each_failure_the_page_waits_twice_as_long(live: Page, visit: Visit) -> None:
    def fail(route: Route) -> None:
        route.fulfill(status=503)

    live.route("**/matches/*/", fail)
    for _ in range(3):
        refresh(live, step=200)
    live.unroute("**/matches/*/", fail)
    waits = [later - earlier for earlier, later in pairwise(fetch_times(live))]
    assert all(wait >= 2**failures * SHORTEST for failures, wait in enumerate(waits, 1))
    assert all("503" in error for error in visit.errors)
    visit.errors.clear()


def test_a_page_updates_itself_again_after_a_failure(
    live: Page, visit: Visit, bots: list[Bot]
) -> None:
    live.route("**/matches/*/", lambda route: route.abort(), times=1)
    play_a_phase(bots)
    for _ in range(2):
        refresh(live)
    expect(live.locator(".note").first).to_have_text(PLAY)
    visit.errors.clear()


def test_a_hidden_tab_fetches_nothing(live: Page) -> None:
    live.evaluate("Object.defineProperty(document, 'hidden', { get: () => true })")
    live.clock.run_for(3 * LONGEST)
    assert fetch_times(live) == []


def test_a_page_without_live_parts_loads_no_script(visit: Visit, db: None) -> None:
    visit.page.goto("/")
    assert visit.page.locator("script").count() == 0
