"""The most frequent calls take a fixed number of queries, however many matches there are."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from league import play
from league.models import Bot
from league.play.match_logs import cache
from tests.league.play.live import match_of, play_on, remote_bots

pytestmark = pytest.mark.django_db(transaction=True)


def turns_queries(bot: Bot) -> int:
    """Return the number of queries that hand out a bot's turns."""
    with CaptureQueriesContext(connection) as captured:
        assert play.open_turns(bot, timezone.now())
    return len(captured)


def page_queries(client: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(path).status_code == 200
    return len(captured)


def test_handing_out_turns_takes_as_many_queries_for_ten_matches_as_for_one() -> None:
    bots = remote_bots(3)
    match_of(bots)
    first = turns_queries(bots[0])
    again = turns_queries(bots[0])
    for _ in range(9):
        match_of(bots)
    cache.clear()
    assert turns_queries(bots[0]) <= first + 1  # one more reads the logs that were cleared
    assert turns_queries(bots[0]) == again
    assert first <= 4


def test_a_match_page_takes_as_many_queries_for_a_long_match_as_for_a_short_one(
    client: Client,
) -> None:
    counts = []
    for rules in ("eagle-short", "mathpickle-short"):
        bots = remote_bots(3)
        match = match_of(bots, "partridge", rules)
        play_on(bots)
        counts.append(page_queries(client, f"/matches/{match.pk}/"))
    assert counts[0] == counts[1] <= 6


def test_handing_out_turns_of_many_bots_takes_as_many_queries_as_for_one() -> None:
    bots = remote_bots(3)
    for _ in range(3):
        match_of(bots)
    with CaptureQueriesContext(connection) as captured:
        found = play.open_turns_of(bots, timezone.now())
    assert {pk: len(turns) for pk, turns in found.items()} == {bot.pk: 3 for bot in bots}
    assert all(turn["seat"] == n for n, bot in enumerate(bots) for turn in found[bot.pk])
    assert len(captured) <= 4
