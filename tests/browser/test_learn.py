"""Learning: documents, and a bot in the browser (`editor.js`, `trial.js`) until its upload."""

import re

import pytest
from django.core.cache import cache
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from league.bots import trials
from league.models import BotSource
from tests.browser.conftest import Visit
from tests.browser.window import outside

pytestmark = pytest.mark.django_db(transaction=True)
BOT = "def choose(observation):\n    print('my move')\n    return observation['legal_moves'][0]\n"


def play_trial(page: Page) -> None:
    """Play the trial of the page, as a worker does."""
    page.wait_for_url(re.compile(r"/trials/"))
    expect(page.locator("#trial")).to_have_attribute("data-state", "waiting")
    assert trials.run(page.url.split("/")[-2])


def write(page: Page, text: str) -> None:
    """Replace the text in the editor by the keyboard."""
    page.locator(".ace_text-input").focus()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def test_a_bot_is_written_tried_watched_and_uploaded(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "BLOCKS", 1)
    cache.clear()
    page = visit.page
    page.goto("/learn/")
    page.get_by_role("link", name="Learn 12 Days of Christmas").click()
    page.get_by_role("link", name="Write a bot in the browser").click()
    expect(page.locator(".ace_line").first).to_contain_text("partridge")
    expect(page.locator(".ace_keyword").first).to_be_visible()
    write(page, BOT)
    page.get_by_role("button", name="Try the bot").click()
    play_trial(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Your bot wins")
    expect(page.locator(".printed")).to_contain_text("my move")
    expect(page.locator("[data-table=replay] .transport [data-play]")).to_be_visible()
    page.get_by_role("link", name="Next").click()
    expect(page.locator(".why")).not_to_be_empty()
    page.get_by_role("link", name="Upload this bot").click()
    page.get_by_label("Username").fill("eve")
    page.get_by_label("Password").fill("long-midwinter-9")
    page.get_by_role("button", name="Sign up").click()
    page.get_by_role("link", name="Go on").click()
    expect(page.get_by_label("File")).to_have_value(BOT)
    page.get_by_label("Bot").fill("eves-bot")
    page.get_by_role("button", name="Upload the bot").click()
    page.wait_for_url("**/account/bots/eves-bot/versions/1/")
    assert bytes(BotSource.objects.get().data).decode() == BOT


def test_a_trial_stays_on_the_page_while_the_league_refuses_to_answer(visit: Visit) -> None:
    cache.clear()
    page = visit.page
    page.goto("/learn/write-a-bot/")
    write(page, BOT)
    page.get_by_role("button", name="Try the bot").click()
    page.wait_for_url(re.compile(r"/trials/"))
    page.evaluate("window.isOld = true")
    with page.expect_response(lambda answer: answer.status == 429):
        page.route("**/trials/**", lambda route: route.fulfill(status=429), times=1)
    with page.expect_response(lambda each: each.ok and each.request.resource_type == "fetch"):
        pass
    assert page.evaluate("window.isOld")
    visit.errors.clear()  # the browser logs the failure as an error


def test_the_draft_stays_in_the_browser(visit: Visit) -> None:
    page = visit.page
    page.goto("/learn/write-a-bot/")
    write(page, "# a draft\n")
    page.goto("/learn/write-a-bot/?game=partridge")
    expect(page.locator(".ace_content")).to_contain_text("partridge")
    page.goto("/learn/write-a-bot/")
    expect(page.locator(".ace_content")).to_contain_text("# a draft")
    page.get_by_role("button", name="Restore the example bot").click()
    expect(page.locator(".ace_content")).to_contain_text("a bot for twelve-days")


def test_a_reload_keeps_what_was_changed_since_the_trial(visit: Visit) -> None:
    cache.clear()
    page = visit.page
    page.goto("/learn/write-a-bot/")
    write(page, BOT)
    page.get_by_role("button", name="Try the bot").click()
    play_trial(page)
    page.get_by_role("link", name="Change the bot").click()
    expect(page.locator(".ace_content")).to_contain_text("my move")
    write(page, "# better\n")
    page.reload()
    expect(page.locator(".ace_content")).to_contain_text("# better")


def test_the_editor_works_without_javascript(
    browser: Browser, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "BLOCKS", 1)
    cache.clear()
    plain = browser.new_context(java_script_enabled=False, base_url=live_server.url)
    page = plain.new_page()
    page.goto("/learn/write-a-bot/")
    page.get_by_label("Your bot for 12 Days, in Python").fill(BOT)
    page.get_by_role("button", name="Try the bot").click()
    play_trial(page)
    page.get_by_role("link", name="Look again").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Your bot wins")
    page.get_by_role("link", name="Change the bot").click()
    expect(page.get_by_label("Your bot for 12 Days, in Python")).to_have_value(BOT)
    plain.close()


def test_the_contents_of_a_document_are_folded_on_a_phone_alone(
    visit: Visit, transactional_db: None
) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    visit.page.goto("/docs/rules/twelve-days/")
    assert outside(visit.page, "img[src$='/cards.svg']") == []
    link = visit.page.locator(".contents a").first
    expect(link).to_be_hidden()
    visit.page.get_by_text("On this page").click()
    expect(link).to_be_visible()
    visit.page.set_viewport_size({"width": 820, "height": 1180})
    visit.page.reload()
    expect(link).to_be_visible()
    expect(visit.page.get_by_text("On this page")).to_be_hidden()
