"""The luck of tests: the same in each run of a test, another one for each test."""

import secrets

import pytest

from league import bots
from league.models import Bot, Match
from tests import luck
from tests.league import small

pytestmark = pytest.mark.django_db


def deals(name: str | None) -> list[tuple[bytes, list[int]]]:
    """Play a tournament with the luck of a name; return the deal and the places of each match."""
    last = Match.objects.order_by("pk").values_list("pk", flat=True).last() or 0
    ladder = small.ladder(f"ladder-{Match.objects.count()}")
    with luck.drawn_for(name):
        small.tournament(ladder)
        small.run_all()
    played = Match.objects.filter(pk__gt=last).order_by("pk")
    return [(match.deal_seed, match.places) for match in played]


def test_a_test_deals_the_same_in_each_run_and_another_test_does_not() -> None:
    small.bots(4)
    first, again, other = deals("one test"), deals("one test"), deals("another")
    assert first == again
    assert {seed for seed, _ in first}.isdisjoint(seed for seed, _ in other)
    assert len({seed for seed, _ in first}) > 1


def test_the_luck_of_a_test_follows_from_its_name(request: pytest.FixtureRequest) -> None:
    first = small.tournament(small.ladder())
    with luck.drawn_for(request.node.nodeid):
        again = small.tournament(small.ladder("again"))
    assert bytes(again.seed) == bytes(first.seed)


def test_the_real_source_gives_other_seeds_each_time(real_luck: None) -> None:
    small.bots(3)
    assert not {seed for seed, _ in deals(None)} & {seed for seed, _ in deals(None)}


def test_names_of_players_follow_and_tokens_do_not() -> None:
    names, tokens = set(), set()
    for number in range(2):
        with luck.drawn_for("one test"):
            player, token = bots.create_player("Ada")
            names.add(player.name)
            tokens.add(token)
            Bot.with_players.filter(pk=player.pk).update(name=f"ada_00000{number}")
    assert len(names) == 1
    assert len(tokens) == 2


def test_other_modules_draw_from_the_real_source() -> None:
    drawn = set()
    for _ in range(2):
        with luck.drawn_for("one test"):
            drawn |= {secrets.token_bytes(32), secrets.token_bytes(32)}
    assert len(drawn) == 4
