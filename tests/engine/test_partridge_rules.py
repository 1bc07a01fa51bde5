"""The rules of partridge, sentence by sentence, and the worked examples of its rulebooks."""

import pytest

from engine.deals import seeded_shuffle
from engine.errors import IllegalMoveError, UnknownRulesError
from engine.games.partridge import Partridge
from tests.engine.tables import no_shuffle, partridge, start, trick

MANY = [12, 12, 12]
"""Spare cards, so that a round does not end."""


def test_rulebook_example_of_alvin_betty_carl_and_daniella() -> None:
    state = partridge([[11] * 4 + MANY, [8, 8, *MANY], [12, 12, 12], [3, 3, 4, 5]])
    trick(state, "play 11 11 11 11", "play 8 8")
    assert state.legal_texts(2) == ["pass"]  # Carl's 12s aren't low enough
    trick(state, "pass")
    assert "play 3 3" in state.legal_texts(3)
    trick(state, "pass")  # Daniella won't break her straight
    assert (state.phase, state.actors) == ("lead", (1,))


def test_rulebook_example_a_low_9_straight_may_be_answered_by_a_low_8_straight() -> None:
    state = partridge([[11, 10, 9, *MANY], [10, 9, 8, *MANY]])
    trick(state, "play 11 10 9")
    assert "play 10 9 8" in state.legal_texts(1)


def test_rulebook_example_a_low_6_straight_may_be_answered_by_5_4_3_2() -> None:
    state = partridge([[8, 7, 6, *MANY], [5, 4, 3, 2, *MANY]])
    trick(state, "play 8 7 6")
    assert "play 5 4 3 2" in state.legal_texts(1)


def test_rulebook_example_a_straight_of_five_from_6_to_2() -> None:
    state = partridge([[6, 5, 4, 3, 2, *MANY], MANY])
    assert "play 6 5 4 3 2" in state.legal_texts(0)


def test_rulebook_example_alvin_who_does_not_win_with_his_last_five_takes_them_back() -> None:
    state = partridge([[11, 10, 9, 8, 7], [8, 7, 6, *MANY]])
    trick(state, "play 11 10 9 8 7", "play 8 7 6")
    seen = state.observe(0)
    assert seen["hand"] == [7, 8, 9, 10, 11]
    assert seen["history"][0]["returned"] == [0]
    assert seen["discards"] == [6, 7, 8]
    assert state.leader == 1


def test_rulebook_example_had_alvin_kept_the_7_he_would_be_left_with_one_card() -> None:
    state = partridge([[11, 10, 9, 8, 7], [8, 7, 6, *MANY]])
    trick(state, "play 11 10 9 8", "play 8 7 6")
    assert state.observe(0)["hand"] == [7]
    assert state.observe(0)["history"][0]["returned"] == []


def test_a_leader_may_play_a_single_a_set_or_a_straight_and_not_pass() -> None:
    state = partridge([[3, 3, 3, 4, 5], MANY])
    assert state.legal_texts(0) == [
        "play 3",
        "play 4",
        "play 5",
        "play 3 3",
        "play 3 3 3",
        "play 4 3",
        "play 5 4 3",
        "play 5 4",
    ]


def test_a_single_is_answered_only_by_a_single_at_most_as_high() -> None:
    state = partridge([[4, *MANY], [2, 2, 3, 4, 5]])
    trick(state, "play 4")
    assert state.legal_texts(1) == ["pass", "play 2", "play 3", "play 4"]


def test_a_set_is_answered_by_a_set_of_any_length_from_two_up() -> None:
    state = partridge([[7, 7, 7, *MANY], [2, 2, 3, 4, 7, 7, 7, 7, 8, 8]])
    trick(state, "play 7 7 7")
    assert state.legal_texts(1) == ["pass", "play 2 2", "play 7 7", "play 7 7 7", "play 7 7 7 7"]


def test_a_straight_is_answered_by_a_straight_of_any_length_that_starts_low_enough() -> None:
    state = partridge([[4, 3, *MANY], [2, 3, 4, 5, 5, 7, 8]])
    trick(state, "play 4 3")
    assert state.legal_texts(1) == [
        "pass",
        "play 3 2",
        "play 4 3 2",
        "play 5 4 3 2",
        "play 4 3",
        "play 5 4 3",
    ]


def test_the_limit_for_an_answer_is_the_lead_low_not_the_lowest_card_so_far() -> None:
    state = partridge([[9, *MANY], [2, *MANY], [8, *MANY]])
    trick(state, "play 9", "play 2")
    assert state.legal_texts(2) == ["pass", "play 8"]
    assert state.observe(2)["lead_low"] == 9


def test_the_last_seat_to_play_the_lowest_card_wins_a_tie() -> None:
    state = partridge([[4, *MANY], [4, *MANY], [4, *MANY], [5, *MANY]])
    trick(state, "play 4", "play 4", "play 4", "pass")
    assert state.leader == 2


