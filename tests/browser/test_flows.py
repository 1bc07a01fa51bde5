"""Flows over several pages: follow a bot, organise a tournament, meet; `once.js` sends once."""

import re
import time
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, expect
from pytest_django.live_server_helper import LiveServer

from league import feeds, moderation
from league.models import Match, PlayerTable, Tournament
from tests.api.play.sites import Site
from tests.browser.conftest import Visit, sign_in
from tests.league import small
from tests.league.players import house_bots

pytestmark = pytest.mark.django_db(transaction=True)
START = re.compile("^Start")


def test_a_bot_is_followed_and_the_feed_leads_to_its_match(
    league: Tournament, context: BrowserContext, visit: Visit, live_server: LiveServer
) -> None:
    sign_in(context, User.objects.create(username="a-reader"), live_server.url)
    page = visit.page
    page.goto("/bots/bot-0/")
    page.get_by_role("button", name="Follow bot").click()
    expect(page.get_by_role("button", name="Stop following")).to_be_visible()
    expect(page.get_by_text("1 follower ·")).to_be_visible()
    feeds.write_items(timezone.now())
    page.goto("/feed/")
    expect(page.locator(".day-of li").first).to_contain_text("bot-0")
    page.get_by_role("link", name="Watch the last match").first.click()
    page.wait_for_url(re.compile(r"/matches/\d+/$"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("bot-")
    page.goto("/bots/bot-0/")
    page.get_by_role("button", name="Stop following").click()
    page.goto("/feed/")
    expect(page.get_by_text("You follow nothing yet")).to_be_visible()


def test_an_organiser_announces_a_tournament_and_changes_it(
    context: BrowserContext, visit: Visit, live_server: LiveServer
) -> None:
    small.ladder()
    olga = User.objects.create(username="olga", is_staff=True)
    sign_in(context, olga, live_server.url)
    page = visit.page
    day = f"{timezone.now() + timedelta(days=30):%Y-%m-%d}"
    page.goto("/organise/")
    page.get_by_role("link", name="Announce a tournament").click()
    page.get_by_label("Title").fill("Class cup")
    page.get_by_label("Format").select_option("knockout")
    page.get_by_label("Your time zone").fill("Europe/Berlin")
    page.get_by_label(START).fill(f"{day}T18:00")
    page.get_by_role("button", name="Announce the tournament").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Class cup")
    expect(page.get_by_text("Class cup is announced")).to_be_visible()
    page.get_by_role("link", name="Manage this tournament").click()
    page.get_by_role("link", name="Change its settings").click()
    expect(page.get_by_label(START)).to_be_visible()
    page.get_by_label("Title").fill("Winter cup")
    page.get_by_role("button", name="Change the tournament").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Winter cup")
    cup = Tournament.objects.get()
    assert (cup.title, cup.format) == ("Winter cup", "knockout")
    assert f"{cup.starts_at.astimezone(ZoneInfo('Europe/Berlin')):%Y-%m-%dT%H:%M}" == f"{day}T18:00"


def test_a_button_that_is_pressed_twice_acts_once(
    context: BrowserContext,
    visit: Visit,
    live_server: LiveServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small.ladder()
    announce = moderation.announce

    def slowly(**settings: Any) -> Tournament:
        time.sleep(1)
        return announce(**settings)

    monkeypatch.setattr(moderation, "announce", slowly)
    sign_in(context, User.objects.create(username="olga", is_staff=True), live_server.url)
    page = visit.page
    button = page.get_by_role("button", name="Announce the tournament")
    for count in (1, 2):
        page.goto("/organise/tournaments/new/")
        page.get_by_label("Title").fill("Class cup")
        # The second press comes while the first request is on its way.
        button.evaluate("each => { each.click(); setTimeout(() => each.click(), 200); }")
        expect(page.get_by_role("heading", level=1)).to_have_text("Class cup")
        assert Tournament.objects.count() == count
    page.go_back()
    button.click()  # the reader intends to send the same form again
    expect(page.get_by_role("heading", level=1)).to_have_text("Class cup")
    assert Tournament.objects.count() == 3


def test_two_people_meet_in_a_waiting_room_and_begin(
    browser: Browser,
    context: BrowserContext,
    visit: Visit,
    live_server: LiveServer,
    streams: Site,
) -> None:
    house_bots()
    host = visit.page
    host.goto("/play/")
    host.get_by_label("Your name at the table").fill("Ada")
    host.get_by_label("Seats").select_option("3")
    host.get_by_label("Invite others by a link").check()
    host.get_by_role("button", name="Start the match").click()
    link = host.locator(".share").inner_text()
    others = browser.new_context(base_url=live_server.url)
    others.set_default_timeout(30_000)
    guest = others.new_page()
    guest.goto(link)
    guest.get_by_label("Your name at the table").fill("Bob")
    guest.get_by_role("button", name="Join the table").click()
    expect(guest.locator(".rows")).to_contain_text("Ada")
    expect(host.locator(".rows")).to_contain_text("Bob", timeout=30_000)
    host.get_by_role("button", name="Start the match").click()
    expect(host.locator("#table[data-match]")).to_be_visible()
    expect(guest.locator("#table[data-match]")).to_be_visible(timeout=30_000)
    match = Match.objects.get(table=PlayerTable.objects.get())
    assert match.seating.filter(bot__kind="player").count() == 2
    for page in (host, guest):
        for name in ("Ada", "Bob"):
            expect(page.locator("#table")).to_contain_text(name)
    others.close()
