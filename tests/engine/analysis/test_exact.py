"""Exact results against a brute force that is written apart from the engine's analysis."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import pytest

from engine.analysis import exact
from engine.analysis.decisions import judge
from engine.games.game import State
from engine.games.partridge import Partridge
from engine.games.partridge_moves import ACTION, LOW, SIZE
from engine.games.twelve_days import TwelveDays
from engine.playouts import evaluate, play, rule_of_thumb
from engine.playouts.policies import PartridgeTable, TwelveDaysTable
from tests.engine.tables import no_shuffle, partridge


def last_day(hands: Sequence[Sequence[int]], deck: Sequence[int], points: Sequence[int]) -> Any:
    """Return a match of 8 Nights on its last day, before the plays."""
    state = TwelveDays(
        TwelveDays.presets["eight-nights"], [list(hand) for hand in hands], list(deck), no_shuffle
    )
    state.day, state.first_in_pot, state.points = 8, 7, list(points)
    state.gives = tuple([hand[0] for hand in hands])
    state._decide_together("play")
    return state


def share(scores: Sequence[int], seat: int) -> Fraction:
    others = [score for other, score in enumerate(scores) if other != seat]
    halves = sum(2 * (scores[seat] > other) + (scores[seat] == other) for other in others)
    return Fraction(halves, 2 * len(others))


def both(scores: Sequence[int]) -> list[Fraction]:
    """Return the win shares of all seats, and after these their shares of the first place."""
    winners = [seat for seat, score in enumerate(scores) if score == max(scores)]
    seats = range(len(scores))
    firsts = [Fraction(seat in winners, len(winners)) for seat in seats]
    return [*(share(scores, seat) for seat in seats), *firsts]


def by_hand(
    hands: Sequence[Sequence[int]], plays: Sequence[int], drawn: Sequence[int], points: list[int]
) -> list[Fraction]:
    """Return `both` by the rules of the last day: pot of 7 and 8, then majorities."""
    scores = list(points)
    alone = [rank for rank in plays if list(plays).count(rank) == 1]
    if alone:
        scores[list(plays).index(min(alone))] += 15
    left = []
    for hand, play_, card in zip(hands, plays, drawn, strict=True):
        counts = Counter(hand)
        counts[play_] -= 1
        counts[card] += 1
        left.append(counts)
    for rank in range(1, 9):
        most = max(counts[rank] for counts in left)
        for seat, counts in enumerate(left):
            if most and counts[rank] == most:
                scores[seat] += rank
    return both(scores)


def table_chances(
    table: TwelveDaysTable, hand: Sequence[int], day: int, stake: int
) -> dict[int, Fraction]:
    """Return the probability of each rank that the table plays from a hand."""
    counts = Counter(hand)
    found: Counter[int] = Counter()
    for taste in table.taste:
        worth = {
            rank: stake * table.at_stake[13 + rank]
            + table.on_day[day - 1][13 + rank]
            + table.held[min(counts[rank], 4) - 1][13 + rank]
            + taste[13 + rank]
            for rank in counts
        }
        best = max(worth.values())
        found[min(rank for rank, value in worth.items() if value == best)] += 1
    return {rank: Fraction(times, 16) for rank, times in found.items()}


HANDS = [[1, 1, 2, 2, 3, 3, 8, 8], [4, 4, 4, 5, 5, 5, 8, 8], [6, 6, 6, 7, 7, 7, 8, 8]]
DECK = [8, 5, 5, 7]
POINTS = [3, 8, 9]


def test_the_last_day_has_the_value_of_all_plays_and_all_draws() -> None:
    policy = rule_of_thumb("twelve-days", "eight-nights")
    assert isinstance(policy, TwelveDaysTable)
    wanted = [Fraction(0)] * 6
    each = [table_chances(policy, hand, 8, 15) for hand in HANDS]
    orders = list(permutations(DECK, 3))
    for plays in product(*each):
        chance = each[0][plays[0]] * each[1][plays[1]] * each[2][plays[2]]
        for drawn in orders:
            found = by_hand(HANDS, plays, drawn, POINTS)
            wanted = [
                old + chance / len(orders) * new for old, new in zip(wanted, found, strict=True)
            ]
    exactly = exact.expected(last_day(HANDS, DECK, POINTS), policy)
    assert exactly == pytest.approx([float(value) for value in wanted])


def test_the_draws_of_the_last_day_are_enumerated_in_a_new_deck_too() -> None:
    policy = rule_of_thumb("twelve-days", "eight-nights")
    state = last_day(HANDS, [5], POINTS)
    state.discards = [1, 7, 7]
    plays = (3, 4, 6)
    wanted = [Fraction(0)] * 6
    pile = [1, 7, 7, *plays]
    orders = list(permutations(pile, 2))
    for drawn in orders:
        found = by_hand(HANDS, plays, [5, *drawn], POINTS)
        wanted = [old + new / len(orders) for old, new in zip(wanted, found, strict=True)]
    actions = {seat: 13 + rank for seat, rank in enumerate(plays)}
    exactly = exact.expected_after(state, actions, policy)
    assert exactly == pytest.approx([float(value) for value in wanted])


def test_playouts_approach_the_exact_value_of_the_last_day() -> None:
    policy = rule_of_thumb("twelve-days", "eight-nights")
    state = last_day(HANDS, DECK[:3], POINTS)
    exactly = exact.expected(state, policy)
    assert exactly is not None
    halves, firsts = [0, 0, 0], [0, 0, 0]
    for number, order in enumerate(sorted(set(permutations(DECK[:3])))):
        state.deck = list(order)
        played = play(state, 1000, policy, number)
        halves = [old + new for old, new in zip(halves, played.half_points, strict=True)]
        firsts = [old + new for old, new in zip(firsts, played.firsts, strict=True)]
    sampled = [half / 3000 / 4 for half in halves] + [first / 3000 / 840 for first in firsts]
    assert sampled == pytest.approx(exactly, abs=0.03)


def last_round(hands: Sequence[Sequence[int]], leader: int = 0) -> Partridge:
    state = partridge(hands, leader, "eagle-short")
    state.round = state.rules.rounds
    state.rounds_won = (0,) * (state.round - 1)
    return state


def ending(state: State, policy: PartridgeTable) -> list[Fraction]:
    """Return `both` of a last round, by the table's rule and the engine's steps."""
    assert isinstance(state, Partridge)
    if state.scores is not None:
        return both(state.scores)
    [seat] = state.actors
    moves: Counter[int] = Counter()
    for worth in policy.worth:
        best = max(state.legal(seat), key=lambda action: worth[action])
        if SIZE[best] == len(state.hand(seat)) and LOW[best] > state.best_low:
            best = 0
        moves[best] += 1
    found = [Fraction(0)] * (2 * state.seats)
    for move, times in moves.items():
        twin = state.copy()
        twin.step({seat: move})
        after = ending(twin, policy)
        found = [old + new * times / 16 for old, new in zip(found, after, strict=True)]
    return found


def test_a_short_ending_of_partridge_has_the_value_of_all_its_moves() -> None:
    policy = rule_of_thumb("partridge", "eagle-short")
    assert isinstance(policy, PartridgeTable)
    state = last_round([[3, 3], [2, 9], [4]])
    assert exact.expected(state, policy) == pytest.approx([float(x) for x in ending(state, policy)])


def test_a_decision_with_hidden_cards_weighs_every_deal() -> None:
    """Seat 0 holds 3 and 12; seat 1 holds one card, which can be any unseen one."""
    policy = rule_of_thumb("partridge", "eagle-short")
    assert isinstance(policy, PartridgeTable)
    state = last_round([[3, 12], [5]])
    seen = state.observe(0)
    unseen = Counter({rank: rank for rank in range(1, 13)}) - Counter([3, 12])
    found = exact.expected_of_moves(seen, policy)
    assert found is not None
    for text, value in found.items():
        wanted = Fraction(0)
        for card, copies in unseen.items():
            twin = last_round([[3, 12], [card]])
            twin.step({0: twin.parse(0, text)})
            wanted += ending(twin, policy)[0] * copies / unseen.total()
        assert value == pytest.approx(float(wanted)), text
    sampled = evaluate(seen, 2000, policy, seed=3)
    assert [each.pair_result for each in sampled] == pytest.approx(list(found.values()), abs=0.05)


def test_deals_of_hidden_cards_have_the_probability_of_single_cards() -> None:
    """Two hands of one card each from a 5, two 7s and an 8: 12 ways to deal single cards."""
    found: Counter[tuple[int, ...]] = Counter()
    for weight, dealt in exact._hands(Counter([5, 7, 7, 8]), [1, 1]):
        found[tuple(dealt)] += round(12 * weight)
    assert found == Counter(permutations([5, 7, 7, 8], 2))


def test_a_forced_win_is_found_and_its_miss_has_the_whole_loss() -> None:
    """Seat 0 leads its last cards, both 1s are out of reach: with the pair it wins the round."""
    policy = rule_of_thumb("partridge", "eagle-short")
    state = last_round([[2, 2], [9, 10]])
    judged = judge(state.observe(0), "play 2", policy, 80, seed=1)
    assert judged.is_exact
    assert judged.best == "play 2 2"
    assert judged.error == 0
    assert judged.results["play 2 2"] == 1
    wanted = 1 - judged.results["play 2"]
    assert judged.loss == pytest.approx(wanted)


def test_moves_with_the_same_result_lose_nothing() -> None:
    """Seat 0 is so far ahead that the last round can't change its result."""
    policy = rule_of_thumb("partridge", "eagle-short")
    state = last_round([[3, 5], [4, 6]])
    state.gifts = [6, 0]
    judged = judge(state.observe(0), "play 3", policy, 80, seed=1)
    assert judged.is_exact
    assert judged.loss == 0
    assert set(judged.results.values()) == {1}


def test_nothing_is_enumerated_before_the_last_day_or_round() -> None:
    policy = rule_of_thumb("partridge", "eagle-short")
    early = partridge([[3, 12], [5]], rules="eagle-short")
    assert exact.expected(early, policy) is None
    assert exact.expected_of_moves(early.observe(0), policy) is None
    assert ACTION[(3,)] in early.legal(0)
