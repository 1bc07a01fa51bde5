"""Every page in the browser: no error in the console, no horizontal overflow, no fault by axe."""

from typing import Literal

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import BrowserContext
from pytest_django.live_server_helper import LiveServer

from league import processes
from league.models import Tournament
from tests.browser.axe import faults
from tests.browser.conftest import Visit, answer_without_gateway, sign_in
from tests.browser.everything import keep_trial, paths, play_everything
from tests.league.kept import kept

pytestmark = pytest.mark.django_db(transaction=True)

OPEN_DETAILS = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"
"""A script that opens what is folded, as axe skips what is not shown."""


@pytest.fixture
@kept
def everything() -> Tournament:
    """A league with something for every page to show."""
    return play_everything()


@pytest.mark.parametrize(
    ("width", "theme", "with_axe"),
    [(390, "light", True), (820, "dark", False), (1400, "dark", True)],
)
def test_no_page_has_an_error_overflows_or_has_a_fault_by_axe(
    everything: Tournament,
    context: BrowserContext,
    visit: Visit,
    live_server: LiveServer,
    width: int,
    theme: Literal["light", "dark"],
    with_axe: bool,
) -> None:
    """Open each page once at each width; run axe at two of them, as a run takes a second.

    The gallery of components has axe in all four combinations (`test_gallery.py`).
    """
    _prepare(context, live_server)
    visit.page.set_viewport_size({"width": width, "height": 900})
    # Without motion, axe finds nothing half faded; other tests watch things move.
    visit.page.emulate_media(
        color_scheme=theme, reduced_motion="reduce" if with_axe else "no-preference"
    )
    found: dict[str, object] = {}
    for path in paths(everything):
        response = visit.page.goto(path)
        overflow = visit.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        status = response.status if response else None
        if status != 200 or overflow > 0:
            found[path] = (status, overflow)
            continue
        if with_axe:
            visit.page.evaluate(OPEN_DETAILS)
            if here := faults(visit.page):
                found[path] = here
    assert found == {}


def _prepare(context: BrowserContext, live_server: LiveServer) -> None:
    """Sign Ada in, keep her trial, and answer for the gateway, which does not run here."""
    keep_trial()
    processes.note("play@worker-1", ["placement", "play", "analysis"])
    sign_in(context, User.objects.get(username="ada"), live_server.url)
    answer_without_gateway(context)
