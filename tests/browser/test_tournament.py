"""`countdown.js`, `fold.js` and `share.js`: the pages of a tournament, and its form."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from league import competitions
from league.models import Tournament
from tests.browser.axe import faults
from tests.browser.conftest import Visit, sign_in

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def coming(league: Tournament) -> Tournament:
    """A tournament that starts in three hours."""
    return competitions.announce_tournament(
        title="The next one", ladder=league.ladder, starts_at=timezone.now() + timedelta(hours=3)
    )


def test_the_countdown_runs_and_ends(coming: Tournament, visit: Visit) -> None:
    visit.page.clock.install(time=coming.starts_at - timedelta(seconds=75))
    visit.page.goto(f"/tournaments/{coming.pk}/")
    count = visit.page.locator("#now [data-countdown]")
    expect(count).to_have_text(re.compile(r"^1 min 1\d s$"))
    visit.page.clock.run_for(60_000)
    expect(count).to_have_text(re.compile(r"^0 min \d\d s$"))
    with visit.page.expect_navigation():  # the page shows what has begun without asking before
        visit.page.clock.run_for(30_000)
    expect(count).to_have_text("a moment")


def test_the_page_loads_again_until_the_league_has_begun_what_is_due(
    coming: Tournament, fresh: Visit
) -> None:
    page = fresh.page
    page.clock.install(time=coming.starts_at + timedelta(seconds=20))  # the reader's clock is fast
    page.goto(f"/tournaments/{coming.pk}/")
    expect(page.locator("#now [data-countdown]")).to_have_text("a moment")
    Tournament.objects.filter(pk=coming.pk).update(state="cancelled", cancel_reason="Too few bots.")
    with page.expect_navigation():
        page.clock.run_for(30_000)
    expect(page.locator("#now")).to_contain_text("Cancelled: Too few bots.")
    page.clock.set_fixed_time(coming.starts_at + timedelta(hours=1))  # it must not load for ever
    Tournament.objects.filter(pk=coming.pk).update(state="open")
    page.goto(f"/tournaments/{coming.pk}/")
    page.evaluate("window.isKept = true")
    page.clock.run_for(60_000)
    assert page.evaluate("window.isKept")


def test_a_tournament_is_shared_printed_and_embedded(league: Tournament, visit: Visit) -> None:
    page = visit.page
    page.add_init_script("window.printed = 0; window.print = () => { window.printed += 1; };")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"/tournaments/{league.pk}/")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    page.get_by_role("button", name="Print").click()
    assert page.evaluate("printed") == 1
    expect(page.get_by_role("button", name="Full screen")).to_have_count(0)
    page.get_by_role("link", name="Show on a big screen").click()
    page.get_by_role("button", name="Full screen").click()
    page.wait_for_function("() => document.fullscreenElement === document.documentElement")
    page.evaluate("document.exitFullscreen()")
    page.get_by_role("link", name="Leave the big screen").click()
    page.get_by_role("link", name="Embed", exact=True).click()
    expect(page.get_by_label("Copy this code")).to_be_visible()


def test_on_a_phone_blocks_that_are_over_are_folded_but_not_on_paper(
    league: Tournament, visit: Visit
) -> None:
    page = visit.page
    rows, blocks = page.locator("#rounds .match-row"), page.locator("#rounds details.block")
    page.goto(f"/tournaments/{league.pk}/")
    expect(rows.first).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(rows.first).to_be_hidden()
    assert page.locator("#rounds details.block[open]").count() == 0
    blocks.first.locator("summary").click()
    expect(rows.first).to_be_visible()
    page.evaluate("document.dispatchEvent(new Event('parts-replaced'))")
    expect(rows.first).to_be_visible()  # as the reader has set it
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("#rounds details.block[open]").count() == blocks.count() > 0
    expect(rows.last).to_be_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert page.locator("#rounds details.block[open]").count() == 1


@pytest.mark.parametrize(("width", "theme"), [(390, "light"), (820, "dark"), (1400, "dark")])
def test_the_states_of_a_tournament_are_accessible(
    league: Tournament, coming: Tournament, visit: Visit, width: int, theme: str
) -> None:
    page = visit.page
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(reduced_motion="reduce", color_scheme="dark" if theme == "dark" else "light")
    cancelled = competitions.announce_tournament(
        title="A cancelled one", ladder=league.ladder, starts_at=coming.starts_at
    )
    Tournament.objects.filter(pk=cancelled.pk).update(
        state=Tournament.State.CANCELLED, cancel_reason="Too few bots entered."
    )
    for each in (league, coming, cancelled):
        page.goto(f"/tournaments/{each.pk}/")
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        assert faults(page) == [], each.title
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), each.title


@pytest.mark.parametrize(
    ("zone", "start", "shown"),
    [
        # The clocks change a few hours after the start.
        ("Australia/Sydney", datetime(2027, 10, 2, 10, tzinfo=UTC), "2027-10-02T20:00"),
        # The clocks have changed a few hours before the start.
        ("America/New_York", datetime(2027, 3, 14, 8, tzinfo=UTC), "2027-03-14T04:00"),
    ],
)
def test_an_organisers_form_keeps_the_moment_on_a_day_on_which_the_clocks_change(
    league: Tournament,
    browser: Browser,
    live_server: LiveServer,
    zone: str,
    start: datetime,
    shown: str,
) -> None:
    Tournament.objects.filter(pk=league.pk).update(state="open", starts_at=start)
    context = browser.new_context(base_url=live_server.url, timezone_id=zone)
    sign_in(context, User.objects.create(username="ola", is_staff=True), live_server.url)
    tab = context.new_page()
    tab.goto(f"/organise/tournaments/{league.pk}/change/")
    expect(tab.get_by_label("Your time zone")).to_have_value(zone)
    expect(tab.get_by_label("Start", exact=True)).to_have_value(shown)
    context.close()
