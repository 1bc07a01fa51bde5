"""Replays of rare matches: one that a seat forfeited, one of a player with an odd name."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.league.play.forfeited import forfeited_match

pytestmark = pytest.mark.django_db(transaction=True)


def replay_of_forfeit(visit: Visit) -> Page:
    """Open the replay of a match that the seat with the most points forfeited."""
    visit.page.goto(f"/matches/{forfeited_match().pk}/")
    expect(visit.page.locator("[data-play]")).to_be_visible()
    return visit.page


def test_the_felt_names_the_winner_of_a_match_that_a_seat_with_more_points_forfeited(
    visit: Visit, transactional_db: None
) -> None:
    page = replay_of_forfeit(visit)
    page.keyboard.press("End")
    expect(page.locator(".why")).to_have_text("seat-1 wins by forfeit.")
    expect(page.locator(".totals .first")).to_contain_text("seat-1")
    expect(page.locator(".seat.won .name")).to_have_text("seat-1")


def test_the_title_of_the_tab_keeps_names_with_dashes_and_dots(
    visit: Visit, transactional_db: None
) -> None:
    page = replay_of_forfeit(visit)
    for name in ("Ann – Bob", "Ann · Bob"):
        served = f"{name} wins 3-1 · The deal – Twelfth Night"
        page.evaluate("title => { document.title = title; }", served)
        for key in ("End", "Home", "End"):
            page.keyboard.press(key)
        assert page.title() == f"{name} wins 3-1 · The end – Twelfth Night"


def test_on_a_phone_the_goal_of_a_game_is_whole_at_the_deal(
    visit: Visit, transactional_db: None
) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    page = replay_of_forfeit(visit)
    goal = page.locator(".said")
    expect(goal).to_contain_text("wins the round")
    assert goal.evaluate("said => said.scrollHeight <= said.clientHeight")
