from collections import Counter
from fractions import Fraction
from math import ceil, log
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.pairing import (
    KnockoutRound,
    Table,
    advancing_from_table,
    knockout_round,
    needs_extra_block,
    places_to_advance,
    seed_entrants,
)
from tests.engine.pairing.fields import SEED, apart, fields, max_of_one_owner, seats, seeds

HALF = Fraction(1, 2)


def event(
    seeding: list[int],
    owners: dict[int, int | None],
    seats: int,
    luck: Random,
    *,
    withdrawals: int = 0,
    fill_ins: range = range(0),
) -> list[tuple[list[int], KnockoutRound]]:
    """Play until the final; return who was in, and each round. Some withdraw between rounds."""
    played: list[tuple[list[int], KnockoutRound]] = []
    left = list(seeding)
    while True:
        one = knockout_round(left, owners, seats, fill_ins=fill_ins)
        played.append((left, one))
        if one.final:
            return played
        through = set(one.byes)
        for table in one.tables:
            scores = {bot: [Fraction(luck.randrange(3), 2)] for bot in table.bots if bot in left}
            through.update(
                advancing_from_table(scores, places_to_advance(len(scores), final=False), seeding)
            )
        gone = luck.sample(sorted(through), min(withdrawals, len(through)))
        left = [bot for bot in left if bot in through and bot not in gone]


@given(fields(), seats, st.randoms(), st.integers(0, 2), st.sampled_from([0, 3, 8]))
def test_each_entrant_sits_once_or_has_a_bye_and_the_knockout_ends(
    owners: dict[int, int | None], seats: int, luck: Random, withdrawals: int, house: int
) -> None:
    fill_ins = range(1000, 1000 + house)
    seeding = luck.sample(sorted(owners), len(owners))
    played = event(seeding, owners, seats, luck, withdrawals=withdrawals, fill_ins=fill_ins)
    assert len(played) <= ceil(log(max(len(owners), 2), 3 / 2)) + 1
    for left, one in played:
        seated = Counter(bot for table in one.tables for bot in table.bots)
        assert max(seated.values(), default=1) == 1
        assert {*seated, *one.byes} - set(fill_ins) == set(left)
        assert not set(one.byes) & set(seated)
        assert all(2 <= len(table.bots) <= seats for table in one.tables)
        assert all(set(table.bots) & set(left) for table in one.tables)
        sizes = {len(table.bots) for table in one.tables}
        assert not sizes or max(sizes) - min(sizes) <= 1
        assert len(one.byes) <= 1
    last = played[-1][1]
    assert len(last.tables) == 1 or (len(last.tables) == 0 and len(last.byes) <= 1)


@given(fields(), seats, st.randoms())
def test_owners_are_apart_before_the_final_if_full_tables_allow_it(
    owners: dict[int, int | None], seats: int, luck: Random
) -> None:
    seeding = luck.sample(sorted(owners), len(owners))
    for left, one in event(seeding, owners, seats, luck):
        assert all(table.rated == apart(table.bots, owners) for table in one.tables)
        biggest = max_of_one_owner({bot: owners[bot] for bot in left})
        if not one.final and biggest <= len(one.tables):
            assert all(table.rated for table in one.tables)


@given(fields(), seats)
def test_the_best_seeds_sit_at_different_tables(owners: dict[int, int | None], seats: int) -> None:
    own: dict[int, int | None] = dict.fromkeys(owners)
    seeding = sorted(owners)
    one = knockout_round(seeding, own, seats)
    heads = seeding[len(one.byes) : len(one.byes) + len(one.tables)]
    for head, table in zip(heads, one.tables, strict=True):
        assert head in table.bots


def test_seeds_are_seated_in_a_snake() -> None:
    tables, byes, final = knockout_round(range(12), dict.fromkeys(range(12)), 4)
    assert [table.bots for table in tables] == [(0, 5, 6, 11), (1, 4, 7, 10), (2, 3, 8, 9)]
    assert (byes, final) == ((), False)


def test_the_lower_seed_of_an_owner_exchanges_seats_with_the_nearest_seed() -> None:
    owners = dict(enumerate(range(12))) | {6: 0}
    tables, _, _ = knockout_round(range(12), owners, 4)
    assert [table.bots for table in tables] == [(0, 5, 7, 11), (1, 4, 6, 10), (2, 3, 8, 9)]
    assert all(table.rated for table in tables)


def test_at_two_seats_the_best_seed_of_an_odd_number_has_a_bye() -> None:
    tables, byes, _ = knockout_round([5, 4, 3, 2, 1], dict.fromkeys(range(6)), 2)
    assert [table.bots for table in tables] == [(1, 4), (2, 3)]
    assert byes == (5,)


