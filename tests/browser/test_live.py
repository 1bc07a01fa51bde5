"""Live tables: `source.js`, `in_play.js`, `frames.js`, `past.js`, `spoken.js`; else `live.js`."""

import pytest
from playwright.sync_api import Page, expect

from league.models import Bot, Match
from tests.browser.conftest import Visit
from tests.browser.streams import BY_HAND, HIDE, Streams
from tests.league import small
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
    Streams(visit.page)
    visit.page.goto(f"/matches/{match.pk}/")
    expect(visit.page.locator(".seat.acts")).to_have_count(3)
    return visit.page


@pytest.fixture
def by_hand(match: Match, fresh: Visit) -> Page:
    """The page of a live match whose stream the test sends; the clock stands still."""
    fresh.page.add_init_script(BY_HAND)
    fresh.page.clock.install(time=0)
    fresh.page.goto(f"/matches/{match.pk}/")
    fresh.page.wait_for_function("() => streams.length === 1")
    fresh.page.clock.pause_at(10_000)
    return fresh.page


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


def test_a_live_table_shows_the_time_that_is_left(by_hand: Page, match: Match) -> None:
    clock = by_hand.locator(".clock")
    expect(clock).to_be_hidden()
    data = {"match": match.pk, "to_act": [0], "deadline": "", "remaining_ms": 41_500}
    by_hand.evaluate("data => streams[0].send('clock', data)", data)
    expect(clock).to_have_text("42 s left")
    by_hand.clock.run_for(2000)
    expect(clock).to_have_text("40 s left")
    by_hand.evaluate("data => streams[0].send('clock', data)", data | {"remaining_ms": None})
    expect(clock).to_be_hidden()


def test_a_lost_stream_is_opened_again_with_growing_pauses(by_hand: Page) -> None:
    for failure in range(5):
        by_hand.evaluate("streams.at(-1).send('error')")
        expect(by_hand.locator(".table")).to_have_class("table offline")
        by_hand.clock.run_for(790 * 2**failure)
        assert by_hand.evaluate("streams.length") == failure + 1
        by_hand.clock.run_for(420 * 2**failure)
        assert by_hand.evaluate("streams.length") == failure + 2
    by_hand.evaluate("streams.at(-1).send('open')")
    expect(by_hand.locator(".table")).to_have_class("table")
    by_hand.evaluate("streams.at(-1).send('error')")
    by_hand.clock.run_for(1210)  # after a success the pauses begin anew
    assert by_hand.evaluate("streams.length") == 7


def test_a_hidden_tab_has_no_stream_and_goes_on_when_it_is_shown(
    by_hand: Page, match: Match
) -> None:
    phase = {"match": match.pk, "ply": 12, "events": [], "sentences": [], "to_act": []}
    by_hand.evaluate("phase => streams[0].send('phase', phase)", phase)
    by_hand.evaluate(HIDE, True)
    by_hand.clock.run_for(600_000)
    assert by_hand.evaluate("streams.map((each) => each.isOpen)") == [False]
    by_hand.evaluate(HIDE, False)
    assert by_hand.evaluate("streams.map((each) => each.isOpen)") == [False, True]
    assert by_hand.evaluate("streams[1].address").endswith(f"after={match.pk}%3A12")


def test_the_focus_stays_where_it_was_while_cards_move(live: Page, bots: list[Bot]) -> None:
    live.locator(".rule summary").focus()
    play_on(bots)
    expect(live.locator(".live-state")).to_contain_text("The match is over")
    expect(live.locator(".rule summary")).to_be_focused()


def test_the_lists_of_the_home_page_follow_without_loading_it(fresh: Visit) -> None:
    ladder = small.ladder()
    bots = small.bots(4)
    small.play_round(
        ladder, [bot.pk for bot in bots[:3]]
    )  # the table needs its script from the start
    fresh.page.clock.install(time=0)
    fresh.page.goto("/")
    latest = fresh.page.locator("#latest")
    expect(latest).to_contain_text(bots[0].name)
    expect(latest).not_to_contain_text(bots[3].name)
    fresh.page.evaluate("window.isOld = true")
    small.play_round(ladder, [bot.pk for bot in bots[1:]])
    fresh.page.clock.run_for(40_000)
    expect(latest).to_contain_text(bots[3].name)
    assert fresh.page.evaluate("window.isOld")


