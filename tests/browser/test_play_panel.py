"""The question, the advice and the moves beside a player's table (`panel.js`, `time_left.js`)."""

import re

import pytest
from playwright.sync_api import Page, Response, Route, expect

from league import play
from league.models import Match
from tests.browser.conftest import Visit
from tests.browser.test_play import (
    GAMES,
    LEGAL,
    after,
    at_turn,
    begin,
    by_mouse,
    choices,
    house,
    sit,
)
from tests.browser.test_weight import MAX_SCRIPT_BYTES, is_script
from tests.browser.window import open_window, outside

__all__ = ["house"]

pytestmark = pytest.mark.django_db(transaction=True)

QUESTIONS = [
    "Your move",
    "Play a straight whose lowest card is 12 or lower, or pass",
    "Day 10, 21 points: give a card to a-name-of-thirty-two-characters",
]
"""Questions of one line and more; the last one has more lines than the panel on a phone."""
REASON = "Day 1: Two 11s cancel each other, and so do two 12s; no card is left, so " * 2
"""A reason of more lines than a phone has room for."""
STAKE = """text => {
    document.querySelector(".pot").hidden = false;
    document.querySelector(".stake").textContent = text;
    const days = document.querySelector(".days");
    const day = '<li class="slot"><span class="tc day">9</span></li>';
    while (days.children.length < 3) days.insertAdjacentHTML("beforeend", day);
}"""
"""A script that shows the points and cards of three days, of which nobody won the first two."""
AWARDS = """() => {
    const names = ["house-thumb", "house-random", "a-name-of-thirty-two-characters"];
    const words = names.map((name) => `Award the points to ${name}`);
    const buttons = words.map((text) => `<button class="choice">${text}</button>`);
    const choices = `<div class="choices" role="group">${buttons.join("")}</div>`;
    document.getElementById("moves").insertAdjacentHTML("beforeend", choices);
}"""
"""A script that adds the moves after a trick won by a Claus, which comes only with luck."""
HEIGHTS = "() => ['ask', 'own'].map((id) => document.getElementById(id).offsetHeight)"


@pytest.mark.parametrize("game", GAMES)
def test_on_a_phone_the_question_and_the_clock_stay_above_the_felt(visit: Visit, game: str) -> None:
    page = visit.page
    begin(page, game, 390)
    at_turn(page)
    ask, felt = page.locator("#ask"), page.locator(".felt")
    assert bottom(page, "#ask") <= felt.evaluate("felt => felt.getBoundingClientRect().top")
    expect(page.locator(".countdown")).to_have_text(re.compile(r"^\d+ s left$"))
    expect(page.locator(".countdown")).to_have_css("font-size", "20px")
    page.set_viewport_size({"width": 390, "height": 500})
    felt.evaluate("felt => felt.scrollIntoView({ block: 'end' })")
    expect(ask.locator("#question")).to_be_in_viewport(ratio=1)
    expect(page.locator(".countdown")).to_be_in_viewport(ratio=1)


def test_the_clock_is_corrected_within_a_turn_when_the_page_is_seen_again(visit: Visit) -> None:
    page = visit.page
    begin(page, GAMES[0], 390)
    at_turn(page)
    clock = page.locator(".countdown")
    expect(clock).to_have_text(re.compile(r"^\d\d+ s left$"))

    def shorten(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "remaining_ms": 9000})

    page.route("**/*?after=*", shorten)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(clock).to_have_text(re.compile(r"^[5-9] s left$"))


def test_on_a_phone_the_question_is_whole_and_twelve_cards_are_in_the_window(visit: Visit) -> None:
    page = visit.page
    open_window(page, 390, 844)
    sit(page, "twelve-days calliope", 4)
    question = page.locator("#question")
    for _ in range(3):
        assert at_turn(page)
        assert question.evaluate("text => text.scrollHeight <= text.clientHeight")
        assert outside(page, "#question", ".countdown", ".how-to", ".at-0 .hand .tc") == []
        felt = bottom(page, ".felt")
        page.evaluate("text => { document.querySelector('.why').textContent = text; }", REASON)
        assert bottom(page, ".felt") == felt
        page.evaluate(STAKE, "Pot: 6\u00a0points")
        assert outside(page, ".at-0 .hand .tc") == []
        assert page.evaluate(COVERED) == []
        expect(page.locator(".at-0 .does")).not_to_contain_text("thinking")
        turn = page.get_attribute("#table", "data-turn")
        by_mouse(page)
        after(page, turn)
    question.evaluate(f"text => {{ text.textContent = {QUESTIONS[1]!r}; }}")
    assert question.evaluate("text => text.scrollHeight <= text.clientHeight")


@pytest.mark.parametrize("width", [820, 1400])
def test_nothing_lies_on_the_points_at_stake(visit: Visit, width: int) -> None:
    page = visit.page
    open_window(page, width, 900)
    sit(page, "twelve-days calliope", 4)
    for _ in range(2):  # a card given, a card played
        assert at_turn(page)
        turn = page.get_attribute("#table", "data-turn")
        by_mouse(page)
        after(page, turn)
    assert at_turn(page)
    expect(page.locator(".felt .plays .tc")).to_have_count(4)
    page.evaluate(STAKE, "Pot: 12\u00a0points")  # of days that nobody won
    assert page.evaluate(COVERED) == []


COVERED = """
() => {
    const range = document.createRange();
    range.selectNodeContents(document.querySelector(".stake"));
    const text = range.getBoundingClientRect();
    return [...document.querySelectorAll(".plays .tc")].map((card) => card.getBoundingClientRect())
        .filter((card) => card.left < text.right && card.right > text.left
            && card.top < text.bottom && card.bottom > text.top)
        .map((card) => [card.left, card.right, text.left, text.right]);
}
"""


