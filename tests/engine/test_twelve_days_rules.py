"""The rules of twelve-days, sentence by sentence, and the worked examples of its rulebooks."""

from collections import Counter

import pytest

from engine.deals import seeded_shuffle
from engine.errors import IllegalMoveError, UnknownRulesError
from engine.games.twelve_days import TwelveDays
from engine.games.twelve_days_moves import cards_in
from tests.engine.tables import move, no_shuffle, play_day, start, twelve_days


def test_rulebook_example_of_the_first_day_the_8_wins_over_9_and_12() -> None:
    state = twelve_days([[9], [8], [12]])
    play_day(state, [9, 8, 12])
    assert state.points == [0, 1, 0]


def test_rulebook_example_of_tied_3s_the_5_wins() -> None:
    state = twelve_days([[3], [3], [5], [10]])
    play_day(state, [3, 3, 5, 10])
    assert state.history[0].winner == 2


def test_rulebook_example_of_the_third_day_of_five_players_the_5_wins_it() -> None:
    state = twelve_days([[1, 1, 3], [2, 2, 3], [4, 4, 5], [6, 6, 6], [7, 7, 10]])
    play_day(state, [1, 2, 4, 6, 7])
    play_day(state, [1, 2, 4, 6, 7])
    play_day(state, [3, 3, 5, 6, 10])
    assert state.points == [3, 0, 3, 0, 0]


def test_tied_lowest_and_next_lowest_leave_the_third_lowest() -> None:
    state = twelve_days([[2], [2], [4], [4], [9]])
    play_day(state, [2, 2, 4, 4, 9])
    assert state.history[0].winner == 4


def test_a_day_on_which_all_tie_carries_over_to_the_next_winner() -> None:
    state = twelve_days([[5, 1], [5, 2], [5, 3]])
    play_day(state, [5, 5, 5])
    assert state.observe(0)["pot"] == [1, 2]
    play_day(state, [1, 2, 3])
    assert state.points == [3, 0, 0]
    assert state.observe(1)["day_cards"] == [[1, 2], [], []]


def test_a_last_day_without_a_winner_sends_the_whole_pot_to_no_one() -> None:
    state = twelve_days([[]] * 3)
    for _ in range(12):
        play_day(state, [12, 12, 12])
    assert state.is_over
    assert state.observe(0)["pot"] == list(range(1, 13))
    assert state.scores == (12, 12, 12)  # for the 12s in hand


def test_the_clauses_cancel_each_other_out() -> None:
    state = twelve_days([[0], [0], [9]])
    play_day(state, [0, 0, 9])
    assert state.points == [0, 0, 1]


def test_calliope_a_claus_must_award_the_whole_pot_to_another_seat() -> None:
    state = twelve_days([[4, 0], [4, 9], [4, 9]])
    play_day(state, [4, 4, 4])
    play_day(state, [0, 9, 9])
    assert (state.phase, state.actors) == ("award", (0,))
    assert state.legal_texts(0) == ["award 1", "award 2"]
    assert state.legal_texts(1) == []
    move(state, ["award 2"])
    assert state.points == [0, 0, 3]
    assert (state.history[1].winner, state.history[1].to) == (0, 2)


def test_cheapass_a_claus_keeps_the_pot_like_any_winner() -> None:
    state = twelve_days([[0], [9], [9]], rules="cheapass")
    play_day(state, [0, 9, 9])
    assert state.points == [1, 0, 0]
    assert state.phase == "give"


def test_a_day_card_is_worth_its_number() -> None:
    state = twelve_days([[1, 1], [5, 5], [6, 6]])
    play_day(state, [1, 5, 6])
    play_day(state, [1, 5, 6])
    assert state.points == [1 + 2, 0, 0]


def test_a_given_card_goes_to_the_left_and_can_be_played_at_once() -> None:
    state = twelve_days([[1], [2], [3]])
    move(state, ["give 1", "give 2", "give 3"])
    assert [state.observe(seat)["received"] for seat in range(3)] == [3, 1, 2]
    move(state, ["play 3", "play 1", "play 2"])
    assert state.history[0].winner == 1


def test_a_seat_may_give_and_play_any_card_it_holds_and_no_other() -> None:
    state = twelve_days([[1, 5, 5], [2], [3]])
    assert state.legal_texts(0) == ["give 1", "give 5", "give 12"]
    with pytest.raises(IllegalMoveError, match="seat 0 may not 'give 2' in phase give"):
        state.parse(0, "give 2")


def test_seats_draw_in_order_from_seat_0_up_to_full_hands_also_after_the_last_day() -> None:
    state = twelve_days([[1] * 12, [2] * 12, [3] * 12], deck=[4, 5, 6])
    play_day(state, [1, 2, 3], gives=[1, 2, 3])
    assert state.history[0].draws == (4, 5, 6)
    match = start("twelve-days", "calliope", 5)
    while match.actors:
        match.step({seat: match.legal(seat)[0] for seat in match.actors})
    assert isinstance(match, TwelveDays)
    assert [len(cards_in(hand)) for hand in match.hands] == [12] * 5


def test_the_discards_are_reshuffled_only_when_a_draw_finds_no_deck() -> None:
    hands = [[1] * 12, [2] * 12, [3] * 12]
    calls: list[tuple[int, list[int]]] = []

    def shuffle(k: int, cards: list[int]) -> None:
        calls.append((k, list(cards)))
        cards.reverse()

    state = TwelveDays(TwelveDays.presets["calliope"], hands, [4, 5, 6, 7], shuffle)
    play_day(state, [1, 2, 3], gives=[1, 2, 3])
    assert calls == []
    assert state.observe(0)["deck"] == 1
    play_day(state, [3, 1, 2], gives=[1, 2, 3])
    # Seat 0 drew the 7; then all six plays, today's included, became the deck.
    assert calls == [(1, [1, 1, 2, 2, 3, 3])]
    assert state.history[1].draws == (7, 3, 3)
    assert state.observe(0)["deck"] == 4
    assert state.observe(0)["discards"] == []


