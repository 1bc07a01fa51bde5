from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_DOWN, Inexact, localcontext
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rating.elo import (
    START,
    AppliedRound,
    Block,
    BlockEntry,
    KSchedule,
    RatingState,
    Round,
    ZeroSumError,
    apply_round,
    expectation,
    fold,
    pair_delta,
)
from engine.rating.results import MatchResult

BOTS = range(1, 11)
MAX_BLOCKS = 4


def block(
    number: int, *orders: Sequence[int], rated: bool = True, void: bool = False, version: int = 1
) -> Block:
    """A block without ties: each order names the bots from the first place to the last."""
    places = tuple(range(1, len(orders[0]) + 1))
    results = tuple(MatchResult(tuple(order), places) for order in orders)
    return Block(number, dict.fromkeys(orders[0], version), results, rated, void)


def draw_round(rng: Random) -> Round:
    """A round in which no bot plays more than four blocks, some void, some not rated."""
    left = dict.fromkeys(BOTS, MAX_BLOCKS)
    blocks = []
    for number in range(rng.randint(0, 12)):
        free = [bot for bot in BOTS if left[bot]]
        n = rng.randint(2, 8)
        if len(free) < n:
            break
        table = rng.sample(free, n)
        for bot in table:
            left[bot] -= 1
        results = tuple(
            MatchResult(tuple(rng.sample(table, n)), tuple(rng.randint(1, n) for _ in table))
            for _ in table
        )
        versions = {bot: rng.randint(1, 3) for bot in table}
        void, rated = rng.random() < 0.1, rng.random() < 0.9
        blocks.append(Block(number, versions, results, rated, void))
    return Round(tuple(blocks))


luck = st.integers(0, 2**64).map(Random)
histories = luck.map(lambda rng: [draw_round(rng) for _ in range(rng.randint(1, 5))])


def last(applied: Sequence[AppliedRound]) -> dict[int, RatingState]:
    return dict(applied[-1].states)


# -- The formula -----------------------------------------------------------------------------


def test_equal_ratings_expect_a_half_and_400_elo_more_expect_ten_elevenths() -> None:
    assert expectation(START, START) == Fraction(1, 2)
    assert expectation(START + 400_000, START) == Fraction("0.909090909")
    assert expectation(START, START + 400_000) == Fraction("0.090909091")
    # 1 / (1 + 10^(-100/400)) = 1 / (1 + 0.56234132519...) = 0.64006499980...
    assert expectation(1_600_000, 1_500_000) == Fraction("0.640065000")


@given(st.integers(-4_000_000, 4_000_000))
def test_an_expectation_matches_the_formula_to_nine_decimals(difference: int) -> None:
    p = expectation(START + difference, START)
    assert (p * 10**9).denominator == 1
    assert abs(float(p) - 1 / (1 + 10 ** (-difference / 400_000))) < 0.500001e-9
    assert p + expectation(START, START + difference) == 1


@pytest.mark.parametrize(
    ("difference", "billionths"),
    [
        # Computed with 60 digits: 308119208.49999997 and 0.499999995. The first is 3e-8 of a step
        # off the middle, where the next float is 5.6e-8 away.
        (140_525, 308_119_208),
        (3_720_412, 0),
        (3_720_411, 1),
        (10**12, 0),
        (-(10**12), 10**9),
    ],
)
def test_an_expectation_is_right_where_a_float_could_round_wrongly(
    difference: int, billionths: int
) -> None:
    assert expectation(START, START + difference) * 10**9 == billionths


def test_the_decimal_context_of_the_caller_has_no_effect() -> None:
    with localcontext() as context:
        context.prec, context.rounding, context.traps[Inexact] = 3, ROUND_DOWN, True
        assert expectation(1_600_000, 1_500_000) == Fraction("0.640065000")


