"""Embeds in the browser: in a frame of another site, narrow, in both themes."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Literal

import pytest
from django.utils import timezone
from playwright.sync_api import expect
from pytest_django.live_server_helper import LiveServer

from league import competitions
from league.models import Match, Tournament
from tests.browser.conftest import Visit
from tests.browser.streams import Streams
from tests.league.play.live import match_of, play_on, remote_bots

pytestmark = pytest.mark.django_db(transaction=True)

OtherSite = Callable[[str], str]


@pytest.fixture
def other_site() -> Iterator[OtherSite]:
    """A server of another origin: returns the address of a page with the HTML that it gets."""
    body = ""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    Thread(target=server.serve_forever, daemon=True).start()

    def show(code: str) -> str:
        nonlocal body
        body = f"<!doctype html><title>A course</title><link rel=icon href=data:,>{code}"
        return f"http://127.0.0.1:{server.server_port}/"

    yield show
    server.shutdown()
    server.server_close()


def paths(league: Tournament) -> list[str]:
    cup = Tournament.objects.exclude(pk=league.pk).get()
    match = Match.objects.filter(block__round__tournament=league).earliest("pk")
    return [
        f"/embed/matches/{match.pk}/",
        "/embed/ladders/quick/",
        f"/embed/tournaments/{league.pk}/",
        f"/embed/tournaments/{cup.pk}/",
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_embed_overflows_at_320_pixels(
    league: Tournament, visit: Visit, theme: Literal["light", "dark"]
) -> None:
    visit.page.set_viewport_size({"width": 320, "height": 600})
    visit.page.emulate_media(color_scheme=theme)
    for path in paths(league):
        visit.page.goto(path)
        overflow = visit.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert overflow <= 0, path
        paper = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == {"light": "rgb(246, 240, 227)", "dark": "rgb(15, 24, 41)"}[theme]


def test_the_copied_code_plays_a_match_on_another_site(
    league: Tournament, visit: Visit, live_server: LiveServer, other_site: OtherSite
) -> None:
    embed = paths(league)[0]
    visit.page.goto(embed.removeprefix("/embed"))
    visit.page.locator(".embed-code summary").click()
    code = visit.page.get_by_label("Copy this code").input_value()
    assert f'src="{live_server.url}{embed}"' in code
    address = other_site(code)
    visit.page.goto(address)
    frame = visit.page.frame_locator("iframe")
    expect(frame.locator("[data-at]")).to_have_text("Deal")
    frame.get_by_role("button", name="Play").wait_for()
    frame.get_by_role("link", name="Last").click()
    expect(frame.locator("[data-at]")).to_have_text("Step 9 of 9")
    assert visit.page.url == address
    frame.get_by_role("heading", level=1).get_by_role("link").click()
    expect(visit.page).to_have_url(re.compile(rf"{live_server.url}/matches/\d+/$"))


def test_the_embed_of_a_live_match_follows_it_to_its_end(league: Tournament, visit: Visit) -> None:
    team = remote_bots(3)
    match = match_of(team)
    Streams(visit.page)
    visit.page.goto(f"/embed/matches/{match.pk}/")
    expect(visit.page.locator(".seat.acts")).to_have_count(3)
    play_on(team)
    expect(visit.page.locator(".live-state")).to_contain_text("The match is over", timeout=20_000)


def test_another_page_refuses_to_be_framed(
    league: Tournament, visit: Visit, live_server: LiveServer, other_site: OtherSite
) -> None:
    visit.page.goto(other_site(f"<iframe src='{live_server.url}/tv/'></iframe>"))
    expect(visit.page.frame_locator("iframe").get_by_text("Live tables")).to_have_count(0)
    [refusal] = visit.errors
    assert "frame-ancestors" in refusal
    visit.errors.clear()


def test_the_embed_of_an_announced_tournament_counts_down_and_then_shows_that_entries_are_open(
    league: Tournament, fresh: Visit
) -> None:
    opens_at = timezone.now() + timedelta(hours=3)
    coming = competitions.announce_tournament(
        title="The next one",
        ladder=league.ladder,
        starts_at=opens_at + timedelta(days=1),
        entries_open_at=opens_at,
    )
    page = fresh.page
    page.clock.install(time=opens_at - timedelta(seconds=75))
    page.goto(f"/embed/tournaments/{coming.pk}/")
    expect(page.locator("#now [data-countdown]")).to_have_text(re.compile(r"^1 min 1\d s$"))
    Tournament.objects.filter(pk=coming.pk).update(state=Tournament.State.ENTRIES_OPEN)
    with page.expect_navigation():
        page.clock.run_for(90_000)
    expect(page.locator("#now")).to_contain_text("Entries are open.")
