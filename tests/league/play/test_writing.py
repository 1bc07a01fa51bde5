"""The one route on which live matches change: statements, lost comparisons, crashes, the lock."""

import threading
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, NoReturn

import pytest
from django.db import OperationalError, connection
from psycopg.errors import DeadlockDetected
from pytest_django import DjangoAssertNumQueries

from engine.record import verify
from league import play
from league.models import Bot, LiveMove, Match, Turn
from league.play import finishing, match_logs, statements, wakeups, writing
from league.play.live_match import LiveMatch
from tests.league.play.live import START, answer, choose, first_turn, match_of, play_on

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def always_locked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every move under the match's lock, which only few moves need."""
    monkeypatch.setattr(writing, "MAX_TRIES", 0)


@pytest.mark.parametrize(
    "statement", ["league.play.statements.write", "league.play.wakeups.announce"]
)
def test_a_crash_under_the_lock_leaves_nothing_half_done(
    match: Match,
    bots: list[Bot],
    monkeypatch: pytest.MonkeyPatch,
    statement: str,
    always_locked: None,
) -> None:
    for bot in bots[:2]:
        answer(bot, first_turn(bot), START)
    turn = first_turn(bots[2])
    before = everything()
    with monkeypatch.context() as patch:
        patch.setattr(statement, crash)
        with pytest.raises(RuntimeError, match="the machine is gone"):
            answer(bots[2], turn, START)
    assert everything() == before
    # Another move than the one that was lost: nothing of that may linger in the cache.
    answer(bots[2], turn, START, turn["observation"]["legal_moves"][-1])
    play_on(bots)
    verify(Match.objects.get().record)


