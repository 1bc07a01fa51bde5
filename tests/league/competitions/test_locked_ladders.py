"""A ladder whose lock is held makes neither a tick nor another ladder wait."""

from collections.abc import Iterator
from threading import Event, Thread

import pytest
from django.db import connection, transaction

from league import play, tasks
from league.models import Ladder, Match, Tournament
from tests.league import small

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tournaments() -> Iterator[list[Tournament]]:
    """Tournaments on two ladders; another transaction holds the lock of the first ladder."""
    found = [small.tournament(small.ladder(slug)) for slug in ("held", "free")]
    small.bots(4)
    locked, done = Event(), Event()

    def hold() -> None:
        try:
            with transaction.atomic():
                Ladder.objects.select_for_update().get(slug="held")
                locked.set()
                done.wait(50)
        finally:
            connection.close()

    thread = Thread(target=hold)
    thread.start()
    assert locked.wait(20)
    yield found
    done.set()
    thread.join()


def test_a_tick_passes_a_locked_ladder_by_and_serves_the_others(
    tournaments: list[Tournament],
) -> None:
    tasks.follow_up()
    assert [tournament.rounds.count() for tournament in tournaments] == [0, 1]
    for match in Match.objects.unfinished():
        play.play_match(match.pk, players=small.players)
    tasks.follow_up()
    assert tournaments[1].rounds.get(number=1).applied_at
