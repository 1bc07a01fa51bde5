"""Whole round robins and Swiss events with late entrants and bots that leave."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import comb
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engine.pairing import Format, cross_table, rank_event
from tests.engine.pairing.fields import SEED, fields, seats
from tests.engine.pairing.simulated import (
    Simulated,
    blocks_by_bot,
    fewer,
    play_out,
    small_fields,
    start,
)

Owners = dict[int, int | None]


@fewer
@given(small_fields, seats, st.randoms(use_true_random=False), st.integers(1, 4))
def test_all_starters_of_a_round_robin_that_stay_count_equally_many_blocks(
    owners: Owners, seats: int, luck: Random, blocks: int
) -> None:
    few = dict(list(owners.items())[:8])
    event = start(Format.ROUND_ROBIN, few, seats, SEED, luck=luck, blocks=blocks)
    play_out(event, luck, withdrawals=0.2)
    counted = blocks_by_bot(event)
    stayed = {bot for bot, one in event.entrants.items() if one.left_after is None}
    if len(stayed) > 1:
        assert len({counted[bot] for bot in stayed}) == 1


def test_half_points_for_tables_left_out_come_as_the_rounds_go_on() -> None:
    owners: Owners = dict.fromkeys(range(8)) | {0: 1, 1: 1, 2: 1}
    luck = Random(4)
    event = start(Format.ROUND_ROBIN, owners, 3, SEED, luck=luck)
    while (drawn := event.next()) is not None:
        event.play(drawn, luck)
        counted = blocks_by_bot(event)
        # A bot sits at 21 of the 56 tables; 16 are left out. Each bot's part grows about evenly.
        assert max(counted.values()) - min(counted.values()) <= 6
    assert set(blocks_by_bot(event).values()) == {21}


@pytest.mark.parametrize("blocks", [1, 2])
def test_half_points_that_an_earlier_version_gave_in_round_1_are_not_given_again(
    blocks: int,
) -> None:
    owners: Owners = dict.fromkeys(range(8)) | {0: 1, 1: 1, 2: 1}
    luck = Random(4)
    event = start(Format.ROUND_ROBIN, owners, 3, SEED, luck=luck, blocks=blocks)
    first = event.next()
    assert first is not None
    apart = Counter(
        bot for table in combinations(owners, 3) if len({*table} & {0, 1, 2}) < 2 for bot in table
    )
    all_left_out = {bot: (21 - apart[bot]) * blocks for bot in owners}
    event.play(first._replace(byes=all_left_out), luck)
    play_out(event, luck)
    assert len(event.rounds) > 2
    assert set(blocks_by_bot(event).values()) == {21 * blocks}


@pytest.mark.parametrize(("entrants", "seats"), [(6, 3), (5, 4), (8, 2)])
def test_a_late_entrant_of_a_round_robin_plays_all_its_tables(entrants: int, seats: int) -> None:
    luck = Random(5)
    event = start(Format.ROUND_ROBIN, dict.fromkeys(range(entrants)), seats, SEED, luck=luck)
    first = event.next()
    assert first is not None
    event.play(first, luck)
    event.come(77, None)
    play_out(event, luck)
    tables = Counter(block.bots for round_ in event.rounds for block in round_.blocks)
    assert set(tables.values()) == {1}
    assert len(tables) == comb(entrants + 1, seats)


def test_a_late_entrant_of_a_large_round_robin_plays_as_many_blocks_as_the_others() -> None:
    luck = Random(6)
    event = start(Format.ROUND_ROBIN, dict.fromkeys(range(20)), 4, SEED, luck=luck)
    first = event.next()
    assert first is not None
    event.play(first, luck)
    event.come(77, None)
    play_out(event, luck)
    counted = blocks_by_bot(event)
    assert counted[77] == 100
    others = [counted[bot] for bot in range(20)]
    assert max(others) - min(others) <= 2
    met = cross_table(event.rounds)[77]
    assert max(of.blocks for of in met.values()) - min(of.blocks for of in met.values()) <= 1


def test_a_late_entrant_of_a_swiss_has_no_score_for_the_rounds_it_missed() -> None:
    luck = Random(7)
    event = start(Format.SWISS, dict.fromkeys(range(8)), 4, SEED, luck=luck)
    for _ in range(2):
        drawn = event.next()
        assert drawn is not None
        event.play(drawn, luck)
    event.come(77, None)
    rows = rank_event(event.settings, [*event.entrants.values()], event.rounds, over=False)
    assert next(row.score for row in rows if row.bot == 77) == 0
    drawn = event.next()
    assert drawn is not None
    assert 77 in {bot for table in drawn.tables for bot in table.bots}


def begun(entrants: int, seats: int, **kwargs: int) -> Simulated:
    """Return a round robin of which one round is played, each bot at one table of it."""
    luck = Random(8)
    event = start(
        Format.ROUND_ROBIN,
        dict.fromkeys(range(entrants)),
        seats,
        SEED,
        luck=luck,
        blocks=4,
        **kwargs,
    )
    first = event.next()
    assert first is not None
    event.play(first, luck)
    return event


def test_the_seat_of_a_bot_that_left_a_round_robin_stays_empty_or_goes_to_a_fill_in() -> None:
    for house, expected in ((0, 2), (2, 3)):
        event = begun(4, 3, house=house)
        event.leave(0)
        while (drawn := event.next()) is not None:
            for table in drawn.tables:
                assert 0 not in table.bots
                assert len([bot for bot in table.bots if bot < 10_000]) in (2, 3)
                assert len(table.bots) in (expected, 3)
            event.play(drawn, Random(8))
        assert {blocks_by_bot(event)[bot] for bot in (1, 2, 3)} == {12}


def test_a_round_robin_table_that_becomes_too_small_counts_half_for_the_remaining_bots() -> None:
    event = begun(4, 2)
    event.leave(3)
    play_out(event, Random(8))
    sat_out = Counter(bot for round_ in event.rounds for bot in round_.byes)
    assert sum(sat_out.values()) == 2
    assert {blocks_by_bot(event)[bot] for bot in (0, 1, 2)} == {12}
    rows = rank_event(event.settings, [*event.entrants.values()], event.rounds, over=True)
    # Four blocks of two bots at each of four tables, and two byes of four blocks.
    assert sum(row.score for row in rows) == 4 * 4 + 2 * 4 * Fraction(1, 2)


@fewer
@given(fields(max_bots=10), st.integers(2, 4), st.randoms(use_true_random=False))
def test_pairs_of_a_round_robin_without_owners_meet_equally_often(
    owners: Owners, seats: int, luck: Random
) -> None:
    event = start(Format.ROUND_ROBIN, dict.fromkeys(owners), seats, SEED, luck=luck)
    play_out(event, luck)
    met = Counter(
        pair
        for round_ in event.rounds
        for block in round_.blocks
        for pair in combinations(sorted(block.bots), 2)
    )
    if len(owners) > 1:
        assert len({met[pair] for pair in combinations(sorted(owners), 2)}) == 1


@fewer
@given(fields(max_bots=8), st.integers(2, 3), st.randoms(use_true_random=False))
def test_no_round_robin_table_is_drawn_twice_though_bots_leave_and_come_back(
    owners: Owners, seats: int, luck: Random
) -> None:
    assume(len(owners) >= seats)  # else a table whose late entrant has left looks like one of these
    event = start(Format.ROUND_ROBIN, dict.fromkeys(owners), seats, SEED, luck=luck, blocks=4)
    while (drawn := event.next()) is not None:
        event.play(drawn, luck)
        away = [bot for bot, one in event.entrants.items() if one.left_after is not None]
        if away and luck.random() < 0.5:
            event.come_back(luck.choice(away))
        if event.in_event() and luck.random() < 0.5:
            event.leave(luck.choice([*event.in_event()]))
        if len(event.entrants) < len(owners) + 2 and luck.random() < 0.4:
            event.come(5000 + len(event.entrants), None)
    met = Counter(
        block.bots for round_ in event.rounds for block in round_.blocks if len(block.bots) == seats
    )
    assert set(met.values()) <= {4}


def test_a_round_robin_leaves_out_the_rounds_whose_bots_are_all_away() -> None:
    luck = Random(3)
    event = start(Format.ROUND_ROBIN, dict.fromkeys(range(5)), 2, SEED, luck=luck, blocks=4)
    first = event.next()
    assert first is not None
    for bot in {bot for table in first.tables for bot in table.bots}:
        event.entrants[bot] = replace(event.entrants[bot], sits_out=True)
    drawn = event.next()
    assert drawn is not None
    [there] = [bot for bot, one in event.entrants.items() if not one.sits_out]
    assert drawn.number > 1
    assert (drawn.tables, drawn.byes) == ([], {there: 4})


def test_two_bots_that_left_a_round_robin_and_come_back_still_meet() -> None:
    undisturbed = play_out(begun(6, 2), Random(8))
    last_pairs = [block.bots for block in undisturbed.rounds[-1].blocks]
    assert len(undisturbed.rounds) > 2
    for pair in last_pairs:
        event = begun(6, 2)
        for bot in pair:
            event.leave(bot)
        drawn = event.next()
        assert drawn is not None
        event.play(drawn, Random(8))
        for bot in pair:
            event.come_back(bot)
        play_out(event, Random(8))
        assert pair in {block.bots for round_ in event.rounds for block in round_.blocks}