def test_a_preset_for_three_or_more_gives_byes_if_tables_would_be_too_small() -> None:
    tables, byes, _ = knockout_round(range(5), dict.fromkeys(range(5)), 4, min_seats=3)
    assert [table.bots for table in tables] == [(1, 2, 3, 4)]
    assert byes == (0,)


def test_the_best_seed_wins_if_the_final_would_be_too_small_for_the_preset() -> None:
    owners = dict.fromkeys(range(12))
    assert knockout_round([4, 2], owners, 4, min_seats=3) == KnockoutRound([], (4, 2), final=True)
    filled = knockout_round([4, 2], owners, 4, min_seats=3, fill_ins=[11])
    assert filled == KnockoutRound([Table((2, 4, 11), True)], (), final=True)


def test_a_single_entrant_wins_and_no_entrants_make_no_round() -> None:
    assert knockout_round([7], {7: 1}, 4) == KnockoutRound([], (7,), final=True)
    assert knockout_round([], {}, 4) == KnockoutRound([], (), final=True)


@pytest.mark.parametrize("entrants", [2, 3, 4])
def test_the_table_at_which_all_entrants_fit_is_the_final(entrants: int) -> None:
    assert knockout_round(range(entrants), dict.fromkeys(range(entrants)), 4).final


def test_the_final_is_played_even_by_bots_of_one_owner() -> None:
    assert knockout_round([1, 2], {1: 5, 2: 5}, 2).tables == [Table((1, 2), False)]


def test_bots_of_one_owner_meet_if_only_house_bots_could_keep_them_apart() -> None:
    one = knockout_round(range(4), dict.fromkeys(range(4), 1), 2, fill_ins=range(10, 18))
    assert [table.bots for table in one.tables] == [(0, 3), (1, 2)]
    assert not any(table.rated for table in one.tables)


def test_a_bot_that_is_listed_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="bot 1 is listed twice"):
        knockout_round([1, 2], {1: 1, 2: 2}, 2, fill_ins=[1])


@pytest.mark.parametrize(("entrants", "places"), [(2, 1), (3, 2), (4, 2), (5, 3), (8, 4)])
def test_the_upper_half_advances_and_so_does_the_middle_of_an_odd_number(
    entrants: int, places: int
) -> None:
    assert places_to_advance(entrants, final=False) == places
    assert places_to_advance(entrants, final=True) == 1


def test_only_a_tie_at_the_cut_needs_an_extra_block() -> None:
    scores = {1: [Fraction(2)], 2: [Fraction(1)], 3: [Fraction(1)], 4: [Fraction(0)]}
    assert needs_extra_block(scores, 2)
    assert not needs_extra_block(scores, 1)
    assert not needs_extra_block(scores, 3)
    assert not needs_extra_block(scores, 4)


def test_an_extra_block_decides_only_between_entrants_tied_at_the_cut() -> None:
    scores = {
        1: [Fraction(2), Fraction(0)],
        2: [HALF, HALF],
        3: [HALF, Fraction(1)],
        4: [Fraction(0), Fraction(1)],
    }
    assert not needs_extra_block(scores, 2)
    assert advancing_from_table(scores, 2, [4, 3, 2, 1]) == [1, 3]


def test_after_four_extra_blocks_the_better_seed_advances() -> None:
    scores = {1: [HALF] * 4, 2: [HALF] * 4}
    assert needs_extra_block(scores, 1)
    scores = {1: [HALF] * 5, 2: [HALF] * 5}
    assert not needs_extra_block(scores, 1)
    assert advancing_from_table(scores, 1, [2, 1]) == [2]


def test_scores_of_different_numbers_of_blocks_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\[1, 2\] block scores"):
        needs_extra_block({1: [HALF], 2: [HALF, HALF]}, 1)


@given(st.dictionaries(st.integers(), st.integers(0, 3)), seeds, st.randoms())
def test_entrants_are_seeded_by_rating_and_equal_ratings_at_random(
    ratings: dict[int, int], seed: bytes, luck: Random
) -> None:
    seeding = seed_entrants(ratings, seed)
    assert [ratings[bot] for bot in seeding] == sorted(ratings.values(), reverse=True)
    turned = dict(luck.sample(list(ratings.items()), len(ratings)))
    assert seed_entrants(turned, seed) == seeding


def test_another_seed_orders_equal_ratings_differently() -> None:
    ratings = dict.fromkeys(range(10), 0)
    assert seed_entrants(ratings, SEED) != seed_entrants(ratings, bytes(32))
