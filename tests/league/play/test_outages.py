"""If the clock stops for more than 5 s, open deadlines move by the lost time."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from league import play
from league.models import Bot, Clock, Match, Turn
from league.play import outages
from tests.league.play.live import START, answer, choose, match_of, play_on, second

pytestmark = pytest.mark.django_db(transaction=True)

NIGHT = 8 * 3600.0


@pytest.fixture
def match(bots: list[Bot]) -> Match:
    play.note_tick(START)
    return match_of(bots)


def tick(now: float) -> int:
    """Run the clock's task; return the number of turns in which it played."""
    play.note_tick(second(now))
    return play.expire_overdue(second(now))


def test_a_night_without_the_league_causes_no_timeout(match: Match, bots: list[Bot]) -> None:
    for at in range(3):
        assert tick(at) == 0
    assert tick(2 + NIGHT) == 0
    assert tick(4.5 + NIGHT) == 0
    [turn] = play.open_turns(bots[0], second(4.5 + NIGHT))
    assert 0 < turn["remaining_ms"] <= 1000
    assert tick(5.5 + NIGHT) == 3, "of the five seconds that an unfetched turn has two had passed"
    assert {turn.fault for turn in Turn.objects.filter(number=0)} == {"timeout"}


def test_an_outage_uses_up_no_bank(match: Match, bots: list[Bot]) -> None:
    for bot in bots:
        play.open_turns(bot, second(0.2))
    tick(1)
    tick(1 + NIGHT)
    play_on(bots, second(1 + NIGHT), until=lambda: Turn.objects.filter(number=1).count() == 3)
    banks = Turn.objects.filter(number=1).values_list("bank_ms", flat=True)
    assert list(banks) == [2000] * 3


def test_a_move_before_the_first_tick_after_an_outage_is_in_time(
    match: Match, bots: list[Bot]
) -> None:
    [turn] = play.open_turns(bots[0], second(0.2))
    now = second(NIGHT)
    verdict = answer(bots[0], turn, now, choose(turn["observation"]))
    assert verdict.remaining_ms > 2000
    assert Turn.objects.get(bot=bots[0], number=0).fault == ""


def test_a_turn_fetched_before_the_first_tick_after_an_outage_has_its_time(
    match: Match, bots: list[Bot]
) -> None:
    [turn] = play.open_turns(bots[0], second(NIGHT))
    assert turn["remaining_ms"] >= 3000


def test_a_turn_that_was_overdue_before_an_outage_stays_overdue(
    match: Match, bots: list[Bot]
) -> None:
    play.open_turns(bots[0], START)
    play.note_tick(second(3.2))
    assert tick(3.2 + NIGHT) == 1


def test_a_turn_that_opened_in_an_outage_gets_back_only_the_rest_of_it(
    match: Match, bots: list[Bot]
) -> None:
    for bot in bots:
        answer(bot, play.open_turns(bot, second(1))[0], second(1))
    opened = Turn.objects.filter(number=1)
    opened.update(opened_at=second(100), deadline=second(105))
    assert tick(103) == 0
    assert set(opened.values_list("deadline", flat=True)) == {second(108)}


def test_a_slow_clock_moves_no_deadline(match: Match) -> None:
    before = set(Turn.objects.values_list("deadline", flat=True))
    play.note_tick(START + outages.MAX_TICK_GAP)
    assert not outages.give_back_lost_time(START + 2 * outages.MAX_TICK_GAP)
    assert set(Turn.objects.values_list("deadline", flat=True)) == before


def test_processes_that_run_at_once_after_an_outage_give_its_time_back_once(match: Match) -> None:
    before = Turn.objects.order_by("pk").first().deadline

    def come(number: int) -> None:
        try:
            (play.note_tick if number % 2 else outages.give_back_lost_time)(second(NIGHT))
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(come, range(24)))
    moved = Turn.objects.order_by("pk").first().deadline - before
    assert NIGHT - 1 <= moved.total_seconds() <= NIGHT
    assert Clock.objects.get().ran_until == second(NIGHT)


def test_the_time_before_the_first_tick_ever_is_no_outage(bots: list[Bot]) -> None:
    match_of(bots)
    before = set(Turn.objects.values_list("deadline", flat=True))
    play.note_tick(second(NIGHT))
    assert set(Turn.objects.values_list("deadline", flat=True)) == before
