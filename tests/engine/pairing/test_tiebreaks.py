import tracemalloc
from fractions import Fraction
from itertools import combinations, pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.games.game import places
from engine.pairing import EventStanding, TieBreak, rank_entrants
from engine.rating.results import MatchResult
from tests.engine.pairing.fields import SEED, seeds

F = Fraction


def match(*points: tuple[int, int]) -> MatchResult:
    """Return a match of bots and their points, seat by seat."""
    scores = tuple(score for _, score in points)
    return MatchResult(tuple(bot for bot, _ in points), places(scores), scores)


def duel(winner: int, loser: int) -> list[MatchResult]:
    return [match((winner, 1), (loser, 0)), match((loser, 0), (winner, 1))]


def draw(a: int, b: int) -> list[MatchResult]:
    return [match((a, 1), (b, 1))]


def order(rows: list[EventStanding]) -> list[int]:
    return [row.bot for row in rows]


def by_bot(rows: list[EventStanding]) -> dict[int, EventStanding]:
    return {row.bot: row for row in rows}


@st.composite
def events(draw: st.DrawFn) -> tuple[list[int], list[list[MatchResult]]]:
    bots = draw(st.lists(st.integers(0, 99), unique=True, min_size=2, max_size=8))
    luck = draw(st.randoms(use_true_random=False))
    blocks = []
    for _ in range(draw(st.integers(0, 6))):
        table = luck.sample(bots, luck.randint(2, len(bots)))
        blocks.append(
            [
                match(*((bot, luck.randrange(3)) for bot in luck.sample(table, len(table))))
                for _ in table
            ]
        )
    return bots, blocks


@given(events(), seeds)
def test_rows_are_sorted_by_their_numbers_and_name_the_deciding_tie_break(
    event: tuple[list[int], list[list[MatchResult]]], seed: bytes
) -> None:
    bots, blocks = event
    rows = rank_entrants(bots, blocks, seed)
    assert sorted(order(rows)) == sorted(bots)
    assert [row.rank for row in rows] == list(range(1, len(bots) + 1))
    assert rows[0].decided_by is None
    for above, row in pairwise(rows):
        pairs = list(zip(TieBreak, above.numbers, row.numbers, strict=True))
        decided, more, less = next(pair for pair in pairs if pair[1] != pair[2])
        assert row.decided_by == decided
        assert more is not None
        assert less is not None
        assert more > less


@given(events(), seeds, st.randoms())
def test_the_order_of_entrants_and_blocks_has_no_effect(
    event: tuple[list[int], list[list[MatchResult]]], seed: bytes, luck: Random
) -> None:
    bots, blocks = event
    turned = rank_entrants(luck.sample(bots, len(bots)), luck.sample(blocks, len(blocks)), seed)
    assert turned == rank_entrants(bots, blocks, seed)


@given(events(), seeds)
def test_the_win_shares_of_a_block_add_up_to_half_its_bots(
    event: tuple[list[int], list[list[MatchResult]]], seed: bytes
) -> None:
    bots, blocks = event
    rows = rank_entrants(bots, blocks, seed)
    seats = sum(len(block[0].seating) for block in blocks)
    assert sum(row.score for row in rows) == F(seats, 2)
    assert sum(row.blocks for row in rows) == seats
    assert sum(row.matches for row in rows) == sum(len(block) ** 2 for block in blocks)


def test_the_score_comes_first() -> None:
    rows = rank_entrants([1, 2, 3], [[match((1, 5), (2, 3), (3, 1))]], SEED)
    assert [(row.bot, row.score) for row in rows] == [(1, 1), (2, F(1, 2)), (3, 0)]
    assert [row.decided_by for row in rows] == [None, TieBreak.SCORE, TieBreak.SCORE]


def test_equal_scores_are_ranked_by_head_to_head() -> None:
    blocks = [duel(2, 1), duel(1, 3), duel(4, 2), duel(4, 3)]
    rows = by_bot(rank_entrants([1, 2, 3, 4], blocks, SEED))
    assert rows[1].score == rows[2].score == 1
    assert [rows[bot].head_to_head for bot in (1, 2)] == [0, 1]
    assert (rows[2].rank, rows[1].rank, rows[1].decided_by) == (2, 3, TieBreak.HEAD_TO_HEAD)
    assert rows[4].head_to_head is None


def test_head_to_head_counts_the_mean_of_several_meetings() -> None:
    blocks = [duel(1, 2), duel(1, 2), duel(2, 3), duel(2, 4)]
    rows = by_bot(rank_entrants([1, 2, 3, 4], blocks, SEED))
    assert [rows[bot].head_to_head for bot in (1, 2)] == [1, 0]


def test_head_to_head_counts_only_if_all_entrants_with_that_score_have_met() -> None:
    blocks = [duel(1, 2), duel(2, 4), duel(3, 4)]
    rows = by_bot(rank_entrants([1, 2, 3, 4], blocks, SEED))
    assert [rows[bot].score for bot in (1, 2, 3)] == [1, 1, 1]
    assert [rows[bot].head_to_head for bot in (1, 2, 3)] == [None, None, None]


def test_in_a_knockout_head_to_head_compares_entrants_with_the_same_result() -> None:
    blocks = [duel(1, 2), duel(2, 4), duel(3, 4)]
    reached = {1: (1, 2), 2: (1, 2), 3: (2, 2), 4: (1, 2)}
    rows = by_bot(rank_entrants([1, 2, 3, 4], blocks, SEED, knockout_results=reached))
    assert [rows[bot].score for bot in (1, 2, 3)] == [1, 1, 1]
    # 3 has the same score, but came further, so that it never met them is nothing to them.
    assert [rows[bot].head_to_head for bot in (1, 2, 3)] == [1, 0, None]
    assert rows[2].decided_by == TieBreak.HEAD_TO_HEAD


