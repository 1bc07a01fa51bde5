from collections import Counter
from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.pairing import MOST_BLOCKS_A_ROUND, MOST_TABLES, Table, round_robin

SEED = bytes(range(32))


def tables(rounds: list[list[Table]]) -> list[Table]:
    return [table for tables_of_round in rounds for table in tables_of_round]


@given(
    st.dictionaries(st.integers(0, 50), st.none() | st.integers(0, 3), max_size=9),
    st.integers(2, 5),
    st.binary(min_size=32, max_size=32),
)
def test_a_round_robin_seats_every_table_apart_once_and_nobody_twice_at_one(
    owners: dict[int, int | None], seats: int, seed: bytes
) -> None:
    rounds = round_robin(owners, seats, seed)
    for tables_of_round in rounds:
        blocks = Counter(bot for table in tables_of_round for bot in table.bots)
        assert max(blocks.values()) <= MOST_BLOCKS_A_ROUND
    met = [frozenset(table.bots) for table in tables(rounds)]
    assert len(met) == len(set(met))
    assert all(len(table) == seats for table in met)
    for table in combinations(sorted(owners), seats):
        named = [owners[bot] for bot in table if owners[bot] is not None]
        apart = len(named) == len(set(named))
        if apart:
            assert Table(table, True) in tables(rounds)
        else:
            assert Table(table, True) not in tables(rounds)
    if len(owners) >= seats:
        assert {bot for table in tables(rounds) for bot in table.bots} == set(owners)


def test_the_same_entrants_and_seed_give_the_same_tables_in_whatever_order_they_came() -> None:
    owners: dict[int, int | None] = dict.fromkeys(range(8))
    turned = dict(reversed(owners.items()))
    assert round_robin(owners, 4, SEED) == round_robin(turned, 4, SEED)
    assert round_robin(owners, 4, SEED) != round_robin(owners, 4, bytes(32))


def test_one_owners_bots_meet_only_where_somebody_would_not_play_at_all_and_unrated() -> None:
    assert round_robin({1: 7, 2: 7, 3: 8}, 3, SEED) == [[Table((1, 2, 3), False)]]
    assert tables(round_robin({1: 7, 2: 7, 3: 8, 4: 9}, 3, SEED)) != []
    assert all(table.rated for table in tables(round_robin({1: 7, 2: 7, 3: 8, 4: 9}, 3, SEED)))


def test_house_bots_may_meet_any_other() -> None:
    assert tables(round_robin({1: None, 2: None, 3: 5}, 3, SEED)) == [Table((1, 2, 3), True)]


def test_too_few_entrants_make_no_table() -> None:
    assert round_robin({1: None, 2: None}, 3, SEED) == []


@pytest.mark.parametrize(("entrants", "seats"), [(30, 4), (17, 5), (14, 6)])
def test_many_entrants_play_a_balanced_choice_of_tables(entrants: int, seats: int) -> None:
    assert comb(entrants, seats) > MOST_TABLES
    played = tables(round_robin(dict.fromkeys(range(entrants)), seats, SEED))
    assert len(played) == MOST_TABLES
    blocks = Counter(bot for table in played for bot in table.bots)
    assert max(blocks.values()) - min(blocks.values()) <= 1
    met = Counter(pair for table in played for pair in combinations(sorted(table.bots), 2))
    mean = len(played) * comb(seats, 2) / comb(entrants, 2)
    assert max(met.values()) <= mean * 1.25 + 1
    assert min(met[pair] for pair in combinations(range(entrants), 2)) >= mean * 0.75 - 1
