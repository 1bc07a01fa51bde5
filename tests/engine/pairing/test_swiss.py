from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from math import ceil, log2
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.pairing import Table, count_meetings, derive_pairing_seed
from engine.pairing.swiss import (
    BLOCKS_PER_TABLE,
    MAX_SWAPS,
    SwissEntrant,
    SwissRound,
    default_swiss_rounds,
    swiss_round,
)
from tests.engine.pairing.fields import (
    SEED,
    Owners,
    apart,
    fields,
    max_of_one_owner,
    seats,
    seeds,
)

FAST = 300
"""Swaps, for properties that hold however few there are."""

SOME = 1000
"""Swaps that suffice to keep pairs apart; more only bring like scores together."""

Scores = Mapping[int, Fraction]


def play(tables: list[Table], scores: Scores, luck: Random) -> dict[int, Fraction]:
    """Return the scores after a round in which each table's places fall by luck."""
    after = dict(scores)
    for table in tables:
        order = luck.sample(table.bots, len(table.bots))
        for place, bot in enumerate(order):
            if bot in after:
                after[bot] += Fraction(place, len(order) - 1)
    return after


def standings(owners: Owners, scores: Scores) -> list[SwissEntrant]:
    return [SwissEntrant(bot, owner, scores[bot]) for bot, owner in owners.items() if bot in scores]


def event(
    owners: Owners,
    seats: int,
    *,
    luck: Random,
    withdrawals: int = 0,
    rounds: int | None = None,
    max_swaps: int = MAX_SWAPS,
) -> list[SwissRound]:
    """Play all rounds of an event; before each but the first so many bots withdraw by luck."""
    scores = dict.fromkeys(owners, Fraction())
    byes: Counter[int] = Counter()
    played: list[SwissRound] = []
    for number in range(default_swiss_rounds(len(owners)) if rounds is None else rounds):
        for bot in luck.sample(sorted(scores), min(withdrawals, len(scores)) if number else 0):
            del scores[bot]
        met = count_meetings(table for one in played for table in one.tables)
        field = [SwissEntrant(bot, owners[bot], scores[bot], byes[bot]) for bot in scores]
        one = swiss_round(field, met, seats, derive_pairing_seed(SEED, number), max_swaps=max_swaps)
        byes.update(one.byes)
        scores = play(one.tables, scores, luck)
        played.append(one)
    return played


@given(fields(max_bots=24), seats, st.randoms(), st.integers(0, 3))
def test_each_entrant_sits_once_in_each_round_or_has_the_only_bye(
    owners: dict[int, int | None], seats: int, luck: Random, withdrawals: int
) -> None:
    left = len(owners)
    for number, (tables, byes) in enumerate(
        event(owners, seats, luck=luck, withdrawals=withdrawals, max_swaps=FAST)
    ):
        left -= min(withdrawals, left) if number else 0
        seated = [bot for table in tables for bot in table.bots]
        assert len(set(seated)) == len(seated)
        assert not set(byes) & set(seated)
        assert len(seated) + len(byes) == left
        assert len(byes) == (left == 1 or (left % 2 if seats == 2 else 0))
        sizes = {len(table.bots) for table in tables}
        assert not sizes or max(sizes) <= seats
        assert not sizes or max(sizes) - min(sizes) <= 1
        if left >= (seats - 1) * ceil(left / seats):
            assert sizes <= {seats, seats - 1}


@given(fields(max_bots=24), seats, st.randoms())
def test_owners_are_apart_in_each_round_if_full_tables_allow_it(
    owners: dict[int, int | None], seats: int, luck: Random
) -> None:
    biggest = max_of_one_owner(owners)
    for tables, _ in event(owners, seats, luck=luck, max_swaps=FAST):
        assert all(table.rated == apart(table.bots, owners) for table in tables)
        if biggest <= ceil(len(owners) / seats) and len(owners) > 1:
            assert all(table.rated for table in tables) or seats == 2


