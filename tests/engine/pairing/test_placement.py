"""Placement: a new bot meets the whole field, evenly, with owners apart."""

from collections import Counter
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.pairing import LadderEntrant, placement_rounds

SEED = bytes(range(32))
NEW = LadderEntrant(bot=1000, owner=1, rating=1_500_000, blocks=0)


def house(count: int) -> list[LadderEntrant]:
    """Return house bots with ratings that ascend with their ids."""
    return [LadderEntrant(bot, None, 1_400_000 + 1000 * bot, 0) for bot in range(count)]


@given(
    owners=st.lists(st.integers(2, 9), min_size=0, max_size=30),
    houses=st.integers(0, 6),
    seats=st.integers(3, 6),
    blocks=st.integers(1, 20),
    seed=st.binary(min_size=32, max_size=32),
)
def test_every_table_has_the_bot_and_others_of_different_owners(
    owners: list[int], houses: int, seats: int, blocks: int, seed: bytes
) -> None:
    field = [
        *house(houses),
        *(LadderEntrant(100 + i, owner, 1_500_000, 0) for i, owner in enumerate(owners)),
    ]
    rounds = placement_rounds(NEW, field, seats, seed, blocks=blocks)
    if houses + len(set(owners)) < seats - 1:
        assert rounds == []
        return
    sizes = [len(tables) for tables in rounds]
    if blocks > 4:  # the first rating should come soon
        assert sizes[:-1] == [1, 2, *[4] * 5][: len(rounds) - 1]
    else:
        assert sizes == [blocks]
    assert sum(sizes) == blocks
    for table in (table for tables in rounds for table in tables):
        assert NEW.bot in table.bots
        assert len(set(table.bots)) == seats
        assert table.rated


def test_a_small_field_is_met_evenly() -> None:
    rounds = placement_rounds(NEW, house(6), 4, SEED, blocks=20)
    met = Counter(bot for tables in rounds for table in tables for bot in table.bots)
    assert met.pop(NEW.bot) == 20
    assert set(met.values()) == {10}


def test_a_large_field_is_met_over_its_whole_range() -> None:
    rounds = placement_rounds(NEW, house(300), 4, SEED, blocks=20)
    tables = [[bot for bot in table.bots if bot != NEW.bot] for of in rounds for table in of]
    met = sorted(bot for table in tables for bot in table)
    assert len(set(met)) == 60
    assert max(high - low for low, high in pairwise(met)) <= 12
    assert met[0] < 12
    assert met[-1] > 287
    for low, middle, high in tables:
        assert low < 100 <= middle < 200 <= high


def test_a_slow_opponent_is_met_less_often_and_last() -> None:
    rounds = placement_rounds(NEW, house(6), 4, SEED, blocks=20, costs={5: 4.0})
    met = Counter(bot for tables in rounds for table in tables for bot in table.bots)
    assert met[5] in (2, 3)
    assert {met[bot] for bot in range(5)} <= {11, 12}
    has_slow = [5 in table.bots for tables in rounds for table in tables]
    assert has_slow == sorted(has_slow)


def test_the_order_of_the_field_has_no_effect() -> None:
    field = house(9)
    shuffled = Random(3).sample(field, 9)
    one, other = (placement_rounds(NEW, each, 3, SEED, blocks=7) for each in (field, shuffled))
    assert one == other
    assert one != placement_rounds(NEW, field, 3, bytes(32), blocks=7)


def test_a_bot_that_is_listed_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        placement_rounds(NEW, [*house(4), NEW], 3, SEED, blocks=1)
