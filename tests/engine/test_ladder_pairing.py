"""Ladder rounds, for any field."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from engine.pairing import MOST_BLOCKS_A_ROUND, Candidate, are_owners_apart, ladder_round


@st.composite
def fields(draw):
    """Draw candidates with some owners of several bots, and a number of seats."""
    count = draw(st.integers(0, 24))
    candidates = [
        Candidate(
            bot=number,
            owner=draw(st.one_of(st.none(), st.integers(1, 8))),
            rating=draw(st.integers(1_000_000, 2_000_000)),
            blocks=draw(st.integers(0, 60)),
        )
        for number in range(count)
    ]
    return candidates, draw(st.integers(2, 8)), draw(st.binary(min_size=32, max_size=32))


@given(fields())
def test_nobody_sits_twice_at_a_table_nor_with_a_bot_of_the_same_owner(field):
    candidates, seats, seed = field
    owners = {one.bot: one.owner for one in candidates}
    tables = ladder_round(candidates, seats, seed)
    for table in tables:
        assert len(set(table.bots)) == len(table.bots) == seats
        assert are_owners_apart(table.bots, owners)
        assert table.rated
    times = Counter(bot for table in tables for bot in table.bots)
    assert all(count <= MOST_BLOCKS_A_ROUND for count in times.values())


@given(fields())
def test_the_same_seed_gives_the_same_tables_whatever_order_the_bots_come_in(field):
    candidates, seats, seed = field
    assert ladder_round(candidates, seats, seed) == ladder_round(candidates[::-1], seats, seed)


@given(st.integers(2, 8), st.integers(0, 30), st.binary(min_size=32, max_size=32))
def test_with_owners_apart_everybody_plays(seats, more, seed):
    candidates = [Candidate(n, n, 1_500_000 + n, n % 7) for n in range(seats + more)]
    seated = {bot for table in ladder_round(candidates, seats, seed) for bot in table.bots}
    assert len(seated) == len(candidates)


def test_the_bot_with_the_fewest_blocks_leads_the_first_table():
    candidates = [Candidate(n, n, 1_500_000, 10 + n) for n in range(1, 12)]
    first = ladder_round(candidates, 3, bytes(32))[0]
    assert 1 in first.bots


def test_opponents_are_near_in_rating_but_for_some():
    candidates = [Candidate(n, n, 1_000_000 + 1000 * n, 30) for n in range(400)]
    tables = [t for seed in range(5) for t in ladder_round(candidates, 4, bytes([seed]) * 32)]
    gaps = [max(table.bots) - min(table.bots) for table in tables]
    near = sum(gap < 40 for gap in gaps) / len(gaps)
    assert 0.5 < near < 0.97


def test_two_bots_of_one_owner_alone_are_no_round():
    candidates = [Candidate(1, 7, 1_500_000, 0), Candidate(2, 7, 1_500_000, 0)]
    assert ladder_round(candidates, 2, bytes(32)) == []


def test_house_bots_fill_up_before_others_play_twice():
    house = [Candidate(n, None, 1_500_000, 5) for n in (1, 2, 3)]
    own = [Candidate(n, n, 1_500_000, 0) for n in (11, 12, 13, 14, 15)]
    tables = ladder_round([*house, *own], 3, bytes(32))
    times = Counter(bot for table in tables for bot in table.bots)
    assert all(times[one.bot] == 1 for one in own)
