"""The events of a match for its spectators."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import OperationalError, connection

from league.models import Bot, Match
from league.play.spectating import FeedEvent, MatchFeed
from tests.league.play.forfeited import forfeited_match
from tests.league.play.live import play_on

pytestmark = pytest.mark.django_db(transaction=True)


class _Failing:
    """Fails the query with a given number."""

    def __init__(self, number: int) -> None:
        self.left = number

    def __call__(self, execute: Callable[..., Any], *arguments: Any) -> Any:
        self.left -= 1
        if self.left < 0:
            self.left = 1_000
            raise OperationalError("the server closed the connection")
        return execute(*arguments)


@pytest.mark.parametrize("query", [0, 1, 2, 3])
def test_no_event_is_lost_if_a_query_fails(match: Match, bots: list[Bot], query: int) -> None:
    seen: list[FeedEvent] = []
    feed, whole = MatchFeed(match.pk), MatchFeed(match.pk)
    while not feed.over:
        with connection.execute_wrapper(_Failing(query)):
            try:
                seen += feed.new_events()
            except OperationalError:
                seen += feed.new_events()
        play_on(bots, until=partial(_has_advanced, match, match.plies))
    assert [event.id for event in seen] == [event.id for event in whole.new_events()]


def _has_advanced(match: Match, plies: int) -> bool:
    match.refresh_from_db()
    return match.plies > plies


def test_at_the_end_a_seat_that_forfeited_is_last_whatever_its_score(db: None) -> None:
    match = forfeited_match()
    *_, last, end = MatchFeed(match.pk).new_events()
    assert end.data["scores"] == match.record.scores
    assert end.data["places"] == last.data["events"][-1]["places"] == [2, 1]
    assert last.data["sentences"][-1].startswith("seat-1 wins the match;")
