"""`tv.js` shows tables to watch, one after another; `times.js` shows times in the reader's zone."""

import re

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from league.models import Bot, Match, Tournament
from tests.browser.conftest import Visit, sign_in
from tests.browser.streams import Streams
from tests.league.play.live import match_of, play_on, remote_bots

pytestmark = pytest.mark.django_db(transaction=True)

NEXT = 20_000
"""Milliseconds within which the next match follows a result, which stays for eight seconds."""


def tables(page: Page, match: Match) -> Locator:
    return page.locator(f"#table-{match.pk}")


def test_home_follows_a_live_match_then_the_next_then_replays_the_best(
    league: Tournament, visit: Visit
) -> None:
    teams = [remote_bots(3), remote_bots(3)]
    first, second = (match_of(team) for team in reversed(teams))
    Streams(visit.page)
    visit.page.goto("/")
    shown = visit.page.locator("#tv")
    expect(tables(visit.page, second).locator(".seat.acts")).to_have_count(3)
    play_on(teams[0])
    expect(shown.locator(".live-state")).to_contain_text("The match is over")
    expect(shown.locator(".state")).to_have_text("just finished")
    following = tables(visit.page, first).locator(".seat.acts")
    expect(following).to_have_count(3, timeout=NEXT)
    expect(shown.locator("article")).to_have_count(1)
    play_on(teams[1])
    expect(shown.locator(".state")).to_have_text("match of the day", timeout=NEXT)
    pause = shown.get_by_role("button", name="Pause")
    expect(pause).to_be_visible()
    before = shown.locator(".why").inner_text()
    expect(shown.locator(".why")).not_to_have_text(before)
    pause.click()
    expect(shown.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_the_match_of_the_day_stands_still_if_the_reader_wants_less_motion(
    league: Tournament, fresh: Visit
) -> None:
    fresh.page.emulate_media(reduced_motion="reduce")
    fresh.page.clock.install(time=0)
    fresh.page.clock.pause_at(1)
    fresh.page.goto("/")
    shown = fresh.page.locator("#tv")
    play = shown.get_by_role("button", name="Play", exact=True)
    expect(play).to_be_visible()
    expect(shown.locator(".why")).to_contain_text("seats play")  # the beginning, once it is loaded
    before = shown.locator(".why").inner_text()
    fresh.page.clock.run_for(60_000)
    expect(shown.locator(".why")).to_have_text(before)
    play.click()
    fresh.page.clock.run_for(3000)
    expect(shown.locator(".why")).not_to_have_text(before)


def test_nine_tables_of_the_wall_share_one_stream_and_the_next_matches_follow(
    league: Tournament, visit: Visit
) -> None:
    teams = [remote_bots(3) for _ in range(11)]
    matches = [match_of(team) for team in teams]
    streams = Streams(visit.page)
    visit.page.goto("/tv/")
    expect(visit.page.locator(".tv .seat.acts")).to_have_count(27)
    newest = {match.pk for match in matches[2:]}
    assert {frozenset(asked) for asked in streams.asked} == {frozenset(newest)}
    for team in (teams[3], teams[7]):  # two matches end in the same moment
        play_on(team)
    ended = visit.page.locator(".live-state").filter(has_text="The match is over")
    expect(ended).to_have_count(2)
    for match in matches[:2]:
        following = visit.page.locator(f"#table-{match.pk} .seat.acts")
        expect(following).to_have_count(3, timeout=NEXT)
    shown = visit.page.locator(".table").evaluate_all("all => all.map((t) => t.dataset.match)")
    assert sorted(map(int, shown)) == sorted(
        match.pk for at, match in enumerate(matches) if at not in (3, 7)
    )


def test_the_wall_grows_when_matches_begin(league: Tournament, fresh: Visit) -> None:
    Streams(fresh.page)
    fresh.page.clock.install()
    fresh.page.goto("/tv/")
    expect(fresh.page.locator("#wall article")).to_have_count(1)
    note = fresh.page.get_by_text("best match of the day")
    expect(note).to_be_visible()
    matches = [match_of(remote_bots(3)) for _ in range(2)]
    fresh.page.clock.fast_forward(20_000)
    for match in matches:
        expect(tables(fresh.page, match).locator(".seat.acts")).to_have_count(3)
    expect(note).to_have_count(0)
    assert fresh.page.locator("#wall article").count() == 3


def test_the_first_match_ever_appears_on_the_wall(fresh: Visit, transactional_db: None) -> None:
    Streams(fresh.page)
    fresh.page.clock.install()
    fresh.page.goto("/tv/")
    expect(fresh.page.locator("#wall .empty")).to_be_visible()
    match = match_of(remote_bots(3))
    fresh.page.clock.fast_forward(20_000)
    expect(tables(fresh.page, match).locator(".seat.acts")).to_have_count(3)
    expect(fresh.page.locator("#wall .empty")).to_have_count(0)


def test_a_next_match_that_could_not_be_loaded_is_loaded_later(
    league: Tournament, fresh: Visit
) -> None:
    page = fresh.page
    teams = [remote_bots(3), remote_bots(3)]
    first, second = (match_of(team) for team in reversed(teams))
    Streams(page)
    page.clock.install()
    page.goto("/")
    expect(tables(page, second).locator(".seat.acts")).to_have_count(3)
    page.route("**/tv/tables/*", lambda route: route.fulfill(status=503), times=1)
    play_on(teams[0])
    expect(page.locator("#tv .state")).to_have_text("just finished")
    with page.expect_response(lambda answer: answer.status == 503):
        page.clock.fast_forward(10_000)
    page.clock.fast_forward(20_000)
    expect(tables(page, first).locator(".seat.acts")).to_have_count(3)
    fresh.errors.clear()  # the browser logs the failure as an error


def test_the_wall_fills_the_screen(league: Tournament, visit: Visit) -> None:
    match_of(remote_bots(3))
    Streams(visit.page)
    visit.page.goto("/tv/")
    visit.page.get_by_role("button", name="Show full screen").click()
    visit.page.wait_for_function("document.fullscreenElement?.id === 'wall'")
    expect(visit.page.locator("article .felt")).to_be_visible()


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
