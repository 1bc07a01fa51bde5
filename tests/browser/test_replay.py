"""Stepping through a replay: `table.js`, `view.js`, `totals.js`, `transport.js`, `copying.js`."""

import re

import pytest
from playwright.sync_api import Browser, Page, Request, expect
from pytest_django.live_server_helper import LiveServer

from league.models import Match, Tournament
from tests.browser.conftest import Visit
from tests.browser.window import WINDOWS, open_window, outside

pytestmark = pytest.mark.django_db(transaction=True)

PLACES = """() => [".felt", ".transport"].map((part) => {
    const { top, bottom } = document.querySelector(part).getBoundingClientRect();
    return `${part} from ${Math.round(top)} to ${Math.round(bottom)}`;
}).join(", ")"""
"""A script that returns where the felt and the controls lie in the window."""

COVERED = """() => {
    const box = (each) => each.getBoundingClientRect();
    const { left, right, top, bottom } = box(document.querySelector(".felt"));
    const others = [...document.querySelectorAll(".plate, .hand .tc, .seat .line")].map(box);
    return [...document.querySelectorAll(".totals li")].filter((each) => {
        const row = box(each);
        const within = row.left > left && row.right < right && row.top > top && row.bottom < bottom;
        return !within || others.some((other) => other.left < row.right && other.right > row.left
            && other.top < row.bottom - 1 && other.bottom - 1 > row.top);
    }).map((each) => each.innerText);
}"""
"""A script that returns the totals that are not on the felt, or that lie on a seat."""


@pytest.fixture
def match(league: Tournament) -> Match:
    """A match of eight days."""
    return Match.objects.filter(block__round__tournament=league).earliest("pk")


@pytest.fixture
def replay(match: Match, visit: Visit) -> Page:
    """The replay of the match, with all its phases loaded."""
    visit.page.goto(f"/matches/{match.pk}/")
    expect(visit.page.locator("[data-play]")).to_be_visible()
    return visit.page


def title(page: Page, text: str) -> None:
    expect(page.locator(".step-title")).to_have_text(text)


def count_documents(page: Page) -> list[str]:
    """Return a list that receives the address of each page that the tab loads from now on."""
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url) if _is_page(request) else None)
    return loaded


def _is_page(request: Request) -> bool:
    return request.resource_type == "document"


def test_keys_step_through_the_match_without_loading_a_page(replay: Page) -> None:
    loaded = count_documents(replay)
    title(replay, "Day 1 of 8")
    expect(replay.locator(".felt .plays .tc")).to_have_count(0)
    for _ in range(2):  # the gifts, then the plays
        replay.keyboard.press("ArrowRight")
    expect(replay.locator(".felt .plays .tc")).to_have_count(replay.locator(".seat").count())
    replay.keyboard.press("End")
    title(replay, "The end: hands are counted")
    replay.keyboard.press("Home")
    title(replay, "Day 1 of 8")
    replay.keyboard.press("ArrowLeft")
    title(replay, "Day 1 of 8")
    assert loaded == []


def test_the_deal_comes_before_step_1(replay: Page) -> None:
    at, seek = replay.locator("[data-at]"), replay.locator("[data-seek]")
    expect(at).to_have_text("Deal")
    expect(seek).to_have_attribute("aria-valuetext", "Deal")
    expect(replay.locator(".jump [aria-current]")).to_have_count(0)
    replay.keyboard.press("ArrowRight")
    expect(at).to_have_text("Step 1 of 9")
    expect(seek).to_have_attribute("aria-valuetext", "Step 1")
    expect(replay.locator(".jump [aria-current]")).to_have_text("1")


def test_the_cursor_of_the_points_stands_at_the_deal_and_then_at_the_step(replay: Page) -> None:
    chart = replay.locator("[data-points] svg")
    left = chart.locator(".grid").first.get_attribute("x1")
    cursor = chart.locator(".cursor")
    assert left is not None
    expect(cursor).to_have_attribute("x1", left)
    replay.keyboard.press("ArrowRight")
    expect(replay.locator("[data-at]")).to_contain_text("Step 1 of")
    assert float(cursor.get_attribute("x1") or 0) > float(left)


