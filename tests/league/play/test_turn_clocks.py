"""The clock rules of turns, faults and forfeits."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from typing import Any, NoReturn

import pytest
from django.db import connection

from engine.games.game import Observation
from engine.record import verify
from engine.referee import play as referee
from league import play
from league.models import Bot, Match, Turn
from league.play import overdue_turns
from league.play.live_match import Decision, LiveMatch
from tests import logs
from tests.league.play.live import START, answer, choose, match_of, play_on, second

pytestmark = pytest.mark.django_db(transaction=True)


def turn_of(bot: Bot) -> Turn:
    return Turn.objects.filter(bot=bot).latest("number")


def close_to(moment: datetime, expected: datetime) -> bool:
    return abs((moment - expected).total_seconds()) < 0.25  # opening takes real time


def test_a_turn_handed_out_at_once_has_its_move_and_bank_from_then_on(
    match: Match, bots: list[Bot]
) -> None:
    [turn] = play.open_turns(bots[0], second(0.5))
    assert (turn["match"], turn["seat"], turn["turn"]) == (match.pk, 0, 0)
    assert turn["deadline"] == "2026-01-06T12:00:03.500Z"
    assert (turn["remaining_ms"], turn["bank_ms"]) == (3000, 2000)
    assert turn["observation"]["seat"] == 0
    assert turn_of(bots[0]).handed_out_at == second(0.5)


def test_the_clock_of_a_turn_that_is_not_fetched_starts_two_seconds_after_it_opened(
    match: Match, bots: list[Bot]
) -> None:
    assert close_to(turn_of(bots[0]).deadline, second(5))
    [turn] = play.open_turns(bots[0], second(3))
    assert 1900 <= turn["remaining_ms"] <= 2250


def test_a_turn_handed_out_again_keeps_its_first_receipt_and_deadline(
    match: Match, bots: list[Bot]
) -> None:
    [first] = play.open_turns(bots[0], second(0.5))
    [again] = play.open_turns(bots[0], second(1.5))
    assert again["deadline"] == first["deadline"]
    assert again["remaining_ms"] == 2000
    assert turn_of(bots[0]).handed_out_at == second(0.5)


def test_time_beyond_the_seconds_of_a_move_comes_from_the_bank(
    match: Match, bots: list[Bot]
) -> None:
    for bot in bots:
        play.open_turns(bot, START)
    answer(bots[0], play.open_turns(bots[0], START)[0], second(1))
    answer(bots[1], play.open_turns(bots[1], START)[0], second(1.7))
    answer(bots[2], play.open_turns(bots[2], START)[0], second(3))
    banks = [play.open_turns(bot, second(3))[0]["bank_ms"] for bot in bots]
    assert banks == [2000, 1300, 0]


def test_after_the_deadline_the_fallback_is_played_with_the_fault_timeout(
    match: Match, bots: list[Bot]
) -> None:
    for bot in bots[1:]:
        answer(bot, play.open_turns(bot, START)[0], START)
    play.open_turns(bots[0], START)
    assert play.expire_overdue(second(2.9)) == 0
    assert play.expire_overdue(second(3.1)) == 1
    turn = Turn.objects.get(bot=bots[0], number=0)
    assert (turn.fault, turn.decided_at) == ("timeout", second(3.1))
    assert turn_of(bots[0]).number == 1
    assert turn_of(bots[0]).bank_ms == 0


def test_a_silent_bot_forfeits_after_three_faults_and_is_placed_last(
    match: Match, bots: list[Bot]
) -> None:
    def asleep(observation: Observation) -> NoReturn:
        raise TimeoutError

    now = START
    for _ in range(3):
        play_on(bots[1:], now)
        now = now.replace(minute=now.minute + 1)
        assert play.expire_overdue(now) == 1
    play_on(bots[1:], now)
    match.refresh_from_db()
    assert match.status == "finished"
    assert Turn.objects.filter(bot=bots[0]).count() == 3
    verify(match.record)
    names = [bot.name for bot in bots]
    expected = referee(
        match.game, match.rules, bytes(match.deal_seed), [asleep, choose, choose], names=names
    )
    assert match.record == expected.record
    assert {fault.kind for fault in match.record.faults} == {"timeout", "forfeit"}
    seats = list(match.seating.order_by("seat"))
    assert [seat.forfeited for seat in seats] == [True, False, False]
    assert seats[0].place == 3
    assert seats[0].faults == len(match.record.faults)


def test_if_all_bots_are_silent_the_clock_alone_finishes_the_match(
    match: Match, bots: list[Bot]
) -> None:
    for minute in (1, 2, 3):
        assert play.expire_overdue(START.replace(minute=minute)) == 3
    match.refresh_from_db()
    verify(match.record)
    assert [seat.place for seat in match.seating.all()] == [1, 1, 1]


def test_a_match_that_fails_does_not_stop_the_clocks_of_others(
    bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, sound = match_of(bots), match_of(bots)
    real = overdue_turns._play_overdue

    def play_overdue(overdue_at: datetime, now: datetime, match: LiveMatch) -> Decision[int]:
        if match.match.pk == broken.pk:
            raise RuntimeError("a defect")
        return real(overdue_at, now, match)

    monkeypatch.setattr(overdue_turns, "_play_overdue", play_overdue)
    with logs.captured() as events:
        assert play.expire_overdue(second(60)) == 3
    [failure] = [event for event in events if event["log_level"] == "error"]
    assert failure["match_id"] == broken.pk
    assert "a defect" in failure["exception"]
    assert Match.objects.get(pk=sound.pk).plies == 3


def test_a_bot_that_asks_for_turns_is_noted_as_seen_every_five_seconds(bots: list[Bot]) -> None:
    bot = bots[0]
    for at, seen in ((0, 0), (4, 0), (5, 5), (6, 5)):
        play.open_turns(bot, second(at))
        assert Bot.objects.get(pk=bot.pk).seen_at == second(seen)


def test_looking_after_a_match_opens_a_turn_that_is_missing(match: Match, bots: list[Bot]) -> None:
    due = Match.objects.get().due_at
    assert play.claim_due_live(due) == [match.pk]
    assert play.claim_due_live(due) == []
    Turn.objects.filter(bot=bots[1]).delete()
    assert play.open_live(match.pk, second(60))
    assert Turn.objects.filter(decided_at=None).count() == 3
    assert [turn["turn"] for turn in play.open_turns(bots[1], second(60))] == [0]


def at_once(*works: Callable[[], Any]) -> list[Any]:
    """Run functions in threads that begin together; return each result or refusal."""
    together = threading.Barrier(len(works))

    def run(work: Callable[[], Any]) -> Any:
        try:
            together.wait()
            return work()
        except play.MoveRefusedError as refused:
            return refused
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as threads:
        return list(threads.map(run, works))


def test_if_a_move_and_the_clock_meet_at_the_deadline_one_decides_and_both_agree(
    bots: list[Bot],
) -> None:
    for number in range(12):
        match = match_of(bots)
        [turn] = [turn for turn in play.open_turns(bots[0], START) if turn["match"] == match.pk]
        move = choose(turn["observation"])
        works: list[Callable[[], Any]] = [
            partial(answer, bots[0], turn, second(3), move),
            lambda: play.expire_overdue(second(3.001)),
        ]
        if number % 2:  # the pool starts the first a little earlier
            reply, _ = at_once(*works)
        else:
            _, reply = at_once(*reversed(works))
        decided = Turn.objects.get(match=match, seat=0, number=0)
        [first] = match.live_moves.filter(seat=0, ply=decided.ply).values_list("text", "fault")
        assert first == (decided.text, decided.fault)
        if isinstance(reply, play.Verdict):
            assert (decided.text, decided.fault) == (move, "")
        else:
            assert (reply.code, decided.fault) == ("turn-expired", "timeout")
            assert reply.members["move"] == decided.text
        play.void_match(match)
