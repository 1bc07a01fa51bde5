"""Pages that follow their changes: `changes.js`, `stream.js`, `room.js`, `tournament.js`.

The streams come from a real gateway, or by hand where a test needs them to fail.
"""

import re

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from league import competitions, play
from league.models import PlayerTable, Tournament
from tests.api.play.sites import Site
from tests.browser.conftest import Visit
from tests.browser.streams import BY_HAND, HIDE
from tests.league import small
from tests.league.players import house_bots

pytestmark = pytest.mark.django_db(transaction=True)

SOON = 20_000
"""Milliseconds in which a change is seen, on a busy machine. Without the stream it never is: a page
polls only if its stream has failed."""
FETCHES = """
window.fetches = 0;
window.answers = 0;
const fetched = window.fetch;
window.fetch = (...how) => {
    fetches += 1;
    return fetched(...how).then((answer) => {
        answer.clone().text().then(() => { answers += 1; });
        return answer;
    });
};
"""
"""A script that counts fetches of the page, and their answers."""


@pytest.fixture
def table() -> PlayerTable:
    """A table of Ada's that waits for others."""
    house_bots()
    made, _ = competitions.open_table(
        game="twelve-days", rules="eight-nights", seats=3, nickname="Ada", waits=True
    )
    return made


@pytest.fixture
def running() -> Tournament:
    """A tournament whose first stage is drawn; none of its matches is played."""
    tournament = small.tournament(small.ladder())
    small.bots(3)
    competitions.advance_tournament(tournament.pk)
    tournament.refresh_from_db()
    assert tournament.state == Tournament.State.RUNNING
    return tournament


@pytest.fixture
def guest(fresh: Visit, table: PlayerTable, streams: Site) -> Page:
    """The waiting room as a guest sees it, once its stream is open."""
    return opened(fresh.page, f"/play/{table.code}/")


def opened(page: Page, path: str) -> Page:
    """Open a page that counts its fetches, and wait for its stream."""
    page.add_init_script(FETCHES)
    with page.expect_response(re.compile("/events$")) as stream:
        page.goto(path)
    assert stream.value.status == 200
    return page


def by_hand(page: Page, path: str) -> Page:
    """Open a page whose streams the test sends; its clock stands still."""
    page.add_init_script(BY_HAND + FETCHES)
    page.clock.install(time=0)
    page.goto(path)
    page.wait_for_function("() => streams.length === 1")
    page.clock.pause_at(60_000)
    return page


def test_a_waiting_room_shows_who_joins_and_leaves_at_once(guest: Page, table: PlayerTable) -> None:
    people = guest.locator("#table .rows")
    expect(people).to_contain_text("Ada")
    guest.get_by_label("Your name at the table").fill("Cleo")
    competitions.join_table(table, nickname="Bob")
    expect(people).to_contain_text("Bob", timeout=SOON)
    competitions.leave_table(table.players.get(nickname="Bob"))
    expect(people).not_to_contain_text("Bob", timeout=SOON)
    expect(guest.get_by_label("Your name at the table")).to_have_value("Cleo")
    assert guest.evaluate("fetches") == 2


def test_a_guest_comes_to_the_match_when_it_starts(guest: Page, table: PlayerTable) -> None:
    match = competitions.start_table(table)
    guest.wait_for_url(re.compile(f"/matches/{match.pk}/$"), timeout=SOON)


def test_a_guest_sees_that_the_last_seat_is_taken(guest: Page, table: PlayerTable) -> None:
    for name in ("Bob", "Cleo"):
        competitions.join_table(table, nickname=name)
    expect(guest.get_by_text("All seats are taken.")).to_be_visible(timeout=SOON)


def test_a_tournament_shows_its_results_and_its_end_at_once(
    running: Tournament, fresh: Visit, streams: Site
) -> None:
    page = opened(fresh.page, f"/tournaments/{running.pk}/")
    page.evaluate("window.isOld = true")
    expect(page.locator("#now")).to_contain_text("no block is finished yet")
    small.play_due()
    expect(page.locator("#now")).to_contain_text("1 of 1 block is finished", timeout=SOON)
    assert page.evaluate("fetches") <= 2  # a reading may come between two matches
    small.run_all()
    expect(page.locator("#now")).to_contain_text("wins.", timeout=SOON)
    expect(page.locator("#fair")).to_contain_text("Seed")
    assert page.evaluate("window.isOld")


def test_a_page_that_shows_the_newest_revision_does_not_fetch_itself(
    running: Tournament, fresh: Visit
) -> None:
    page = by_hand(fresh.page, f"/tournaments/{running.pk}/")
    shown = page.locator("#now").get_attribute("data-revision")
    page.evaluate("shown => streams[0].send('revision', { revision: shown })", shown)
    page.clock.run_for(60_000)
    assert page.evaluate("fetches") == 0
    for _ in range(20):  # of a fast tournament
        page.evaluate("streams[0].send('revision', { revision: 'newer' })")
        page.clock.run_for(1000)
        page.wait_for_load_state("networkidle")
    assert 1 < page.evaluate("fetches") < 8