def test_the_link_of_a_step_leads_back_to_it(replay: Page) -> None:
    replay.locator("[data-step='5']").click()
    title(replay, "Day 5 of 8")
    assert replay.url.endswith("?step=5")
    expect(replay.locator(".jump [aria-current]")).to_have_text("5")
    replay.keyboard.press("ArrowLeft")  # the plays, before their result
    assert re.search(r"\?step=5&ply=\d+&at=\d+$", replay.url)
    why = replay.locator(".why").inner_text()
    replay.reload()
    expect(replay.locator("[data-play]")).to_be_visible()
    expect(replay.locator(".why")).to_have_text(why)
    assert "Day 5 of 8" in replay.title()


def test_a_step_beyond_the_last_one_is_the_end(match: Match, visit: Visit) -> None:
    visit.page.goto(f"/matches/{match.pk}/?step=99")
    expect(visit.page.locator("[data-play]")).to_be_visible()
    title(visit.page, "The end: hands are counted")


def test_play_and_pause(match: Match, fresh: Visit) -> None:
    fresh.page.clock.install(time=0)
    fresh.page.clock.pause_at(1)
    fresh.page.goto(f"/matches/{match.pk}/")
    play = fresh.page.get_by_role("button", name="Play", exact=True)
    expect(play).to_be_visible()
    fresh.page.locator("[data-speed]").select_option("4")
    play.click()
    fresh.page.clock.run_for(120_000)
    title(fresh.page, "The end: hands are counted")
    fresh.page.keyboard.press("Home")
    title(fresh.page, "Day 1 of 8")
    fresh.page.keyboard.press(" ")
    fresh.page.get_by_role("button", name="Pause").click()
    fresh.page.clock.run_for(120_000)
    title(fresh.page, "Day 1 of 8")


def test_a_label_stands_with_its_own_move_alone(replay: Page) -> None:
    def labels() -> set[str]:
        return {text.split()[0] for text in replay.locator(".seat .does").all_inner_texts() if text}

    seen = []
    for _ in range(6):
        replay.keyboard.press("ArrowRight")
        seen.append(labels())
    assert seen[:3] == [{"gave"}, set(), set()]  # the gifts, the plays, the result
    assert {"drew"} in seen[3:]
    replay.keyboard.press("End")
    assert labels() == set()


def test_a_seat_sees_its_own_hand_alone_and_sits_at_the_bottom(replay: Page) -> None:
    replay.locator("[data-viewer]").select_option("1")
    expect(replay.locator("[data-seat='1'] .hand .back")).to_have_count(0)
    expect(replay.locator("[data-seat='0'] .hand .tc:not(.back)")).to_have_count(0)
    expect(replay.locator("[data-seat='1']")).to_have_class(re.compile(r"\bat-0\b"))
    replay.locator("[data-viewer]").select_option("")
    expect(replay.locator(".hand .back")).to_have_count(0)


def test_the_points_at_the_end_are_those_of_the_record(replay: Page, match: Match) -> None:
    replay.keyboard.press("End")
    shown = replay.locator(".seat .points").all_inner_texts()
    assert shown == [str(score) for score in match.record.scores]


def test_the_deal_states_the_goal_and_the_end_of_the_game(match: Match, visit: Visit) -> None:
    partridge = Match.objects.filter(game="partridge").earliest("pk")
    page = visit.page
    for each, goal in (
        (match, "After day 8, hands score too: the most 7s give 7 points"),
        (partridge, "After round 3, the most gifts win."),
    ):
        page.goto(f"/matches/{each.pk}/")
        expect(page.locator(".why")).to_contain_text(goal)
        page.keyboard.press("ArrowRight")
        expect(page.locator(".why")).not_to_contain_text(goal)


def test_the_felt_shows_the_pool_and_what_a_round_is_worth(
    league: Tournament, visit: Visit
) -> None:
    page = visit.page
    match = Match.objects.filter(game="partridge").earliest("pk")
    page.goto(f"/matches/{match.pk}/")
    pool, worth = page.locator(".pool"), page.locator(".worth")
    expect(pool).to_contain_text("Pool: 3 gifts")
    expect(worth).to_have_text("Round: 1 gift from the pool, 1 from the seat with most cards")
    page.keyboard.press("ArrowRight")
    expect(worth).to_be_hidden()  # the rule of the trick has its place
    last = page.locator(".jump div").nth(0).locator("a").last  # the first round is won
    last.click()
    expect(pool).to_contain_text("Pool: 2 gifts")
    page.keyboard.press("ArrowRight")
    expect(worth).to_be_visible()
    page.keyboard.press("End")
    expect(pool).to_be_hidden()


