"""The live page of a match: all that is public, and no hand."""

import re

import pytest
from django.test import Client

from league import play
from league.models import Match
from tests.league.play.live import START, match_of, play_on, remote_bots

pytestmark = pytest.mark.django_db(transaction=True)

SHOWN_HAND = r'class="fan-of hand[^>]*><li'


@pytest.mark.parametrize(
    ("game", "rules", "seats"), [("twelve-days", "calliope", 3), ("partridge", "eagle-short", 4)]
)
def test_the_page_of_a_live_match_shows_its_last_days_or_tricks_and_no_hand(
    client: Client, game: str, rules: str, seats: int
) -> None:
    bots = remote_bots(seats)
    match = match_of(bots, game, rules)
    pages = []

    def look() -> bool:
        match.refresh_from_db()
        if match.status != Match.Status.PLAYING:
            return True
        pages.append(client.get(f"/matches/{match.pk}/").content.decode())
        return False

    while not look():
        bot = next(bot for bot in bots if play.open_turns(bot, START))
        play_on([bot], until=iter([False, True]).__next__)
    assert len(pages) > 10
    assert all("hands are hidden until the end" in page for page in pages)
    assert not any(re.search(SHOWN_HAND, page) for page in pages)
    assert all('data-table="live"' in page for page in pages)
    assert re.search(SHOWN_HAND, client.get(f"/matches/{match.pk}/").content.decode())
