"""Every page in the browser: no error in the console, no horizontal overflow, no fault by axe."""

from pprint import pformat
from typing import Literal

import pytest
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from playwright.sync_api import BrowserContext, Page
from pytest_django.live_server_helper import LiveServer

from league import processes
from league.models import Tournament
from tests.browser import axe
from tests.browser.conftest import Visit, sign_in
from tests.browser.everything import keep_trial, paths, paths_without_account, play_everything
from tests.league.kept import kept

pytestmark = pytest.mark.django_db(transaction=True)

OPEN_DETAILS = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"
"""A script that opens what is folded, as axe skips what is not shown."""


@pytest.fixture
@kept
def everything() -> Tournament:
    """A league with something for every page to show."""
    return play_everything()


def test_no_page_has_an_error_overflows_or_has_a_fault_by_axe(
    everything: Tournament, fresh: Visit, live_server: LiveServer
) -> None:
    """Open each page once, as on a phone; then make the window wider and the theme dark.

    Axe checks all rules in the narrowest window, and in the widest window and the other theme those
    whose result these can change. The gallery of components has all rules in all four combinations
    (`test_gallery.py`).
    """
    page = fresh.page
    _prepare(page.context, live_server)
    axe.prepare(page)
    found = {path: _seen(page, path) for path in paths(everything)}
    page.context.clear_cookies()
    found |= {path: _seen(page, path) for path in paths_without_account(everything)}
    assert {path: seen for path, seen in found.items() if seen != _NO_FAULT} == {}, pformat(
        found, width=200
    )


@pytest.mark.parametrize("template", ["403", "403_csrf", "404", "429", "500", "503"])
def test_no_error_page_overflows_or_has_a_fault_by_axe(visit: Visit, template: str) -> None:
    """The page is what the template gives without a request, as for a fault of the server."""
    page = visit.page
    body = render_to_string(f"{template}.html")
    page.route("**/an-error/", lambda route: route.fulfill(body=body, content_type="text/html"))
    assert _seen(page, "/an-error/") == _NO_FAULT


_Seen = tuple[int | None, dict[int, int], list[str]]
"""The status of a page, the pixels by which it is too wide in each window, and axe's faults."""
_NO_FAULT: _Seen = (200, {390: 0, 820: 0, 1400: 0}, [])


def _seen(page: Page, path: str) -> _Seen:
    """Open a page; return what is wrong with it."""
    show(page, 390, "light")
    response = page.goto(path)
    wide = {390: overflow(page)}
    page.evaluate(OPEN_DETAILS)
    faults = axe.faults(page)
    for width in (390, 820, 1400):
        show(page, width, "light" if width == 390 else "dark")
        wide[width] = max(wide.get(width, 0), overflow(page))
    faults += axe.faults(page, axe.LOOKS)
    return response.status if response else None, wide, faults


def show(page: Page, width: int, theme: Literal["light", "dark"]) -> None:
    """Show a page in a window of a width; nothing moves in it, as axe must find nothing faded."""
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")


def overflow(page: Page) -> int:
    """Return by how many pixels a page is wider than its window."""
    root = "document.documentElement"
    wider: int = page.evaluate(f"{root}.scrollWidth - {root}.clientWidth")
    return max(0, wider)


def _prepare(context: BrowserContext, live_server: LiveServer) -> None:
    """Sign Ada in, and keep her trial."""
    keep_trial()
    processes.note("play@worker-1", ["placement", "play", "analysis"])
    sign_in(context, User.objects.get(username="ada"), live_server.url)