def test_a_pair_delta_matches_the_formula() -> None:
    # n = 4, K 128 and 32, s = 5/8, p = 0.640065:
    # 1000 * (128 + 32) / 2 / 3 * (0.625 - 0.640065) = 26666.67 * -0.015065 = -401.73
    assert pair_delta(128, 32, 4, Fraction(5, 8), Fraction("0.640065")) == -402


@pytest.mark.parametrize(
    ("difference", "p", "halves", "even"),
    [
        # n = 2, K 32, s = 0: 1000 * 32 * -p lies just between two integers.
        (13_459, "0.480640625", -30_761, -15_380),
        (28_062, "0.459703125", -29_421, -14_710),
        (41_795, "0.440140625", -28_169, -14_084),
    ],
)
def test_a_delta_halfway_between_integers_is_rounded_to_the_even_one(
    difference: int, p: str, halves: int, even: int
) -> None:
    p_ij = expectation(START, START + difference)
    assert p_ij == Fraction(p)
    assert 32_000 * (0 - p_ij) == Fraction(halves, 2)
    assert pair_delta(32, 32, 2, Fraction(0), p_ij) == even
    assert pair_delta(32, 32, 2, Fraction(1), 1 - p_ij) == -even


@pytest.mark.parametrize(
    ("blocks", "k"), [(0, 128), (9, 128), (10, 64), (19, 64), (20, 32), (10**6, 32)]
)
def test_k_falls_at_10_and_20_rated_blocks(blocks: int, k: int) -> None:
    assert KSchedule().k(blocks) == k


# -- A round ---------------------------------------------------------------------------------


def test_three_new_bots_are_rated_as_computed_by_hand() -> None:
    applied = apply_round({}, Round([block(0, (1, 2, 3), (1, 2, 3), (2, 1, 3))]))
    # p = 1/2 and K = 128 for all, n = 3, so d = 1000 * 128 / 2 * (s - 1/2) = 64000 * (s - 1/2).
    # s12 = 2/3: 10666.67 -> 10667;  s13 = s23 = 1: 32000.
    assert applied.blocks == (
        BlockEntry(0, 1, 10_667 + 32_000),
        BlockEntry(0, 2, -10_667 + 32_000),
        BlockEntry(0, 3, -64_000),
    )
    assert applied.states == {
        1: RatingState(1_542_667, 1, 1),
        2: RatingState(1_521_333, 1, 1),
        3: RatingState(1_436_000, 1, 1),
    }
    assert [(row.bot, row.before, row.after) for row in applied.bots] == [
        (bot, RatingState(START, 0, 1), applied.states[bot]) for bot in (1, 2, 3)
    ]


def test_two_bots_of_different_k_are_rated_as_computed_by_hand() -> None:
    before = {1: RatingState(1_600_000, 25, 1), 2: RatingState(1_400_000, 3, 1)}
    applied = apply_round(before, Round([block(0, (1, 2), (2, 1))]))
    # p12 = 1 / (1 + 10^(-200/400)) = 0.759746927 and s12 = 1/2, n = 2, K 32 and 128:
    # d = 1000 * (32 + 128) / 2 / 1 * (0.5 - 0.759746927) = 80000 * -0.259746927 = -20779.754
    assert applied.blocks == (BlockEntry(0, 1, -20_780), BlockEntry(0, 2, 20_780))
    assert applied.states == {1: RatingState(1_579_220, 26, 1), 2: RatingState(1_420_780, 4, 1)}


def test_all_blocks_of_a_round_use_the_ratings_and_k_at_its_start() -> None:
    before = {1: RatingState(START, 9, 1), 2: RatingState(START, 9, 1)}
    blocks = [block(number, (1, 2), (1, 2)) for number in range(MAX_BLOCKS)]
    applied = apply_round(before, Round(blocks))
    # Each block: 1000 * 128 * (1 - 1/2), though the counter passes 10 and the ratings part.
    assert [row.delta for row in applied.blocks] == MAX_BLOCKS * [64_000, -64_000]
    assert applied.states[1] == RatingState(START + MAX_BLOCKS * 64_000, 13, 1)