@pytest.mark.parametrize("kind", ["table", "tournament"])
def test_without_a_stream_a_page_polls_until_there_is_one(
    kind: str, request: pytest.FixtureRequest, fresh: Visit
) -> None:
    if kind == "table":
        path = f"/play/{request.getfixturevalue('table').code}/"
    else:
        path = f"/tournaments/{request.getfixturevalue('running').pk}/"
    page = by_hand(fresh.page, path)
    page.evaluate("streams[0].send('error')")
    page.clock.run_for(2500)
    assert page.evaluate("[streams.length, fetches]") == [2, 0]
    page.evaluate("streams[1].send('error')")
    page.clock.run_for(1200)
    for fetches in (1, 2):
        page.wait_for_function("count => answers >= count", arg=fetches)
        page.clock.run_for(5000)
    shown = page.locator("[data-revision]").get_attribute("data-revision")
    page.evaluate("shown => streams.at(-1).send('revision', { revision: shown })", shown)
    page.wait_for_load_state("networkidle")
    count = page.evaluate("fetches")
    page.clock.run_for(60_000)
    assert page.evaluate("fetches") == count


def test_a_hidden_page_has_no_stream_and_is_fetched_once_it_is_shown(
    running: Tournament, fresh: Visit
) -> None:
    page = by_hand(fresh.page, f"/tournaments/{running.pk}/")
    page.evaluate(HIDE, True)
    small.play_due()
    page.clock.run_for(600_000)
    assert page.evaluate("[streams.map((each) => each.isOpen), fetches]") == [[False], 0]
    page.evaluate(HIDE, False)
    assert page.evaluate("streams.map((each) => each.isOpen)") == [False, True]
    page.evaluate("streams[1].send('revision', { revision: 'newer' })")
    page.clock.run_for(5000)
    expect(page.locator("#now")).to_contain_text("1 of 1 block is finished")


def test_a_part_with_the_focus_follows_once_the_focus_leaves_it(
    running: Tournament, fresh: Visit
) -> None:
    page = by_hand(fresh.page, f"/tournaments/{running.pk}/")
    page.locator("#rounds a").first.focus()
    small.play_due()
    page.evaluate("streams[0].send('revision', { revision: 'newer' })")
    page.clock.run_for(1100)
    expect(page.locator("#now")).to_contain_text("1 of 1 block is finished")
    expect(page.locator("#rounds a").first).to_contain_text("0 of 1 block")
    page.evaluate("document.activeElement.blur()")
    page.clock.run_for(5000)
    expect(page.locator("#rounds a").first).to_contain_text("1 of 1 block")


def test_a_part_that_gets_the_focus_while_the_page_is_fetched_follows_later(
    running: Tournament, fresh: Visit
) -> None:
    page = by_hand(fresh.page, f"/tournaments/{running.pk}/")
    stage = page.locator("#rounds a").first
    small.run_all()
    asked: list[Route] = []
    page.route(f"**/tournaments/{running.pk}/", lambda route: asked.append(route), times=1)
    with page.expect_request(f"**/tournaments/{running.pk}/"):
        page.evaluate("streams[0].send('revision', { revision: 'newer' })")
        page.clock.run_for(1100)
    stage.focus()
    asked[0].continue_()
    expect(page.locator("#now")).to_contain_text("wins.")
    expect(stage).to_contain_text("0 of 1 block")
    page.evaluate("document.activeElement.blur()")
    page.clock.run_for(5000)
    expect(stage).to_contain_text("1 of 1 block")


def test_what_a_reader_opens_and_closes_stays_so_while_a_page_follows(
    running: Tournament, fresh: Visit
) -> None:
    page = by_hand(fresh.page, f"/tournaments/{running.pk}/")
    numbers, block = (page.locator(f"details.{name}") for name in ("numbers", "block"))
    played = block.locator(".match-row", has_text="result hidden").locator(".match-link")
    waiting = play.claim_due_hosted()

    def play_one() -> None:
        play.play_match(waiting.pop(), players=small.players)
        page.evaluate("streams[0].send('revision', { revision: 'newer' })")
        page.clock.run_for(6000)

    numbers.locator("summary").first.evaluate("summary => summary.click()")
    play_one()
    expect(block).to_have_attribute("open", "")
    expect(played).to_have_count(1)
    expect(numbers).to_have_attribute("open", "")
    block.locator("summary").evaluate("summary => summary.click()")
    play_one()
    expect(played).to_have_count(2)
    expect(block).not_to_have_attribute("open", "")
    expect(numbers).to_have_attribute("open", "")
    play_one()
    expect(block).to_have_attribute("data-over", "")
    expect(block).not_to_have_attribute("open", "")


def test_without_javascript_both_pages_show_their_state_and_load_again(
    table: PlayerTable, running: Tournament, browser: Browser, live_server: LiveServer
) -> None:
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"/play/{table.code}/")
    expect(page.locator(".rows")).to_contain_text("Ada")
    page.goto(f"/tournaments/{running.pk}/")
    expect(page.locator("#now")).to_contain_text("no block is finished yet")
    assert page.locator("meta[http-equiv=refresh]").count() == 1
    context.close()
