"""Chromium, a league to show in it, and pages that collect their errors."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    ViewportSize,
    sync_playwright,
)
from playwright.sync_api import Error as PlaywrightError
from pytest_django.live_server_helper import LiveServer

from league.models import Tournament
from tests.api.play.sites import Site, served
from tests.browser.gateway import Gateway
from tests.league import small
from tests.league.bots.uploaded import ready_bot
from tests.league.kept import kept
from tests.without_browser import CHROMIUM

_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    # Fewer processes: each test has one or two pages.
    "--in-process-gpu",
    "--disable-site-isolation-trials",
    "--num-raster-threads=1",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WINDOW: ViewportSize = {"width": 1400, "height": 900}
BETWEEN = "/static/web/icon.svg"
"""What a tab shows between two tests: an address without a script and without a query."""


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium, started once a worker.

    While it runs, Playwright has an event loop in this thread, so Django's check for
    asynchronous callers is off.
    """
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setitem(os.environ, "DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=_ARGS)
        yield started
        started.close()


@dataclass
class Visit:
    """A browser tab on the league.

    Attributes:
        page: the tab.
        errors: errors in the console, uncaught exceptions and failed requests so far.
    """

    page: Page
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("pageerror", lambda error: self.errors.append(f"exception: {error}"))
        self.page.on("console", self._note)

    def _note(self, line: ConsoleMessage) -> None:
        # Beside a picture that is shown alone, the browser may request /favicon.ico: there is none.
        if line.type == "error" and not self.page.url.endswith(BETWEEN):
            self.errors.append(line.text)


@pytest.fixture
def gateway(live_server: LiveServer) -> Iterator[Gateway]:
    """The gateway's calls, which the live server answers during a test."""
    httpd = live_server.thread.httpd
    pages = httpd.get_app()
    assert pages is not None
    gateway = Gateway()
    httpd.set_app(gateway.before(pages))
    yield gateway
    gateway.end()
    httpd.set_app(pages)


@pytest.fixture
def streams(gateway: Gateway) -> Iterator[Site]:
    """A real gateway, which sends the streams of events that pages open during a test."""
    with served() as site:
        gateway.site = site
        yield site
        gateway.site = None


@pytest.fixture(scope="package")
def _kept_tabs() -> Iterator[list[Visit]]:
    """The tab that tests share, once there is one. A profile and a tab cost half a second each."""
    tabs: list[Visit] = []
    yield tabs
    for tab in tabs:
        tab.page.context.close()


@pytest.fixture
def tab(
    browser: Browser, live_server: LiveServer, gateway: Gateway, _kept_tabs: list[Visit]
) -> Iterator[Visit]:
    """A tab without cookies, routes and stored data, whose addresses begin at the league.

    Scripts that a test adds for all pages, and clocks that it installs, would stay. Such tests
    need `fresh`.
    """
    if not _kept_tabs:
        _kept_tabs.append(_open(browser, live_server.url))
    [shared] = _kept_tabs
    yield shared
    try:
        clean(shared)
    except PlaywrightError:  # it has crashed, or hangs
        _kept_tabs.clear()
        shared.page.context.close()


@pytest.fixture
def visit(tab: Visit) -> Iterator[Visit]:
    """A tab; the test fails if an error is left in it at the end."""
    yield tab
    assert tab.errors == []


@pytest.fixture
def context(visit: Visit) -> BrowserContext:
    """The profile of the tab."""
    return visit.page.context


@pytest.fixture
def fresh(browser: Browser, live_server: LiveServer, gateway: Gateway) -> Iterator[Visit]:
    """A tab of a new profile, like `visit`."""
    opened = _open(browser, live_server.url)
    yield opened
    opened.page.context.close()
    assert opened.errors == []


def _open(browser: Browser, address: str) -> Visit:
    context = browser.new_context(base_url=address, viewport=WINDOW)
    context.set_default_timeout(30_000)
    return Visit(context.new_page())


def clean(tab: Visit) -> None:
    """Take away what a test has left in a tab, and have no page in it that calls the league."""
    page, context = tab.page, tab.page.context
    for other in context.pages:
        if other is not page:
            other.close()
    page.unroute_all(behavior="ignoreErrors")
    context.unroute_all(behavior="ignoreErrors")
    context.clear_cookies()
    page.goto(BETWEEN)
    page.evaluate("localStorage.clear(), sessionStorage.clear()")
    page.emulate_media(media="null", color_scheme="null", reduced_motion="null")
    page.set_viewport_size(WINDOW)
    page.mouse.move(0, 0)
    tab.errors.clear()


@pytest.fixture
@kept
def league() -> Tournament:
    """A league with a tournament played on each of two ladders, and a person with a bot."""
    return play_league()


def play_league() -> Tournament:
    """Play the tournaments of `league`; return the first one."""
    tournament = small.tournament(small.ladder())
    small.bots(4)
    small.run_all()
    small.tournament(small.ladder("eagles", seats=2), format="knockout")
    small.run_all()
    ready_bot(User.objects.create(username="ada"))
    return tournament


def sign_in(context: BrowserContext, user: User, address: str) -> None:
    """Sign a person in without a password."""
    client = Client()
    client.force_login(user)
    cookie = client.cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": cookie, "url": address}])
