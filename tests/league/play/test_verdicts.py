"""What a bot is told of each move, on its first try and on its next."""

import threading

import pytest
from django.db import OperationalError, connection
from psycopg.errors import DeadlockDetected

from engine.record import fallback, verify
from league import play
from league.models import LiveMove, Match, Turn
from league.play import match_logs, statements, wakeups, writing
from tests.league import small
from tests.league.play.live import START, answer, choose, match_of, play_on, remote_bots, second

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def bots():
    return remote_bots(3)


@pytest.fixture
def match(bots):
    return match_of(bots)


def first_turn(bot, now=START):
    return play.open_turns(bot, now)[0]


def refused(bot, turn, now, move):
    with pytest.raises(play.MoveRefusedError) as caught:
        answer(bot, turn, now, move)
    return caught.value.code, caught.value.members


def test_an_accepted_move_is_told_in_canonical_text_with_what_is_left_of_the_clock(match, bots):
    turn = first_turn(bots[0])
    move = turn["observation"]["legal_moves"][0]
    verdict = answer(bots[0], turn, second(0.25), f"  {move.replace(' ', '   ')} ")
    assert verdict.as_json() == {
        "status": "accepted",
        "move": move,
        "turn": 0,
        "remaining_ms": 2750,
    }


def test_the_same_move_again_gets_the_original_verdict_also_when_the_match_is_over(match, bots):
    turn = first_turn(bots[0])
    verdict = answer(bots[0], turn, second(0.5))
    assert answer(bots[0], turn, second(77)) == verdict
    play_on(bots)
    assert Match.objects.get().status == "finished"
    assert answer(bots[0], turn, second(777), verdict.move.replace(" ", "  ")) == verdict


def test_a_different_move_for_a_turn_that_is_decided_is_told_what_was_played(match, bots):
    turn = first_turn(bots[0])
    legal = turn["observation"]["legal_moves"]
    answer(bots[0], turn, START, legal[0])
    for other in (legal[1], "nonsense", "x" * 100_000, ""):
        assert refused(bots[0], turn, START, other) == (
            "turn-already-decided",
            {"turn": 0, "move": legal[0]},
        )


def test_two_different_moves_at_once_on_two_connections_one_wins_the_other_is_told(match, bots):
    for _ in range(5):
        turn = first_turn(bots[0])
        legal = turn["observation"]["legal_moves"][:2]
        start = threading.Barrier(2)
        answers = {}

        def send(move, turn=turn, start=start, answers=answers):
            start.wait()
            try:
                answers[move] = answer(bots[0], turn, START, move).as_json()
            except play.MoveRefusedError as error:
                answers[move] = {"status": error.code, **error.members}
            finally:
                connection.close()

        threads = [threading.Thread(target=send, args=[move]) for move in legal]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        [winner] = [move for move, said in answers.items() if said["status"] == "accepted"]
        [loser] = set(legal) - {winner}
        assert answers[loser]["status"] == "turn-already-decided"
        assert answers[loser]["move"] == winner
        assert Turn.objects.get(bot=bots[0], number=turn["turn"]).text == winner
        play_on(bots[1:])


def test_all_seats_of_a_phase_may_move_at_once(match, bots):
    def send(bot, start):
        start.wait()
        try:
            answer(bot, first_turn(bot), START)
        finally:
            connection.close()

    for _ in range(4):
        start = threading.Barrier(3)
        threads = [threading.Thread(target=send, args=[bot, start]) for bot in bots]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    match.refresh_from_db()
    assert match.plies == 12
    assert LiveMove.objects.count() == 12


def test_a_match_that_is_not_the_bots_is_not_found_and_one_not_open_is_said_so(match, bots):
    turn = first_turn(bots[0])
    [stranger] = remote_bots(1)
    assert refused(stranger, turn, START, "give 1")[0] == "not-found"
    for unknown in (0, -1, match.pk + 1, 10**30):
        assert refused(bots[0], {**turn, "match": unknown}, START, "give 1")[0] == "not-found"
    for number in (1, -1, 10**30):
        assert refused(bots[0], {**turn, "turn": number}, START, "give 1")[0] == "turn-not-open"
    versions = [bot.current for bot in bots]
    waiting = play.open_unrated_match(game="twelve-days", rules="calliope", versions=versions)
    assert refused(bots[0], {"match": waiting.pk, "turn": 0}, START, "give 1")[0] == "turn-not-open"


def test_past_the_deadline_the_bot_is_told_what_the_referee_played(match, bots):
    turn = first_turn(bots[0])
    legal = turn["observation"]["legal_moves"]
    action = fallback(bytes(match.deal_seed), 0, range(len(legal)))
    answer(bots[1], first_turn(bots[1]), second(3))
    for move in (legal[0], legal[1], legal[action], "nonsense"):
        code, members = refused(bots[0], turn, second(3.001), move)
        assert (code, members) == ("turn-expired", {"turn": 0, "move": legal[action]})
    assert LiveMove.objects.get(ply=0).fault == "timeout"


def test_at_the_deadline_a_move_is_in_time(match, bots):
    assert answer(bots[0], first_turn(bots[0]), second(3)).remaining_ms == 0


