from collections import Counter
from dataclasses import replace
from itertools import combinations
from math import ceil
from random import Random
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.pairing import MAX_BLOCKS_PER_ROUND, LadderEntrant, blocks_to_halve_error, ladder_round
from tests.engine.pairing.fields import SEED, apart, fields, max_of_one_owner, seats, seeds


@st.composite
def candidates(draw: st.DrawFn, min_blocks: int = 0) -> list[LadderEntrant]:
    return [
        LadderEntrant(
            bot=bot,
            owner=owner,
            rating=1_500_000 + draw(st.integers(-500_000, 500_000)),
            blocks=draw(st.integers(0, 40)),
            max_blocks=draw(st.integers(min_blocks, MAX_BLOCKS_PER_ROUND)),
        )
        for bot, owner in draw(fields()).items()
    ]


def alike(
    count: int, owner: int | None = None, first: int = 0, blocks: int = 0
) -> list[LadderEntrant]:
    return [LadderEntrant(bot, owner, 1_500_000, blocks) for bot in range(first, first + count)]


@given(candidates(), seats, seeds, st.integers(0, 30))
def test_no_bot_sits_twice_at_a_table_or_plays_more_than_its_max_blocks(
    bots: list[LadderEntrant], seats: int, seed: bytes, tables: int
) -> None:
    made = ladder_round(bots, seats, seed, tables=tables)
    owners = {c.bot: c.owner for c in bots}
    sat = Counter(bot for table in made for bot in table.bots)
    assert all(sat[c.bot] <= c.max_blocks for c in bots)
    for table in made:
        assert len(set(table.bots)) == len(table.bots) == seats
        assert table.rated == apart(table.bots, owners)


@given(candidates(), seats, seeds, st.integers(0, 30))
def test_only_bots_without_another_seat_and_fillers_sit_at_unrated_tables(
    bots: list[LadderEntrant], seats: int, seed: bytes, tables: int
) -> None:
    made = ladder_round(bots, seats, seed, tables=tables)
    elsewhere = {bot for table in made if table.rated for bot in table.bots}
    together = {bot for table in made if not table.rated for bot in table.bots}
    assert len(together & elsewhere) < seats
    apart = ladder_round(bots, seats, seed, tables=tables, allow_unrated=False)
    assert all(table.rated for table in apart)
    assert {bot for table in apart for bot in table.bots} >= elsewhere - together


@given(candidates(min_blocks=MAX_BLOCKS_PER_ROUND), seats, seeds, st.integers(0, 30))
def test_all_bots_sit_in_each_round_if_all_may_play_four_blocks(
    bots: list[LadderEntrant], seats: int, seed: bytes, tables: int
) -> None:
    sat = {bot for table in ladder_round(bots, seats, seed, tables=tables) for bot in table.bots}
    assert sat == ({c.bot for c in bots} if len(bots) >= seats else set())


@given(candidates(min_blocks=MAX_BLOCKS_PER_ROUND), seats, seeds)
def test_owners_are_apart_if_the_blocks_of_the_others_allow_it(
    bots: list[LadderEntrant], seats: int, seed: bytes
) -> None:
    owners = {c.bot: c.owner for c in bots}
    made = ladder_round(bots, seats, seed)
    tables = max(ceil(len(bots) / seats), max_of_one_owner(owners))
    room: Counter[tuple[str, int]] = Counter()
    for c in bots:
        room[("house", c.bot) if c.owner is None else ("owner", c.owner)] += c.max_blocks
    if len(bots) >= seats and sum(min(n, tables) for n in room.values()) >= seats * tables:
        assert len(made) == tables
        assert all(table.rated for table in made)


@given(candidates(), seats, seeds, st.randoms())
def test_the_order_of_the_bots_has_no_effect_on_the_tables(
    bots: list[LadderEntrant], seats: int, seed: bytes, random: Random
) -> None:
    turned = list(bots)
    random.shuffle(turned)
    assert ladder_round(bots, seats, seed) == ladder_round(turned, seats, seed)


def test_another_seed_gives_other_tables() -> None:
    assert ladder_round(alike(12), 4, SEED) != ladder_round(alike(12), 4, bytes(32))