def test_a_result_looks_as_the_server_renders_it(replay: Page, browser: Browser) -> None:
    address = replay.url.split("?")[0]
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    parts = (".step-title", ".seat .points", ".seat .plays", ".seat .hand")
    for step in (1, 4, 9):
        plain.goto(f"{address}?step={step}")
        replay.locator(f"[data-step='{step}']").click()
        for part in parts:
            if step == 9 and part == ".seat .plays":
                continue
            rendered = [_words(each) for each in plain.locator(part).all_inner_texts()]
            shown = [_words(each) for each in replay.locator(part).all_inner_texts()]
            assert shown == rendered, (step, part)
    context.close()


def _words(text: str) -> str:
    """Return the words of a text without marks that only one of the two pages has."""
    return " ".join(re.sub(r",\s*(new|cancelled|scores)", "", text).split())


def test_the_browser_checks_the_deal(replay: Page) -> None:
    replay.get_by_role("button", name="Check the deal here").click()
    expect(replay.locator(".verdict.good")).to_contain_text("The deal is fair")


def test_each_step_announces_one_short_sentence(replay: Page) -> None:
    status = replay.locator("[data-table] [role=status]")
    for _ in range(6):
        replay.keyboard.press("ArrowRight")
        text = status.text_content() or ""
        assert 0 < len(text) <= 200


def test_keys_with_modifiers_and_in_scrollable_regions_do_not_step(replay: Page) -> None:
    seek = replay.locator("[data-seek]")
    replay.keyboard.press("Shift+ArrowRight")
    replay.locator("[role=region][tabindex='0']").first.focus()
    replay.keyboard.press("ArrowRight")
    expect(seek).to_have_value("0")
    replay.locator("[data-go=next]").focus()
    replay.keyboard.press("ArrowRight")
    expect(seek).to_have_value("1")
    expect(replay.locator("[data-go=next]")).to_be_focused()


def test_nothing_moves_if_the_reader_wants_less_motion(replay: Page) -> None:
    replay.evaluate("""() => {
        window.moves = 0;
        const animate = Element.prototype.animate;
        Element.prototype.animate = function (...how) {
            moves += 1;
            return animate.apply(this, how);
        };
    }""")
    replay.emulate_media(reduced_motion="reduce")
    replay.keyboard.press("ArrowRight")
    assert replay.evaluate("moves") == 0
    replay.emulate_media(reduced_motion="no-preference")
    replay.keyboard.press("ArrowRight")
    assert replay.evaluate("moves") > 0


def test_cards_move_with_the_numbers_of_their_piles_and_within_the_felt(replay: Page) -> None:
    replay.evaluate("""() => {
        const lower = new CSSStyleSheet();
        lower.replaceSync(".table:has(.plays .slot) .table-head { margin-bottom: 300px; }");
        document.adoptedStyleSheets.push(lower);
        window.moved = [];
        const animate = Element.prototype.animate;
        Element.prototype.animate = function (frames, how) {
            const [x, y] = frames[0].transform.match(/-?[\\d.]+/g).map(Number);
            const felt = this.closest(".felt").getBoundingClientRect();
            const { left, top } = this.getBoundingClientRect();
            const isWithin = left + x > felt.left && left + x < felt.right
                && top + y > felt.top && top + y < felt.bottom;
            moved.push(`${this.className.split(" ")[0]}: ${isWithin}`);
            return animate.call(this, frames, how);
        };
    }""")
    replay.keyboard.press("ArrowRight")
    replay.keyboard.press("ArrowRight")  # the plays: the felt stands 300 px lower now
    assert set(replay.evaluate("moved")) == {"slot: true"}


@pytest.mark.parametrize("has_javascript", [True, False])
def test_links_work_without_javascript_and_without_the_phases(
    match: Match, browser: Browser, live_server: LiveServer, has_javascript: bool
) -> None:
    context = browser.new_context(base_url=live_server.url, java_script_enabled=has_javascript)
    page = context.new_page()
    page.route(re.compile("phases.json$"), lambda route: route.fulfill(status=503))
    page.goto(f"/matches/{match.pk}/")
    page.locator("[data-go=next]").click()
    page.wait_for_url("**/?step=2")
    title(page, "Day 2 of 8")
    context.close()


def test_each_line_of_the_points_has_a_colour_of_its_own(replay: Page, match: Match) -> None:
    strokes = replay.locator(".chart polyline").evaluate_all(
        "all => all.map((line) => getComputedStyle(line).stroke)"
    )
    assert len(set(strokes)) == len(strokes) == len(match.record.scores)


