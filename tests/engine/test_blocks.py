import hashlib
import hmac
from collections import Counter
from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.blocks import (
    assign_labels,
    derive_block_seed,
    derive_deal_seed,
    plan_block,
    seat_orders,
)
from engine.deals import seeded_shuffle

SIZES = range(2, 9)

seeds = st.binary(min_size=32, max_size=32)
tables = st.lists(st.integers(1, 10**9), min_size=2, max_size=8, unique=True)


def feeds(rows: Sequence[Sequence[int]]) -> Counter[tuple[int, int]]:
    """How often who sits just before whom, in seats s and s+1."""
    return Counter((row[s], row[s + 1]) for row in rows for s in range(len(row) - 1))


# -- Seat orders -----------------------------------------------------------------------------


def test_known_seat_orders_are_rows_of_a_williams_square() -> None:
    assert seat_orders(4) == ((0, 1, 3, 2), (1, 2, 0, 3), (2, 3, 1, 0), (3, 0, 2, 1))
    assert seat_orders(5)[0] == (0, 1, 4, 2, 3)
    assert seat_orders(8)[0] == (0, 1, 7, 2, 6, 3, 5, 4)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("odd_repeat", [False, True])
def test_each_label_is_once_in_each_row_and_each_seat(n: int, odd_repeat: bool) -> None:
    rows = seat_orders(n, odd_repeat=odd_repeat)
    assert len(rows) == n
    assert all(sorted(row) == list(range(n)) for row in rows)
    assert all(sorted(seat) == list(range(n)) for seat in zip(*rows, strict=True))


@pytest.mark.parametrize("n", [2, 4, 6, 8])
def test_for_even_n_each_ordered_pair_of_neighbours_occurs_once_a_block(n: int) -> None:
    assert feeds(seat_orders(n)) == Counter(permutations(range(n), 2))
    assert seat_orders(n, odd_repeat=True) == seat_orders(n)


@pytest.mark.parametrize("n", [3, 5, 7])
def test_for_odd_n_each_ordered_pair_of_neighbours_occurs_twice_in_two_blocks(n: int) -> None:
    first, second = seat_orders(n), seat_orders(n, odd_repeat=True)
    assert second == tuple(row[::-1] for row in first)
    assert feeds(first + second) == Counter(2 * list(permutations(range(n), 2)))


@pytest.mark.parametrize("n", SIZES)
def test_no_bot_sits_before_the_same_neighbour_in_all_rows_even_around_the_table(n: int) -> None:
    rows = seat_orders(n)
    if n == 3:  # of three, either all rows of a Latin square turn one way, or it takes two blocks
        rows += seat_orders(n, odd_repeat=True)
    around = feeds([(*row, row[0]) for row in rows])
    assert n == 2 or max(around.values()) < len(rows)


@pytest.mark.parametrize("n", [-1, 0, 1, 9])
def test_a_table_with_fewer_than_two_or_more_than_eight_seats_is_refused(n: int) -> None:
    with pytest.raises(ValueError, match="2 to 8 seats"):
        seat_orders(n)


# -- Seeds and plans -------------------------------------------------------------------------


@given(seeds, st.integers(0, 10**6))
def test_block_and_deal_seeds_are_hmacs_of_their_numbers(seed: bytes, number: int) -> None:
    block = hmac.new(seed, f"block/{number}".encode(), hashlib.sha256).digest()
    deal = hmac.new(seed, f"deal/{number}".encode(), hashlib.sha256).digest()
    assert derive_block_seed(seed, number) == block
    assert derive_deal_seed(seed, number) == deal


@given(seeds, tables)
def test_labels_are_the_seeded_shuffle_of_the_bots_by_id(seed: bytes, bots: list[int]) -> None:
    order = list(range(len(bots)))
    seeded_shuffle(hmac.new(seed, b"seats", hashlib.sha256).digest())(0, order)
    assert assign_labels(seed, bots) == tuple(sorted(bots)[position] for position in order)


def test_the_plan_of_a_known_block_never_changes() -> None:
    plan = plan_block(bytes(range(32)), [11, 22, 33, 44], duplicate=False)
    assert [match.seating for match in plan.matches] == [
        (22, 11, 44, 33),
        (11, 33, 22, 44),
        (33, 44, 11, 22),
        (44, 22, 33, 11),
    ]


