"""Which parts of a page are in the window."""

from playwright.sync_api import Page

WINDOWS = [(1400, 900), (390, 844)]
"""Width and height of the windows in which a table must be seen as a whole."""
OUTSIDE = """
(selectors) => selectors.flatMap((selector) => {
    const found = [...document.querySelectorAll(selector)];
    if (!found.length) return [`${selector}: not there`];
    return found.map((each) => each.getBoundingClientRect())
        .filter(({ top, bottom }) => top < 0 || bottom > innerHeight)
        .map(({ top, bottom }) => `${selector}: ${top} to ${bottom}`);
})
"""


def outside(page: Page, *selectors: str) -> list[str]:
    """Return the elements that are not wholly in the height of the window."""
    found: list[str] = page.evaluate(OUTSIDE, list(selectors))
    return found


def open_window(page: Page, width: int, height: int) -> None:
    """Set the size of the window; no card moves in it."""
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(reduced_motion="reduce")
