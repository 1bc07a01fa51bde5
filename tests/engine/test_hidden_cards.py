"""Hidden cards stay hidden, and `sample` draws only states that fit the observation."""

import json
from collections import Counter
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.games.catalogue import view_from
from engine.games.game import State
from engine.games.partridge import Partridge
from engine.games.partridge_moves import cards_in as partridge_cards
from engine.games.partridge_moves import hand_of, ranks_held
from engine.games.twelve_days import TwelveDays
from engine.games.twelve_days_hidden import HandsKnown, known_hands
from engine.games.twelve_days_moves import cards_in as twelve_days_cards
from engine.games.twelve_days_past import Past
from tests.engine.tables import (
    CASES,
    move,
    partridge,
    play_day,
    played,
    start,
    trick,
    twelve_days,
)
from tests.engine.test_properties import matches, somewhere


def exchange_unseen(state: State, seat: int | None, rng: Random) -> State:
    """Deal again all cards that a seat, or with None a spectator, can't see."""
    twin = state.copy()
    others = [other for other in range(state.seats) if other != seat]
    if isinstance(twin, TwelveDays):
        rest = twin.deck[twin.top :]
        pool = [card for other in others for card in twelve_days_cards(twin.hands[other])] + rest
        rng.shuffle(pool)
        for other in others:
            size = sum(twin.hands[other])
            cards = [pool.pop() for _ in range(size)]
            twin.hands[other] = [cards.count(rank) for rank in range(13)]
            twin.masks[other] = sum(1 << rank for rank in set(cards))
        twin.deck = twin.deck[: twin.top] + pool

        def hide(ranks: tuple[int | None, ...], seen: set[int]) -> tuple[int | None, ...]:
            return tuple(r if s in seen else rng.randrange(13) for s, r in enumerate(ranks))

        own = set() if seat is None else {seat}
        gives = own if seat is None else {seat, (seat - 1) % state.seats}
        twin.gives = hide(twin.gives, gives)
        twin.chosen = {s: c for s, c in twin.chosen.items() if s in own}
        past: Past = None
        for day in twin.history:
            gave, drew = hide(day.gives, gives), hide(day.draws, own)
            past = (past, day.day, day.pot[0], day.plays, day.winner, day.to, gave, drew)
        twin.past = past
    elif isinstance(twin, Partridge):
        seen = Counter(partridge_cards(twin.discards))
        for action in twin.observe(0)["trick"]:
            seen.update(action["cards"])
        if seat is not None:
            seen.update(partridge_cards(twin.hands[seat]))
        pool = list((Counter({rank: rank for rank in range(1, 13)}) - seen).elements())
        rng.shuffle(pool)
        for other in others:
            twin.hands[other] = hand_of(pool.pop() for _ in range(twin.sizes[other]))
            twin.masks[other] = ranks_held(twin.hands[other])
    return twin


@given(matches)
def test_exchanging_unseen_cards_changes_no_byte_of_what_a_seat_sees(
    match: tuple[State, Random],
) -> None:
    state = somewhere(*match)
    for seat in range(state.seats):
        twin = exchange_unseen(state, seat, match[1])
        assert json.dumps(twin.observe(seat)) == json.dumps(state.observe(seat))


@given(matches)
def test_exchanging_unseen_cards_changes_no_byte_of_what_a_spectator_sees(
    match: tuple[State, Random],
) -> None:
    state = somewhere(*match)
    if not state.is_over:
        twin = exchange_unseen(state, None, match[1])
        assert json.dumps(twin.spectate()) == json.dumps(state.spectate())


@given(matches)
def test_a_spectator_sees_the_hands_when_the_match_is_over(match: tuple[State, Random]) -> None:
    state, rng = match
    *_, end = played(state, rng)
    hands = [end.observe(seat)["hand"] for seat in range(end.seats)]
    assert end.spectate()["hands"] == hands


@given(matches)
def test_in_a_sampled_state_the_seat_has_the_same_observation(match: tuple[State, Random]) -> None:
    state = somewhere(*match)
    for seat in range(state.seats):
        observation = json.loads(json.dumps(state.observe(seat)))
        sample = view_from(observation).sample(match[1])
        assert sample.observe(seat) == observation
        if isinstance(sample, TwelveDays) and not sample.is_over:
            assert sample.points == [sum(cards) for cards in observation["day_cards"]]
        assert sample.actors == tuple(s for s in range(state.seats) if s in sample.actors)
        assert (seat in sample.actors) == (seat in state.actors)
        if not isinstance(state, TwelveDays) or state.phase == "award":
            assert sample.actors == state.actors


