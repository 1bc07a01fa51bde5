"""`beside.js`: the analysis beside a replay, its curve to seek with, verdicts and better moves."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from engine.sentences import move_in_words
from league import analyses
from league.models import Match, MatchAnalysis, Tournament
from tests.browser.axe import faults
from tests.browser.conftest import Visit
from tests.browser.window import WINDOWS, open_window, outside

pytestmark = pytest.mark.django_db(transaction=True)
COVERING = """() => {
    const beside = [...document.querySelectorAll(".hand .slot:has(.better) + .slot > .tc")];
    return beside.filter((card) => {
        card.scrollIntoView({ block: "center", behavior: "instant" });
        const { left, top } = card.getBoundingClientRect();
        return document.elementFromPoint(left + 4, top + 12) !== card;
    }).map((card) => card.className);
}"""
"""A script: the cards whose number a better card beside them covers."""
BEHIND = """() => document.querySelectorAll(
    ".slot.below:has(> .better) + .slot:not(:has(> .better))").length"""
"""A script: how many better cards lie behind an equal card."""


@pytest.fixture
def match(league: Tournament) -> Match:
    """An analysed match of eight days with a blunder in it."""
    match = Match.objects.filter(block__round__tournament=league).earliest("pk")
    analyses.ask(match=match)
    analyses.compute(match.pk, seconds=600, playouts=8)
    row = MatchAnalysis.objects.get()
    result = row.result
    assert result is not None
    playing = next(
        each
        for each in result["decisions"]
        if each["phase"] == "play" and len(each["results"]) > 1 and each["ply"] > 10
    )
    better = next(move for move in playing["results"] if move != playing["move"])
    playing |= {"mark": "blunder", "loss": 0.99, "best": better}
    row.packed_result = MatchAnalysis.pack(result)
    row.save()
    return match


@pytest.fixture
def replay(match: Match, visit: Visit) -> Page:
    """The replay of the match, with its analysis."""
    visit.page.goto(f"/matches/{match.pk}/")
    expect(visit.page.locator(".chances [data-seek]")).to_be_visible()
    return visit.page


def blunder(match: Match) -> dict[str, Any]:
    """Return the decision that lost most."""
    result = MatchAnalysis.objects.get(match=match).result
    assert result is not None
    found: dict[str, Any] = max(result["decisions"], key=lambda each: each["loss"])
    return found


def test_a_click_and_keys_on_the_curve_move_the_replay(replay: Page) -> None:
    seek = replay.locator(".chances [data-seek]")
    box = seek.bounding_box()
    assert box is not None
    seek.click(position={"x": box["width"] - 3, "y": 20})
    expect(replay.locator(".step-title")).to_have_text("The end: hands are counted")
    seek.press("Home")
    expect(replay.locator(".step-title")).to_have_text("Day 1 of 8")
    seek.press("ArrowRight")
    expect(seek).to_have_value("1")
    expect(seek).to_have_attribute("aria-valuetext", re.compile(r"^Step 1, best chance: .+ %$"))


def test_the_keys_of_the_lines_show_the_result_at_the_end(replay: Page, match: Match) -> None:
    replay.keyboard.press("End")
    result = MatchAnalysis.objects.get(match=match).result
    assert result is not None
    shown = replay.locator(".transport [data-chance] b").all_inner_texts()
    assert shown == [f"{100 * share:.0f} %" for share in result["chances"][-1]["seats"]]


def test_a_blunder_has_its_verdict_and_the_better_move_in_the_hand(
    replay: Page, match: Match
) -> None:
    worst = blunder(match)
    rest = move_in_words(worst["move"], []).partition(" ")[2]
    lost = re.compile(rf"should have .+, not (\w+ )?{rest}: it")
    assert any(lost.search(_verdict_of(replay, step)) for step in range(1, 9))
    expect(replay.locator(".verdict-line .mark")).to_have_text("blunder")
    card = replay.locator(f".seat[data-seat='{worst['seat']}'] .tc.better")
    expect(card).to_contain_text(", better move")
    rank = str(worst["best"]).split()[-1]
    expect(card.first).to_have_class(re.compile(rf"\br{rank}\b"))
    assert replay.evaluate(COVERING) == []
    assert replay.evaluate(BEHIND) == 0
    replay.keyboard.press("ArrowRight")  # the cards that seats draw then
    expect(replay.locator(".hand .better, .plays .better")).to_have_count(0)


def _verdict_of(page: Page, step: int) -> str:
    page.locator(f".jump [data-step='{step}']").click()
    return page.locator(".verdict-line").inner_text()


def test_a_turning_point_leads_to_its_moment(replay: Page) -> None:
    turn = replay.locator(".turns a").last
    turn.click()
    expect(turn).to_have_attribute("aria-current", "step")
    shown = turn.inner_text().removeprefix("Start of ").capitalize()
    expect(replay.locator(".step-title")).to_contain_text(shown)
    assert "step=" in replay.url


def test_on_a_phone_a_button_beside_play_leads_to_the_next_turning_point(
    match: Match, visit: Visit
) -> None:
    page = visit.page
    open_window(page, 390, 844)
    page.goto(f"/matches/{match.pk}/")
    button, play = (
        page.get_by_role("button", name="Next turning point"),
        page.locator("[data-play]"),
    )
    expect(button).to_be_visible()
    boxes = [each.bounding_box() for each in (button, play)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert abs(boxes[0]["y"] - boxes[1]["y"]) < 4
    button.click()
    expect(page.locator(".turns [aria-current]")).to_have_count(1)
    seen = (".felt", ".chances", ".transport .lines", ".transport [data-play]", ".why")
    assert outside(page, *seen) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_links_of_the_analysis_work_without_javascript(
    match: Match, browser: Browser, live_server: LiveServer
) -> None:
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"/matches/{match.pk}/")
    expect(page.locator(".chances polyline")).to_have_count(match.seats)
    page.get_by_text("Chances as a table").click()
    page.get_by_role("link", name="day 5", exact=True).click()
    page.wait_for_url("**/?step=5*")
    expect(page.locator(".step-title")).to_have_text("Day 5 of 8")
    expect(page.locator(".verdict-line")).not_to_be_empty()
    context.close()


def test_a_link_shows_the_same_verdict_with_and_without_javascript(
    match: Match, visit: Visit, browser: Browser, live_server: LiveServer
) -> None:
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    plain = context.new_page()
    visit.page.goto(f"/matches/{match.pk}/")
    expect(visit.page.locator(".chances [data-seek]")).to_be_visible()
    links = visit.page.locator("#analysis a[href^='?']").all()
    written = {str(link.get_attribute("href")) for link in links}
    for link in sorted(written | {f"?step={step}" for step in range(1, 9)}):
        for page in (plain, visit.page):
            page.goto(f"/matches/{match.pk}/{link}")
        expect(visit.page.locator(".chances [data-seek]")).to_be_visible()
        shown = plain.locator(".verdict-line").inner_text()
        expect(visit.page.locator(".verdict-line")).to_have_text(shown)
    context.close()


def test_an_analysis_appears_while_the_reader_watches(match: Match, visit: Visit) -> None:
    MatchAnalysis.objects.all().delete()
    visit.page.goto(f"/matches/{match.pk}/?step=4")
    visit.page.get_by_role("button", name="Analyse this match").click()
    visit.page.wait_for_url("**/?step=4#analysis")
    expect(visit.page.get_by_role("progressbar")).to_be_visible()
    expect(visit.page.locator(".transport > [data-seek]")).to_be_visible()
    analyses.compute(match.pk, seconds=600, playouts=8)
    expect(visit.page.locator(".chances [data-seek]")).to_be_visible()
    expect(visit.page.locator(".transport [data-chance] b").first).to_contain_text("%")
    expect(visit.page.locator(".step-title")).to_have_text("Day 4 of 8")


def test_on_a_phone_the_goal_of_the_game_is_whole_where_no_verdict_stands(
    replay: Page,
) -> None:
    open_window(replay, 390, 844)
    why = replay.locator(".table-head .why")
    assert why.evaluate("text => text.scrollHeight <= text.clientHeight")
    place = "felt => Math.round(felt.getBoundingClientRect().top + scrollY)"
    before = replay.locator(".felt").evaluate(place)
    for _ in range(3):
        replay.keyboard.press("ArrowRight")
    expect(replay.locator("#verdict")).to_be_visible()
    assert replay.locator(".felt").evaluate(place) == before


@pytest.mark.parametrize(("width", "height"), WINDOWS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_curve_is_seen_with_the_plays_and_is_accessible(
    match: Match, visit: Visit, width: int, height: int, theme: str
) -> None:
    page = visit.page
    open_window(page, width, height)
    page.emulate_media(reduced_motion="reduce", color_scheme="dark" if theme == "dark" else "light")
    page.goto(f"/matches/{match.pk}/?step=5")
    expect(page.locator(".chances [data-seek]")).to_be_visible()
    page.locator("section.table").evaluate("table => table.scrollIntoView()")
    seen = (".felt .plays .tc", ".why", ".chances", ".transport [data-play]")
    assert outside(page, *seen) == []
    if width > 700:
        verdict, felt = (page.locator(each).bounding_box() for each in ("#verdict", ".felt"))
        assert verdict is not None
        assert felt is not None
        assert felt["y"] - verdict["y"] - verdict["height"] >= 12
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    assert faults(page) == []