def test_a_forfeited_seat_loses_to_all_other_seats() -> None:
    # Places as `rated_places` gives them: seat 0 had won, and forfeited.
    result = MatchResult((1, 2, 3), (3, 1, 2))
    applied = apply_round({}, Round([Block(0, {1: 1, 2: 1, 3: 1}, 3 * [result])]))
    assert [row.delta for row in applied.blocks] == [-64_000, 64_000, 0]


@given(histories)
def test_the_sum_of_ratings_is_the_start_times_the_number_of_bots(history: list[Round]) -> None:
    rated: set[int] = set()
    for finished, applied in zip(history, fold(history), strict=True):
        for played in finished.blocks:
            if played.rated and not played.void:
                rated.update(played.versions)
                rows = [row for row in applied.blocks if row.block == played.number]
                assert {row.bot for row in rows} == set(played.versions)
                assert sum(row.delta for row in rows) == 0
        assert set(applied.states) == rated
        assert sum(s.rating for s in applied.states.values()) == START * len(rated)


@given(histories, luck)
def test_the_order_of_the_blocks_in_a_round_has_no_effect(
    history: list[Round], rng: Random
) -> None:
    mixed = [replace(r, blocks=rng.sample(list(r.blocks), len(r.blocks))) for r in history]
    assert list(fold(mixed)) == list(fold(history))


@given(histories, st.integers(0, 5))
def test_a_recomputed_ladder_equals_the_incremental_one(history: list[Round], done: int) -> None:
    states: dict[int, RatingState] = {}
    one_by_one = []
    for finished in history:
        one_by_one.append(apply_round(states, finished))
        states = dict(one_by_one[-1].states)
    assert list(fold(history)) == one_by_one
    assert (
        list(fold(history[done:], last([AppliedRound({}, (), ()), *one_by_one[:done]])))
        == (one_by_one[done:])
    )


@given(histories)
def test_the_ledger_explains_each_rating(history: list[Round]) -> None:
    before: dict[int, RatingState] = {}
    for applied in fold(history):
        changed = {row.bot for row in applied.bots}
        assert {row.bot for row in applied.blocks} == changed
        for row in applied.bots:
            assert row.before.rating == before.get(row.bot, row.before).rating
            deltas = [entry.delta for entry in applied.blocks if entry.bot == row.bot]
            assert row.after.rating == row.before.rating + sum(deltas)
            assert row.after.blocks == row.before.blocks + len(deltas)
            assert row.after == applied.states[row.bot]
        assert all(before[bot] == applied.states[bot] for bot in before if bot not in changed)
        before = dict(applied.states)


@given(histories, st.permutations(BOTS))
def test_renaming_the_bots_renames_their_ratings_and_has_no_other_effect(
    history: list[Round], names: list[int]
) -> None:
    new = dict(zip(BOTS, names, strict=True))

    def rename(played: Block) -> Block:
        return replace(
            played,
            versions={new[bot]: version for bot, version in played.versions.items()},
            results=[
                replace(result, seating=tuple(new[bot] for bot in result.seating))
                for result in played.results
            ],
        )

    renamed = [replace(r, blocks=[rename(played) for played in r.blocks]) for r in history]
    expected = {new[bot]: standing for bot, standing in last(list(fold(history))).items()}
    assert last(list(fold(renamed))) == expected


# -- What counts, versions, errors -----------------------------------------------------------


def test_void_and_unrated_blocks_rate_nobody() -> None:
    orders = ((1, 2), (1, 2))
    blocks = [block(0, *orders, void=True), block(1, *orders, rated=False, version=2)]
    assert apply_round({}, Round(blocks)) == AppliedRound({}, (), ())
    before = {1: RatingState(START, 30, 1)}
    assert apply_round(before, Round(blocks)).states == before


