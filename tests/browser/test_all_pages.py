"""Every page in the browser: no error in the console, no horizontal overflow, no fault by axe."""

from pprint import pformat
from typing import Literal

import pytest
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from playwright.sync_api import BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from league import processes
from league.models import Tournament
from tests.browser import axe
from tests.browser.conftest import Visit, sign_in
from tests.browser.everything import keep_trial, paths, paths_without_account, play_everything
from tests.league.kept import kept

pytestmark = pytest.mark.django_db(transaction=True)

THEMES: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")
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
    whose result these can change; between, those whose result the width alone can change. The
    gallery of components has all rules in all four combinations (`test_gallery.py`).
    """
    page = fresh.page
    _prepare(page.context, live_server)
    axe.prepare(page)
    found = {path: seen(page, path) for path in paths(everything)}
    page.context.clear_cookies()
    found |= {path: seen(page, path) for path in paths_without_account(everything)}
    assert {path: one for path, one in found.items() if one != NO_FAULT} == {}, pformat(
        found, width=200
    )


@pytest.mark.parametrize("template", ["403", "403_csrf", "404", "413", "429", "500", "503"])
def test_no_error_page_overflows_or_has_a_fault_by_axe(visit: Visit, template: str) -> None:
    """The page is what the template gives without a request, as for a fault of the server."""
    page = visit.page
    body = render_to_string(f"{template}.html")
    page.route("**/an-error/", lambda route: route.fulfill(body=body, content_type="text/html"))
    assert seen(page, "/an-error/") == NO_FAULT


@pytest.mark.parametrize("is_signed_in", [False, True])
def test_the_open_menu_has_no_fault_by_axe(
    visit: Visit, live_server: LiveServer, is_signed_in: bool
) -> None:
    """The menu is a popover in narrow windows; organisers see one link more in it."""
    page = visit.page
    if is_signed_in:
        olga = User.objects.create(username="olga", is_staff=True)
        sign_in(page.context, olga, live_server.url)
    page.goto("/docs/")
    found: dict[tuple[int, str], list[str] | int] = {}
    for width in (390, 820):
        for theme in THEMES:
            show(page, width, theme)
            page.get_by_role("button", name="Menu").click()
            menu = page.get_by_role("navigation", name="Main")
            expect(menu.get_by_role("link", name="Organise")).to_have_count(int(is_signed_in))
            expect(menu.get_by_role("link", name="Docs")).to_be_in_viewport(ratio=1)
            if fault := axe.faults(page) or overflow(page):
                found[width, theme] = fault
            page.keyboard.press("Escape")
            expect(menu).to_be_hidden()
    assert found == {}


_Seen = tuple[int | None, dict[int, int], list[str]]
"""The status of a page, the pixels by which it is too wide in each window, and axe's faults."""
NO_FAULT: _Seen = (200, {390: 0, 820: 0, 1400: 0}, [])


def seen(page: Page, path: str) -> _Seen:
    """Open a page; return what is wrong with it."""
    show(page, 390, "light")
    response = page.goto(path)
    wide = {390: overflow(page)}
    page.evaluate(OPEN_DETAILS)
    faults = axe.faults(page)
    for width in (390, 820, 1400):
        show(page, width, "light" if width == 390 else "dark")
        wide[width] = max(wide.get(width, 0), overflow(page))
        if width == 820:
            faults += axe.faults(page, axe.LAYOUT)
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