def test_the_home_page_of_a_new_league_shows_a_table_once_a_match_is_played(
    fresh: Visit, transactional_db: None
) -> None:
    ladder, bots = small.ladder(), small.bots(3)
    fresh.page.clock.install(time=0)
    fresh.page.goto("/")
    expect(fresh.page.locator("#tv")).to_contain_text("No match has been played yet")
    small.play_round(ladder, [bot.pk for bot in bots])
    fresh.page.clock.run_for(40_000)
    expect(fresh.page.locator("#tv")).not_to_contain_text("No match has been played yet")
    expect(fresh.page.locator("#tv [data-play]")).to_be_visible()


def test_a_page_without_live_parts_loads_only_the_scripts_of_every_page(
    visit: Visit, db: None
) -> None:
    visit.page.goto("/docs/")
    sources = visit.page.locator("script").evaluate_all("all => all.map((one) => one.src)")
    assert [source.rpartition("/")[2] for source in sources] == ["times.js", "once.js"]


def test_a_spectator_looks_back_while_the_match_goes_on(
    live: Page, bots: list[Bot], match: Match
) -> None:
    def moved() -> bool:
        match.refresh_from_db()
        return match.plies >= 6

    title, bar = live.locator(".step-title"), live.get_by_role("group", name="Look back")
    why, forward = live.locator(".why"), bar.get_by_role("button", name="Forward", exact=True)
    expect(bar.locator(".live-mark")).to_be_visible()
    play_on(bots, until=moved)
    expect(title).to_contain_text("Day 2")
    newest = why.inner_text()
    bar.get_by_role("button", name="Back", exact=True).click()
    expect(bar).to_contain_text("You look back: 1 step behind")
    expect(live.locator(".plays .tc")).to_have_count(3)
    announced = live.locator(".table p[role=status]")
    for part in (f"Day 1: {bots[0].name} plays ", f", {bots[1].name} ", f", {bots[2].name} "):
        expect(announced).to_contain_text(part)
    seen = why.inner_text(), title.inner_text()
    play_on(bots)
    expect(live.locator(".live-state")).to_contain_text("The match is over")
    assert (why.inner_text(), title.inner_text()) == seen
    forward.click()
    expect(why).to_have_text(newest)
    bar.get_by_role("button", name="Back to live").click()
    expect(title).to_have_text("The end: hands are counted")
    expect(bar.locator(".past-mark")).to_be_hidden()
    expect(bar.locator(".live-mark")).to_be_hidden()  # nothing is live after the end
    live.keyboard.press("ArrowLeft")
    expect(bar).to_contain_text("1 step behind")
    live.keyboard.press("End")
    expect(bar.locator(".past-mark")).to_be_hidden()


def test_a_screen_reader_does_not_read_a_line_again_for_a_new_count(fresh: Visit) -> None:
    page, line = fresh.page, fresh.page.locator("[role=status]")
    shown = {"line": "1 of 9 blocks finished"}
    part = '<div id="now" data-live="4"><p role="status">{line}</p></div>'
    script = '<script type="module" src="/static/web/live.js"></script>'
    page.route(
        "**/a-page/",
        lambda route: route.fulfill(content_type="text/html", body=part.format(**shown) + script),
    )
    page.clock.install(time=0)
    page.goto("/a-page/")
    page.wait_for_load_state("networkidle")
    for text, live in (("2 of 9 blocks finished", "off"), ("The final begins", None)):
        shown["line"] = text
        page.clock.run_for(5000)
        expect(line).to_have_text(text)
        assert line.get_attribute("aria-live") == live
