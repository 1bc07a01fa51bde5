"""Bots of one owner in tournaments: they meet only if there is no other way, and unrated."""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb

import pytest
from django.contrib.auth.models import User
from django.test import Client

from league import competitions, ratings
from league.competitions.history import history_of
from league.competitions.tournament_standings import (
    tournament_standings,
)
from league.models import (
    Block,
    Bye,
)
from tests.league import small
from tests.league.competitions.events import again, entered_by, pause, tables

pytestmark = pytest.mark.django_db(transaction=True)


def test_bots_of_one_owner_meet_only_if_there_is_no_other_way_and_unrated() -> None:
    owner = User.objects.create(username="ada")
    field = [*small.bots(4, owner=owner, prefix="ada"), *small.bots(2)]
    tournament = entered_by(field, format="swiss")
    competitions.advance_tournament(tournament.pk)
    own = set(owner.bots.values_list("pk", flat=True))
    for block in Block.objects.all():
        together = len(own & set(block.bots.values_list("bot", flat=True))) > 1
        assert block.rated != together
    assert Block.objects.filter(rated=False).exists()


@pytest.mark.parametrize("format_", ["round-robin", "swiss", "knockout"])
def test_bots_of_one_owner_alone_play_to_the_end_and_are_not_rated(
    client: Client, format_: str
) -> None:
    owner = User.objects.create(username="ada")
    tournament = entered_by(small.bots(5, owner=owner), format=format_)
    small.run_all()
    tournament = again(tournament)
    assert tournament.state == "finished"
    blocks = Block.objects.filter(round__tournament=tournament)
    assert set(blocks.values_list("state", "rated")) == {("finished", False)}
    assert not tournament.ladder.standings.exists()
    assert ratings.recompute(tournament.ladder) == []
    assert [placed.row.rank for placed in tournament_standings(tournament)] == [1, 2, 3, 4, 5]
    rounds = client.get(f"/api/v1/tournaments/{tournament.pk}/rounds").json()["results"]
    assert {table["rated"] for round_ in rounds for table in round_["tables"]} == {False}
    text = client.get(f"/tournaments/{tournament.pk}/").content.decode()
    assert "not rated: it has two bots of one owner" in text
    assert f"So far, {len(blocks)} of {len(blocks)} blocks had two bots of one owner." in text
    text = client.get("/ladders/quick/rounds/1/").content.decode()
    assert "not rated: it has two bots of one owner" in text


@pytest.mark.parametrize(("seats", "left_out"), [(2, 1), (3, 3)])
def test_tables_of_a_round_robin_that_would_seat_an_owner_twice_count_half_for_each_bot(
    client: Client, seats: int, left_out: int
) -> None:
    owner = User.objects.create(username="ada")
    own = small.bots(2, owner=owner, prefix="ada")
    tournament = entered_by([*own, *small.bots(3)], seats=seats)
    small.run_all()
    entered = sorted(tournament.entries.values_list("bot", flat=True))
    drawn = list(combinations(entered, seats))
    played = {tuple(table) for table in tables(tournament)}
    together = [table for table in drawn if {bot.pk for bot in own} <= set(table)]
    assert (len(together), played) == (left_out, set(drawn) - set(together))
    assert all(Block.objects.values_list("rated", flat=True))
    history = history_of(again(tournament))
    taken = Counter({bot: Fraction() for bot in history.bots})
    for block in (block for round_ in history.rounds for block in round_.blocks):
        taken.update(block.scores())
    for placed in tournament_standings(again(tournament)):
        halves = sum(placed.bot.pk in table for table in together)
        assert placed.byes == halves
        assert placed.row.blocks + halves == comb(4, seats - 1)
        assert placed.row.score == taken[placed.bot.pk] + Fraction(halves, 2)
    text = client.get(f"/tournaments/{tournament.pk}/").content.decode()
    assert (
        f"Of the {len(drawn)} tables of {seats}, {left_out} would seat two bots of one owner."
        in text
    )
    assert "blocks had two bots of one owner" not in text


def test_byes_of_a_paused_bots_opponents_are_no_tables_left_out_for_owners(
    client: Client,
) -> None:
    bots = small.bots(5)
    event = entered_by(bots, seats=2, format="round-robin")
    pause(bots[0])
    competitions.advance_tournament(event.pk)
    assert Bye.objects.filter(round__tournament=event).exists()
    text = client.get(f"/tournaments/{event.pk}/").content.decode()
    assert "would seat two bots of one owner" not in text
