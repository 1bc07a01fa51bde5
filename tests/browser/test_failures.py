"""`failures.js`, `fetching.js`, `notices.js`: a page goes on after failed calls, and shows why."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from league import play
from league.models import Turn
from tests.browser.conftest import Visit
from tests.browser.test_play import GAMES, LEGAL, after, at_turn, by_mouse, house, sit

__all__ = ["house"]

pytestmark = pytest.mark.django_db(transaction=True)

TURNS = re.compile(r"/api/v1/turns\?wait")
MOVES = re.compile(r"/api/v1/matches/\d+/moves")


@pytest.fixture
def page(tab: Visit, transactional_db: None) -> Page:
    """A tab in which calls may fail, at the first turn of a match."""
    opened = tab.page
    opened.emulate_media(reduced_motion="reduce")
    sit(opened, GAMES[0])
    at_turn(opened)
    return opened


class Failing:
    """Answers the next calls with failures: arguments of `Route.fulfill`, or None: no connection.

    Attributes:
        left: the failures to come. Calls after the last one are answered as by the gateway.
        seen: number of calls so far.
    """

    def __init__(self, page: Page, calls: re.Pattern[str], *left: dict[str, Any] | None) -> None:
        self.left, self.seen = list(left), 0
        page.route(calls, self._answer)

    def _answer(self, route: Route) -> None:
        self.seen += 1
        if not self.left:
            route.fallback()
        elif (given := self.left.pop(0)) is None:
            route.abort("connectionfailed")
        else:
            route.fulfill(**given)


def hold_others(monkeypatch: pytest.MonkeyPatch, failing: Failing) -> None:
    """Let the house bots move only after the failures, so that the page must wait for its turn."""
    real = play.play_house_turns

    def held(match_id: int) -> None:
        if not failing.left and failing.seen > 1:
            real(match_id)

    monkeypatch.setattr(play, "play_house_turns", held)


BUSY = {"headers": {"Retry-After": "2"}}


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        ({"status": 429, **BUSY}, "The league is busy. Trying again in 2 s."),
        ({"status": 503, **BUSY}, "The league is busy. Trying again in 2 s."),
        ({"status": 502}, "The league is busy. Trying again in 3 s."),
        (None, "Connection lost, trying again."),
    ],
)
def test_a_page_that_waits_for_its_turn_waits_on_after_a_failure(
    page: Page, monkeypatch: pytest.MonkeyPatch, failure: dict[str, Any] | None, words: str
) -> None:
    turns = Failing(page, TURNS, failure)
    hold_others(monkeypatch, turns)
    turn = page.get_attribute("#table", "data-turn")
    by_mouse(page)
    expect(page.locator("#notice")).to_have_text(words)
    page.wait_for_function(
        "turn => ![turn, undefined].includes(document.getElementById('table').dataset.turn)",
        arg=turn,
    )
    assert turns.seen >= 2, "the page no longer calls the gateway"
    expect(page.locator("#notice")).to_be_hidden()


@pytest.mark.parametrize("status", [404, 401])
def test_a_page_without_a_gateway_or_a_token_plays_by_its_form(page: Page, status: int) -> None:
    Failing(page, re.compile("/api/v1/(turns|matches/[0-9]+/)"), *[{"status": status}] * 9)
    turn = page.get_attribute("#table", "data-turn")
    by_mouse(page)
    after(page, turn)
    assert not Turn.objects.exclude(fault="").exists()


def test_a_move_is_sent_again_after_the_pause(page: Page) -> None:
    moves = Failing(page, MOVES, {"status": 429, **BUSY})
    turn = page.get_attribute("#table", "data-turn")
    by_mouse(page)
    expect(page.locator("#notice")).to_have_text("The league is busy. Trying again in 2 s.")
    after(page, turn)
    assert moves.seen == 2
    expect(page.locator("#notice")).to_be_hidden()


def test_a_refused_move_shows_why_and_another_can_be_played(page: Page) -> None:
    problem = {"title": "The rules don't allow this move.", "detail": "There is no card 13."}
    Failing(page, MOVES, {"status": 422, "json": problem})
    page.get_by_label("Confirm each move").check()
    turn = page.get_attribute("#table", "data-turn")
    card = page.locator(LEGAL).first
    question = page.locator("#question").inner_text()
    for _ in range(2):
        card.click(position={"x": 6, "y": 20})
    expect(page.get_by_role("alert")).to_have_text("There is no card 13.")
    expect(page.locator("#question")).to_have_text(question)
    expect(page.locator(".chosen, #table.sending")).to_have_count(0)
    for _ in range(2):
        card.click(position={"x": 6, "y": 20})
    after(page, turn)
    expect(page.locator("#notice")).to_be_hidden()


def test_a_move_that_did_not_arrive_can_be_played_again(page: Page) -> None:
    Failing(page, MOVES, None)
    page.evaluate("window.loadedOnce = true")
    turn = page.get_attribute("#table", "data-turn")
    by_mouse(page)
    expect(page.locator("#notice")).to_have_text("Your move did not arrive. Play it again.")
    by_mouse(page)
    after(page, turn)
    assert page.evaluate("window.loadedOnce")