def test_the_results_of_a_void_block_are_ignored() -> None:
    unfinished = Block(0, {1: 1, 2: 1, 3: 1}, [MatchResult((1, 2, 3), (1, 2, 3))], void=True)
    assert apply_round({}, Round([unfinished])).states == {}


@pytest.mark.parametrize(("counter", "kept"), [(0, 0), (7, 7), (10, 10), (11, 10), (500, 10)])
def test_a_new_version_keeps_the_rating_and_sets_the_counter_back_to_10(
    counter: int, kept: int
) -> None:
    before = {1: RatingState(START, counter, 1), 2: RatingState(START, 10, 2)}
    applied = apply_round(before, Round([block(0, (1, 2), (1, 2), version=2)]))
    assert applied.bots[0].before == RatingState(START, kept, 2)
    assert applied.states[1].blocks == kept + 1
    # The K of the counter set back: 1000 * (K_1 + 64) / 2 * (1 - 1/2).
    assert applied.blocks[0].delta == 250 * (KSchedule().k(kept) + 64)


def test_each_change_of_version_sets_the_counter_back_once_even_to_an_older_version() -> None:
    later = Round([block(0, (1, 2), (1, 2), version=2)])
    earlier = Round([block(0, (1, 2), (1, 2), version=1)])
    before = {1: RatingState(START, 30, 1), 2: RatingState(START, 30, 1)}
    applied = list(fold([later, later, earlier, earlier], before))
    assert [one.states[1].blocks for one in applied] == [11, 12, 11, 12]
    assert [one.states[1].version for one in applied] == [2, 2, 1, 1]


@pytest.mark.parametrize("versions", [(1, 2), (2, 1)])
def test_two_versions_of_a_bot_in_a_round_set_its_counter_back_once(
    versions: tuple[int, int],
) -> None:
    before = {1: RatingState(START, 30, 1), 2: RatingState(START, 30, 2)}
    blocks = [block(b, (1, 2), (2, 1), version=version) for b, version in enumerate(versions)]
    assert apply_round(before, Round(blocks)).states == {
        1: RatingState(START, 12, 2),
        2: RatingState(START, 32, 2),
    }


def test_a_ladder_may_have_another_schedule() -> None:
    schedule = KSchedule(steps=((5, 40),), settled=10, new_version_blocks=2)
    before = {1: RatingState(START, 5, 1), 2: RatingState(START, 5, 1)}
    applied = apply_round(before, Round([block(0, (1, 2), (1, 2))], schedule))
    assert applied.blocks[0].delta == 1000 * 10 // 2
    again = apply_round(before, Round([block(0, (1, 2), (1, 2), version=2)], schedule))
    assert again.blocks[0].delta == 1000 * 40 // 2
    assert again.states[1].blocks == 3


def test_ratings_with_a_wrong_sum_are_refused() -> None:
    wrong = {1: RatingState(START + 1, 5, 1), 2: RatingState(START, 5, 1)}
    message = "2 bots have 3000001 milli-Elo together, not 3000000"
    with pytest.raises(ZeroSumError, match=message):
        apply_round(wrong, Round([block(0, (1, 2), (1, 2))]))
    with pytest.raises(ZeroSumError):
        apply_round(wrong, Round([]))


def test_an_incomplete_rated_block_is_refused() -> None:
    with pytest.raises(ValueError, match="block 6 needs 2 matches of bots"):
        apply_round({}, Round([block(6, (1, 2))]))
    stranger = Block(6, {1: 1, 3: 1}, block(6, (1, 2), (1, 2)).results)
    with pytest.raises(ValueError, match="block 6 needs 2 matches of bots"):
        apply_round({}, Round([stranger]))
    with pytest.raises(ValueError, match="there are no matches"):
        apply_round({}, Round([Block(6, {}, [])]))


def test_two_blocks_of_a_round_with_one_number_are_refused() -> None:
    with pytest.raises(ValueError, match="two blocks of one round have the number 0"):
        apply_round({}, Round(2 * [block(0, (1, 2), (1, 2))]))
