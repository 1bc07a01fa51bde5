"""Properties of whole events of all formats, with late entrants and bots that leave."""

from collections import Counter
from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from engine.blocks import derive_block_seed, plan_block
from engine.pairing import (
    MAX_BLOCKS_PER_ROUND,
    Format,
    cross_table,
    default_swiss_rounds,
    next_round,
    rank_event,
)
from tests.engine.pairing.fields import SEED, apart, max_of_one_owner, seats
from tests.engine.pairing.simulated import (
    Simulated,
    events,
    fewer,
    play_out,
    rates,
    small_fields,
    start,
)

Owners = dict[int, int | None]


@fewer
@given(events())
def test_only_entrants_still_in_and_fill_ins_are_seated(event: Simulated) -> None:
    for there, drawn in event.drawn:
        for table in drawn.tables:
            # Who left in the middle of a knockout's round may not be called to its extra block.
            assert set(table.bots) <= {*there, *event.fill_ins}
            assert set(table.bots) & set(there)
            assert event.settings.min_seats <= len(table.bots) <= event.settings.seats
        assert set(drawn.byes) <= set(there)


@fewer
@given(events())
def test_in_a_swiss_each_entrant_still_in_plays_or_has_a_bye(event: Simulated) -> None:
    if event.settings.format == Format.SWISS:
        for there, drawn in event.drawn:
            seated = {bot for table in drawn.tables for bot in table.bots}
            assert (seated | set(drawn.byes)) - set(event.fill_ins) == set(there)
            assert not seated & set(drawn.byes)


@fewer
@given(events())
def test_a_table_is_unrated_exactly_if_it_has_two_bots_of_one_owner(event: Simulated) -> None:
    owners: Owners = {bot: one.owner for bot, one in event.entrants.items()}
    owners |= dict.fromkeys(event.fill_ins)
    for _, drawn in event.drawn:
        assert all(table.rated == apart(table.bots, owners) for table in drawn.tables)


@fewer
@given(events())
def test_the_same_rounds_and_seed_give_the_same_next_round_in_any_order_of_entrants(
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
def test_each_entrant_has_one_rank_except_the_disqualified(event: Simulated) -> None:
    everybody = [*event.entrants.values()]
    rows = rank_event(event.settings, everybody, event.rounds, over=True)
    ranked = [row for row in rows if row.rank is not None]
    assert {row.bot for row in ranked} == {one.bot for one in everybody if not one.disqualified}
    assert [row.rank for row in ranked] == list(range(1, len(ranked) + 1))
    assert {row.bot for row in rows} == {one.bot for one in everybody}


@fewer
@given(events())
def test_each_bot_of_a_table_sits_in_each_seat_once(event: Simulated) -> None:
    for _, drawn in event.drawn[:3]:
        for table in drawn.tables[:5]:
            plan = plan_block(derive_block_seed(SEED, 0), table.bots, duplicate=True)
            for seat in range(len(table.bots)):
                assert {match.seating[seat] for match in plan.matches} == set(table.bots)


@fewer
@given(events())
def test_the_two_cells_of_a_pair_in_the_cross_table_add_up_to_its_blocks(event: Simulated) -> None:
    table = cross_table(event.rounds)
    for bot, against in table.items():
        for other, met in against.items():
            back = table[other][bot]
            assert met.blocks == back.blocks
            assert met.score + back.score == met.blocks


@fewer
@given(small_fields, seats, st.randoms(use_true_random=False), rates)
def test_the_number_of_swiss_rounds_is_fixed_at_the_start(
    owners: Owners, seats: int, luck: Random, late: float
) -> None:
    event = start(Format.SWISS, owners, seats, SEED, luck=luck)
    play_out(event, luck, late=late)
    assert len(event.rounds) == default_swiss_rounds(len(owners))


def test_disqualified_bots_have_no_rank_and_all_other_scores_stay() -> None:
    event = start(Format.SWISS, dict.fromkeys(range(8)), 4, SEED, luck=Random(1))
    play_out(event, Random(1))
    before = rank_event(event.settings, [*event.entrants.values()], event.rounds, over=True)
    event.leave(before[0].bot, disqualified=True)
    after = rank_event(event.settings, [*event.entrants.values()], event.rounds, over=True)
    assert [row.bot for row in after] == [row.bot for row in [*before[1:], before[0]]]
    assert [row.score for row in after[:-1]] == [row.score for row in before[1:]]
    assert [row.rank for row in after] == [*range(1, len(after)), None]


@fewer
@given(small_fields, seats, st.randoms(use_true_random=False))
def test_owners_are_apart_in_swiss_and_knockout_if_there_are_enough_tables(
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
@given(events())
def test_no_bot_sits_twice_at_a_table_or_twice_in_a_round_except_in_a_round_robin(
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
def test_a_finished_swiss_or_round_robin_has_no_next_round(
    event: Simulated,
) -> None:
    if event.settings.format != Format.KNOCKOUT:
        assert event.next() is None