@given(matches)
def test_a_sampled_state_holds_the_cards_of_the_deck_and_plays_on_to_the_end(
    match: tuple[State, Random],
) -> None:
    state = somewhere(*match)
    seat = match[1].randrange(state.seats)
    sample = state.view(seat).sample(match[1])
    if isinstance(sample, TwelveDays):
        cards = Counter(sample.deck[sample.top :]) + Counter(sample.discards)
        for hand in sample.hands:
            cards.update(twelve_days_cards(hand))
        if sample.phase == "award":
            cards.update(sample.plays)
        assert cards == Counter(sample.rules.deck())
    elif isinstance(sample, Partridge):
        assert [len(partridge_cards(hand)) for hand in sample.hands] == sample.sizes
        assert sample.masks == [ranks_held(hand) for hand in sample.hands]
    *_, end = played(sample, match[1])
    assert end.is_over


@given(matches)
def test_known_cards_always_fit_the_true_hands(match: tuple[State, Random]) -> None:
    state = somewhere(*match)
    if isinstance(state, TwelveDays):
        for seat in range(state.seats):
            known = known_hands(state.observe(seat), state.rules.deck())
            behind = [(seat + 1 + k) % state.seats for k in range(state.seats - 1)]
            held: Counter[int] = Counter()
            for k, other in enumerate(behind):
                held.update(twelve_days_cards(state.hands[other]))
                reach = [rank for rank in known.passing[: k + 1] if rank is not None]
                assert Counter(reach) <= held
            deck = Counter(state.deck[state.top :])
            assert held + deck == known.hidden
            assert Counter(known.passed()) + known.held <= held
    elif isinstance(state, Partridge):
        sample = state.view(0).sample(match[1])
        assert isinstance(sample, Partridge)
        for trick_ in state.history:
            for seat in trick_.returned:
                assert sample.hands[seat] == state.hands[seat]


def test_a_card_given_today_is_with_the_left_neighbour() -> None:
    state = twelve_days([[1], [2], [3]])
    move(state, ["give 1", "give 2", "give 3"])
    view = state.view(0)
    for seed in range(20):
        assert 1 in view.sample(Random(seed)).observe(1)["hand"]


def test_a_card_given_yesterday_is_in_another_hand_and_never_in_the_deck() -> None:
    state = twelve_days([[1], [2], [3], [4]])
    play_day(state, [12, 12, 12, 4], gives=[1, 2, 3, 12])
    view = state.view(0)
    assert all(1 in view.sample(Random(seed)).observe(1)["hand"] for seed in range(20))
    move(state, ["give 12", "give 12", "give 12", "give 12"])
    holders = {holder_of(1, state.view(0).sample(Random(seed))) for seed in range(60)}
    assert holders == {1, 2}


def holder_of(rank: int, state: State) -> int | None:
    for seat in range(state.seats):
        if rank in state.observe(seat)["hand"]:
            return seat
    return None


def test_a_given_card_is_forgotten_once_it_is_played() -> None:
    known = HandsKnown(3, Counter({5: 2, 6: 9}))
    known.give(4, 6)
    assert known.passing == [4, None]
    known.play(1, 4)  # not the given card, which is with seat 0
    assert known.passing == [4, None]
    known.play(0, 4)
    assert known.passing == [None, None]


def test_a_given_card_is_forgotten_once_it_comes_back_round_the_table() -> None:
    known = HandsKnown(2, Counter({6: 9}))
    known.give(4, 6)
    known.give(6, 6)
    assert (known.passing, known.held) == ([6], Counter({4: 1, 6: 0}))
    known.give(6, 4)
    assert known.held[4] == 0


def test_cards_in_hands_at_a_reshuffle_are_not_in_the_new_deck() -> None:
    known = HandsKnown(2, Counter({7: 3, 8: 1}))
    known.reshuffle(Counter({9: 4}))
    assert known.held == Counter({7: 3, 8: 1})
    assert known.hidden == Counter({7: 3, 8: 1, 9: 4})


def after_a_reshuffle(seed: int) -> TwelveDays:
    """Return a match just after the first reshuffle: each seat holds one card of the new deck."""
    state = start("twelve-days", "eight-nights", 4, seed=seed)
    rng = Random(seed)
    while state.observe(0)["day"] < 3:
        state.step({seat: rng.choice(state.legal(seat)) for seat in state.actors})
    assert isinstance(state, TwelveDays)
    return state


def test_cards_in_hands_at_a_reshuffle_are_not_in_a_sampled_deck() -> None:
    for seed in range(30):
        state = after_a_reshuffle(seed)
        sample = state.view(0).sample(Random(seed))
        assert isinstance(sample, TwelveDays)
        discarded = Counter(rank for day in state.history for rank in day.plays)
        assert Counter(sample.deck) <= discarded


