"""Small tables, on the home page and on the wall: a felt of one height, and its end."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from league import feeds
from league.models import Tournament
from tests.browser.conftest import Visit

pytestmark = pytest.mark.django_db(transaction=True)

OUTSIDE = """
(felt) => {
    const box = felt.getBoundingClientRect();
    const [places, others] = [".totals li", ".plate, .tc"].map((each) =>
        [...felt.querySelectorAll(each)].map((found) => found.getBoundingClientRect()));
    const lies = (other, place) => other.height && other.bottom > place.top + 1 &&
        other.top < place.bottom - 1 && other.left < place.right && other.right > place.left;
    return places.filter((place) => place.top < box.top || place.bottom > box.bottom ||
        others.some((other) => lies(other, place))).length;
}
"""
"""Returns how many places at the end of a match are outside the felt or under a plate or card."""


@pytest.mark.parametrize("width", [390, 820])
def test_a_small_felt_keeps_its_height_and_at_the_end_shows_each_place(
    league: Tournament, fresh: Visit, width: int
) -> None:
    feeds.find_highlights(timezone.now().date())
    page = fresh.page
    page.set_viewport_size({"width": width, "height": 844})
    page.route("**/tv/tables/*", lambda route: route.fulfill(body=""))  # no other match follows
    page.clock.install(time=0)
    page.clock.pause_at(1)
    page.goto("/tv/")
    felt = page.locator("[data-table=replay] .felt").first
    page.get_by_role("button", name="Pause").first.wait_for()
    heights = {felt.evaluate("felt => felt.offsetHeight")}
    for _ in range(60):
        page.clock.run_for(1000)
        heights.add(felt.evaluate("felt => felt.offsetHeight"))
        if felt.locator(".totals").is_visible():
            break
    felt.locator(".totals li").first.wait_for()
    assert felt.evaluate(OUTSIDE) == 0
    assert len(heights) == 1


def test_on_a_phone_the_home_page_has_one_button_to_play_in_the_first_window(
    league: Tournament, visit: Visit
) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    visit.page.goto("/")
    found = (".front .actions button", ".front .felt")
    button, felt = (visit.page.locator(each).bounding_box() for each in found)
    assert button is not None
    assert felt is not None
    assert button["y"] + button["height"] < felt["y"]
    expect(visit.page.get_by_role("button", name="Play against the bots")).to_be_visible()
    assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
