"""A newcomer's way over the pages: signs up (`copy.js`), uploads a bot, gets a rank."""

import pytest
from playwright.sync_api import expect

from league import bots, competitions
from league.models import BotVersion, Ladder
from tests.browser.conftest import Visit
from tests.league import small
from tests.league.bots.uploaded import FIRST
from tests.league.competitions.placing import ladder as ladder

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_newcomer_signs_up_uploads_a_bot_and_gets_a_rank(ladder: Ladder, visit: Visit) -> None:
    small.rank_from(ladder, 3)
    page = visit.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    heading = page.get_by_role("heading", level=1)
    page.goto("/")
    page.get_by_role("banner").get_by_role("link", name="Sign up").click()
    page.get_by_label("Username").fill("viola")
    page.get_by_label("Password").fill("cesario-in-illyria")
    page.get_by_role("button", name="Sign up").click()

    expect(heading).to_have_text("Welcome, viola")
    expect(page.locator("#token")).to_be_visible()  # the only page that shows it
    page.get_by_role("button", name="Copy token").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator("#token").inner_text()
    page.get_by_role("link", name="Create a bot").click()
    page.get_by_label("Name").fill("my-first-bot")
    page.get_by_role("button", name="Create bot").click()

    expect(heading).to_have_text("Upload a version of my-first-bot")
    page.get_by_label("File").set_input_files(
        {"name": "first.py", "mimeType": "text/x-python", "buffer": FIRST}
    )
    page.get_by_role("button", name="Upload version").click()
    expect(page.locator("#result")).to_contain_text("being checked")
    bots.check_version(BotVersion.objects.get(bot__name="my-first-bot").pk)  # as a worker does
    expect(page.locator("#result")).to_contain_text("it plays", timeout=20_000)
    expect(page.get_by_role("button", name="Withdraw version")).to_have_count(0)
    page.get_by_role("button", name=f"Enter {ladder.title}").click()

    expect(page.get_by_role("button", name=f"Leave {ladder.title}")).to_be_visible()
    page.get_by_role("link", name="my-first-bot").first.click()
    expect(heading).to_contain_text("my-first-bot")
    expect(page.locator(".place-of")).to_have_count(0)  # it has not played

    for ladder_id in competitions.ladders_to_place_on():
        competitions.open_placements(ladder_id)
    small.run_once()
    page.reload()
    rank = page.locator(".place-of dd").first.inner_text()
    assert rank in {"1", "2", "3", "4", "5"}
    page.get_by_role("link", name=ladder.title).first.click()
    row = page.get_by_role("row").filter(has_text="my-first-bot")
    expect(row.locator(".place")).to_contain_text(rank)
