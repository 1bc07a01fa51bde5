"""Fair shares of threads, by owner."""

from collections.abc import Callable
from contextlib import nullcontext
from threading import Event, Thread

import pytest
from django.contrib.auth.models import User
from django.db import connection

from engine.games.game import Observation
from engine.referee import Player
from league import play
from league.models import Match, MatchSeat
from league.play import mixed_tables
from league.play.owner_shares import OwnerShares
from tests.league import small
from tests.league.play.live import choose, match_of, remote_bots

ANN, BEN = 1, 2


def test_an_owner_holds_no_more_threads_than_its_share_and_others_have_theirs() -> None:
    shares = OwnerShares(2)
    assert [shares.take({ANN}, match) for match in (1, 2, 3)] == [True, True, False]
    assert shares.take({BEN}, 4)


def test_a_match_that_waits_goes_on_when_a_thread_is_given_back() -> None:
    shares = OwnerShares(1)
    assert shares.take({ANN}, 1)
    assert [shares.take({ANN}, match) for match in (2, 3, 2)] == [False] * 3
    assert shares.give_back({ANN}) == [2]
    assert shares.give_back(set()) == []
    assert shares.take({ANN}, 2)
    assert shares.give_back({ANN}) == [3]


def test_a_match_of_two_owners_takes_both_threads_or_none() -> None:
    shares = OwnerShares(1)
    assert shares.take({ANN}, 1)
    assert not shares.take({ANN, BEN}, 2)
    assert shares.take({BEN}, 3)
    shares.give_back({BEN})
    assert shares.give_back({ANN}) == [2]
    assert shares.take({ANN, BEN}, 2)


@pytest.mark.django_db(transaction=True)
def test_slow_bots_of_one_owner_leave_threads_to_others_and_still_end_their_matches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mixed_tables, "_shares", OwnerShares(1))
    # Functions of this test play for the hosted bots.
    monkeypatch.setattr(mixed_tables, "_processes", lambda _: nullcontext())
    remote = remote_bots(1)
    slow, other = (
        small.bots(2, User.objects.create(username=name), prefix=name) for name in ("sly", "ann")
    )
    first, second, third = (match_of([*remote, *bots]) for bots in (slow, slow, other))
    thinks, may_answer = Event(), Event()

    def player(seat: MatchSeat) -> Player:
        def wait(observation: Observation) -> str:
            thinks.set()
            assert may_answer.wait(20)
            return choose(observation)

        return wait if seat.match_id == first.pk else choose

    thread = Thread(target=play_house_turns, args=[first, player])
    thread.start()
    assert thinks.wait(20)
    assert play.play_house_turns(second.pk, player=player) == 0
    assert play.play_house_turns(third.pk, player=player) > 0
    assert not moved(second)
    may_answer.set()
    thread.join()
    assert moved(first)
    assert moved(second)  # by the thread of the first


def play_house_turns(match: Match, player: Callable[[MatchSeat], Player]) -> None:
    try:
        play.play_house_turns(match.pk, player=player)
    finally:
        connection.close()


def moved(match: Match) -> bool:
    """Return whether no hosted bot is to move."""
    return mixed_tables._pending(match.pk) is None