def test_after_a_reshuffle_no_seat_holds_more_of_the_new_deck_than_it_drew() -> None:
    for seed in range(60):
        state = after_a_reshuffle(seed)
        known = known_hands(state.observe(0), state.rules.deck())
        sample = state.view(0).sample(Random(seed))
        hands = [sample.observe(seat)["hand"] for seat in (1, 2, 3)]
        new = Counter(card for hand in hands for card in hand) - known.held
        new -= Counter(known.passed())
        assert new.total() == 3
        one_of_each_hand = permutations(new.elements())
        assert any(
            all(card in hand for card, hand in zip(cards, hands, strict=True))
            for cards in one_of_each_hand
        )


def test_cards_of_a_new_deck_are_placed_only_where_draws_can_have_brought_them() -> None:
    known = HandsKnown(3, Counter({7: 2}))
    known.reshuffle(Counter({9: 2, 1: 1}))
    known.draw_unseen(0)
    known.draw_unseen(2)
    assert known.could_be([[7, 9], [], [7, 9]])
    assert known.could_be([[7, 1], [7], [9]])
    assert not known.could_be([[9, 9], [7], [7]])
    assert not known.could_be([[7], [9, 7], [9]])
    known.give(5, 7)  # the card of seat 0 may be with seat 1 now, the card of seat 2 is here
    assert known.could_be([[5], [9, 7], []])
    assert not known.could_be([[5], [9, 1], []])


@given(matches)
def test_a_bot_can_sample_from_an_observation_of_a_sampled_state(
    match: tuple[State, Random],
) -> None:
    state = somewhere(*match)
    sample = state.view(0).sample(match[1])
    for seat in range(state.seats):
        inner = sample.view(seat).sample(match[1])
        assert inner.observe(seat) == sample.observe(seat)
        *_, end = played(inner, match[1])
        assert end.is_over


def test_changing_an_observation_does_not_change_what_its_view_samples() -> None:
    view = twelve_days([[1], [2], [3]]).view(0)
    before = view.sample(Random(1)).spectate()
    view.observation()["hand"].clear()
    assert view.sample(Random(1)).spectate() == before


def test_every_unseen_card_can_be_on_top_of_a_sampled_deck() -> None:
    view = twelve_days([[12] * 12] * 3).view(0)
    rng = Random(2)
    draws = 2000
    tops: Counter[int] = Counter()
    for _ in range(draws):
        sample = view.sample(rng)
        assert isinstance(sample, TwelveDays)
        tops[sample.deck[0]] += 1
    for rank in range(13):
        share = (rank or 2) / 68 if rank < 12 else 0
        spread = 4 * (share * (1 - share) / draws) ** 0.5
        assert tops[rank] / draws == pytest.approx(share, abs=spread)


def test_every_unseen_card_is_as_likely_in_every_unseen_place() -> None:
    draws = 3000
    rng = Random(11)
    counts: Counter[int | None] = Counter()
    hidden = twelve_days([[12] * 12] * 3)
    view = hidden.view(0)
    for _ in range(draws):
        sample = view.sample(rng)
        counts[holder_of(1, sample)] += 1
    expected = {1: 12 / 68, 2: 12 / 68, None: 44 / 68}
    for place, share in expected.items():
        spread = 4 * (share * (1 - share) / draws) ** 0.5
        assert counts[place] / draws == pytest.approx(share, abs=spread)


def test_every_seat_sees_the_partridge_cards_taken_back() -> None:
    state = partridge([[11, 10, 9, 8, 7], [8, 7, 6, 12, 12, 12, 12], [12, 12, 12]])
    trick(state, "play 11 10 9 8 7", "play 8 7 6", "pass")
    sample = state.view(2).sample(Random(3))
    assert sample.observe(0)["hand"] == [7, 8, 9, 10, 11]
    trick(state, "play 12 12", "pass", "pass")
    trick(state, "play 12", "pass", "play 7")
    assert state.view(2).sample(Random(3)).observe(0)["hand"] == [8, 9, 10, 11]


def test_partridge_cards_out_of_the_round_are_as_likely_as_any() -> None:
    state = partridge([[12, 12], [11, 11], [10, 10]])
    counts: Counter[int | None] = Counter()
    draws = 2000
    rng = Random(5)
    for _ in range(draws):
        counts[holder_of(1, state.view(0).sample(rng))] += 1
    for place in (1, 2):
        share = 2 / 76
        spread = 4 * (share * (1 - share) / draws) ** 0.5
        assert counts[place] / draws == pytest.approx(share, abs=spread)


@given(st.sampled_from(CASES), st.integers(0, 1000))
def test_sampling_is_reproducible_from_its_random_numbers(
    case: tuple[str, str, int], seed: int
) -> None:
    view = start(*case, seed=seed).view(0)
    *_, first = played(view.sample(Random(seed)), Random(1))
    *_, second = played(view.sample(Random(seed)), Random(1))
    assert first.spectate() == second.spectate()
