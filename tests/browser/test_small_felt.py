"""Small tables, on the home page and on the wall: a felt of one height, and its end."""

import pytest
from django.utils import timezone

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
