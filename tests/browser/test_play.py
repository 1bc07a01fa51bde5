"""Playing in the browser: `play.js`, `seated.js`, `dragging.js`.

Whole matches are played by mouse, drag and keys, and on a phone.

`tests.browser.gateway` answers the gateway's calls, so the league's own rules decide on each move.
"""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from league import play
from league.models import Match, PlayerTable, Turn
from tests.browser.conftest import Visit
from tests.browser.everything import play_to_its_end
from tests.browser.streams import BY_HAND
from tests.league.players import house_bots

pytestmark = pytest.mark.django_db(transaction=True)

TWELVE_DAYS, PARTRIDGE = GAMES = ["twelve-days eight-nights", "partridge eagle-short"]
MOST_TURNS = 150
LEGAL = ".hand button.legal[aria-disabled=false]"
Choose = Callable[[Page], None]


@pytest.fixture(autouse=True)
def house(transactional_db: None) -> None:
    house_bots()


def sit(page: Page, game: str, seats: int = 3) -> None:
    """Start a match as the form does (`test_flows.py` fills it in), and open its page."""
    form = page.request.get("/play/").text()
    [token] = set(re.findall('name="csrfmiddlewaretoken" value="([^"]+)"', form))
    sent = {"game": game, "seats": str(seats), "csrfmiddlewaretoken": token}
    answer = page.request.post("/play/", form=sent, max_redirects=0)
    assert answer.status == 302, answer.text()
    page.goto(answer.headers["location"])


def begin(page: Page, game: str, width: int) -> None:
    """Start a match in a window of a width, without cards that move, which would take minutes."""
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(reduced_motion="reduce")
    sit(page, game)


def at_turn(page: Page) -> bool:
    """Wait for the own turn or the end; return whether it is a turn."""
    page.wait_for_selector(
        "#table[data-turn]:not(.sending) .hand button[aria-disabled=false],"
        "#table[data-turn]:not(.sending) #moves .choice, [data-state=over]"
    )
    if page.locator("[data-state=over]").count():
        return False
    expect(page.get_by_label("Confirm each move")).to_be_visible()  # the script reads keys
    return True


def after(page: Page, turn: str | None) -> None:
    """Wait until a turn is over."""
    page.wait_for_function(
        "turn => document.getElementById('table').dataset.turn !== turn", arg=turn
    )


def choices(page: Page) -> list[list[str]]:
    """Return the cards of each move that has a button in the panel."""
    moves = page.locator("#moves .choice").evaluate_all("all => all.map(each => each.value)")
    return [move.split()[1:] for move in moves]


def by_mouse(page: Page) -> None:
    """Choose the last legal move: click its cards, or its button."""
    if page.locator("#play-chosen").count() == 0:
        page.locator(f"{LEGAL}, #moves .choice").last.click()
        return
    cards = choices(page)[-1]
    if not cards:
        page.locator("#moves .pass").click()
        return
    for rank in cards:
        page.locator(f".hand [data-rank='{rank}'][aria-pressed=false]").first.click()
    page.locator("#play-chosen").click()


def by_drag(page: Page) -> None:
    """Choose a legal move: drag its last card to the middle of the felt."""
    if page.locator("#play-chosen").count() == 0:
        if page.locator(LEGAL).count() == 0:
            by_mouse(page)
        else:
            drag(page, page.locator(LEGAL).last)
        return
    cards = choices(page)[-1]
    if not cards:
        page.locator("#moves .pass").click()
        return
    for rank in cards[:-1]:
        page.locator(f".hand [data-rank='{rank}'][aria-pressed=false]").first.click()
    drag(page, page.locator(f".hand [data-rank='{cards[-1]}'][aria-pressed=false]").first)


def drag(page: Page, card: Locator) -> None:
    """Drag a card by its left edge to the middle of the felt, above the own hand."""
    card.scroll_into_view_if_needed()
    held, felt = card.bounding_box(), page.locator(".centre").bounding_box()
    assert held is not None
    assert felt is not None
    page.mouse.move(held["x"] + 8, held["y"] + held["height"] / 2)
    expect(page.locator("#table")).to_have_attribute("data-drags", "")
    page.mouse.down()
    page.mouse.move(held["x"] + 20, held["y"] - 20)
    page.mouse.move(felt["x"] + felt["width"] / 2, felt["y"] + felt["height"] / 2, steps=4)
    page.mouse.up()


