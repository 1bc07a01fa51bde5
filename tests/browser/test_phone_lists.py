"""Lists, ladders and two bots on a phone: what stands in the first window, and in one row."""

import pytest
from django.utils import timezone
from playwright.sync_api import Locator, ViewportSize, expect

from league import feeds
from league.models import Tournament
from tests.browser.conftest import Visit

pytestmark = pytest.mark.django_db(transaction=True)

PHONE: ViewportSize = {"width": 390, "height": 844}


def upper(found: Locator) -> float:
    """Return where an element begins, from the upper edge of the window."""
    box = found.bounding_box()
    assert box is not None
    return box["y"]


def test_the_list_of_matches_begins_in_the_first_window(league: Tournament, visit: Visit) -> None:
    feeds.find_highlights(timezone.now().date())
    page = visit.page
    page.goto("/matches/")
    cards = page.locator(".highlight")
    count = cards.count()
    assert count >= 1
    expect(page.locator(".banner .news")).to_be_visible()
    expect(cards.locator("visible=true")).to_have_count(count)
    assert upper(page.locator(".match-row").first) < 900 - 24
    expect(page.get_by_text("worst mistake")).to_have_count(0)
    page.set_viewport_size(PHONE)
    expect(cards.locator("visible=true")).to_have_count(0)
    assert upper(page.locator("#matches")) < PHONE["height"]


def test_a_phone_shows_all_that_a_tablet_does_of_where_two_bots_stand(
    league: Tournament, visit: Visit
) -> None:
    page = visit.page
    page.goto("/bots/bot-0/against/bot-1/")
    rows = page.locator(".stand-of tbody tr")
    names = page.locator(".versus-names").first
    page.set_viewport_size(PHONE)
    assert rows.count() > 1
    expect(rows.locator("visible=true")).to_have_count(rows.count())
    expect(names).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_line_below_a_bot_of_a_ladder_takes_one_row_on_a_phone(
    league: Tournament, visit: Visit
) -> None:
    page = visit.page
    page.set_viewport_size(PHONE)
    page.goto("/ladders/quick/")
    line = page.locator(".places .by").first
    line.locator(".on-phones").evaluate("each => { each.textContent = '· 12345 matches'; }")
    box = line.bounding_box()
    assert box is not None
    assert box["height"] < 24
    heads = """heads => heads.slice(0, 2).map((head) => {
        const range = document.createRange();
        range.selectNodeContents(head);
        return range.getBoundingClientRect();
    }).map(({ left, right }) => [left, right])"""
    (_, rank), (bot, _) = page.locator(".places thead th").evaluate_all(heads)
    assert bot - rank >= 12


def test_on_a_phone_the_heads_of_a_knockouts_standings_stand_in_their_columns(
    league: Tournament, visit: Visit
) -> None:
    page = visit.page
    page.set_viewport_size(PHONE)
    page.goto(f"/tournaments/{Tournament.objects.get(format='knockout').pk}/")
    heads = page.locator(".places thead th:not(.matches)")
    expect(heads).to_have_text(["Rank", "Bot", "Reached"])
    fits = "heads => heads.map((head) => head.scrollWidth <= head.clientWidth)"
    assert heads.evaluate_all(fits) == [True] * 3


def test_on_a_phone_the_title_of_a_tournament_stands_above_its_winner(
    league: Tournament, visit: Visit
) -> None:
    page = visit.page
    page.set_viewport_size(PHONE)
    page.goto("/events/")
    row = page.locator(".event-row").first
    assert upper(row.locator(".event-news")) > upper(row.locator(".event-title")) + 16


def test_the_links_of_the_menu_share_the_free_room(visit: Visit, transactional_db: None) -> None:
    visit.page.goto("/docs/")
    gaps = visit.page.locator("#menu a").evaluate_all(
        """links => links.slice(1).map((link, at) =>
            link.getBoundingClientRect().left - links[at].getBoundingClientRect().right)"""
    )
    assert min(gaps) >= 18
    assert max(gaps) - min(gaps) < 1


def test_a_checkbox_has_the_colour_of_a_field_and_shows_its_mark(
    visit: Visit, transactional_db: None
) -> None:
    page = visit.page
    page.emulate_media(color_scheme="dark")
    page.goto("/play/")
    box = page.get_by_label("Play without a clock")
    ground = "field => getComputedStyle(field).backgroundColor"
    assert box.evaluate(ground) == page.locator("select").first.evaluate(ground)
    empty = box.screenshot()
    box.check()
    assert box.evaluate("field => getComputedStyle(field, '::before').content") == '"✓"'
    assert box.screenshot() != empty