def test_without_a_clipboard_the_link_is_selected_for_copying(match: Match, fresh: Visit) -> None:
    fresh.page.add_init_script(
        "Object.defineProperty(navigator, 'clipboard', { value: undefined });"
    )
    fresh.page.goto(f"/matches/{match.pk}/")
    expect(fresh.page.locator("[data-play]")).to_be_visible()
    copied = set()
    for _ in range(2):
        fresh.page.keyboard.press("ArrowRight")
        fresh.page.get_by_role("button", name="Copy link").click()
        link = fresh.page.get_by_label("to copy the link")
        expect(link).to_be_focused()
        expect(link).to_have_value(fresh.page.url)
        assert fresh.page.evaluate("getSelection().toString()") == fresh.page.url
        copied.add(fresh.page.url)
        link.evaluate("link => link.blur()")
    assert len(copied) == 2


@pytest.mark.parametrize(("width", "height"), [*WINDOWS, (820, 1180)])
def test_a_match_shows_its_felt_the_reason_and_the_controls_together(
    match: Match, visit: Visit, width: int, height: int
) -> None:
    page = visit.page
    open_window(page, width, height)
    page.goto(f"/matches/{match.pk}/?step=5")
    expect(page.locator("[data-play]")).to_be_visible()
    if width < 1000:  # a wide window shows them without scrolling
        page.locator("section.table").evaluate("table => table.scrollIntoView()")
    seen = (".felt", ".why", ".transport")
    assert outside(page, *seen) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(("width", "height"), [*WINDOWS, (820, 1180)])
def test_the_felt_and_the_controls_keep_their_place_from_the_deal_to_the_end(
    match: Match, visit: Visit, width: int, height: int
) -> None:
    page = visit.page
    open_window(page, width, height)
    page.goto(f"/matches/{match.pk}/")
    expect(page.locator("[data-play]")).to_be_visible()
    assert outside(page, ".transport [data-play]") == []
    places = set()
    for _ in range(int(page.locator("[data-seek]").get_attribute("max") or 0)):
        page.keyboard.press("ArrowRight")
        places.add(page.evaluate(PLACES))
    assert len(places) == 1


@pytest.mark.parametrize(("width", "height"), [*WINDOWS, (820, 1180)])
@pytest.mark.parametrize("game", ["twelve-days", "partridge"])
def test_at_the_end_the_felt_shows_by_place_how_the_points_add_up(
    league: Tournament, visit: Visit, game: str, width: int, height: int
) -> None:
    page = visit.page
    open_window(page, width, height)
    found = Match.objects.finished().filter(game=game).earliest("pk")
    page.goto(f"/matches/{found.pk}/")
    expect(page.locator("[data-play]")).to_be_visible()
    expect(page.locator(".totals")).to_be_hidden()
    page.keyboard.press("End")
    rows = page.locator(".totals li")
    expect(rows.first).to_be_visible()
    scores = [int(text) for text in rows.locator(".sum").all_inner_texts()]
    assert scores == sorted(found.record.scores, reverse=True)
    for score, row in zip(scores, rows.locator(".parts").all_inner_texts(), strict=True):
        assert re.search(rf"^(days|start|rounds?|won) .* = {score}$", row), row
    assert page.evaluate(COVERED) == []
    # The sentence is short, and all of it is seen.
    expect(page.locator(".why")).to_have_text(re.compile(r"^[^.;]+\.$"))
    assert page.locator(".why").evaluate("why => why.scrollHeight <= why.clientHeight")


@pytest.mark.parametrize("game", ["twelve-days", "partridge"])
def test_on_a_phone_the_table_and_its_controls_are_seen_without_scrolling(
    league: Tournament, visit: Visit, game: str
) -> None:
    page = visit.page
    open_window(page, 390, 844)
    found = Match.objects.finished().filter(game=game).earliest("pk")
    page.goto(f"/matches/{found.pk}/")
    expect(page.locator("[data-play]")).to_be_visible()
    for _ in range(int(page.locator("[data-seek]").get_attribute("max") or 0)):
        assert outside(page, ".why", ".transport", ".felt") == []
        page.keyboard.press("ArrowRight")
    felt, facts = (page.locator(each).bounding_box() for each in (".felt", ".of-match"))
    assert felt is not None
    assert facts is not None
    assert facts["y"] > felt["y"] + felt["height"]
