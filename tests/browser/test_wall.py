"""The wall of tables (`tv.js`) as it stays open: matches begin and end, and calls fail."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from league import feeds
from league.models import Tournament
from tests.browser.conftest import Visit
from tests.browser.streams import Streams
from tests.browser.test_watch import BEGINNINGS, tables
from tests.league.play.live import match_of, play_on, remote_bots

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_place_of_a_match_that_has_ended_is_free_though_none_follows_at_once(
    league: Tournament, fresh: Visit
) -> None:
    feeds.find_highlights(timezone.now().date())
    page, ended = fresh.page, fresh.page.locator("#wall .state.ended")
    teams = [remote_bots(3) for _ in range(3)]
    first, second = (match_of(team) for team in teams[:2])
    Streams(page)
    page.add_init_script(BEGINNINGS)
    page.clock.install()
    page.goto("/tv/")
    expect(page.locator(".tv .seat.acts")).to_have_count(6)
    play_on(teams[0])
    expect(ended).to_have_count(1)
    with page.expect_response("**/tv/tables/*"):  # which is empty
        page.clock.fast_forward(10_000)
    third = match_of(teams[2])
    page.evaluate("match => beginnings.at(-1).begin(match)", third.pk)
    page.clock.run_for(2000)
    expect(tables(page, third).locator(".seat.acts")).to_have_count(3)
    expect(tables(page, first)).to_have_count(0)
    for team in teams[1:]:
        play_on(team)
        expect(ended).to_have_count(1)
        with page.expect_response("**/tv/tables/*"):
            page.clock.fast_forward(10_000)
    expect(tables(page, second)).to_have_count(0)
    expect(page.locator("#wall article .state").first).to_have_text("replay")


def test_a_replay_that_could_not_be_loaded_is_loaded_later(
    league: Tournament, fresh: Visit
) -> None:
    page = fresh.page
    page.route("**/phases.json", lambda route: route.fulfill(status=503), times=1)
    page.clock.install(time=0)
    with page.expect_response(lambda answer: answer.status == 503):
        page.goto("/tv/")
    page.clock.run_for(10_000)
    expect(page.locator("#wall").get_by_role("button", name="Pause")).to_be_visible()
    fresh.errors.clear()  # the browser logs the failure as an error
