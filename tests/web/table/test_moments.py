"""The decisive moment of a match as a small picture."""

import pytest
from django.core.cache import caches

from engine.games.twelve_days import TwelveDays
from web.gallery import match_of
from web.table.moments import moment_of, picture_of_step
from web.table.steps import Card, SeatStep, Step


def seat(number: int, played: list[int] | None, **more: object) -> SeatStep:
    shown = SeatStep(number, f"bot-{number}", [], 0, 0, played)
    for name, value in more.items():
        setattr(shown, name, value)
    return shown


def day(*seats: SeatStep) -> Step:
    return Step("Days", "1", "Day 1 of 12", list(seats), reasons=["First.", "Then."])


def test_equal_cards_are_cancelled_and_the_winners_card_is_marked() -> None:
    step = day(seat(0, [6]), seat(1, [6]), seat(2, [7], won=True, points=5), seat(3, [8]))
    moment = picture_of_step(step, 1, TwelveDays.game)
    marks = [[card.mark for card in shown.cards] for shown in moment.seats]
    assert marks == [["cancelled"], ["cancelled"], ["wins"], [""]]
    assert moment.caption == "First. Then."
    assert moment.words == (
        "bot-0 plays 6, cancelled; bot-1 plays 6, cancelled; bot-2 plays 7, and wins; bot-3 plays 8"
    )


def test_equal_cards_stand_in_the_game_that_cancels_none() -> None:
    step = day(seat(0, [9, 9], won=True), seat(1, [9]), seat(2, []))
    moment = picture_of_step(step, 1, "partridge")
    assert [[card.mark for card in shown.cards] for shown in moment.seats] == [
        ["wins", "wins"],
        [""],
        [],
    ]
    assert moment.words.endswith("bot-2 passes")


def test_a_large_table_shows_the_winner_and_the_bots_of_the_highlight() -> None:
    seats = [seat(at, [at + 1], won=at == 6, points=at) for at in range(8)]
    moment = picture_of_step(day(*seats), 1, TwelveDays.game, about=[0, 1])
    assert [shown.name for shown in moment.seats] == ["bot-0", "bot-1", "bot-6", "bot-7"]
    assert moment.others == 4


def test_the_counted_hands_show_the_cards_that_score() -> None:
    hand = [Card(2), Card(11, ("scored",)), Card(12, ("scored",)), Card(12, ("scored",))]
    end = Step("End", "End", "The end", [seat(0, None, hand=hand, won=True)], reasons=["a", "b"])
    moment = picture_of_step(end, 13, TwelveDays.game)
    assert [(card.rank, card.mark) for card in moment.seats[0].cards] == [
        (12, "scored"),
        (11, "scored"),
    ]
    assert moment.caption == "b"


def test_at_the_end_the_caption_is_about_the_hand_of_the_winner() -> None:
    seats = [seat(0, None, won=True), seat(1, None)]
    reasons = [
        "bot-1 wins no day.",
        "bot-0: 12 for the most 12s = 12.",
        "bot-1: 9 for the most 9s = 9.",
    ]
    moment = picture_of_step(Step("End", "End", "The end", seats, reasons=reasons), 13, "partridge")
    assert moment.caption == "bot-0: 12 for the most 12s = 12."


def test_a_moment_of_a_match_is_the_nearest_step_and_is_worked_out_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caches["moments"].clear()
    first = moment_of(match_of(0), 999)
    assert first.number == 13
    monkeypatch.setattr("web.table.moments.replay_steps", None)
    assert moment_of(match_of(0), 999) == first
