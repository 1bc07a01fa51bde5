"""What the main pages of a running league weigh, and when a browser first paints them.

Usage: python pages.py http://127.0.0.1:8000 [--rounds 5] [--path /tv/ ...]

Each page opens in a fresh profile of Chromium, so nothing is cached. Bytes are those of the
responses' bodies: over the wire, and of JavaScript as written. First contentful paint (FCP) is the
median of the rounds. The reference is a bare page of the same server: `/healthz`, one line of text,
measured in turns with the pages.
"""

import argparse
import re
import shutil
import time
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, Response, sync_playwright

BARE = "/healthz"
MAX_SCRIPT_BYTES, MAX_BYTES = 60_000, 400_000
_LINKS = {
    "match": r'href="(/matches/\d+/)',
    "bot": r'href="(/bots/[a-z0-9-]+/)"',
    "ladder": r'href="(/ladders/[\w-]+/)"',
    "event": r'href="(/tournaments/\d+/)"',
}
_LISTS = {"match": "/matches/", "bot": "/bots/", "ladder": "/ladders/", "event": "/events/"}


class Weight(NamedTuple):
    """A page as a browser loads it.

    Attributes:
        wire: bytes of all bodies over the wire.
        scripts: bytes of all scripts of ours, uncompressed.
        paint: milliseconds until the first contentful paint.
        foreign: hosts of other sites that the page asked.
    """

    wire: int
    scripts: int
    paint: float
    foreign: frozenset[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("address", help="of a running league, such as http://127.0.0.1:8000")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--path", nargs="*", help="pages to measure instead of the main ones")
    options = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-headless-shell"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        paths = options.path or main_pages(browser, options.address)
        weights: dict[str, list[Weight]] = {path: [] for path in (BARE, *paths)}
        for _ in range(options.rounds):
            for path, measured in weights.items():
                measured.append(weigh(browser, options.address + path))
        browser.close()
    report(weights)


def main_pages(browser: Browser, address: str) -> list[str]:
    """Return the paths of the main pages, with the first match, bot, ladder and event listed."""
    page = browser.new_page()
    found = ["/", "/tv/", "/play/", "/learn/write-a-bot/"]
    for kind, listed in _LISTS.items():
        found.append(listed)
        page.goto(address + listed)
        links = re.findall(_LINKS[kind], page.content())
        if links:
            found.append(links[0])
    page.goto(address)
    page.get_by_role("button", name="Play against the bots").click()
    page.wait_for_url("**/play/*/")
    found.append(urlsplit(page.url).path)  # a table as spectators see it
    page.close()
    return [*found, "/docs/", "/docs/rules/twelve-days/"]


def weigh(browser: Browser, url: str) -> Weight:
    """Load a page in a fresh profile and return its weight."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    responses: list[Response] = []
    page.on("response", lambda response: responses.append(response))
    page.goto(url, wait_until="load")
    page.wait_for_timeout(300)  # modules that others import, and the first frame
    paint = first_paint(page)
    own = urlsplit(url).netloc
    wire = scripts = 0
    for each in responses:
        if "event-stream" in each.headers.get("content-type", ""):
            continue
        wire += each.request.sizes()["responseBodySize"]
        # A redirect has no body, and the editor Ace is a package.
        is_ours = "/write-a-bot/ace/" not in each.url and each.status < 300
        if each.request.resource_type == "script" and is_ours:
            scripts += len(each.body())
    hosts = {urlsplit(each.url).netloc for each in responses} - {own}
    context.close()
    return Weight(wire, scripts, paint, frozenset(hosts))


def first_paint(page: Page, seconds: float = 20.0) -> float:
    """Return the milliseconds until the first contentful paint, once it is there."""
    until = time.monotonic() + seconds
    while True:
        found = page.evaluate(
            "performance.getEntriesByName('first-contentful-paint').map((e) => e.startTime)"
        )
        if found:
            return float(found[0])
        if time.monotonic() > until:
            raise TimeoutError(f"{page.url} painted nothing within {seconds:g} s.")
        page.wait_for_timeout(50)


def report(weights: dict[str, list[Weight]]) -> None:
    bare = median(each.paint for each in weights[BARE])
    print(f"{'page':44}{'bytes':>9}{'scripts':>9}{'FCP ms':>8}{'ratio':>7}")
    for path, measured in weights.items():
        last, paint = measured[-1], median(each.paint for each in measured)
        notes = "".join(f"  {note}" for note in notes_on(measured))
        row = f"{path:44}{last.wire:9}{last.scripts:9}{paint:8.0f}{paint / bare:7.2f}"
        print(f"{row}{notes}")


def notes_on(measured: Sequence[Weight]) -> list[str]:
    """Return what a page exceeds, as short texts."""
    last = measured[-1]
    notes = [f"asks {host}" for host in sorted(last.foreign)]
    if last.scripts > MAX_SCRIPT_BYTES:
        notes.append(f"scripts over {MAX_SCRIPT_BYTES}")
    if last.wire > MAX_BYTES:
        notes.append(f"bytes over {MAX_BYTES}")
    return notes


if __name__ == "__main__":
    main()
