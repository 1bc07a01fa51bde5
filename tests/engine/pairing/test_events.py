"""Whole events of every format, with bots that come late and leave in the middle."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import comb
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.pairing import (
    MAX_BLOCKS_PER_ROUND,
    Entrant,
    Format,
    PlayedBlock,
    PlayedMatch,
    cross_table,
    next_round,
    rank_event,
    seeding,
    stages,
    swiss_rounds,
)
from engine.rating.blocks import derive_block_seed, plan_block
from tests.engine.pairing.fields import SEED, apart, fields, max_of_one_owner, seats, seeds
from tests.engine.pairing.simulated import Simulated, blocks_by_bot, play_out, start

Owners = dict[int, int | None]

fewer = settings(max_examples=max(settings.default.max_examples // 3, 20))
"""An example is a whole event."""

formats = st.sampled_from(Format)
small_fields = fields(most=9)
rates = st.sampled_from([0, 0.1, 0.4])


@st.composite
def events(draw: st.DrawFn) -> Simulated:
    """Draw an event of any format, played to its end."""
    luck = Random(draw(st.integers(0, 10**6)))
    of = draw(formats)
    event = start(
        of,
        # A round robin of more is long: every few of them make a table.
        draw(fields(most=6) if of == Format.ROUND_ROBIN else small_fields),
        draw(seats),
        draw(seeds),
        luck=luck,
        fewest=draw(st.integers(2, 3)),
        blocks=draw(st.integers(1, 3)),
        house=draw(st.sampled_from([0, 0, 3, 8])),
    )
    late = 0 if of == Format.KNOCKOUT else draw(rates)
    return play_out(event, luck, withdrawals=draw(rates), late=late, void=draw(rates) / 2)


@fewer
@given(events())
def test_nobody_sits_twice_at_a_table_nor_twice_in_a_round_but_in_a_round_robin(
    event: Simulated,
) -> None:
    for _, drawn in event.drawn:
        assert all(len(set(table.bots)) == len(table.bots) for table in drawn.tables)
        sat = Counter(bot for table in drawn.tables for bot in table.bots)
        if event.settings.format == Format.ROUND_ROBIN:
            assert max(sat.values(), default=0) <= MAX_BLOCKS_PER_ROUND
        else:
            tables = Counter(bot for table in set(drawn.tables) for bot in table.bots)
            assert max(tables.values(), default=0) <= 1
            blocks = 1 if drawn.extra else event.settings.blocks
            assert set(sat.values()) <= {blocks}


@fewer
@given(events())
def test_only_those_who_are_in_play_or_house_bots_that_fill_in(event: Simulated) -> None:
    for there, drawn in event.drawn:
        for table in drawn.tables:
            # Who left in the middle of a knockout's round may not be called to its extra block.
            assert set(table.bots) <= {*there, *event.fill_ins}
            assert set(table.bots) & set(there)
            assert event.settings.fewest <= len(table.bots) <= event.settings.seats
        assert set(drawn.byes) <= set(there)


@fewer
@given(events())
def test_in_a_swiss_everybody_who_is_in_plays_or_has_a_bye(event: Simulated) -> None:
    if event.settings.format == Format.SWISS:
        for there, drawn in event.drawn:
            seated = {bot for table in drawn.tables for bot in table.bots}
            assert (seated | set(drawn.byes)) - set(event.fill_ins) == set(there)
            assert not seated & set(drawn.byes)


@fewer
@given(events())
def test_a_block_is_unrated_just_when_it_seats_an_owner_twice(event: Simulated) -> None:
    owners: Owners = {bot: one.owner for bot, one in event.entrants.items()}
    owners |= dict.fromkeys(event.fill_ins)
    for _, drawn in event.drawn:
        assert all(table.rated == apart(table.bots, owners) for table in drawn.tables)


@fewer
@given(events())
def test_the_same_past_and_seed_give_the_same_round_whatever_the_order_of_entrants(
    event: Simulated,
) -> None:
    turned = [*reversed(event.entrants.values())]
    for number in range(len(event.rounds)):
        # All that was known when the round was drawn: later arrivals and departures change nothing.
        drawn = event.drawn[number][1]
        known = [
            replace(one, left_after=None)
            if one.left_after is not None and one.left_after >= drawn.number
            else one
            for one in turned
            if one.first_round <= drawn.number
        ]
        if not drawn.extra:
            past = event.rounds[:number]
            assert next_round(event.settings, known, past, event.fill_ins) == drawn


@fewer
@given(events())
def test_a_round_robin_draws_the_same_tables_though_its_past_is_told_later(
    event: Simulated,
) -> None:
    if event.settings.format != Format.KNOCKOUT:
        assert event.next() is None


@fewer
@given(events())
def test_every_entrant_but_the_disqualified_has_one_rank(event: Simulated) -> None:
    everybody = [*event.entrants.values()]
    rows = rank_event(event.settings, everybody, event.rounds, over=True)
    ranked = [row for row in rows if row.rank is not None]
    assert {row.bot for row in ranked} == {one.bot for one in everybody if not one.disqualified}
    assert [row.rank for row in ranked] == list(range(1, len(ranked) + 1))
    assert {row.bot for row in rows} == {one.bot for one in everybody}


@fewer
@given(events())
def test_each_seat_goes_to_each_bot_of_a_table_once(event: Simulated) -> None:
    for _, drawn in event.drawn[:3]:
        for table in drawn.tables[:5]:
            plan = plan_block(derive_block_seed(SEED, 0), table.bots, duplicate=True)
            for seat in range(len(table.bots)):
                assert {match.seating[seat] for match in plan.matches} == set(table.bots)


@fewer
@given(events())
def test_what_one_takes_from_another_the_other_loses(event: Simulated) -> None:
    table = cross_table(event.rounds)
    for bot, against in table.items():
        for other, met in against.items():
            back = table[other][bot]
            assert met.blocks == back.blocks
            assert met.taken + back.taken == met.blocks


@fewer
@given(small_fields, seats, st.randoms(use_true_random=False), rates)
def test_the_rounds_of_a_swiss_are_settled_when_it_starts(
    owners: Owners, seats: int, luck: Random, late: float
) -> None:
    event = start(Format.SWISS, owners, seats, SEED, luck=luck)
    play_out(event, luck, late=late)
    assert len(event.rounds) == swiss_rounds(len(owners))


@fewer
@given(small_fields, seats, st.randoms(use_true_random=False), st.integers(1, 4))
def test_all_who_stay_from_the_start_of_a_round_robin_count_equally_many_blocks(
    owners: Owners, seats: int, luck: Random, blocks: int
) -> None:
    few = dict(list(owners.items())[:8])
    event = start(Format.ROUND_ROBIN, few, seats, SEED, luck=luck, blocks=blocks)
    play_out(event, luck, withdrawals=0.2)
    counted = blocks_by_bot(event)
    stayed = {bot for bot, one in event.entrants.items() if one.left_after is None}
    if len(stayed) > 1:
        assert len({counted[bot] for bot in stayed}) == 1


@pytest.mark.parametrize(("entrants", "seats"), [(6, 3), (5, 4), (8, 2)])
def test_a_late_entrant_of_a_round_robin_plays_every_table_that_it_can(
    entrants: int, seats: int
) -> None:
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


def test_a_late_entrant_of_a_great_round_robin_plays_as_much_as_the_others() -> None:
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


def test_a_late_entrant_of_a_swiss_has_no_points_for_what_it_missed() -> None:
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


def test_a_seat_of_one_that_left_a_round_robin_stays_empty_or_goes_to_a_house_bot() -> None:
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


def test_a_table_of_a_round_robin_that_is_left_too_small_counts_half_for_who_is_left() -> None:
    event = begun(4, 2)
    event.leave(3)
    play_out(event, Random(8))
    sat_out = Counter(bot for round_ in event.rounds for bot in round_.byes)
    assert sum(sat_out.values()) == 2
    assert {blocks_by_bot(event)[bot] for bot in (0, 1, 2)} == {12}
    rows = rank_event(event.settings, [*event.entrants.values()], event.rounds, over=True)
    # Four blocks of two bots at each of four tables, and two byes of four blocks.
    assert sum(row.score for row in rows) == 4 * 4 + 2 * 4 * Fraction(1, 2)


def place_all(event: Simulated, order: list[int]) -> None:
    """Play the next round; at every table bots come in by their place in ``order``."""
    drawn = event.next()
    assert drawn is not None
    event.play(drawn, Random(0))
    blocks = []
    for table in drawn.tables:
        best = sorted(table.bots, key=order.index)
        points = tuple(-best.index(bot) for bot in table.bots)
        ranks = tuple(best.index(bot) + 1 for bot in table.bots)
        match = PlayedMatch(table.bots, ranks, points)
        blocks.append(PlayedBlock(table.bots, (match,) * len(table.bots)))
    event.rounds[-1] = replace(event.rounds[-1], blocks=tuple(blocks))


def knockout(entrants: int, seats: int, **kwargs: int) -> Simulated:
    event = start(
        Format.KNOCKOUT, dict.fromkeys(range(entrants)), seats, SEED, luck=Random(0), **kwargs
    )
    event.entrants = {bot: Entrant(bot, None, rating=1_000_000 - bot) for bot in event.entrants}
    return event


def test_a_knockout_ranks_by_how_far_each_came() -> None:
    event = knockout(8, 4)
    order = list(range(8))
    place_all(event, order)
    place_all(event, order)
    assert event.next() is None
    rows = rank_event(event.settings, [*event.entrants.values()], event.rounds, over=True)
    assert [row.bot for row in rows[:4]] == [0, 1, 2, 3]
    assert [row.round_reached for row in rows] == [2, 2, 2, 2, 1, 1, 1, 1]
    assert [row.table_place for row in rows] == [1, 2, 3, 4, 3, 3, 4, 4]
    assert rows[4].decided_by == "round-reached"


def test_the_place_of_a_bot_that_left_a_knockout_falls_to_the_next_at_its_table() -> None:
    event = knockout(8, 4)
    place_all(event, list(range(8)))
    event.leave(0)
    drawn = event.next()
    assert drawn is not None
    [final] = drawn.tables
    first = stages(event.rounds, seeding(event.settings, [*event.entrants.values()]))[0]
    [table] = [table for table in first.tables if 0 in table.entrants]
    assert set(table.entrants[1:3]) <= set(final.bots)
    assert len(final.bots) == 4


def test_a_tie_at_the_cut_is_played_on_by_its_table_alone() -> None:
    event = knockout(8, 4)
    place_all(event, list(range(8)))
    tied = event.rounds[0].blocks[0]
    level = tuple(replace(match, places=(1, 1, 1, 1)) for match in tied.matches)
    blocks = (replace(tied, matches=level), *event.rounds[0].blocks[1:])
    event.rounds[0] = replace(event.rounds[0], blocks=blocks)
    drawn = event.next()
    assert drawn is not None
    assert (drawn.number, drawn.extra) == (1, 1)
    assert [table.bots for table in drawn.tables] == [tied.bots]


@pytest.mark.parametrize("most", [None, 0, 2])
def test_a_cut_that_stays_tied_is_decided_by_seed_after_four_extra_blocks_or_as_settled(
    most: int | None,
) -> None:
    event = knockout(4, 2)
    if most is not None:
        event.settings = replace(event.settings, extra_blocks=most)
    for expected in [(1, extra) for extra in range((4 if most is None else most) + 1)]:
        drawn = event.next()
        assert drawn is not None
        assert (drawn.number, drawn.extra) == expected
        event.play(drawn, Random(0))
        level = tuple(
            PlayedBlock(t.bots, (PlayedMatch(t.bots, (1, 1), (0, 0)),) * 2) for t in drawn.tables
        )
        event.rounds[-1] = replace(event.rounds[-1], blocks=level)
    drawn = event.next()
    assert drawn is not None
    assert (drawn.number, [table.bots for table in drawn.tables]) == (2, [(0, 1)])


def test_an_extra_block_ranks_nobody_above_those_who_went_out_at_other_tables() -> None:
    event = knockout(8, 4)
    place_all(event, list(range(8)))
    tied, other = event.rounds[0].blocks
    # At one table the second and third tie, at the other the last one takes something.
    second_tie = tuple(replace(of, places=(1, 2, 2, 4)) for of in tied.matches)
    last_ties = (replace(other.matches[0], places=(1, 2, 3, 3)), *other.matches[1:])
    blocks = (replace(tied, matches=second_tie), replace(other, matches=last_ties))
    event.rounds[0] = replace(event.rounds[0], blocks=blocks)
    last, last_elsewhere = tied.bots[3], other.bots[3]
    place_all(event, [last, *tied.bots[:3]])
    assert event.rounds[-1].extra == 1
    assert event.next() is not None
    rows = rank_event(event.settings, [*event.entrants.values()], event.rounds, over=True)
    by_bot = {row.bot: row for row in rows}
    assert [by_bot[bot].table_place for bot in (last, last_elsewhere)] == [4, 4]
    assert [by_bot[bot].rank for bot in (last_elsewhere, last)] == [7, 8]
    assert (by_bot[last].score, by_bot[last].blocks, by_bot[last].wins) == (0, 1, 0)


def test_an_extra_block_counts_in_the_place_of_one_that_was_given_up() -> None:
    event = knockout(4, 2)
    drawn = event.next()
    assert drawn is not None
    event.play(drawn, Random(0), void=1)
    place_all(event, [0, 1, 2, 3])
    assert event.rounds[-1].extra == 1
    rows = rank_event(event.settings, [*event.entrants.values()], event.rounds, over=False)
    assert {(row.bot, row.score, row.blocks) for row in rows[:2]} == {(0, 1, 1), (1, 1, 1)}


def test_a_knockouts_table_whose_blocks_are_all_given_up_is_decided_by_seed() -> None:
    event = knockout(2, 2)
    luck = Random(0)
    while (drawn := event.next()) is not None:
        event.play(drawn, luck, void=1)
    assert len(event.rounds) == 5
    rows = rank_event(event.settings, [*event.entrants.values()], event.rounds, over=True)
    assert [row.bot for row in rows] == [0, 1]


def test_the_last_one_left_in_a_knockout_has_won_it() -> None:
    event = knockout(4, 2)
    place_all(event, [0, 1, 2, 3])
    through = {table.bots[0] for table in event.drawn[0][1].tables}
    assert through == {0, 1}
    event.leave(0)
    event.entrants[3] = replace(event.entrants[3], left_after=1)
    drawn = event.next()
    # The place of bot 0 fell to its table's other bot, if that is still in.
    assert drawn is None
    rows = rank_event(event.settings, [*event.entrants.values()], event.rounds, over=True)
    assert (rows[0].bot, rows[0].round_reached) == (1, 2)


def test_the_disqualified_have_no_rank_and_everybody_elses_score_stands() -> None:
    event = start(Format.SWISS, dict.fromkeys(range(8)), 4, SEED, luck=Random(1))
    play_out(event, Random(1))
    before = rank_event(event.settings, [*event.entrants.values()], event.rounds, over=True)
    event.leave(before[0].bot, disqualified=True)
    after = rank_event(event.settings, [*event.entrants.values()], event.rounds, over=True)
    assert [row.bot for row in after] == [row.bot for row in [*before[1:], before[0]]]
    assert [row.score for row in after[:-1]] == [row.score for row in before[1:]]
    assert [row.rank for row in after] == [*range(1, len(after)), None]


def test_a_bot_that_is_entered_does_not_fill_in() -> None:
    event = knockout(4, 2)
    with pytest.raises(ValueError, match="bot 3 is entered"):
        next_round(event.settings, [*event.entrants.values()], [], [3])


@fewer
@given(small_fields, seats, st.randoms(use_true_random=False))
def test_owners_are_apart_in_swiss_and_knockout_where_tables_are_enough(
    owners: Owners, seats: int, luck: Random
) -> None:
    for of in (Format.SWISS, Format.KNOCKOUT):
        event = play_out(start(of, owners, seats, SEED, luck=luck), luck)
        for there, drawn in event.drawn:
            tables = set(drawn.tables)
            sitting = {bot: owners[bot] for table in tables for bot in table.bots}
            if len(tables) > 1 and max_of_one_owner(sitting) <= len(tables):
                assert all(table.rated for table in tables), there


@fewer
@given(fields(most=10), st.integers(2, 4), st.randoms(use_true_random=False))
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
