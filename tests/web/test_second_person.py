"""Sentences for a player: "you" with verbs that fit it, for every event of both games."""

import re
from random import Random

import pytest

from engine.games import events as happened
from engine.playback import play_back
from engine.referee import play
from engine.sentences import as_sentence
from league.play.player_seats import SeatPhase
from web.player_page import sentences_of
from web.second_person import names_for, sentences_for, to_you

NAMES = ["ada", "bo", "cy", "dee"]


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        (
            "3 is the lowest card, so ada wins the trick.",
            "3 is the lowest card, so you win the trick.",
        ),
        (
            "ada is out of cards and wins round 3.",
            "You are out of cards and win round 3.",
        ),
        (
            "bo holds the most cards (3) and gives ada a gift.",
            "bo holds the most cards (3) and gives you a gift.",
        ),
        (
            "ada holds the most cards (3) and gives bo a gift.",
            "You hold the most cards (3) and give bo a gift.",
        ),
        (
            "ada holds the most cards (3) but has no gift to give.",
            "You hold the most cards (3) but have no gift to give.",
        ),
        (
            "ada played its last cards without winning and takes 3 3 back.",
            "You played your last cards without winning and take 3 3 back.",
        ),
        (
            "bo and ada tie at 3; ada played last and wins the trick.",
            "bo and you tie at 3; you played last and win the trick.",
        ),
        (
            "ada holds the most 9s (3) and scores 9.",
            "You hold the most 9s (3) and score 9.",
        ),
        (
            "Round 2 is dealt; ada leads.",
            "Round 2 is dealt; you lead.",
        ),
        (
            "bo gives 7 to ada.",
            "bo gives 7 to you.",
        ),
    ],
)
def test_a_sentence_addresses_the_player(sentence: str, shown: str) -> None:
    assert to_you(sentence.replace("ada", names_for(NAMES, 0)[0])) == shown


@pytest.mark.parametrize("game", ["twelve-days calliope", "partridge eagle-short"])
def test_each_event_of_a_match_reads_as_before_but_for_the_player(game: str) -> None:
    rng = Random(3)
    name, rules = game.split()
    players = [lambda seen: str(rng.choice(seen["legal_moves"]))] * 4
    record = play(name, rules, bytes(32), players).record
    for _, events, _ in play_back(record):
        for event, text in zip(events, sentences_for(events, NAMES, 0), strict=True):
            assert "\0" not in text
            assert "ada" not in text
            assert not re.search(r"\byou (\w+[^s]s|is|has)\b", text, re.IGNORECASE), text
            if "ada" not in (plain := as_sentence(event, NAMES)) and "begins with" not in text:
                assert text == plain


def test_the_own_pass_names_its_trick_because_it_is_read_in_the_next() -> None:
    trick = [
        happened.CardsLed(1, (12,), "single", 12),
        happened.SeatPassed(0, True),
        happened.SeatPassed(2, None),
        happened.TrickWon(1, 12, ()),
    ]
    phases = [
        SeatPhase(0, [happened.RoundDealt(1, 1)], [1]),
        SeatPhase(3, trick, [1]),
        SeatPhase(4, [happened.CardsLed(1, (9,), "single", 9), happened.SeatPassed(0, False)], [2]),
    ]
    _, first, second = sentences_of(phases, 0, NAMES)
    assert first[1] == "Trick 1: you could not play."
    assert second[1] == "Trick 2: you passed by choice."