def test_additional_tables_go_to_the_bots_with_the_fewest_blocks() -> None:
    bots = alike(16, blocks=100) + alike(4, first=100)
    made = ladder_round(bots, 4, SEED, tables=8)
    sat = Counter(bot for table in made for bot in table.bots)
    assert len(made) == 8
    assert [sat[c.bot] for c in bots if not c.blocks] == [4, 4, 4, 4]
    assert max(sat[c.bot] for c in bots if c.blocks) - 1 <= 1


def test_tables_of_the_bots_with_the_fewest_blocks_come_first() -> None:
    bots = [replace(c, blocks=c.bot) for c in alike(40)]
    made = ladder_round(bots, 4, SEED)
    assert [min(t.bots) for t in made] == sorted(min(t.bots) for t in made)


def test_the_bot_with_the_most_blocks_stays_out_if_opponents_are_too_few() -> None:
    bots = [replace(c, blocks=c.bot, max_blocks=1) for c in alike(5)]
    assert [table.bots for table in ladder_round(bots, 4, SEED)] == [(0, 1, 2, 3)]


def test_all_bots_get_seats_over_several_rounds_with_one_block_per_round() -> None:
    bots = {c.bot: replace(c, max_blocks=1) for c in alike(7)}
    for number in range(28):
        for table in ladder_round(bots.values(), 4, bytes([number]) * 32):
            for bot in table.bots:
                bots[bot] = replace(bots[bot], blocks=bots[bot].blocks + 1)
    assert {c.blocks for c in bots.values()} == {16}


def test_house_bots_fill_empty_seats_before_other_bots_sit_again() -> None:
    own = [LadderEntrant(bot, bot, 1_500_000, 0) for bot in range(9)]
    house = alike(4, first=100, blocks=1000)
    sat = Counter(bot for table in ladder_round(own + house, 4, SEED) for bot in table.bots)
    assert all(sat[c.bot] == 1 for c in own)
    assert sum(sat[c.bot] for c in house) == 7


def test_each_of_an_owners_many_bots_gets_a_different_table() -> None:
    made = ladder_round(alike(5, owner=1) + alike(4, first=100), 4, SEED)
    assert len(made) == 5
    assert all(table.rated for table in made)


def test_bots_of_a_single_owner_meet_at_unrated_tables() -> None:
    own = alike(5, owner=1)
    assert [table.rated for table in ladder_round(own, 3, SEED)] == [False, False]
    assert ladder_round(own, 3, SEED, allow_unrated=False) == []


def test_most_opponents_are_near_in_rating_and_some_are_far() -> None:
    bots = [LadderEntrant(bot, bot, 1_000_000 + 10_000 * bot, 0) for bot in range(100)]
    by_bot = {c.bot: c.rating for c in bots}
    gaps = [
        abs(by_bot[a] - by_bot[b])
        for number in range(20)
        for table in ladder_round(bots, 4, bytes([number]) * 32)
        for a, b in combinations(table.bots, 2)
    ]
    assert mean(gap < 200_000 for gap in gaps) > 0.75
    assert 0.05 < mean(gap > 250_000 for gap in gaps) < 0.25
    strict = ladder_round(bots, 4, SEED, rating_noise=0, random_percent=0)
    assert [max(t.bots) - min(t.bots) for t in strict] == [3] * 25


def test_all_neighbours_in_rating_meet_over_several_rounds() -> None:
    bots = [LadderEntrant(bot, bot, 1_000_000 + 10_000 * bot, 0) for bot in range(24)]
    met = {
        pair
        for number in range(30)
        for table in ladder_round(bots, 4, bytes([number]) * 32)
        for pair in combinations(table.bots, 2)
    }
    assert all((bot, bot + 1) in met for bot in range(23))


@pytest.mark.parametrize("max_blocks", [-1, 5])
def test_max_blocks_outside_the_limits_of_a_round_are_refused(max_blocks: int) -> None:
    with pytest.raises(ValueError, match=f"bot 1 is {max_blocks}; it must be from 0 to 4"):
        ladder_round([LadderEntrant(1, None, 0, 0, max_blocks)], 2, SEED)


def test_a_bot_that_is_listed_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="bot 3 is listed twice"):
        ladder_round(alike(1, first=3) * 2, 2, SEED)


def test_three_times_as_many_more_blocks_halve_an_error_bar() -> None:
    assert blocks_to_halve_error(20) == 60
    assert blocks_to_halve_error(0) == 3
