"""What the felt shows at the end of a match: `totals.js`."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.league.play.forfeited import forfeited_match

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_felt_names_the_winner_of_a_match_that_a_seat_with_more_points_forfeited(
    visit: Visit, transactional_db: None
) -> None:
    page, match = visit.page, forfeited_match()
    page.goto(f"/matches/{match.pk}/")
    expect(page.locator("[data-play]")).to_be_visible()
    page.keyboard.press("End")
    expect(page.locator(".why")).to_have_text("seat-1 wins by forfeit.")
    expect(page.locator(".totals .first")).to_contain_text("seat-1")
    expect(page.locator(".seat.won .name")).to_have_text("seat-1")