def test_an_illegal_move_is_told_what_is_legal_and_the_fifth_is_a_fault(match, bots):
    turn = first_turn(bots[0])
    legal = turn["observation"]["legal_moves"]
    for left, move in zip((4, 3, 2, 1), ("nonsense", "", "give 99", "pass " * 20_000), strict=True):
        code, members = refused(bots[0], turn, second(1), move)
        assert code == "illegal-move"
        assert members == {
            "legal_moves": legal,
            "turn": 0,
            "remaining_ms": 2000,
            "answers_left": left,
        }
    code, members = refused(bots[0], turn, second(1), "give")
    assert (code, members["answers_left"]) == ("illegal-move", 0)
    assert members["move"] == LiveMove.objects.get(ply=0, fault="illegal").text
    for move in ("give", legal[0], members["move"]):
        assert refused(bots[0], turn, second(1), move) == (
            "turn-already-decided",
            {"turn": 0, "move": members["move"]},
        )


def test_after_four_illegal_answers_a_legal_one_counts(match, bots):
    turn = first_turn(bots[0])
    for _ in range(4):
        refused(bots[0], turn, START, "nonsense")
    answer(bots[0], turn, START)
    answer(bots[1], first_turn(bots[1]), START)
    answer(bots[2], first_turn(bots[2]), START)
    refused(bots[0], first_turn(bots[0]), START, "nonsense")
    play_on(bots)
    assert Match.objects.get().record.faults == ()


@pytest.fixture
def always_locked(monkeypatch):
    """Make every move under the match's lock, which only few moves need."""
    monkeypatch.setattr(writing, "MAX_TRIES", 0)


@pytest.mark.parametrize(
    "statement", ["league.play.statements.write", "league.play.wakeups.announce"]
)
def test_a_crash_between_statements_leaves_nothing_half_done(
    match, bots, monkeypatch, statement, always_locked
):
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


def test_a_crash_before_a_plain_move_is_written_leaves_nothing_and_one_after_it_the_move(
    match, bots, monkeypatch
):
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


def test_a_move_that_was_judged_before_another_came_is_judged_again(match, bots, monkeypatch):
    turns = [first_turn(bot) for bot in bots]
    answer(bots[0], turns[0], START)
    real = writing.read_matches
    overtaken = []

    def read(match_ids, now):
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


def test_a_move_sent_twice_at_once_is_answered_alike_up_to_the_one_that_ends_the_match(
    match, bots, monkeypatch
):
    real = writing.read_matches
    answers = []

    def read(match_ids, now):
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


def test_every_move_can_be_made_under_the_lock(match, bots, always_locked):
    play_on(bots)
    verify(Match.objects.get().record)


def everything():
    return [list(rows.objects.order_by("pk").values()) for rows in (Match, Turn, LiveMove)]


def crash(*_args, **_kwargs):
    raise RuntimeError("the machine is gone")


def test_a_crash_while_a_match_is_finished_leaves_it_to_the_next_try(match, bots, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(writing, "finish", crash)
        with pytest.raises(RuntimeError, match="the machine is gone"):
            play_on(bots)
    assert Match.objects.get().status == "playing"
    play_on(bots)
    verify(Match.objects.get().record)


def test_a_move_costs_two_statements(match, bots, monkeypatch, django_assert_num_queries):
    sent = []
    real = statements._run
    monkeypatch.setattr(statements, "_run", lambda *args: sent.append(args) or real(*args))
    turns = [first_turn(bot) for bot in bots]
    for bot, turn in zip(bots, turns, strict=True):  # the last finishes the phase
        sent.clear()
        with django_assert_num_queries(0):  # of any other kind
            answer(bot, turn, START)
        assert len(sent) == 2


def test_the_turns_of_many_matches_cost_no_more_queries_than_those_of_one(
    bots, django_assert_max_num_queries
):
    for _ in range(8):
        match_of(bots)
    with django_assert_max_num_queries(3):
        assert len(play.open_turns(bots[0], START)) == 8


def test_a_house_bot_in_a_live_match_has_no_turns(bots):
    [house] = small.bots(1)
    match_of([house, *bots[:2]])
    assert play.open_turns(house, START) == []


def batch(bot, now=START):
    return [
        play.Move(turn["match"], turn["turn"], choose(turn["observation"]))
        for turn in play.open_turns(bot, now)
    ]


def test_moves_in_many_matches_cost_two_statements_together(
    bots, monkeypatch, django_assert_num_queries
):
    matches = [match_of(bots) for _ in range(8)]
    sent = []
    real = statements._run
    monkeypatch.setattr(statements, "_run", lambda *args: sent.append(args) or real(*args))
    for bot in bots:  # the last finishes the phase in all of them
        moves = batch(bot)
        sent.clear()
        with django_assert_num_queries(0):  # of any other kind
            answers = play.submit_all(bot, moves, START)
        assert [answer.as_json()["status"] for answer in answers] == ["accepted"] * 8
        assert len(sent) == 2
    assert {Match.objects.get(pk=match.pk).plies for match in matches} == {3}


def test_of_two_moves_in_one_match_the_second_sees_what_the_first_brought(match, bots):
    [move] = batch(bots[0])
    other = move._replace(text="nonsense")
    again, first, late = play.submit_all(bots[0], [move, move, other], START)
    assert again == first
    assert late.code == "turn-already-decided"


def test_what_is_refused_in_a_batch_keeps_nothing_else_from_being_played(bots):
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


def test_a_batch_that_others_overtake_or_deadlock_with_is_played_all_the_same(bots, monkeypatch):
    matches = [match_of(bots) for _ in range(3)]
    moves = batch(bots[0])
    real = statements.write
    calls = []

    def write(changes):
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