def test_every_order_of_the_bots_is_drawn_about_equally_often() -> None:
    drawn = Counter(assign_labels(derive_block_seed(bytes(32), b), (1, 2, 3)) for b in range(6000))
    assert set(drawn) == set(permutations((1, 2, 3)))
    assert all(abs(times - 1000) < 150 for times in drawn.values())


@given(seeds, tables, st.booleans(), st.booleans())
def test_each_bot_sits_in_each_seat_once(
    seed: bytes, bots: list[int], duplicate: bool, odd_repeat: bool
) -> None:
    plan = plan_block(seed, bots, duplicate=duplicate, odd_repeat=odd_repeat)
    assert [match.index for match in plan.matches] == list(range(len(bots)))
    for seat in zip(*(match.seating for match in plan.matches), strict=True):
        assert sorted(seat) == sorted(bots)


def test_labels_of_other_bots_are_refused() -> None:
    with pytest.raises(ValueError, match="not of the bots"):
        plan_block(bytes(32), [1, 2, 3], duplicate=True, odd_repeat=True, labels=(1, 2, 4))


@given(seeds, seeds, tables, st.booleans())
def test_only_an_odd_repeat_takes_over_the_labels_of_the_block_before(
    seed: bytes, second: bytes, bots: list[int], odd_repeat: bool
) -> None:
    before = assign_labels(seed, bots)
    plan = plan_block(second, bots, duplicate=True, odd_repeat=odd_repeat, labels=before)
    takes_over = odd_repeat and len(bots) % 2 == 1
    assert plan.bots == (before if takes_over else assign_labels(second, bots))


@given(seeds, seeds, tables)
def test_each_bot_sits_before_each_other_once_or_for_odd_n_twice_in_two_blocks(
    seed: bytes, second: bytes, bots: list[int]
) -> None:
    plan = plan_block(seed, bots, duplicate=True)
    met = feeds([match.seating for match in plan.matches])
    if len(bots) % 2 == 0:
        assert met == Counter(permutations(bots, 2))
    else:
        again = plan_block(second, bots, duplicate=True, odd_repeat=True, labels=plan.bots)
        met += feeds([match.seating for match in again.matches])
        assert met == Counter(2 * list(permutations(bots, 2)))


@given(seeds, tables)
def test_a_duplicate_block_has_one_deal_and_other_blocks_have_one_deal_per_match(
    seed: bytes, bots: list[int]
) -> None:
    duplicate = plan_block(seed, bots, duplicate=True)
    independent = plan_block(seed, bots, duplicate=False)
    deals = [hmac.digest(seed, b"deal/%d" % m, "sha256") for m in range(len(bots))]
    assert [match.deal_seed for match in duplicate.matches] == len(bots) * deals[:1]
    assert [match.deal_seed for match in independent.matches] == deals
    assert [m.seating for m in duplicate.matches] == [m.seating for m in independent.matches]


@given(seeds, tables)
def test_the_order_of_the_bots_has_no_effect_on_the_plan(seed: bytes, bots: list[int]) -> None:
    plan = plan_block(seed, bots, duplicate=True)
    assert plan_block(seed, bots[::-1], duplicate=True) == plan
    assert plan_block(seed, set(bots), duplicate=True) == plan


def test_the_repr_of_a_plan_contains_no_deal_seed() -> None:
    plan = plan_block(bytes(32), [1, 2, 3], duplicate=True)
    assert repr(plan.matches[0].deal_seed) not in repr(plan)


def test_a_bot_that_sits_twice_at_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match="sits twice"):
        plan_block(bytes(32), [1, 2, 1], duplicate=True)


@pytest.mark.parametrize("seed", [b"", bytes(31), bytes(33)])
def test_a_seed_of_another_length_is_refused(seed: bytes) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        derive_block_seed(seed, 0)
    with pytest.raises(ValueError, match="32 bytes"):
        plan_block(seed, [1, 2], duplicate=True)


def test_a_negative_block_or_deal_is_refused() -> None:
    with pytest.raises(ValueError, match="a block number starts at 0"):
        derive_block_seed(bytes(32), -1)
    with pytest.raises(ValueError, match="a deal number starts at 0"):
        derive_deal_seed(bytes(32), -1)
