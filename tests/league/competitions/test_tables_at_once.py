"""Tables of players: two calls at the same moment."""

from datetime import timedelta
from threading import Event
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from league import competitions, play
from league.accounts import tokens
from league.competitions import player_tables
from league.models import Match, PlayerTable
from league.models.players import WAITING_ROOM
from tests.league.at_once import SECONDS, in_thread, until_one_waits
from tests.league.bots.uploaded import owner
from tests.league.players import house_bots

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def house(db: None) -> None:
    house_bots()


def waiting_table() -> PlayerTable:
    """Open a table that its first player has not started."""
    return competitions.open_table(game="partridge", rules="eagle", seats=4, waits=True)[0]


def test_a_match_that_starts_as_its_table_is_removed_is_not_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = waiting_table()
    inside, go = Event(), Event()
    open_match = play.open_player_match

    def slow(**options: Any) -> Match:
        match = open_match(**options)
        inside.set()
        assert go.wait(SECONDS)
        return match

    monkeypatch.setattr(play, "open_player_match", slow)
    started = in_thread(lambda: competitions.start_table(table))
    assert inside.wait(SECONDS)
    late = timezone.now() + WAITING_ROOM + timedelta(seconds=1)
    removed = in_thread(lambda: competitions.remove_old_tables(late))
    until_one_waits()
    go.set()
    match = started.result(SECONDS)
    assert removed.result(SECONDS) == 0
    assert player_tables.match_of(table) == match


def test_a_table_that_waited_too_long_does_not_start() -> None:
    table = waiting_table()
    PlayerTable.objects.update(created_at=timezone.now() - WAITING_ROOM)
    table.refresh_from_db()
    with pytest.raises(ValidationError) as caught:
        competitions.start_table(table)
    assert caught.value.code == "closed"
    assert not Match.objects.exists()


def test_a_user_who_joins_twice_at_once_has_one_seat() -> None:
    table, eve = waiting_table(), owner()
    first = competitions.join_table(table, user=eve)
    second = competitions.join_table(table, user=eve)
    player = table.players.get(user=eve)
    assert tokens.find_token(first) is None
    assert player_tables.player_with(table, second, None) == player


def test_guests_who_join_have_their_own_seats() -> None:
    table = waiting_table()
    competitions.join_table(table)
    competitions.join_table(table)
    assert table.players.count() == 3
