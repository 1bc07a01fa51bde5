"""The gallery of components: photographed at three widths in both themes, and without a fault.

`make gallery` writes the photographs, for people to look at: no test compares them.
"""

import os
from pathlib import Path
from typing import Literal

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, BrowserContext, Page
from pytest_django.live_server_helper import LiveServer

from tests.browser.axe import faults
from tests.browser.conftest import Visit, sign_in

pytestmark = pytest.mark.django_db(transaction=True)

PHOTOGRAPHS = Path(__file__).parents[2] / "build" / "gallery"
PHOTOGRAPH = "WRITE_GALLERY" in os.environ
"""Whether to write them. Six pictures of the whole page take 20 s of CPU time."""
THEMES: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")


@pytest.fixture
def gallery(context: BrowserContext, visit: Visit, live_server: LiveServer) -> Visit:
    """The gallery, opened by an organiser."""
    olga = User.objects.create(username="olga", is_staff=True)
    sign_in(context, olga, live_server.url)
    visit.page.emulate_media(reduced_motion="reduce")
    visit.page.goto("/organise/components/?step=6", wait_until="networkidle")
    return visit


COVERED = """() => {
    for (const rule of document.querySelectorAll(".rule")) rule.open = true;
    return [...document.querySelectorAll("[data-table]")].flatMap((table) => {
        const rule = table.querySelector(".rule-text");
        const { top, right, bottom, left } = rule.getBoundingClientRect();
        const parts = table.querySelectorAll(".felt, .transport, .viewing, .rule summary, .why");
        return bottom - top < 50 ? [`${table.id}: no rule`] : [...parts].filter((part) => {
            const said = part.closest(".said"); // on phones, what is beyond its edge scrolls
            const box = (said?.offsetHeight ? said : part).getBoundingClientRect();
            return box.left < right && box.right > left && box.top < bottom && box.bottom > top;
        }).map((part) => `${table.id}: ${part.className}`);
    });
}"""
"""A script that opens the rules of all tables; it returns what these cover."""


NONE_AT_WIDTHS: dict[int, list[str]] = {390: [], 820: [], 1400: []}


def at_widths(page: Page, script: str) -> dict[int, list[str]]:
    """Return what a script finds on the page, by the width of the window."""
    found = {}
    for width in NONE_AT_WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        found[width] = page.evaluate(script)
    return found


