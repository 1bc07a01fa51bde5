"""The page of a match whose record is in the archive, in the browser."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from league import archive_files, play
from league.models import Match, Tournament
from tests.browser.conftest import Visit
from tests.browser.test_all_pages import NO_FAULT, seen
from tests.league.archive import directory as directory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def match(league: Tournament) -> Match:
    """A match whose record is in a file of the archive only."""
    found = Match.objects.filter(block__round__tournament=league).earliest("pk")
    assert not play.archive_due(timezone.now() + timedelta(days=100)).faults
    found.refresh_from_db()
    assert found.packed_record is None
    return found


def test_an_archived_match_plays_and_has_no_fault_by_axe(match: Match, visit: Visit) -> None:
    page = visit.page
    assert seen(page, f"/matches/{match.pk}/") == NO_FAULT
    page.keyboard.press("End")
    expect(page.locator(".step-title")).to_have_text("The end: hands are counted")
    page.get_by_role("button", name="Check the deal here").click()
    expect(page.locator("[data-check] [role=status]")).to_contain_text("The deal is")


def test_a_match_whose_archive_is_lost_has_no_fault_by_axe(
    match: Match, directory: Path, tab: Visit
) -> None:
    for file in directory.rglob("*"):
        if file.is_file():
            file.unlink()
    archive_files.forget()
    status, wide, faults = seen(tab.page, f"/matches/{match.pk}/")
    expect(tab.page.get_by_role("heading", level=1)).to_have_text("Record not available")
    assert (status, wide, faults) == (503, *NO_FAULT[1:])
