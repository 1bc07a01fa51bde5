"""The calls with which a bot moves, in one match and in several."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from league import accounts, play
from league.models import Bot, Match, Turn
from tests import logs
from tests.api.conftest import Api, assert_problem, fields_of
from tests.league import small
from tests.league.play.live import choose, remote_bots
from tests.responses import Response

pytestmark = pytest.mark.django_db


class Table:
    """A match of three remote bots, its clock an hour a move."""

    def __init__(self) -> None:
        self.bots = remote_bots(3)
        self.tokens = [accounts.new_bot_token(bot) for bot in self.bots]
        self.match = self.another()

    def another(self) -> Match:
        match = play.open_unrated_match(
            game="twelve-days",
            rules="eight-nights",
            versions=small.versions(self.bots),
            move_seconds=3600.0,
            bank_seconds=1.0,
        )
        assert play.open_live(match.pk)
        return match

    def turns(self, seat: int = 0) -> list[dict[str, Any]]:
        return play.open_turns(self.bots[seat], timezone.now())


@pytest.fixture
def table(db: None) -> Table:
    return Table()


def send(
    api: Api, table: Table, turn: int, move: str, token: str | None = None, match: int | None = None
) -> Response:
    path = f"matches/{match or table.match.pk}/moves"
    return api.post(path, {"turn": turn, "move": move}, token=token or table.tokens[0])


def test_a_legal_move_is_accepted_in_canonical_text(api: Api, table: Table) -> None:
    turn = table.turns()[0]
    move = choose(turn["observation"])
    answer = send(api, table, 0, move.replace(" ", "   "))
    assert answer.status_code == 200
    verdict = answer.json()
    assert (verdict["status"], verdict["move"], verdict["turn"]) == ("accepted", move, 0)
    assert 0 < verdict["remaining_ms"] <= 3_601_000


def test_the_line_of_a_move_in_the_log_has_the_bot_and_the_match(api: Api, table: Table) -> None:
    with logs.captured() as events:
        send(api, table, 0, choose(table.turns()[0]["observation"]))
    [event] = [event for event in events if event["event"] == "request finished"]
    assert (event["bot"], event["match_id"]) == (table.bots[0].name, table.match.pk)


def test_a_retry_gets_the_same_answer(api: Api, table: Table) -> None:
    move = choose(table.turns()[0]["observation"])
    first = send(api, table, 0, move).json()
    assert send(api, table, 0, move).json() == first


def test_another_move_in_a_decided_turn_gets_the_move_that_was_played(
    api: Api, table: Table
) -> None:
    legal = table.turns()[0]["observation"]["legal_moves"]
    send(api, table, 0, legal[0])
    problem = assert_problem(send(api, table, 0, legal[1]), 409, "turn-already-decided")
    assert problem["move"] == legal[0]


@pytest.mark.parametrize("turn", [1, 2**31 - 1])
def test_a_turn_that_is_not_open_is_refused(api: Api, table: Table, turn: int) -> None:
    assert_problem(send(api, table, turn, "give 1"), 409, "turn-not-open")


def test_a_late_move_gets_the_move_that_the_referee_played(api: Api, table: Table) -> None:
    legal = table.turns()[0]["observation"]["legal_moves"]
    Turn.objects.update(deadline=timezone.now() - timedelta(seconds=1))
    problem = assert_problem(send(api, table, 0, legal[0]), 409, "turn-expired")
    assert problem["move"] in legal


@pytest.mark.parametrize("move", ["give 99", "", "nonsense", "give", "x" * 4096, "play 1"])
def test_an_illegal_move_gets_the_legal_moves(api: Api, table: Table, move: str) -> None:
    legal = table.turns()[0]["observation"]["legal_moves"]
    problem = assert_problem(send(api, table, 0, move), 422, "illegal-move")
    assert problem["legal_moves"] == legal


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"turn": 0},
        {"turn": -1, "move": "give 1"},
        {"turn": "zero", "move": "give 1"},
        {"turn": 0, "move": ["give 1"]},
        {"turn": 0, "move": None},
        {"turn": 2**31, "move": "give 1"},
        {"turn": 0, "move": "x" * 4097},
        {"turn": 0, "move": "give\0"},
    ],
)
def test_a_malformed_body_is_refused_and_counts_as_no_illegal_answer(
    api: Api, table: Table, body: Any
) -> None:
    path = f"matches/{table.match.pk}/moves"
    answer = api.post(path, body, token=table.tokens[0])
    assert assert_problem(answer, 400, "invalid")["errors"]
    assert not Turn.objects.exclude(illegal_answers=0).exists()


def test_a_match_of_others_is_not_found(api: Api, table: Table, bot: tuple[Bot, str]) -> None:
    assert_problem(send(api, table, 0, "give 1", token=bot[1]), 404, "not-found")
    assert_problem(send(api, table, 0, "give 1", match=10**9), 404, "not-found")


def test_only_bots_move(api: Api, table: Table, ada: tuple[User, str]) -> None:
    assert_problem(send(api, table, 0, "give 1", token=ada[1]), 403, "bot-token-needed")
    answer = api.post(f"matches/{table.match.pk}/moves", {"turn": 0, "move": "give 1"})
    assert_problem(answer, 401, "not-authenticated")
    assert_problem(api.post("moves", {"moves": []}, token=ada[1]), 403, "bot-token-needed")


def test_many_moves_get_a_verdict_each_and_the_turns_then_open(api: Api, table: Table) -> None:
    other = table.another()
    turns = table.turns()
    assert len(turns) == 2
    moves = [
        {"match": turn["match"], "turn": 0, "move": choose(turn["observation"])} for turn in turns
    ]
    moves.append({"match": other.pk, "turn": 7, "move": "give 1"})
    moves.append({"match": 10**9, "turn": 0, "move": "give 1"})
    answer = api.post("moves", {"moves": moves[:1] + moves[2:]}, token=table.tokens[0])
    assert answer.status_code == 200
    verdicts = answer.json()["verdicts"]
    assert [verdict["status"] for verdict in verdicts] == ["accepted", 409, 404]
    assert [verdict.get("code") for verdict in verdicts] == [None, "turn-not-open", "not-found"]
    assert [verdict["match"] for verdict in verdicts] == [
        move["match"] for move in moves[:1] + moves[2:]
    ]
    assert [turn["match"] for turn in answer.json()["turns"]] == [moves[1]["match"]]


def test_an_empty_batch_gets_the_open_turns(api: Api, table: Table) -> None:
    answer = api.post("moves", {"moves": []}, token=table.tokens[0]).json()
    assert answer["verdicts"] == []
    assert [turn["match"] for turn in answer["turns"]] == [table.match.pk]


def test_more_than_a_hundred_moves_are_refused(api: Api, table: Table) -> None:
    move = {"match": table.match.pk, "turn": 0, "move": "give 1"}
    answer = api.post("moves", {"moves": [move] * 101}, token=table.tokens[0])
    assert "moves" in fields_of(assert_problem(answer, 400, "invalid"))


def test_one_malformed_move_refuses_the_whole_batch(api: Api, table: Table) -> None:
    good = {"match": table.match.pk, "turn": 0, "move": choose(table.turns()[0]["observation"])}
    answer = api.post("moves", {"moves": [good, {"match": 1}]}, token=table.tokens[0])
    assert_problem(answer, 400, "invalid")
    assert not Turn.objects.filter(decided_at__isnull=False).exists()
