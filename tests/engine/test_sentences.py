"""Sentences for events."""

from random import Random

import pytest
from hypothesis import given

from engine.games import events
from engine.games.events import Event
from engine.games.game import State
from engine.playback import play_back
from engine.sentences import in_sentences, move_in_words, sentence
from tests.engine.test_properties import finished, matches

NAMES = ["ada", "bo", "cy"]


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (events.CardPlayed(0, 7), "ada plays 7"),
        (events.CardPlayed(0, 0), "ada plays a Claus"),
        (events.CardGiven(0, 1, 7), "ada gives 7 to bo"),
        (events.CardDrawn(0, 0), "ada draws a Claus"),
        (events.CardGiven(0, 1, None), "ada gives a card to bo"),
        (events.CardDrawn(2, None), "cy draws a card"),
        (events.HandDealt(2, 12, None), "cy is dealt 12 cards"),
        (events.HandShown(2, ()), "cy holds no cards at the end"),
        (
            events.DayWon(5, 1, 3, (7, 7), (1, 2, 3, 4, 5), 15, 1),
            "two 7s cancel each other; 3 is the lowest, so bo wins 15 points",
        ),
        (
            events.DayWon(1, 1, 9, (2, 2, 3, 3, 3), (1,), 1, 1),
            "two 2s cancel each other, and so do three 3s; 9 is the lowest left, "
            "so bo wins 1 point",
        ),
        (
            events.DayWon(2, 1, 0, (), (2,), 2, None),
            "a Claus counts as 0, the lowest, so bo wins the day and must award 2 points to "
            "another seat",
        ),
        (
            events.DayWon(2, 1, 0, (7, 7), (2,), 2, 1),
            "two 7s cancel each other; a Claus counts as 0, the lowest, so bo wins 2 points",
        ),
        (
            events.DayWon(2, 1, 3, (0, 0), (2,), 2, 1),
            "two Claus cards cancel each other; 3 is the lowest left, so bo wins 2 points",
        ),
        (events.PotAwarded(2, 1, 2, (2,), 2), "bo awards 2 points to cy"),
        (
            events.DayCarried(4, (3, 3, 3), (4,), 4),
            "three 3s cancel each other; no card is left, so 4 points carry over to day 5",
        ),
        (
            events.PotLost(12, (3, 3, 3), (12,), 12),
            "three 3s cancel each other; no card is left, so 12 points go to no one",
        ),
        (events.RankScored(7, (1,), 3, 7), "bo holds the most 7s (3) and scores 7"),
        (
            events.RankScored(7, (0, 1), 2, 7),
            "ada and bo hold the most 7s (2 each) and score 7 each",
        ),
        (
            events.HandCounted(1, (12, 9), (6,), 27),
            "bo: 12 for the most 12s, 9 for the most 9s, 6 for tied 6s = 27",
        ),
        (events.HandCounted(1, (), (6,), 6), "bo: 6 for tied 6s"),
        (
            events.HandCounted(1, (), (), 0),
            "bo: 0, as other seats hold more cards of every rank",
        ),
        (events.CardsLed(0, (9, 8, 7), "straight", 7), "ada leads 9 8 7"),
        (events.SeatPassed(1, None), "bo passes"),
        (events.SeatPassed(1, True), "bo cannot play"),
        (events.SeatPassed(1, False), "bo passes by choice"),
        (events.GiftMissing(1, 0, 2), "bo holds the most cards (2) but has no gift to give"),
        (events.TrickWon(0, 4, ()), "4 is the lowest card, so ada wins the trick"),
        (
            events.TrickWon(2, 4, (0, 1)),
            "ada, bo and cy tie at 4; cy played last and wins the trick",
        ),
        (
            events.CardsReturned(0, (9, 8)),
            "ada played its last cards without winning and takes 9 8 back",
        ),
        (events.GiftMoved(None, 0, None), "ada receives a gift from the pool"),
        (events.GiftMoved(1, 0, 3), "bo holds the most cards (3) and gives ada a gift"),
        (
            events.MatchOver((3, 9, 9), (3, 1, 1)),
            "bo and cy share first place; the final score is bo 9, cy 9, ada 3",
        ),
    ],
)
def test_an_event_reads_as_a_plain_sentence(event: Event, text: str) -> None:
    assert sentence(event, NAMES) == text


def test_a_gift_of_the_start_is_not_from_the_pool() -> None:
    gift, started = events.GiftMoved(None, 0, None), events.MatchStarted("partridge", "eagle", 2)
    assert sentence(gift, NAMES, at_start=True) == "ada begins with a gift"
    assert in_sentences([started, gift], NAMES)[1] == "ada begins with a gift."
    assert in_sentences([gift], NAMES) == ["ada receives a gift from the pool."]


def test_after_the_sentence_on_a_round_its_gifts_do_not_name_the_winner_again() -> None:
    of_round = [
        events.RoundWon(1, 0),
        events.GiftMoved(None, 0, None),
        events.GiftMoved(1, 0, 3),
        events.GiftMoved(2, 0, 3),
    ]
    assert in_sentences(of_round, NAMES) == [
        "ada is out of cards and wins round 1.",
        "A gift comes from the pool.",
        "bo holds the most cards (3) and gives one too.",
        "So does cy.",
    ]


def test_without_names_a_sentence_names_seats() -> None:
    assert sentence(events.SeatPassed(2, None)) == "seat 2 passes"


@given(matches)
def test_every_event_has_a_sentence_in_its_full_and_its_public_form(
    match: tuple[State, Random],
) -> None:
    for phase in play_back(finished(*match)):
        for event in phase.events:
            for form in (event, event.seen_by(None)):
                text = sentence(form)
                assert text.isprintable()
                assert "None" not in text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("award 2", "award the points to cy"),
        ("play 0", "play a Claus"),
        ("give 0", "give a Claus"),
        ("play 10", "play 10"),
        ("give 7", "give 7"),
        ("pass", "pass"),
        ("play 11 10 9", "play 11 10 9"),
    ],
)
def test_a_move_in_words_names_the_seat_and_the_claus(text: str, words: str) -> None:
    assert move_in_words(text, NAMES) == words