def by_keys(page: Page) -> None:
    """Choose a legal move with the keyboard alone."""
    if page.locator("#play-chosen").count() == 0:
        if page.locator(LEGAL).count() == 0:
            page.locator("#moves .choice").first.focus()
        else:
            page.keyboard.type(page.locator(LEGAL).last.get_attribute("data-rank") or "")
        page.keyboard.press("Enter")
        return
    cards = choices(page)[-1]
    if not cards:
        page.keyboard.press("p")
        return
    for rank in cards:
        page.keyboard.type(rank)
        page.keyboard.press("Space")
    page.locator("#play-chosen").focus()
    page.keyboard.press("Enter")


def play_on(page: Page, choose: Choose) -> Match:
    for _ in range(MOST_TURNS):
        if not at_turn(page):
            break
        turn = page.get_attribute("#table", "data-turn")
        choose(page)
        after(page, turn)
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("You "))
    match = Match.objects.get()
    assert match.status == Match.Status.FINISHED
    assert sum(seat.faults for seat in match.seating.all()) == 0
    return match


# In the next two tests together, each two of a way to choose, a width and a game meet.
@pytest.mark.parametrize(
    ("choose", "width", "game"),
    [(by_mouse, 1400, TWELVE_DAYS), (by_mouse, 390, PARTRIDGE), (by_keys, 390, TWELVE_DAYS)],
)
def test_a_whole_match_is_played(visit: Visit, game: str, choose: Choose, width: int) -> None:
    begin(visit.page, game, width)
    play_on(visit.page, choose)
    for name in ("Play again", "Analyse the match"):
        expect(visit.page.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize(
    ("choose", "width", "game"),
    [(by_drag, 1400, PARTRIDGE), (by_drag, 390, TWELVE_DAYS), (by_keys, 1400, PARTRIDGE)],
)
def test_some_moves_are_made(visit: Visit, game: str, choose: Choose, width: int) -> None:
    page = visit.page
    begin(page, game, width)
    for _ in range(6):
        at_turn(page)
        turn = page.get_attribute("#table", "data-turn")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        sizes = page.locator("#table button:not(.tool):visible").evaluate_all(
            "all => all.map((each) => [each.offsetWidth, each.offsetHeight])"
        )
        assert all(wide >= 24 and high >= 40 for wide, high in sizes), "too small for a finger"
        choose(page)
        after(page, turn)
    assert Turn.objects.exclude(fault="").count() == 0


def test_cards_move_between_the_turns_and_a_press_ends_that(visit: Visit) -> None:
    page = visit.page
    sit(page, GAMES[0])
    at_turn(page)
    by_mouse(page)
    expect(page.locator("#table.sending")).to_have_count(1)
    expect(page.locator(".at-0 .hand .fresh")).to_have_count(1)  # the card from the right neighbour
    at_turn(page)
    turn = page.get_attribute("#table", "data-turn")
    by_mouse(page)
    expect(page.locator(".seat.at-1 .plays .tc")).to_have_count(1)
    page.locator(".seat.at-1 .count").click()
    page.wait_for_selector("#table:not(.sending)", timeout=500)
    assert page.get_attribute("#table", "data-turn") != turn


def test_nothing_moves_if_the_player_wants_less_motion(fresh: Visit) -> None:
    page = fresh.page
    page.emulate_media(reduced_motion="reduce")
    page.add_init_script("""
        window.moves = 0;
        const animate = Element.prototype.animate;
        Element.prototype.animate = function (...how) {
            moves += 1;
            return animate.apply(this, how);
        };
    """)
    sit(page, GAMES[0])
    for _ in range(4):
        at_turn(page)
        turn = page.get_attribute("#table", "data-turn")
        by_mouse(page)
        after(page, turn)
    assert page.evaluate("moves") == 0


def test_a_card_that_is_dropped_beside_the_felt_stays_in_the_hand(visit: Visit) -> None:
    page = visit.page
    sit(page, GAMES[0])
    at_turn(page)
    turn = page.get_attribute("#table", "data-turn")
    card = page.locator(LEGAL).first
    box = card.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 8, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 40, 5, steps=4)
    page.mouse.up()
    assert card.evaluate("card => card.style.translate") == ""
    assert page.get_attribute("#table", "data-turn") == turn


def test_legal_cards_stand_out_and_others_cannot_be_played(visit: Visit) -> None:
    page = visit.page
    page.emulate_media(reduced_motion="reduce")
    sit(page, GAMES[1])
    for _ in range(MOST_TURNS):
        assert at_turn(page), "the match has no turn with an illegal card"
        if page.locator(".hand .tc.idle").count() and page.locator(LEGAL).count():
            break
        turn = page.get_attribute("#table", "data-turn")
        by_mouse(page)
        after(page, turn)
    page.locator(".hand .tc.idle").last.click(position={"x": 6, "y": 20}, force=True)
    expect(page.locator(".hand [aria-pressed=true]")).to_have_count(0)
    expect(page.locator(".hand .tc.idle").first).to_have_attribute("aria-disabled", "true")