def test_no_component_is_wider_than_the_page_and_no_rule_covers_another(gallery: Visit) -> None:
    page = gallery.page
    overflow, covered = {}, {}
    for width in (390, 820, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        covered[width] = page.evaluate(COVERED)
        overflow[width] = page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        for theme in THEMES if PHOTOGRAPH else ():
            page.emulate_media(color_scheme=theme)
            page.screenshot(path=PHOTOGRAPHS / f"{width}-{theme}.png", full_page=True)
    assert overflow == {390: 0, 820: 0, 1400: 0}
    assert covered == {390: [], 820: [], 1400: []}


HIDDEN = """() => [...document.querySelectorAll("[data-table]")].flatMap((table) => {
    const felt = table.querySelector(".felt").getBoundingClientRect();
    return [...table.querySelectorAll(".hand .slot:not(.hidden *)")].flatMap((slot) => {
        const card = slot.firstElementChild, next = slot.nextElementSibling?.firstElementChild;
        const isPiled = slot.matches(".below") && slot.offsetWidth < 6; // an equal card lies on it
        const box = card.getBoundingClientRect();
        if (!box.width || isPiled) return [];
        const range = document.createRange();
        range.selectNodeContents(card.firstChild);
        const { right } = range.getBoundingClientRect();
        const end = next ? next.getBoundingClientRect().left : felt.right;
        const isHidden = right > end + 0.5 || box.left < felt.left || box.right > felt.right;
        return isHidden ? [`${table.id}: ${card.textContent} ends at ${right}, not ${end}`] : [];
    });
})"""
"""A script that returns the ranks in hands that the next card hides in part."""


def test_each_rank_in_a_full_hand_is_readable(gallery: Visit) -> None:
    gallery.page.goto("/organise/components/?at=0", wait_until="networkidle")  # the deals
    assert at_widths(gallery.page, HIDDEN) == NONE_AT_WIDTHS


PILES = """() => [...document.querySelectorAll(".felt:not(.seats-2)")].flatMap((felt) => {
    const hands = [...felt.querySelectorAll(".hand:not(.seated .at-0 .hand)")];
    const below = (hand) => [...hand.querySelectorAll(".below")];
    const isFan = (hand) => below(hand).some((slot) => slot.offsetWidth > 5);
    const fans = hands.filter(isFan).length;
    const isMixed = fans && fans < hands.filter((hand) => below(hand).length).length;
    const cut = fans ? [] : [...felt.querySelectorAll(".hand [data-count]")].filter((slot) => {
        slot.scrollIntoView({ block: "center", behavior: "instant" });
        const { left, bottom, width } = slot.firstElementChild.getBoundingClientRect();
        return width && document.elementFromPoint(left + 11, bottom - 4) !== slot;
    });
    const faults = [...(isMixed ? ["fans and piles"] : []), ...cut.map((slot) => slot.innerText)];
    return faults.map((fault) => `${felt.parentElement.id}: ${fault}`);
})"""
"""A script: tables with fans and piles, and piles whose number the next card cuts."""


def test_all_hands_have_piles_and_no_card_cuts_their_numbers(gallery: Visit) -> None:
    gallery.page.goto("/organise/components/?at=0", wait_until="networkidle")  # the deals
    assert at_widths(gallery.page, PILES) == NONE_AT_WIDTHS


SETS = """() => [...document.querySelectorAll(".felt")].flatMap((felt) => {
    const card = (marks) => `<li class="slot ${marks}"><span class="tc r6">6</span></li>`;
    const [one, other] = felt.querySelectorAll(".plays");
    one.innerHTML = card("below").repeat(4) + card("");
    other.innerHTML = card("");
    const [set, single] = [one, other].map((each) => each.querySelector(".slot:last-child .tc"));
    const isSmall = single.offsetWidth && set.offsetWidth < single.offsetWidth;
    return isSmall ? [`${felt.parentElement.id}: ${set.offsetWidth} of ${single.offsetWidth}`] : [];
})"""
"""A script that lets a seat play five 6s and another one: the tables where those are smaller."""


def test_a_set_of_five_is_as_large_as_one_card(gallery: Visit) -> None:
    assert at_widths(gallery.page, SETS) == NONE_AT_WIDTHS


STRAIGHTS = """() => [...document.querySelectorAll(".table:not(.small) .felt")].flatMap((felt) => {
    for (const at of felt.querySelectorAll(".played")) {
        const cards = [8, 9, 10, 11, 12].map((rank) =>
            `<li class="slot"><span class="tc r${rank}">${rank}</span></li>`);
        at.querySelector(".plays").innerHTML = cards.join("");
    }
    return [...felt.querySelectorAll(".played")].filter((at) => {
        const cell = at.getBoundingClientRect();
        const boxes = [...at.querySelectorAll(".tc")].map((card) => card.getBoundingClientRect());
        return boxes[0].left < cell.left - 3 || boxes[4].right > cell.right + 3;
    }).map((at) => `${felt.className}: a straight in ${at.parentElement.className}`);
})"""
"""A script that gives each seat a straight; it returns those that do not fit their cell."""
LONG = """() => [...document.querySelectorAll(".small .felt")].flatMap((felt) => {
    const cards = [7, 8, 9, 10, 11, 12].map((rank) =>
        `<li class="slot"><span class="tc r${rank}">${rank}</span></li>`);
    for (const at of felt.querySelectorAll(".plays")) at.innerHTML = cards.join("");
    const box = felt.getBoundingClientRect();
    return [...felt.querySelectorAll(".plays .tc")].map((card) => card.getBoundingClientRect())
        .filter(({ left, right, width }) => width && (left < box.left + 3 || right > box.right - 3))
        .map(({ left }) => `${felt.className}: a card at ${left} of ${box.left}`);
})"""
"""A script that gives each seat of a small table six cards; it returns those on the frame."""
NAMES = """() => [...document.querySelectorAll("[data-table]")].flatMap((table) => {
    for (const plate of table.querySelectorAll(".plate")) {
        plate.querySelector(".name").textContent = "partridge-in-a-pear-tree";
        plate.querySelector(".change").textContent = "+12";
        plate.querySelector(".points").textContent = "46";
    }
    return [...table.querySelectorAll(".name")].filter((name) =>
        name.scrollWidth > name.clientWidth || name.scrollHeight > name.clientHeight + 1
    ).map((name) => `${table.id} ${table.className}: ${name.closest(".seat").className}`);
})"""
"""A script that gives each seat a name of 24 letters and points; it returns where it is cut."""


@pytest.mark.parametrize("script", [STRAIGHTS, LONG, NAMES])
def test_a_straight_fits_its_cell_or_felt_and_a_name_its_plate_beside_points(
    gallery: Visit, script: str
) -> None:
    assert at_widths(gallery.page, script) == NONE_AT_WIDTHS


def test_the_current_page_stays_in_a_row_of_pages_that_scrolls(gallery: Visit) -> None:
    gallery.page.set_viewport_size({"width": 390, "height": 844})
    row = gallery.page.locator(".in-row")
    current = row.locator("[aria-current]")
    assert row.evaluate("row => row.scrollWidth > row.clientWidth")
    box = row.bounding_box()
    assert box is not None
    assert box["height"] < 70
    for place in (0, 10_000):
        row.evaluate("(row, place) => { row.scrollLeft = place; }", place)
        shown = current.bounding_box()
        assert shown is not None
        assert box["x"] <= shown["x"]
        assert shown["x"] + shown["width"] <= box["x"] + box["width"]


STAKES = """() => [...document.querySelectorAll(".felt")].flatMap((felt) => {
    const words = felt.querySelector(".stake");
    const range = document.createRange();
    range.selectNodeContents(words);
    const text = range.getBoundingClientRect();
    return [...felt.querySelectorAll(".plays .tc")].filter((card) => {
        const box = card.getBoundingClientRect();
        return box.left < text.right - 1 && box.right > text.left + 1 &&
            box.top < text.bottom - 1 && box.bottom > text.top + 1;
    }).map((card) => `${felt.className}: ${card.textContent} on “${words.textContent}”`);
})"""
"""A script that returns the cards that cover what is at stake."""


def test_without_javascript_no_card_covers_what_is_at_stake(
    gallery: Visit, browser: Browser, live_server: LiveServer
) -> None:
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    sign_in(context, User.objects.get(username="olga"), live_server.url)
    page, found = context.new_page(), {}
    for width in (390, 820, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto("/organise/components/")
        found[width] = page.evaluate(STAKES)
    context.close()
    assert found == {390: [], 820: [], 1400: []}


def test_axe_finds_no_fault_in_a_component(gallery: Visit) -> None:
    found = {}
    for width in (390, 1400):
        gallery.page.set_viewport_size({"width": width, "height": 900})
        for theme in THEMES:
            gallery.page.emulate_media(color_scheme=theme)
            if here := faults(gallery.page):
                found[width, theme] = here
    assert found == {}
