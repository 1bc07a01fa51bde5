"""Pages on paper: dark text on white, in both themes, without navigation and forms."""

from typing import Literal

import pytest
from playwright.sync_api import expect

from league.models import Match, Tournament
from tests.browser.conftest import Visit

pytestmark = pytest.mark.django_db(transaction=True)

FAINT = """() => {
  const faint = new Set();
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  for (const element of document.body.querySelectorAll("*")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.getClientRects().length) continue;
    if (element.closest("svg, .tc, .card, .day, .unseen, script, noscript")) continue;
    const colour = getComputedStyle(element).color.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const ratio = 1.05 / (luminance(colour) + 0.05);
    if (ratio < 4.5) faint.add(`${element.tagName}.${element.className}`);
  }
  return [...faint];
}"""
"""Returns the visible elements whose text has a contrast below 4.5 against white paper."""


def _paths(league: Tournament) -> list[str]:
    cup = Tournament.objects.exclude(pk=league.pk).get()
    match = Match.objects.filter(block__round__tournament=league).earliest("pk")
    return [
        f"/matches/{match.pk}/?step=9",
        "/ladders/quick/",
        "/ladders/quick/?view=statistics",
        f"/tournaments/{league.pk}/",
        f"/tournaments/{cup.pk}/",
        "/bots/bot-0/",
        "/docs/ratings/",
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_can_be_read_on_paper(
    league: Tournament, visit: Visit, theme: Literal["light", "dark"]
) -> None:
    visit.page.emulate_media(media="print", color_scheme=theme)
    found = {}
    for path in _paths(league):
        visit.page.goto(path)
        if faint := visit.page.evaluate(FAINT):
            found[path] = faint
        for part in ("nav", "form", "button", ".transport", ".embed-code"):
            expect(visit.page.locator(f"{part}:visible")).to_have_count(0)
    assert found == {}


def test_no_page_is_wider_than_paper(league: Tournament, visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 688, "height": 1000})  # A4 within its margins
    visit.page.emulate_media(media="print")
    found = {}
    for path in _paths(league):
        visit.page.goto(path)
        width = visit.page.evaluate("document.documentElement.scrollWidth")
        if width > 688:
            found[path] = width
    assert found == {}
