"""The answer to a move, at the first request and when it is sent again."""

import threading
from datetime import datetime
from typing import Any

import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from engine.record import fallback
from league import play
from league.models import Bot, LiveMove, Match, Turn
from tests.league import small
from tests.league.play.live import START, answer, first_turn, match_of, play_on, remote_bots, second

pytestmark = pytest.mark.django_db(transaction=True)


def refused(
    bot: Bot, turn: dict[str, Any], now: datetime, move: str | None
) -> tuple[str, dict[str, Any]]:
    with pytest.raises(play.MoveRefusedError) as caught:
        answer(bot, turn, now, move)
    return caught.value.code, caught.value.members


def test_a_verdict_has_the_canonical_text_and_the_rest_of_the_clock(
    match: Match, bots: list[Bot]
) -> None:
    turn = first_turn(bots[0])
    move = turn["observation"]["legal_moves"][0]
    verdict = answer(bots[0], turn, second(0.25), f"  {move.replace(' ', '   ')} ")
    assert verdict.as_json() == {
        "status": "accepted",
        "move": move,
        "turn": 0,
        "remaining_ms": 2750,
    }


def test_the_same_move_again_gets_the_original_verdict_even_after_the_match(
    match: Match, bots: list[Bot]
) -> None:
    turn = first_turn(bots[0])
    verdict = answer(bots[0], turn, second(0.5))
    assert answer(bots[0], turn, second(77)) == verdict
    play_on(bots)
    assert Match.objects.get().status == "finished"
    assert answer(bots[0], turn, second(777), verdict.move.replace(" ", "  ")) == verdict


def test_another_move_in_a_decided_turn_gets_the_move_that_was_played(
    match: Match, bots: list[Bot]
) -> None:
    turn = first_turn(bots[0])
    legal = turn["observation"]["legal_moves"]
    answer(bots[0], turn, START, legal[0])
    for other in (legal[1], "nonsense", "x" * 100_000, ""):
        assert refused(bots[0], turn, START, other) == (
            "turn-already-decided",
            {"turn": 0, "move": legal[0]},
        )
    with pytest.raises(play.MoveRefusedError, match="another program runs with the same bot token"):
        answer(bots[0], turn, START, legal[1])


def test_if_two_different_moves_arrive_at_once_the_second_gets_the_first_as_played(
    match: Match, bots: list[Bot]
) -> None:
    for _ in range(5):
        turn = first_turn(bots[0])
        legal = turn["observation"]["legal_moves"][:2]
        start = threading.Barrier(2)
        answers: dict[str, dict[str, Any]] = {}

        def send(
            move: str,
            turn: dict[str, Any] = turn,
            start: threading.Barrier = start,
            answers: dict[str, dict[str, Any]] = answers,
        ) -> None:
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
        [winner] = [move for move, verdict in answers.items() if verdict["status"] == "accepted"]
        [loser] = set(legal) - {winner}
        assert answers[loser]["status"] == "turn-already-decided"
        assert answers[loser]["move"] == winner
        assert Turn.objects.get(bot=bots[0], number=turn["turn"]).text == winner
        play_on(bots[1:])


def test_all_seats_of_a_phase_can_move_at_once(match: Match, bots: list[Bot]) -> None:
    def send(bot: Bot, start: threading.Barrier) -> None:
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


def test_a_match_without_the_bot_is_not_found_and_a_turn_that_is_not_open_is_refused(
    match: Match, bots: list[Bot]
) -> None:
    turn = first_turn(bots[0])
    [stranger] = remote_bots(1)
    assert refused(stranger, turn, START, "give 1")[0] == "not-found"
    for unknown in (0, -1, match.pk + 1, 10**30):
        assert refused(bots[0], {**turn, "match": unknown}, START, "give 1")[0] == "not-found"
    for number in (1, -1, 10**30):
        assert refused(bots[0], {**turn, "turn": number}, START, "give 1")[0] == "turn-not-open"
    versions = small.versions(bots)
    waiting = play.open_unrated_match(game="twelve-days", rules="calliope", versions=versions)
    assert refused(bots[0], {"match": waiting.pk, "turn": 0}, START, "give 1")[0] == "turn-not-open"


def test_a_late_move_gets_the_move_that_the_referee_played(match: Match, bots: list[Bot]) -> None:
    turn = first_turn(bots[0])
    legal = turn["observation"]["legal_moves"]
    action = fallback(bytes(match.deal_seed), 0, range(len(legal)))
    answer(bots[1], first_turn(bots[1]), second(3))
    for move in (legal[0], legal[1], legal[action], "nonsense"):
        code, members = refused(bots[0], turn, second(3.001), move)
        assert (code, members) == (
            "turn-expired",
            {"turn": 0, "move": legal[action], "fault": "timeout"},
        )
    assert LiveMove.objects.get(ply=0).fault == "timeout"


def test_at_the_deadline_a_move_is_in_time(match: Match, bots: list[Bot]) -> None:
    assert answer(bots[0], first_turn(bots[0]), second(3)).remaining_ms == 0


def test_an_illegal_move_gets_the_legal_moves_and_the_fifth_is_a_fault(
    match: Match, bots: list[Bot]
) -> None:
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
            "decided": False,
        }
    code, members = refused(bots[0], turn, second(1), "give")
    assert (code, members["answers_left"]) == ("illegal-move", 0)
    assert (members["decided"], members["fault"]) == (True, "illegal")
    assert members["move"] == LiveMove.objects.get(ply=0, fault="illegal").text
    for move in ("give", legal[0], members["move"]):
        assert refused(bots[0], turn, second(1), move) == (
            "turn-already-decided",
            {"turn": 0, "move": members["move"], "fault": "illegal"},
        )


def test_after_four_illegal_answers_a_legal_one_counts(match: Match, bots: list[Bot]) -> None:
    turn = first_turn(bots[0])
    for _ in range(4):
        refused(bots[0], turn, START, "nonsense")
    answer(bots[0], turn, START)
    answer(bots[1], first_turn(bots[1]), START)
    answer(bots[2], first_turn(bots[2]), START)
    refused(bots[0], first_turn(bots[0]), START, "nonsense")
    play_on(bots)
    assert Match.objects.get().record.faults == ()


def test_the_turns_of_many_matches_take_as_many_queries_as_those_of_one(
    bots: list[Bot], django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(8):
        match_of(bots)
    with django_assert_max_num_queries(3):
        assert len(play.open_turns(bots[0], START)) == 8


def test_a_house_bot_in_a_live_match_has_no_turns(bots: list[Bot]) -> None:
    [house] = small.bots(1)
    match_of([house, *bots[:2]])
    assert play.open_turns(house, START) == []
