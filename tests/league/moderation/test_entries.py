"""What an organiser decides on entries, and the tables that follow from it."""

from itertools import combinations

import pytest
from django.contrib.auth.models import User

from league import competitions, moderation
from tests.league import small
from tests.league.competitions.events import again, entered_by, play_round, tables

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_bot_reinstated_after_the_start_changes_no_table_of_a_round_robin(rounds: int) -> None:
    organiser = User.objects.create(username="olga", is_staff=True)
    bots = small.bots(7)
    event = entered_by(bots, seats=2, format="round-robin")
    moderation.disqualify(tournament=again(event), bot=bots[0], reason="why", made_by=organiser)
    for _ in range(rounds):
        competitions.advance_tournament(event.pk)
        play_round()
    moderation.reinstate(tournament=again(event), bot=bots[0], made_by=organiser)
    small.run_all()
    pairs = sorted(tuple(sorted(table)) for table in tables(event))
    assert pairs == sorted(combinations(sorted(bot.pk for bot in bots), 2))
