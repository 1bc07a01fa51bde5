"""Playing in the browser: `play.js`. A whole match of each game by mouse, keys and on a phone.

The calls of the gateway are answered here by the functions that it calls, in the test's thread. So
the league's own rules decide on each move.
"""

import json
import re
from urllib.parse import urlsplit

import pytest
from django.db import connections
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from league import play
from league.accounts import tokens
from league.models import Match
from tests.browser.conftest import Visit
from tests.league.players import house_bots

pytestmark = pytest.mark.django_db(transaction=True)

GAMES = ["twelve-days eight-nights", "partridge eagle-short"]
MOST_TURNS = 150


@pytest.fixture(autouse=True)
def gateway(context: BrowserContext, transactional_db: None) -> None:
    """Answer the calls of a player's browser as the gateway does."""
    house_bots()
    context.route("**/api/v1/**", _answer)


def _answer(route: Route) -> None:
    try:
        _answer_as_gateway(route)
    finally:
        connections.close_all()  # Playwright calls this in a context with its own connections


def _answer_as_gateway(route: Route) -> None:
    path = urlsplit(route.request.url).path
    if path.endswith("/events"):
        route.fulfill(status=200, content_type="text/event-stream", body=": nothing yet\n\n")
        return
    bot = tokens.bot_for_token(route.request.headers["authorization"].removeprefix("Bearer "))
    assert bot is not None, "the play token does not work"
    now = timezone.now()
    match_id = Match.objects.get(seating__bot=bot).pk
    if path.endswith("/turns"):
        play.play_house_turns(match_id)
        route.fulfill(json={"turns": play.open_turns(bot, now)})
        return
    sent = json.loads(route.request.post_data or "")
    try:
        verdict = play.submit(bot, play.Move(match_id, sent["turn"], sent["move"]), now)
    except play.MoveRefusedError as error:
        route.fulfill(status=422, json={"code": error.code})
        return
    play.play_house_turns(match_id)
    route.fulfill(json=verdict.as_json())


def sit(page: Page, game: str) -> None:
    """Start a match with one other seat, or two."""
    page.goto("/play/")
    page.get_by_label("Game").evaluate("(field, game) => field.value = game", game)
    page.get_by_label("Seats").select_option("3")
    page.get_by_role("button", name="Start the match").click()
    page.wait_for_url(re.compile(r"/play/[0-9a-f]{16}/"))


def at_turn(page: Page) -> bool:
    """Wait for the own turn or the end; return whether it is a turn."""
    page.wait_for_selector("#table[data-turn], [data-state=over]")
    return page.locator("[data-state=over]").count() == 0


def after(page: Page, turn: str | None) -> None:
    """Wait until a turn is over."""
    page.wait_for_function(
        "turn => document.getElementById('table').dataset.turn !== turn", arg=turn
    )


def by_mouse(page: Page) -> None:
    """Choose the last legal move: click its cards, or its button."""
    choices = page.locator(".choices button:visible")
    if page.locator("#play-chosen").count() == 0:
        page.locator("#moves button:visible").last.click()
        return
    moves = page.locator(".choices button").evaluate_all("all => all.map(each => each.value)")
    cards = moves[-1].split()[1:]
    if not cards:
        choices.first.click()
        return
    for rank in cards:
        page.locator(f"#moves [data-rank='{rank}'][aria-pressed=false]").first.click()
    page.locator("#play-chosen").click()


def by_keys(page: Page) -> None:
    """Choose a legal move with the keyboard alone."""
    moves = page.locator("#moves button[name=move]").evaluate_all("all => all.map(b => b.value)")
    if page.locator("#play-chosen").count() == 0 and moves[0].startswith("award"):
        page.locator(".choices button").first.focus()
        page.keyboard.press("Enter")
        return
    cards = moves[-1].split()[1:]
    if not cards:
        page.keyboard.press("p")
        return
    if page.locator("#play-chosen").count() == 0:
        page.keyboard.type(cards[0])
        page.keyboard.press("Enter")
        return
    for rank in cards:
        page.keyboard.type(rank)
        page.keyboard.press("Space")
        page.wait_for_timeout(0)
    page.locator("#play-chosen").focus()
    page.keyboard.press("Enter")


def play_on(page: Page, choose: object) -> Match:
    for _ in range(MOST_TURNS):
        if not at_turn(page):
            break
        turn = page.get_attribute("#table", "data-turn")
        choose(page)  # type: ignore[operator]
        after(page, turn)
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("You "))
    match = Match.objects.get()
    assert match.status == Match.Status.FINISHED
    assert sum(seat.faults for seat in match.seating.all()) == 0
    return match


@pytest.mark.parametrize("game", GAMES)
def test_a_whole_match_is_played_by_mouse(visit: Visit, game: str) -> None:
    sit(visit.page, game)
    play_on(visit.page, by_mouse)
    expect(visit.page.get_by_role("button", name="Play again")).to_be_visible()


@pytest.mark.parametrize("game", GAMES)
def test_a_whole_match_is_played_by_keyboard(visit: Visit, game: str) -> None:
    sit(visit.page, game)
    play_on(visit.page, by_keys)


@pytest.mark.parametrize("game", GAMES)
def test_a_whole_match_is_played_on_a_phone(visit: Visit, game: str) -> None:
    page = visit.page
    page.set_viewport_size({"width": 390, "height": 844})
    sit(page, game)
    widest = []

    def choose(page: Page) -> None:
        widest.append(page.evaluate("document.documentElement.scrollWidth"))
        small = page.locator("#moves button:visible").evaluate_all(
            "all => all.filter(b => b.offsetHeight < 40 || b.offsetWidth < 24).length"
        )
        assert small == 0, "a button is too small for a finger"
        by_mouse(page)

    play_on(page, choose)
    assert max(widest) <= 390


def test_a_move_needs_a_second_click_if_the_player_wants_that(visit: Visit) -> None:
    page = visit.page
    sit(page, GAMES[0])
    at_turn(page)
    page.get_by_label("Confirm each move").check()
    card = page.locator("#moves .own-hand button").first
    card.click()
    expect(page.locator("#question")).to_contain_text("press again to confirm")
    turn = page.get_attribute("#table", "data-turn")
    card.click()
    after(page, turn)


def test_a_hint_appears_without_loading_the_page(visit: Visit) -> None:
    page = visit.page
    sit(page, GAMES[0])
    at_turn(page)
    page.evaluate("window.loadedOnce = true")
    page.get_by_role("link", name="Show a hint").click()
    expect(page.locator(".hint")).to_contain_text("house-counting: Give")
    assert page.evaluate("window.loadedOnce")


def test_a_match_is_played_without_javascript(browser: Browser, live_server: LiveServer) -> None:
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/play/")
    page.get_by_label("Game").select_option("12 Days of Christmas, short game of 3 rounds")
    page.get_by_label("Seats").select_option("2 seats")
    page.get_by_role("button", name="Start the match").click()
    for _ in range(MOST_TURNS):
        play.play_house_turns(Match.objects.get().pk)
        page.reload()
        if page.locator("[data-state=over]").count():
            break
        page.locator("#moves button").last.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("You "))
    context.close()