def test_a_large_tied_group_is_ranked_quickly() -> None:
    blocks = [draw(bot, bot + 1) for bot in range(0, 1000, 2)]
    tracemalloc.start()
    rows = rank_entrants(range(1000), blocks, SEED)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert {row.head_to_head for row in rows} == {None}
    assert most < 10_000_000  # a million pairs would take ten times that


def test_buchholz_is_the_mean_score_of_opponents_less_the_lowest() -> None:
    blocks = [duel(1, bot) for bot in (2, 3, 4)] + [duel(2, 3), duel(2, 4), duel(3, 4)]
    rows = by_bot(rank_entrants([1, 2, 3, 4], blocks, SEED))
    assert rows[1].buchholz == F(2 + 1, 2)
    assert rows[4].buchholz == F(3 + 2, 2)


def test_an_opponent_met_twice_counts_once_in_buchholz() -> None:
    blocks = [duel(1, 2), duel(1, 2), duel(1, 3), duel(3, 2)]
    assert by_bot(rank_entrants([1, 2, 3], blocks, SEED))[1].buchholz == 1


def test_buchholz_of_a_single_opponent_is_its_score_and_of_none_is_0() -> None:
    rows = by_bot(rank_entrants([1, 2, 3], [duel(1, 2)], SEED))
    assert [rows[bot].buchholz for bot in (1, 2, 3)] == [0, 1, 0]


def test_buchholz_decides_between_equal_scores_that_never_met() -> None:
    # 1 beat 3, who beat 5 and 6; 2 beat 4, who beat nobody.
    blocks = [duel(1, 3), duel(2, 4), duel(3, 5), duel(3, 6)]
    rows = by_bot(rank_entrants([1, 2, 3, 4, 5, 6], blocks, SEED))
    assert (rows[1].rank, rows[2].rank) == (2, 3)
    assert rows[2].decided_by == TieBreak.BUCHHOLZ


def test_sonneborn_berger_is_the_sum_of_pair_results_times_the_opponents_score() -> None:
    blocks = [duel(1, 2), draw(1, 3), duel(2, 3), duel(2, 4)]
    rows = by_bot(rank_entrants([1, 2, 3, 4], blocks, SEED))
    assert rows[1].sonneborn_berger == 1 * 2 + F(1, 2) * F(1, 2)
    assert rows[3].sonneborn_berger == F(1, 2) * F(3, 2)


def test_sonneborn_berger_decides_after_buchholz() -> None:
    # 1 and 2 met the same four: 1 beat those with 3 points, 2 those with 1.
    strong, weak = (3, 4), (5, 6)
    blocks = [duel(1, s) for s in strong] + [duel(w, 1) for w in weak]
    blocks += [duel(s, 2) for s in strong] + [duel(2, w) for w in weak]
    blocks += [draw(1, 2)] + [duel(s, w) for s in strong for w in weak]
    rows = by_bot(rank_entrants([1, 2], blocks, SEED))
    assert rows[1].numbers[:3] == rows[2].numbers[:3]
    assert (rows[1].sonneborn_berger, rows[2].sonneborn_berger) == (F(29, 4), F(13, 4))
    assert (rows[2].rank, rows[2].decided_by) == (2, TieBreak.SONNEBORN_BERGER)


def test_outright_wins_decide_before_points_and_a_tied_first_place_is_no_win() -> None:
    won = [match((1, 9), (2, 5)), match((1, 4), (2, 7))]
    drawn = [match((3, 8), (4, 8)), match((3, 7), (4, 7))]
    rows = by_bot(rank_entrants([1, 2, 3, 4], [won, drawn], SEED))
    assert [rows[bot].wins for bot in (1, 2, 3, 4)] == [1, 1, 0, 0]
    assert [rows[bot].mean_points for bot in (1, 2, 3)] == [F(13, 2), 6, F(15, 2)]
    assert [rows[bot].rank for bot in (1, 2)] == [1, 2]
    assert rows[2].decided_by == TieBreak.MEAN_POINTS
    assert {rows[3].rank, rows[4].rank} == {3, 4}
    decided = {row.rank: row.decided_by for row in rows.values()}
    assert (decided[3], decided[4]) == (TieBreak.WINS, TieBreak.LOT)


def test_the_lot_is_drawn_from_the_seed_for_each_bot_alone() -> None:
    rows = by_bot(rank_entrants(range(10), [], SEED))
    assert len({row.lot for row in rows.values()}) == 10
    assert by_bot(rank_entrants([3], [], SEED))[3].lot == rows[3].lot
    assert order(rank_entrants(range(10), [], bytes(32))) != order(
        rank_entrants(range(10), [], SEED)
    )


def test_the_award_for_a_bye_counts_for_the_opponents_too() -> None:
    rows = by_bot(rank_entrants([1, 2, 3], [duel(1, 2)], SEED, awarded={2: F(1), 3: F(1)}))
    assert [rows[bot].score for bot in (1, 2, 3)] == [1, 1, 1]
    assert rows[1].buchholz == 1


def test_bots_without_a_row_count_as_opponents() -> None:
    rows = rank_entrants([1, 2], [duel(1, 9), duel(9, 2), duel(9, 1)], SEED)
    assert order(rows) == [1, 2]
    assert rows[1].buchholz == 2


def test_a_round_robin_with_all_matches_tied_is_decided_by_lot() -> None:
    rows = rank_entrants(range(4), [draw(a, b) for a, b in combinations(range(4), 2)], SEED)
    assert [row.decided_by for row in rows] == [None] + [TieBreak.LOT] * 3


def test_a_block_without_matches_is_refused() -> None:
    with pytest.raises(ValueError, match="there are no matches"):
        rank_entrants([1], [[]], SEED)
