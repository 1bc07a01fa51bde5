"""`tv.js` shows the wall on the whole screen; `times.js` shows times in the reader's zone."""

import re

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from league.models import Bot, Tournament
from tests.browser.conftest import Visit, sign_in
from tests.league.play.live import match_of, remote_bots

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_wall_fills_the_screen(league: Tournament, visit: Visit) -> None:
    match_of(remote_bots(3))
    visit.page.goto("/tv/")
    visit.page.get_by_role("button", name="Show full screen").click()
    visit.page.wait_for_function("document.fullscreenElement?.id === 'wall'")
    expect(visit.page.locator(".tv-table")).to_be_visible()


def test_times_are_in_the_readers_zone_and_name_it(
    league: Tournament, browser: Browser, live_server: LiveServer
) -> None:
    Tournament.objects.update(starts_at="2026-01-06T20:00:00Z")
    context = browser.new_context(
        base_url=live_server.url, timezone_id="Asia/Kolkata", locale="en-GB"
    )
    page = context.new_page()
    page.goto("/events/")
    expect(page.locator("time").first).to_have_text(re.compile(r"7 Jan 2026, 01:30 \S+"))
    context.close()


def test_every_time_names_one_zone(
    league: Tournament, browser: Browser, live_server: LiveServer
) -> None:
    cup = Tournament.objects.exclude(pk=league.pk).get()
    Tournament.objects.filter(pk=cup.pk).update(state=Tournament.State.ENTRIES_OPEN)
    Bot.objects.filter(name="bot-1").update(kind="hosted", owner=User.objects.get())
    context = browser.new_context(
        base_url=live_server.url, timezone_id="Asia/Kolkata", locale="en-GB"
    )
    sign_in(context, User.objects.get(), live_server.url)
    page = context.new_page()
    seen = 0
    for path in (
        f"/tournaments/{league.pk}/",
        f"/tournaments/{cup.pk}/",
        f"/embed/tournaments/{cup.pk}/",
        "/events/",
        "/bots/bot-1/",
        "/ladders/quick/rounds/1/",
        "/account/",
    ):
        page.goto(path)
        page.wait_for_function("document.readyState === 'complete'")
        times = page.locator("time[datetime*='T']").all()
        for time in times:
            expect(time).to_have_text(re.compile(r"^\d+ \w{3,4} \d{4}, \d\d:\d\d (GMT\+5:30|IST)$"))
            assert str(time.get_attribute("title")).endswith(" UTC")
        seen += len(times)
        assert not re.search(r"(GMT\+5:30|IST|UTC)\s+UTC", page.locator("body").inner_text())
    assert seen >= 6
    context.close()


def test_an_organisers_form_offers_the_readers_zone_and_keeps_the_moment(
    league: Tournament, browser: Browser, live_server: LiveServer
) -> None:
    olga = User.objects.create(username="olga", is_staff=True)
    Tournament.objects.update(state="open", starts_at="2031-01-06T20:00:00Z")
    cup = Tournament.objects.earliest("pk")
    context = browser.new_context(base_url=live_server.url, timezone_id="Asia/Kolkata")
    sign_in(context, olga, live_server.url)
    page = context.new_page()
    page.goto(f"/organise/tournaments/{cup.pk}/change/")
    expect(page.get_by_label("Your time zone")).to_have_value(re.compile("Asia/(Kolkata|Calcutta)"))
    expect(page.get_by_label("Start:", exact=True)).to_have_value("2031-01-07T01:30")
    context.close()