def test_an_update_keeps_the_focus_and_reads_out_only_what_is_new(fresh: Visit) -> None:
    page = fresh.page
    page.add_init_script(BY_HAND)
    sit(page, GAMES[0])
    at_turn(page)
    card = page.locator(LEGAL).nth(1)
    card.focus()
    page.evaluate("""() => {
        window.said = [];
        const live = document.querySelectorAll("[aria-live], [role=status]");
        const watch = new MutationObserver((all) => {
            for (const { addedNodes } of all) said.push(...addedNodes);
        });
        for (const each of live) watch.observe(each, { childList: true, subtree: true });
    }""")
    with page.expect_response(re.compile("view.json")):
        page.evaluate("streams[0].send('phase', { match: -1 })")
        page.evaluate("streams[0].send('phase', { match: Number(table.dataset.match), ply: 99 })")
    expect(card).to_be_focused()
    assert page.evaluate("said.length") == 0
    turn = page.get_attribute("#table", "data-turn")
    by_mouse(page)
    after(page, turn)
    at_turn(page)
    said = page.evaluate("said.map((each) => each.textContent)")
    assert 0 < len(said) == len(set(said)) < 6
    expect(page.locator("#question")).to_be_focused()


@pytest.mark.parametrize("seats", [2, 4, 6])
def test_the_whole_table_is_on_one_screen_of_a_laptop(visit: Visit, seats: int) -> None:
    page = visit.page
    page.set_viewport_size({"width": 1400, "height": 800})
    sit(page, GAMES[1], seats)
    at_turn(page)
    # In one call: a move of another seat may draw the table anew between two.
    boxes = page.evaluate(
        "() => [...document.querySelectorAll('.felt, #own, .at-0 .hand, .at-0 .hand .tc')]"
        ".map((each) => [each.className || each.id, each.getBoundingClientRect()])"
        ".map(([name, box]) => [name, box.bottom, box.height])"
    )
    assert len(boxes) > 3
    assert [name for name, bottom, _ in boxes if bottom > 800] == []
    if seats > 2:  # a long straight of a neighbour takes no more height
        height = page.evaluate(
            """() => {
              const plays = document.querySelector(".at-1 .plays");
              const card = document.querySelector(".at-0 .hand .slot .tc");
              plays.replaceChildren(...Array.from({ length: 8 }, () => {
                const slot = document.createElement("li");
                slot.className = "slot";
                slot.append(card.cloneNode(true));
                return slot;
              }));
              return document.querySelector(".felt").getBoundingClientRect().height;
            }"""
        )
        assert height == pytest.approx(boxes[0][2], abs=1)
    assert boxes[-1][2] >= 100


def test_a_move_needs_a_second_click_if_the_player_wants_that(visit: Visit) -> None:
    page = visit.page
    sit(page, GAMES[0])
    at_turn(page)
    page.get_by_label("Confirm each move").check()
    card = page.locator(LEGAL).first
    card.click(position={"x": 6, "y": 20})
    expect(page.locator("#question")).to_contain_text("press again to confirm")
    turn = page.get_attribute("#table", "data-turn")
    card.click(position={"x": 6, "y": 20})
    after(page, turn)


def test_a_hint_appears_without_loading_the_page(visit: Visit) -> None:
    page = visit.page
    sit(page, GAMES[0])
    at_turn(page)
    page.evaluate("window.loadedOnce = true")
    page.get_by_role("link", name="Show a hint").click()
    expect(page.locator(".hint")).to_contain_text("house-counting would choose: Give")
    assert page.evaluate("window.loadedOnce")


def test_a_match_is_played_without_javascript(browser: Browser, live_server: LiveServer) -> None:
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/play/")
    page.get_by_label("Game").select_option("12 Days of Christmas, 3 rounds (short)")
    page.get_by_label("Seats").select_option("2 seats")
    page.get_by_role("button", name="Start the match").click()
    match = Match.objects.get()
    # A few moves: `tests/web/views/test_players.py` plays whole matches by these forms.
    for _ in range(6):
        play.play_house_turns(match.pk)
        page.reload()
        before = Match.objects.get().stored
        with page.expect_navigation():
            for folded in page.locator(".all-moves:not([open]) summary").all():
                folded.click()
            page.locator(".hand button, #moves .choice").last.click()
        assert Match.objects.get().stored > before
    play_to_its_end(PlayerTable.objects.get())
    page.reload()
    expect(page.locator("[data-state=over]")).to_have_count(1)
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("You "))
    context.close()