def test_every_seat_acts_once_clockwise_from_the_leader() -> None:
    state = partridge([[4, *MANY], [4, *MANY], [4, *MANY]], leader=1)
    order: list[int] = []
    for _ in range(3):
        order += state.actors
        trick(state, state.legal_texts(state.actors[0])[0])
    assert order == [1, 2, 0]


def test_the_winner_of_a_round_gets_a_gift_and_one_from_each_seat_with_the_most_cards() -> None:
    state = partridge([[1], [5, 5, 5], [6, 6, 6], [7]])
    state.gifts = [0, 2, 0, 4]
    trick(state, "play 1", "pass", "pass", "pass")
    # Seats 1 and 2 hold the most; seat 2 has no gift to give.
    assert state.gifts == [2, 1, 0, 4]
    assert state.round == 2
    assert state.leader == 0


def test_cards_taken_back_count_towards_the_most_cards() -> None:
    state = partridge([[9, 8, 7, 6], [7, 6, 5], [12, 12, 12]])
    state.gifts = [1, 0, 1]
    trick(state, "play 9 8 7 6", "play 7 6 5", "pass")
    assert state.gifts == [0, 2, 1]


def test_the_winner_of_a_round_leads_the_next() -> None:
    state = partridge([[9, *MANY], [1]], leader=0)
    trick(state, "play 9", "play 1")
    assert state.round == 2
    assert (state.phase, state.actors) == ("lead", (1,))


def test_seat_0_leads_the_first_trick() -> None:
    assert start("partridge", "eagle", 5).actors == (0,)


@pytest.mark.parametrize(
    ("rules", "seats", "cards"),
    [("eagle", 6, 12), ("eagle", 7, 11), ("eagle", 8, 9), ("mathpickle", 6, 12)],
)
def test_each_seat_is_dealt_12_cards_or_fewer_at_large_tables(
    rules: str, seats: int, cards: int
) -> None:
    assert start("partridge", rules, seats).observe(0)["hand_sizes"] == [cards] * seats


@pytest.mark.parametrize(
    ("rules", "rounds", "gifts"),
    [("eagle", 12, 0), ("eagle-short", 3, 1), ("mathpickle", 12, 0), ("mathpickle-short", 6, 0)],
)
def test_a_match_has_the_rounds_and_gifts_of_its_preset(
    rules: str, rounds: int, gifts: int
) -> None:
    state = start("partridge", rules, 3)
    assert state.observe(0)["gifts"] == [gifts] * 3
    while state.actors:
        state.step({seat: state.legal(seat)[0] for seat in state.actors})
    assert len(state.observe(0)["rounds_won"]) == rounds
    assert sum(state.scores or ()) == 3 * gifts + rounds


def test_all_78_cards_are_dealt_anew_each_round_from_the_next_shuffle() -> None:
    numbers = []

    def shuffle(k: int, cards: list[int]) -> None:
        numbers.append((k, len(cards)))
        seeded_shuffle(bytes(32))(k, cards)

    state = Partridge.start("eagle-short", 2, shuffle)
    while state.actors:
        state.step({seat: state.legal(seat)[0] for seat in state.actors})
    assert numbers == [(0, 78), (1, 78), (2, 78)]


def test_mathpickle_allows_up_to_six_seats() -> None:
    with pytest.raises(UnknownRulesError, match="takes 2 to 6 seats, not 7"):
        Partridge.start("mathpickle", 7, no_shuffle)


def test_a_seat_out_of_turn_may_not_play() -> None:
    state = partridge([[4, *MANY], [4, *MANY]])
    with pytest.raises(IllegalMoveError, match="seat 1 may not 'play 4' in phase lead"):
        state.parse(1, "play 4")


def test_every_seat_sees_the_cards_on_the_table_in_the_order_of_play() -> None:
    state = partridge([[5, 4, *MANY], [12], [3, 2, *MANY]])
    trick(state, "play 5 4", "pass")
    assert state.observe(2)["trick"] == [
        {"seat": 0, "cards": [5, 4]},
        {"seat": 1, "cards": []},
    ]
    assert state.observe(2)["hand_sizes"] == [3, 1, 5]


def test_a_finished_match_shows_the_last_round_with_its_winner_as_leader() -> None:
    state = start("partridge", "eagle-short", 3)
    while state.actors:
        state.step({seat: state.legal(seat)[0] for seat in state.actors})
    seen = state.observe(0)
    assert seen["phase"] == "over"
    assert seen["round"] == seen["rounds"] == 3
    assert seen["trick"] == []
    assert seen["lead_low"] is None
    assert seen["history"]
    assert seen["hand_sizes"][seen["leader"]] == 0
    assert seen["leader"] == seen["rounds_won"][-1]