@given(fields(max_bots=24), seats, st.randoms(), st.integers(1, 8))
def test_fill_ins_take_only_empty_seats(
    owners: dict[int, int | None], seats: int, luck: Random, house: int
) -> None:
    fill_ins = range(1000, 1000 + house)
    field = standings(owners, dict.fromkeys(owners, Fraction()))
    tables, byes = swiss_round(field, {}, seats, SEED, fill_ins=fill_ins, max_swaps=FAST)
    seated = Counter(bot for table in tables for bot in table.bots)
    assert max(seated.values(), default=1) == 1
    assert set(seated) | set(byes) >= set(owners)
    assert all(set(table.bots) & set(owners) for table in tables)
    if house >= seats - 1 and owners:
        assert not byes
        apart_by_full = max_of_one_owner(owners) <= ceil(len(owners) / seats)
        assert not apart_by_full or {len(table.bots) for table in tables} == {seats}


@given(fields(max_bots=24), seats, seeds, st.randoms())
def test_the_order_of_the_entrants_has_no_effect_on_the_round(
    owners: dict[int, int | None], seats: int, seed: bytes, luck: Random
) -> None:
    field = standings(owners, {bot: Fraction(luck.randrange(5), 2) for bot in owners})
    turned = luck.sample(field, len(field))
    once = swiss_round(field, {}, seats, seed, max_swaps=FAST)
    assert once == swiss_round(turned, {}, seats, seed, max_swaps=FAST)


def test_a_bye_goes_to_the_lowest_score_of_the_entrants_with_the_fewest_byes() -> None:
    field = [
        SwissEntrant(1, 1, Fraction(0), byes=1),
        SwissEntrant(2, 2, Fraction(1)),
        SwissEntrant(3, 3, Fraction(2)),
    ]
    assert swiss_round(field, {}, 2, SEED) == SwissRound([Table((1, 3), True)], (2,))


def test_no_entrant_has_a_second_bye_before_all_have_had_one() -> None:
    played = event(dict(enumerate(range(7))), 2, luck=Random(1), rounds=7)
    assert Counter(bot for one in played for bot in one.byes) == Counter(range(7))


def test_a_preset_that_allows_no_smaller_table_gives_byes() -> None:
    field = [SwissEntrant(bot, bot) for bot in range(5)]
    tables, byes = swiss_round(field, {}, 4, SEED, min_seats=3)
    assert [len(table.bots) for table in tables] == [4]
    assert len(byes) == 1


def test_smaller_tables_keep_the_bots_of_an_owner_apart() -> None:
    field = [SwissEntrant(bot, 1 if bot < 4 else bot) for bot in range(12)]
    tables, _ = swiss_round(field, {}, 4, SEED)
    assert [len(table.bots) for table in tables] == [3, 3, 3, 3]
    assert all(table.rated for table in tables)


def test_an_owner_with_too_many_bots_makes_as_few_unrated_tables_as_possible() -> None:
    field = [SwissEntrant(bot, 1 if bot < 10 else bot) for bot in range(16)]
    tables, _ = swiss_round(field, {}, 4, SEED)
    assert sorted(table.rated for table in tables) == [False, False, True, True]


