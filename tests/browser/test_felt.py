"""What a player sees of the last day or trick: its plays and its result, beside the hand."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_play import at_turn, by_mouse, house, sit
from tests.browser.window import WINDOWS, open_window, outside

__all__ = ["house"]  # the fixture that stores the house bots
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(("width", "height"), WINDOWS)
@pytest.mark.parametrize("game", ["twelve-days eight-nights", "partridge eagle-short"])
def test_a_player_sees_the_last_result_beside_the_hand_until_the_next_move(
    visit: Visit, game: str, width: int, height: int
) -> None:
    page = visit.page
    open_window(page, width, height)
    sit(page, game, 4)
    # The title or, beside plays of the next trick, the sentence names the last one.
    result = re.compile(r"^After |^Trick \d+: ", re.M)
    for _ in range(12):
        assert at_turn(page)
        if result.search(page.locator(".table-head").inner_text()):
            break
        turn = page.get_attribute("#table", "data-turn")
        by_mouse(page)
        page.wait_for_function("turn => table.dataset.turn !== turn", arg=turn)
    expect(page.locator(".table-head")).to_contain_text(re.compile(r"After |Trick \d+: "))
    seen = [".felt .plays .tc", ".why", ".at-0 .hand .tc"]
    if page.locator("#play-chosen").count():
        seen.append("#play-chosen")
    page.evaluate("scrollTo(0, 0)")  # a click on a move in the list below has scrolled there
    assert outside(page, *seen) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    turn = page.get_attribute("#table", "data-turn")
    by_mouse(page)
    page.wait_for_function("turn => table.dataset.turn !== turn", arg=turn)
    assert at_turn(page)
    if "twelve" in game:  # the next turn is to play a card, after all seats have given one
        expect(page.locator(".step-title")).not_to_contain_text("After")
        expect(page.locator(".felt .plays .tc")).to_have_count(0)


def test_the_felt_shows_one_day_and_the_ranks_that_the_player_knows(visit: Visit) -> None:
    page = visit.page
    open_window(page, 1400, 900)
    sit(page, "twelve-days calliope", 4)
    assert at_turn(page)
    given = page.locator(".at-0 .hand .legal").last.get_attribute("data-rank")
    for _ in range(2):  # a card given, a card played
        turn = page.get_attribute("#table", "data-turn")
        by_mouse(page)
        page.wait_for_function("turn => table.dataset.turn !== turn", arg=turn)
        assert at_turn(page)
    expect(page.locator("#question")).to_contain_text("give a card")
    day = re.compile(r"^Day (\d+), ").search(page.locator("#question").inner_text())
    assert day is not None
    expect(page.locator(".step-title")).to_have_text(f"After day {int(day[1]) - 1} of 12")
    expect(page.locator(".felt .plays .tc")).to_have_count(4)
    known = page.get_by_role("list", name=re.compile("that you know$")).locator("li")
    has_played_it = page.locator(f".at-1 .plays .r{given}").count()
    expect(known).to_have_text([] if has_played_it else [str(given)])
    expect(page.locator(".at-1 .hand .tc:not(.back)")).to_have_count(0)