def bottom(page: Page, selector: str) -> float:
    found: float = page.locator(selector).evaluate("part => part.getBoundingClientRect().bottom")
    return found


def test_the_line_above_the_felt_states_which_cards_changed_hands(visit: Visit) -> None:
    page = visit.page
    begin(page, GAMES[0], 1400)
    at_turn(page)
    given = page.locator(LEGAL).last.get_attribute("data-rank")
    turn = page.get_attribute("#table", "data-turn")
    by_mouse(page)
    after(page, turn)
    at_turn(page)
    expect(page.locator("#question")).to_contain_text("Play a card")
    expect(page.locator(".why")).to_contain_text(f"You gave {given} to house-")
    page.reload()
    expect(page.locator(".why")).to_contain_text(f"You gave {given} to house-")


@pytest.mark.parametrize("width", [390, 820, 1400])
def test_the_panel_keeps_its_height_and_names_who_thinks(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    page = visit.page
    begin(page, GAMES[1], width)
    at_turn(page)
    real = play.play_house_turns
    monkeypatch.setattr(play, "play_house_turns", lambda _: None)
    high = page.evaluate(HEIGHTS)
    for question in QUESTIONS:
        page.evaluate("text => document.getElementById('question').textContent = text", question)
        assert page.evaluate(HEIGHTS) == high, question
    while turn := page.get_attribute("#table", "data-turn"):  # it may be this seat's turn again
        by_mouse(page)
        after(page, turn)
    expect(page.locator("#question")).to_contain_text("is thinking")
    expect(page.locator("#play-chosen")).to_have_text("Wait for your turn")
    expect(page.locator("#moves button:enabled")).to_have_count(0)
    assert page.evaluate(HEIGHTS) == high
    monkeypatch.setattr(play, "play_house_turns", real)
    at_turn(page)
    assert page.evaluate(HEIGHTS) == high


def test_a_selection_is_read_out_and_undone_by_a_button_or_a_key(visit: Visit) -> None:
    page = visit.page
    begin(page, GAMES[1], 1400)
    at_turn(page)
    while not page.locator(LEGAL).count():
        turn = page.get_attribute("#table", "data-turn")
        by_mouse(page)
        after(page, turn)
        at_turn(page)
    expect(page.locator(".choices")).to_be_hidden()  # the list is folded
    pressed = page.locator(".hand [aria-pressed=true]")
    cards = choices(page)[-1]

    def select() -> None:
        for rank in cards:
            page.keyboard.type(rank)
            page.keyboard.press("Space")
        expect(pressed).to_have_count(len(cards))
        expect(page.locator("#selection")).to_contain_text(f"Play {' '.join(cards)}")

    undo = page.get_by_role("button", name="Undo the selection")
    expect(undo).to_be_disabled()
    select()
    undo.click()
    expect(pressed).to_have_count(0)
    select()
    page.keyboard.press("Escape")
    expect(pressed).to_have_count(0)
    select()
    turn = page.get_attribute("#table", "data-turn")
    page.keyboard.press("Enter")  # on the last card of the selection
    after(page, turn)


HELD = """() => {
    const real = window.fetch;
    const posted = new Promise((done) => { window.go = done; });
    const answered = new Promise((done) => { window.release = done; });
    window.fetch = async (address, how) => {
        if (String(address).includes("hint")) await posted;
        const answer = await real(address, how);
        if (how?.method === "POST") {
            document.body.dataset.posted = "yes";
            await answered;
        }
        return answer;
    };
}"""
"""A script that holds calls for a hint until `go`, and answers to moves until `release`."""


def test_a_click_before_the_last_move_is_answered_makes_a_move(visit: Visit) -> None:
    """An answer to an earlier call may show the next turn before the answer to the move."""
    page = visit.page
    begin(page, GAMES[0], 1400)
    at_turn(page)
    page.evaluate(HELD)
    page.get_by_role("link", name="Show a hint").click()
    first = page.get_attribute("#table", "data-turn")
    by_mouse(page)
    page.wait_for_selector("[data-posted]")
    play.play_house_turns(Match.objects.get().pk)
    page.evaluate("go()")
    after(page, first)
    at_turn(page)
    second = page.get_attribute("#table", "data-turn")
    by_mouse(page)
    page.evaluate("release()")
    after(page, second)


def test_a_table_in_play_loads_little_of_our_javascript(fresh: Visit) -> None:
    page = fresh.page
    responses: list[Response] = []
    page.on("response", lambda response: responses.append(response))
    sit(page, "partridge eagle-short")
    assert at_turn(page)
    scripts = {each.url: len(each.body()) for each in responses if is_script(each)}
    assert 40_000 < sum(scripts.values()) <= MAX_SCRIPT_BYTES, scripts


def test_on_a_phone_nothing_shows_through_the_bar_while_others_play(visit: Visit) -> None:
    open_window(visit.page, 390, 844)
    sit(visit.page, "partridge eagle-short", 4)
    assert at_turn(visit.page)
    opacity = visit.page.evaluate("""() => {
        table.classList.add("sending");
        let [each, opacity] = [document.querySelector(".act"), 1];
        for (; each; each = each.parentElement) opacity *= Number(getComputedStyle(each).opacity);
        return opacity;
    }""")
    assert opacity == 1


def test_on_a_phone_the_buttons_of_a_decision_without_a_card_are_in_the_window(
    visit: Visit,
) -> None:
    page = visit.page
    begin(page, GAMES[0], 390)
    at_turn(page)
    page.set_viewport_size({"width": 390, "height": 640})
    page.evaluate(AWARDS)
    for button in page.get_by_role("button", name="Award the points").all():
        expect(button).to_be_in_viewport(ratio=1)
    assert page.evaluate("scrollY") == 0
