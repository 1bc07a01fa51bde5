from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rating.results import (
    MatchResult,
    half_points,
    pair_results,
    rated_places,
    win_share,
)

tables = st.lists(st.integers(1, 10**9), min_size=2, max_size=8, unique=True)
place_lists = st.lists(st.integers(0, 9), min_size=2, max_size=8).map(
    lambda scores: [1 + sum(other > score for other in scores) for score in scores]
)
"""Places as a record has them."""


@pytest.mark.parametrize(("place", "other", "taken"), [(1, 3, 2), (2, 2, 1), (4, 1, 0)])
def test_a_better_place_scores_two_half_points_and_a_tied_place_one(
    place: int, other: int, taken: int
) -> None:
    assert half_points(place, other) == taken
    assert half_points(other, place) == 2 - taken


@pytest.mark.parametrize(("halves", "pairs", "share"), [(0, 3, 0.0), (3, 2, 0.75), (4, 2, 1.0)])
def test_the_win_share_counts_a_win_as_one_and_a_tie_as_half(
    halves: int, pairs: int, share: float
) -> None:
    assert win_share(halves, pairs) == share


@pytest.mark.parametrize(
    ("places", "forfeited", "rated"),
    [
        ([2, 3, 1, 4], [], (2, 3, 1, 4)),
        ([2, 3, 1, 4], [2], (1, 2, 4, 3)),
        ([2, 3, 1, 4], [2, 3], (1, 2, 3, 3)),
        ([1, 1, 3, 3], [0], (4, 1, 2, 2)),
        ([1, 2, 2, 2], [1, 2], (1, 3, 3, 2)),
        ([1, 2, 3], [0, 1, 2], (1, 1, 1)),
    ],
)
def test_forfeited_seats_are_placed_last_and_the_others_move_up(
    places: list[int], forfeited: list[int], rated: tuple[int, ...]
) -> None:
    assert rated_places(places, forfeited) == rated


@given(place_lists, st.sets(st.integers(0, 7)))
def test_a_forfeit_changes_nothing_between_the_others(places: list[int], seats: set[int]) -> None:
    forfeited = {seat for seat in seats if seat < len(places)}
    rated = rated_places(places, forfeited)
    others = [seat for seat in range(len(places)) if seat not in forfeited]
    for a in range(len(places)):
        assert rated[a] == 1 + sum(place < rated[a] for place in rated)
        if a in forfeited:
            assert rated[a] == len(others) + 1
    for a, b in permutations(others, 2):
        assert (rated[a] < rated[b]) == (places[a] < places[b])


def test_without_forfeits_rated_places_equal_the_places_of_the_record() -> None:
    assert rated_places((1, 1, 3, 4), ()) == (1, 1, 3, 4)


def test_a_forfeit_of_a_seat_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="seat 3 forfeited, but there are 3 seats"):
        rated_places((1, 2, 3), [3])


def test_pair_results_are_the_mean_of_win_tie_and_loss() -> None:
    results = [
        MatchResult((7, 8, 9), (1, 2, 3)),
        MatchResult((8, 9, 7), (1, 3, 1)),
        MatchResult((9, 7, 8), (1, 3, 2)),
    ]
    s = pair_results(results)
    assert s[7, 8] == Fraction(1, 3) * (1 + Fraction(1, 2) + 0) == Fraction(1, 2)
    assert s[7, 9] == Fraction(1, 3) * (1 + 1 + 0) == Fraction(2, 3)
    assert s[8, 9] == Fraction(1, 3) * (1 + 1 + 0) == Fraction(2, 3)
    assert len(s) == 6


@given(tables, st.data())
def test_the_two_results_of_a_pair_add_up_to_one(bots: list[int], data: st.DataObject) -> None:
    n = len(bots)
    results = [
        MatchResult(
            tuple(data.draw(st.permutations(bots))),
            tuple(data.draw(st.lists(st.integers(1, n), min_size=n, max_size=n))),
        )
        for _ in range(n)
    ]
    s = pair_results(results)
    for i, j in permutations(bots, 2):
        assert s[i, j] + s[j, i] == 1
        assert 0 <= s[i, j] <= 1
        assert (2 * n) % s[i, j].denominator == 0


def test_pair_results_of_matches_of_different_tables_are_refused() -> None:
    good = MatchResult((1, 2), (1, 2))
    with pytest.raises(ValueError, match="there are no matches"):
        pair_results([])
    with pytest.raises(ValueError, match="all matches must be of the bots"):
        pair_results([good, MatchResult((1, 3), (1, 2))])
    with pytest.raises(ValueError, match="2 seats need as many places"):
        pair_results([good, MatchResult((1, 2), (1,))])
    with pytest.raises(ValueError, match="sits twice"):
        pair_results([MatchResult((1, 1), (1, 2))])