def test_an_exhausted_deck_stays_empty_until_the_next_draw() -> None:
    state = TwelveDays(
        TwelveDays.presets["calliope"], [[1] * 12, [2] * 12, [3] * 12], [4, 5, 6], no_shuffle
    )
    play_day(state, [1, 2, 3], gives=[1, 2, 3])
    assert state.observe(0)["deck"] == 0
    assert state.observe(0)["discards"] == [1, 2, 3]


def finished(hands: list[list[int]], rules: str = "calliope") -> TwelveDays:
    """Return a match that ends with these hands, in which no seat won a day card."""
    state = twelve_days([[]] * len(hands), rules=rules)
    while state.day < state.rules.days:
        play_day(state, [state.rules.days] * len(hands))
    days = state.rules.days
    state.hands = [[hand.count(rank) for rank in range(13)] for hand in hands]
    for counts in state.hands:
        counts[days] += 1
    state.masks = [sum(1 << r for r, count in enumerate(c) if count) for c in state.hands]
    state.deck = state.deck[: state.top] + [0] * len(hands)
    play_day(state, [days] * len(hands))
    assert state.is_over
    return state


def test_rulebook_example_two_who_tie_for_most_7s_score_7_each_and_the_third_none() -> None:
    assert finished([[7, 7], [7, 7], [7]]).scores == (7, 7, 0)


def test_the_most_cards_of_each_rank_score_that_rank() -> None:
    assert finished([[9, 9, 1], [9, 2], [5, 5, 2]]).scores == (10, 2, 7)


def test_rank_0_never_scores() -> None:
    assert finished([[0, 0], [], [1]]).scores == (0, 0, 1)


def test_equal_scores_share_a_place() -> None:
    assert finished([[7, 7], [7, 7], [7]]).places == (1, 1, 3)


@pytest.mark.parametrize(
    ("rules", "cards", "ranks"),
    [
        ("calliope", 80, range(13)),
        ("cheapass", 80, range(13)),
        ("eight-nights", 36, range(1, 9)),
        ("eight-players", 160, range(13)),
        ("cheapass-eight-players", 160, range(13)),
        ("eight-nights-eight-players", 72, range(1, 9)),
    ],
)
def test_the_gift_deck_holds_r_cards_of_each_rank_r(rules: str, cards: int, ranks: range) -> None:
    preset = TwelveDays.presets[rules]
    deck = Counter(preset.deck())
    assert sum(deck.values()) == cards
    assert set(deck) == set(ranks)
    for rank in ranks:
        assert deck[rank] == (rank or 2) * preset.decks


def test_eight_nights_are_eight_days_with_hands_of_eight() -> None:
    state = start("twelve-days", "eight-nights", 4)
    assert len(state.observe(0)["hand"]) == 8
    while state.actors:
        last_day = state.observe(0)["day"]
        state.step({seat: state.legal(seat)[-1] for seat in state.actors})
    assert last_day == 8


@pytest.mark.parametrize(
    ("rules", "seats"), [("eight-nights", 5), ("calliope", 2), ("calliope", 6)]
)
def test_a_number_of_seats_that_the_preset_does_not_allow_is_refused(
    rules: str, seats: int
) -> None:
    with pytest.raises(UnknownRulesError, match=f"not {seats}"):
        TwelveDays.start(rules, seats, seeded_shuffle(bytes(32)))


def test_a_seat_that_has_chosen_sees_its_hand_without_the_card_and_no_other_choice() -> None:
    state = twelve_days([[1], [2], [3]])
    before = state.observe(1)
    state.step({0: state.parse(0, "give 1")})
    own = state.observe(0)
    assert own["given"] == 1
    assert 1 not in own["hand"]
    assert own["legal_moves"] == []
    assert state.observe(1) == before
    assert state.actors == (1, 2)


def test_choices_made_one_by_one_have_the_same_result_as_all_at_once() -> None:
    together = twelve_days([[1], [2], [3]])
    apart = together.copy()
    move(together, ["give 1", "give 2", "give 3"])
    for seat, text in ((2, "give 3"), (0, "give 1"), (1, "give 2")):
        apart.step({seat: apart.parse(seat, text)})
    assert [apart.observe(s) for s in range(3)] == [together.observe(s) for s in range(3)]


def test_in_the_award_phase_every_seat_sees_the_plays_before_they_are_discarded() -> None:
    state = twelve_days([[0], [9], [9]])
    play_day(state, [0, 9, 9])
    seen = state.observe(1)
    assert seen["phase"] == "award"
    assert seen["plays"] == [0, 9, 9]
    assert seen["played"] == 9
    assert seen["discards"] == []
    assert seen["legal_moves"] == []


def test_in_a_finished_match_todays_keys_are_null_and_day_is_the_last() -> None:
    state = start("twelve-days", "cheapass", 3)
    while state.actors:
        state.step({seat: state.legal(seat)[0] for seat in state.actors})
    seen = state.observe(2)
    assert seen["phase"] == "over"
    assert seen["day"] == 12
    assert [seen[key] for key in ("given", "received", "plays", "played")] == [None] * 4
    assert len(seen["history"]) == 12
    assert seen["scores"] == list(state.scores or ())
