"""Ticks of a league at rest: they cost little, and see at once what changes."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engine.rating import elo
from league import competitions, tasks
from league.competitions import ladder_rounds
from league.models import Ladder, Standing
from tests.league import small

pytestmark = pytest.mark.django_db(transaction=True)

MOST_STATEMENTS = 16


@pytest.fixture
def resting() -> Ladder:
    """A ladder of house bots that have played enough blocks."""
    ladder = small.ladder()
    for bot in small.bots(4):
        competitions.enter_ladder(ladder=ladder, bot=bot)
        Standing.objects.update_or_create(
            ladder=ladder,
            bot=bot,
            defaults={
                "version": 1,
                "rating": elo.START,
                "blocks": ladder_rounds.SETTLED_BLOCKS,
            },
        )
    return ladder


def test_a_tick_at_rest_takes_few_statements(resting: Ladder) -> None:
    tasks.tick()
    with CaptureQueriesContext(
        connection,
    ) as queries:
        tasks.tick()
    assert len(queries) <= MOST_STATEMENTS, [query["sql"][:90] for query in queries]


def test_a_ladder_at_rest_is_not_locked(resting: Ladder) -> None:
    assert competitions.ladders_to_pair() == []


def test_a_new_bot_ends_the_rest(resting: Ladder) -> None:
    [bot] = small.bots(1, prefix="new")
    competitions.enter_ladder(ladder=resting, bot=bot)
    assert competitions.ladders_to_pair() == [resting.pk]
    tasks.tick()
    assert resting.rounds.exists()
