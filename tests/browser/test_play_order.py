"""Answers that come late or out of order at a player's table (`play.js`, `seated.js`)."""

from datetime import timedelta

import pytest
from django.utils import timezone

from league import play
from league.models import Match
from tests.browser.conftest import Visit
from tests.browser.test_play import GAMES, after, at_turn, begin, by_mouse, house

__all__ = ["house"]

pytestmark = pytest.mark.django_db(transaction=True)

LATE = """() => {
    const real = window.fetch;
    const released = new Promise((done) => { window.release = done; });
    window.fetch = async (address, how) => {
        const answer = await real(address, how);
        if (!String(address).includes("hint")) return answer;
        await answer.clone().text();
        document.body.dataset.hinted = "yes";
        await released;
        setTimeout(() => { document.body.dataset.late = "yes"; }, 300);
        return answer;
    };
}"""
"""A script that holds the answer to a call for a hint until `release`."""


def test_a_late_answer_does_not_show_a_turn_that_is_over(visit: Visit) -> None:
    page = visit.page
    begin(page, GAMES[0], 1400)
    at_turn(page)
    page.evaluate(LATE)
    first = page.get_attribute("#table", "data-turn")
    page.get_by_role("link", name="Show a hint").click()
    page.wait_for_selector("[data-hinted]")
    by_mouse(page)
    after(page, first)
    at_turn(page)
    second = page.get_attribute("#table", "data-turn")
    page.evaluate("release()")
    page.wait_for_selector("[data-late]")
    assert page.get_attribute("#table", "data-turn") == second != first


def test_the_page_waits_for_the_next_turn_after_one_ran_out(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = visit.page
    begin(page, GAMES[0], 1400)
    at_turn(page)
    real = play.play_house_turns
    monkeypatch.setattr(play, "play_house_turns", lambda match_id: None)
    play.expire_overdue(timezone.now() + timedelta(seconds=300))
    page.get_by_role("link", name="Show a hint").click()
    page.wait_for_selector("#table:not([data-turn])")
    monkeypatch.setattr(play, "play_house_turns", real)
    real(Match.objects.get().pk)
    page.wait_for_selector("#table[data-turn]")
