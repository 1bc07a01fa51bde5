"""Watching a match live: `source.js` by events, and `live.js`, which waits for the match to begin.

Chromium gets each answer of the event stream from the feed that the gateway sends.
"""

import re

import pytest
from django.db import connections
from playwright.sync_api import Page, Route, expect

from api.play.database import EncodedEvent
from league.models import Bot, Match
from league.play.spectating import MatchFeed
from tests.browser.conftest import Visit
from tests.league.play.live import match_of, play_on, remote_bots

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def bots(db: None) -> list[Bot]:
    return remote_bots(3)


@pytest.fixture
def match(bots: list[Bot]) -> Match:
    return match_of(bots)


@pytest.fixture
def live(match: Match, visit: Visit) -> Page:
    """The page of a live match before its first move; each connection brings what is new."""
    feed, events = MatchFeed(match.pk), [b"retry: 100\n\n"]

    def answer(route: Route) -> None:
        try:
            events.extend(EncodedEvent(event).body for event in feed.new_events())
        finally:
            connections.close_all()  # Playwright calls this in a context with its own connections
        route.fulfill(content_type="text/event-stream", body=b"".join(events))

    visit.page.route(re.compile("/events$"), answer)
    visit.page.goto(f"/matches/{match.pk}/")
    expect(visit.page.locator(".seat.acts")).to_have_count(3)
    return visit.page


def test_a_live_match_shows_its_moves_and_its_end_without_loading_a_page(
    live: Page, bots: list[Bot], match: Match
) -> None:
    loaded = []
    live.on("request", lambda request: loaded.append(request.resource_type))
    expect(live.locator(".hand .tc:not(.back)")).to_have_count(0)
    play_on(bots)
    expect(live.locator(".live-state")).to_contain_text("The match is over")
    match.refresh_from_db()
    points = live.locator(".seat .points").all_inner_texts()
    assert points == [str(score) for score in match.record.scores]
    assert "document" not in loaded
    live.get_by_role("link", name="Watch the replay").click()
    expect(live.locator("[data-play]")).to_be_visible()


def test_a_page_without_live_parts_loads_only_the_script_of_times(visit: Visit, db: None) -> None:
    visit.page.goto("/")
    sources = visit.page.locator("script").evaluate_all("all => all.map((one) => one.src)")
    assert [source.rpartition("/")[2] for source in sources] == ["times.js"]