def test_like_scores_sit_together() -> None:
    field = [SwissEntrant(bot, bot, Fraction(bot // 4)) for bot in range(32)]
    tables, _ = swiss_round(field, {}, 4, SEED)
    assert sorted(table.bots for table in tables) == [
        tuple(range(four, four + 4)) for four in range(0, 32, 4)
    ]


@pytest.mark.parametrize(
    ("entrants", "seats", "rounds"),
    # As many rounds as leave the search room; the most possible are (N - 1) / (seats - 1).
    [(8, 2, 5), (16, 2, 6), (9, 3, 2), (27, 3, 7), (16, 4, 3), (32, 4, 5), (64, 4, 6), (49, 7, 2)],
)
def test_no_pair_meets_twice_if_that_is_avoidable(entrants: int, seats: int, rounds: int) -> None:
    owners = dict(enumerate(range(entrants)))
    played = event(owners, seats, luck=Random(3), rounds=rounds, max_swaps=SOME)
    assert max(count_meetings(table for one in played for table in one.tables).values()) == 1


def event_of_strengths(entrants: int, seats: int) -> list[SwissRound]:
    """Play all rounds of an event as it is by default; the lower id always wins."""
    scores = dict.fromkeys(range(entrants), Fraction())
    played: list[SwissRound] = []
    for number in range(default_swiss_rounds(entrants)):
        met = count_meetings(table for one in played for table in one.tables)
        field = [SwissEntrant(bot, bot, score) for bot, score in scores.items()]
        one = swiss_round(field, met, seats, derive_pairing_seed(SEED, number))
        for table in one.tables:
            for place, bot in enumerate(sorted(table.bots, reverse=True)):
                scores[bot] += BLOCKS_PER_TABLE * Fraction(place, len(table.bots) - 1)
        played.append(one)
    return played


# Far apart in score as these come to be, a repeated pair must not be the cheaper way.
@pytest.mark.parametrize(("entrants", "seats"), [(64, 4), (24, 3), (32, 4), (128, 4)])
def test_no_pair_meets_twice_in_an_event_even_if_scores_spread_widely(
    entrants: int, seats: int
) -> None:
    played = event_of_strengths(entrants, seats)
    assert max(count_meetings(table for one in played for table in one.tables).values()) == 1


def test_separating_repeated_pairs_keeps_like_scores_together_if_possible() -> None:
    field = [SwissEntrant(bot, bot, Fraction(bot // 4)) for bot in range(16)]
    met = {(0, 1): 1}
    tables, _ = swiss_round(field, met, 4, SEED)
    apart = [table.bots for table in tables]
    assert not any({0, 1} <= set(bots) for bots in apart)
    assert (8, 9, 10, 11) in apart
    assert (12, 13, 14, 15) in apart


@pytest.mark.parametrize(("entrants", "seats"), [(8, 4), (12, 4), (9, 3), (16, 8), (13, 4)])
def test_if_pairs_must_repeat_no_pair_meets_much_oftener_than_the_others(
    entrants: int, seats: int
) -> None:
    played = event(dict(enumerate(range(entrants))), seats, luck=Random(4), max_swaps=SOME)
    met = count_meetings(table for one in played for table in one.tables)
    times = [met[pair] for pair in combinations(range(entrants), 2)]
    assert max(times) <= 1.5 * sum(times) / len(times) + 1


@pytest.mark.parametrize("entrants", [2, 3, 4, 5, 8, 9, 64, 65, 1000])
def test_the_default_number_of_rounds_is_the_rounded_up_logarithm_plus_two(entrants: int) -> None:
    assert default_swiss_rounds(entrants) == ceil(log2(entrants)) + 2


def test_a_single_entrant_plays_no_round() -> None:
    assert [default_swiss_rounds(0), default_swiss_rounds(1)] == [0, 0]
    assert swiss_round([SwissEntrant(1, 1)], {}, 4, SEED) == SwissRound([], (1,))


def test_a_bot_that_is_listed_twice_or_is_entrant_and_fill_in_is_refused() -> None:
    with pytest.raises(ValueError, match="bot 1 is listed twice"):
        swiss_round([SwissEntrant(1, 1), SwissEntrant(1, 1)], {}, 2, SEED)
    with pytest.raises(ValueError, match="bot 1 is listed twice"):
        swiss_round([SwissEntrant(1, 1)], {}, 2, SEED, fill_ins=[1])


@pytest.mark.parametrize("min_seats", [1, 5])
def test_fewest_seats_below_two_or_above_a_full_table_are_refused(min_seats: int) -> None:
    with pytest.raises(ValueError, match=f"from 2 to 4 seats, not {min_seats}"):
        swiss_round([], {}, 4, SEED, min_seats=min_seats)