def test_a_crash_before_the_write_leaves_nothing_and_a_crash_after_it_the_move(
    match: Match, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    for bot in bots[:2]:
        answer(bot, first_turn(bot), START)
    turn = first_turn(bots[2])
    before = everything()
    with monkeypatch.context() as patch:
        patch.setattr(statements, "write", crash)
        with pytest.raises(RuntimeError, match="the machine is gone"):
            answer(bots[2], turn, START)
    assert everything() == before
    with monkeypatch.context() as patch:
        patch.setattr(wakeups, "announce", crash)
        with pytest.raises(RuntimeError, match="the machine is gone"):
            answer(bots[2], turn, START)
    assert Match.objects.get().plies == 3
    after = everything()
    assert answer(bots[2], turn, START).remaining_ms > 0
    assert everything() == after
    play_on(bots)
    verify(Match.objects.get().record)


def test_a_move_is_decided_again_if_the_match_changed_after_it_was_read(
    match: Match, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = [first_turn(bot) for bot in bots]
    answer(bots[0], turns[0], START)
    real = writing.read_matches
    overtaken: list[Bot] = []

    def read(match_ids: Iterable[int], now: datetime) -> dict[int, LiveMatch]:
        read_before = real(match_ids, now)
        if not overtaken:
            overtaken.append(bots[2])
            answer(bots[2], turns[2], START)
        return read_before

    monkeypatch.setattr(writing, "read_matches", read)
    answer(bots[1], turns[1], START)
    assert overtaken
    assert (Match.objects.get().plies, Match.objects.get().stored) == (3, 3)
    assert Turn.objects.filter(decided_at=None).count() == 3


def test_a_move_sent_twice_at_once_gets_one_answer_also_at_the_end_of_the_match(
    match: Match, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = writing.read_matches
    answers = []

    def read(match_ids: Iterable[int], now: datetime) -> dict[int, LiveMatch]:
        read_before = real(match_ids, now)
        monkeypatch.setattr(writing, "read_matches", real)
        answers.append(answer(bots[0], turn, START))
        match_logs.cache.clear()  # as in another process
        return read_before

    while Match.objects.get().status == "playing":
        play_on(bots[1:])
        for turn in play.open_turns(bots[0], START):
            monkeypatch.setattr(writing, "read_matches", read)
            answers.append(answer(bots[0], turn, START))
    assert len(answers) > 10
    assert answers[::2] == answers[1::2]
    assert Match.objects.get().record.faults == ()


def test_every_move_can_be_made_under_the_lock(
    match: Match, bots: list[Bot], always_locked: None
) -> None:
    play_on(bots)
    verify(Match.objects.get().record)


def everything() -> list[Any]:
    return [list(rows.objects.order_by("pk").values()) for rows in (Match, Turn, LiveMove)]


def crash(*_args: object, **_kwargs: object) -> NoReturn:
    raise RuntimeError("the machine is gone")


def test_a_crash_while_a_match_is_finished_leaves_it_in_play(
    match: Match, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(writing, "finish", crash)
        with pytest.raises(RuntimeError, match="the machine is gone"):
            play_on(bots)
    assert Match.objects.get().status == "playing"
    play_on(bots)
    verify(Match.objects.get().record)


def noting(calls: list[Any], run: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that adds its arguments to a list before it runs another."""

    def noted(*args: Any) -> Any:
        calls.append(args)
        return run(*args)

    return noted


def test_a_move_takes_two_statements(
    match: Match,
    bots: list[Bot],
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    sent: list[Any] = []
    real = statements.run_now
    monkeypatch.setattr(statements, "run_now", noting(sent, real))
    turns = [first_turn(bot) for bot in bots]
    for bot, turn in zip(bots, turns, strict=True):  # the last finishes the phase
        sent.clear()
        with django_assert_num_queries(0):  # of any other kind
            answer(bot, turn, START)
        assert len(sent) == 2


def batch(bot: Bot, now: datetime = START) -> list[play.Move]:
    return [
        play.Move(turn["match"], turn["turn"], choose(turn["observation"]))
        for turn in play.open_turns(bot, now)
    ]


def test_moves_in_many_matches_take_two_statements_together(
    bots: list[Bot],
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    matches = [match_of(bots) for _ in range(8)]
    sent: list[Any] = []
    real = statements.run_now
    monkeypatch.setattr(statements, "run_now", noting(sent, real))
    for bot in bots:  # the last finishes the phase in all of them
        moves = batch(bot)
        sent.clear()
        with django_assert_num_queries(0):  # of any other kind
            answers = play.submit_all(bot, moves, START)
        assert [answer.as_json()["status"] for answer in answers] == ["accepted"] * 8
        assert len(sent) == 2
    assert {Match.objects.get(pk=match.pk).plies for match in matches} == {3}


def test_if_a_batch_has_two_moves_in_one_match_the_second_is_decided_after_the_first(
    match: Match, bots: list[Bot]
) -> None:
    [move] = batch(bots[0])
    other = move._replace(text="nonsense")
    again, first, late = play.submit_all(bots[0], [move, move, other], START)
    assert again == first
    assert late.code == "turn-already-decided"


def test_a_refused_move_in_a_batch_stops_no_other_move(bots: list[Bot]) -> None:
    matches = [match_of(bots) for _ in range(3)]
    first, second_one, third = batch(bots[0])
    nowhere = play.Move(999_999_999, 0, "give 4")
    answers = play.submit_all(
        bots[0], [first, second_one._replace(text="nonsense"), nowhere, third], START
    )
    assert [getattr(answer, "code", "accepted") for answer in answers] == [
        "accepted",
        "illegal-move",
        "not-found",
        "accepted",
    ]
    assert {Match.objects.get(pk=match.pk).stored for match in matches} == {0, 1}


def test_a_batch_that_meets_a_deadlock_is_decided_again(
    bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    matches = [match_of(bots) for _ in range(3)]
    moves = batch(bots[0])
    real = statements.write
    calls = []

    def write(changes: Any) -> set[int]:
        changes = list(changes)
        calls.append(len(changes))
        if len(calls) == 1:
            raise OperationalError from DeadlockDetected()
        return real(changes)

    monkeypatch.setattr(statements, "write", write)
    answers = play.submit_all(bots[0], moves, START)
    assert [type(answer) for answer in answers] == [play.Verdict] * 3
    assert calls == [3, 3]
    assert {Match.objects.get(pk=match.pk).stored for match in matches} == {1}


def lose_the_comparison(monkeypatch: pytest.MonkeyPatch, times: int) -> list[int]:
    """Make the next writes find that the match changed; return the list of all writes' sizes."""
    real = statements.write
    calls = []

    def write(changes: Any) -> set[int]:
        changes = list(changes)
        calls.append(len(changes))
        return set() if len(calls) <= times else real(changes)

    monkeypatch.setattr(statements, "write", write)
    return calls


def test_a_move_that_loses_the_comparison_is_decided_again_without_the_lock(
    match: Match, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = first_turn(bots[0])
    calls = lose_the_comparison(monkeypatch, writing.MAX_TRIES - 1)
    monkeypatch.setattr(writing, "_change_under_lock", crash)
    assert answer(bots[0], turn, START).turn == 0
    assert len(calls) == writing.MAX_TRIES


def test_a_move_that_loses_the_comparison_too_often_is_made_under_the_lock(
    match: Match, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = first_turn(bots[0])
    calls = lose_the_comparison(monkeypatch, writing.MAX_TRIES)
    assert answer(bots[0], turn, START).turn == 0
    assert len(calls) == writing.MAX_TRIES + 1
    assert Match.objects.get().stored == 1


def test_moves_of_several_bots_take_two_statements_together(
    bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        match_of(bots)
    sent = [play.SentMove(bot, move) for bot in bots for move in batch(bot)]
    calls: list[Any] = []
    real = statements.run_now
    monkeypatch.setattr(statements, "run_now", noting(calls, real))
    answers = play.submit_together([sent[0], sent[3]], START)  # in two matches
    assert [type(answer) for answer in answers] == [play.Verdict] * 2
    assert len(calls) == 2
    answers = play.submit_together([sent[1], sent[2], sent[4], sent[5]], START)
    assert [type(answer) for answer in answers] == [play.Verdict] * 4
    assert {match.plies for match in Match.objects.all()} == {3}


def waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return cursor.fetchone()[0] > 0


def test_the_last_move_sent_again_while_the_match_is_finished_waits_for_its_verdict(
    match: Match, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second request must wait for the lock; else it decides on a match that changes."""
    while True:
        [(bot, turn), *others] = [
            (bot, turn) for bot in bots for turn in play.open_turns(bot, START)
        ]
        if not others and is_last(turn):
            break
        answer(bot, turn, START)
    real = finishing.finish
    begun = threading.Event()
    answers: list[play.Verdict] = []

    def finish(*args: Any) -> None:
        begun.set()
        until = datetime.now().timestamp() + 20
        while not waits_for_a_lock():
            assert datetime.now().timestamp() < until
        real(*args)

    monkeypatch.setattr(writing, "finish", finish)

    def send() -> None:
        try:
            answers.append(answer(bot, turn, START))
        finally:
            connection.close()

    def send_again() -> None:
        assert begun.wait(20)
        send()

    threads = [threading.Thread(target=send), threading.Thread(target=send_again)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 2
    assert answers[0] == answers[1]
    verify(Match.objects.get().record)


def is_last(turn: dict[str, Any]) -> bool:
    """Return whether one more move finishes the match, whichever it is."""
    match = Match.objects.get(pk=turn["match"])
    state = match_logs.logs_of([match])[match.pk].state.copy()
    chosen = dict(match.live_moves.filter(ply__gte=match.plies).values_list("seat", "text"))
    moves = {**chosen, turn["seat"]: choose(turn["observation"])}
    state.step_unchecked({seat: state.moves.ids[moves[seat]] for seat in state.actors})
    return not state.actors
