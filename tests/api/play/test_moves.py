"""The calls with which a bot moves, in one match and in several."""

from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from league import accounts, play
from league.models import Bot, Match, Turn
from tests import logs
from tests.api.conftest import assert_problem, fields_of
from tests.api.play.sites import Site, await_true
from tests.league import small
from tests.league.play.live import choose, remote_bots

pytestmark = pytest.mark.django_db(transaction=True)


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
    site: Site,
    table: Table,
    turn: int,
    move: str,
    token: str | None = None,
    match: int | None = None,
) -> httpx.Response:
    path = f"matches/{match or table.match.pk}/moves"
    return site.post(path, {"turn": turn, "move": move}, token=token or table.tokens[0])


def test_a_legal_move_is_accepted_in_canonical_text(site: Site, table: Table) -> None:
    turn = table.turns()[0]
    move = choose(turn["observation"])
    answer = send(site, table, 0, move.replace(" ", "   "))
    assert answer.status_code == 200
    verdict = answer.json()
    assert (verdict["status"], verdict["move"], verdict["turn"]) == ("accepted", move, 0)
    assert 0 < verdict["remaining_ms"] <= 3_601_000


def test_the_line_of_a_move_in_the_log_has_the_bot_and_the_match(site: Site, table: Table) -> None:
    with logs.captured() as events:
        send(site, table, 0, choose(table.turns()[0]["observation"]))
        [event] = await_true(lambda: [e for e in events if e["event"] == "request finished"])
    assert (event["bot"], event["match_id"]) == (table.bots[0].name, table.match.pk)


def test_a_retry_gets_the_same_answer(site: Site, table: Table) -> None:
    move = choose(table.turns()[0]["observation"])
    first = send(site, table, 0, move).json()
    assert send(site, table, 0, move).json() == first


def test_another_move_in_a_decided_turn_gets_the_move_that_was_played(
    site: Site, table: Table
) -> None:
    legal = table.turns()[0]["observation"]["legal_moves"]
    send(site, table, 0, legal[0])
    problem = assert_problem(send(site, table, 0, legal[1]), 409, "turn-already-decided")
    assert problem["move"] == legal[0]


@pytest.mark.parametrize("turn", [1, 2**31 - 1])
def test_a_turn_that_is_not_open_is_refused(site: Site, table: Table, turn: int) -> None:
    assert_problem(send(site, table, turn, "give 1"), 409, "turn-not-open")


def test_a_late_move_gets_the_move_that_the_referee_played(site: Site, table: Table) -> None:
    legal = table.turns()[0]["observation"]["legal_moves"]
    Turn.objects.update(deadline=timezone.now() - timedelta(seconds=1))
    problem = assert_problem(send(site, table, 0, legal[0]), 409, "turn-expired")
    assert problem["move"] in legal


@pytest.mark.parametrize("move", ["give 99", "", "nonsense", "give", "x" * 4096, "play 1"])
def test_an_illegal_move_gets_the_legal_moves(site: Site, table: Table, move: str) -> None:
    legal = table.turns()[0]["observation"]["legal_moves"]
    problem = assert_problem(send(site, table, 0, move), 422, "illegal-move")
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
    site: Site, table: Table, body: Any
) -> None:
    path = f"matches/{table.match.pk}/moves"
    answer = site.post(path, body, token=table.tokens[0])
    assert assert_problem(answer, 400, "invalid")["errors"]
    assert not Turn.objects.exclude(illegal_answers=0).exists()


def test_a_match_of_others_is_not_found(site: Site, table: Table, bot: tuple[Bot, str]) -> None:
    refused = assert_problem(send(site, table, 0, "give 1", token=bot[1]), 404, "not-found")
    assert "may see" in refused["title"]
    assert "Only a bot with a seat may move and get verdicts." in refused["detail"]
    assert_problem(send(site, table, 0, "give 1", match=10**9), 404, "not-found")


def test_only_bots_move(site: Site, table: Table, ada: tuple[User, str]) -> None:
    assert_problem(send(site, table, 0, "give 1", token=ada[1]), 403, "bot-token-needed")
    answer = site.post(f"matches/{table.match.pk}/moves", {"turn": 0, "move": "give 1"})
    assert_problem(answer, 401, "not-authenticated")
    assert_problem(site.post("moves", {"moves": []}, token=ada[1]), 403, "bot-token-needed")


def test_many_moves_get_a_verdict_each_and_the_turns_then_open(site: Site, table: Table) -> None:
    other = table.another()
    turns = table.turns()
    assert len(turns) == 2
    moves = [
        {"match": turn["match"], "turn": 0, "move": choose(turn["observation"])} for turn in turns
    ]
    moves.append({"match": other.pk, "turn": 7, "move": "give 1"})
    moves.append({"match": 10**9, "turn": 0, "move": "give 1"})
    answer = site.post("moves", {"moves": moves[:1] + moves[2:]}, token=table.tokens[0])
    assert answer.status_code == 200
    verdicts = answer.json()["verdicts"]
    assert [verdict["status"] for verdict in verdicts] == ["accepted", 409, 404]
    assert [verdict.get("code") for verdict in verdicts] == [None, "turn-not-open", "not-found"]
    assert [verdict["match"] for verdict in verdicts] == [
        move["match"] for move in moves[:1] + moves[2:]
    ]
    assert [turn["match"] for turn in answer.json()["turns"]] == [moves[1]["match"]]


def test_an_empty_batch_gets_the_open_turns(site: Site, table: Table) -> None:
    answer = site.post("moves", {"moves": []}, token=table.tokens[0]).json()
    assert answer["verdicts"] == []
    assert [turn["match"] for turn in answer["turns"]] == [table.match.pk]


def test_a_field_inside_a_list_is_named_by_its_path(site: Site, bot: tuple[Bot, str]) -> None:
    good = {"match": 1, "turn": 0, "move": "give 1"}
    moves = [good, {**good, "turn": "0"}, {**good, "tern": 0}, 7, {**good, "move": "x" * 5000}]
    problem = assert_problem(site.post("moves", {"moves": moves}, token=bot[1]), 400, "invalid")
    assert fields_of(problem) == {"moves.1.turn", "moves.2.tern", "moves.3"}
    answer = site.post("moves", {"moves": [good, moves[4]]}, token=bot[1])
    assert fields_of(assert_problem(answer, 400, "invalid")) == {"moves.1.move"}


def test_more_than_a_hundred_moves_are_refused(site: Site, table: Table) -> None:
    move = {"match": table.match.pk, "turn": 0, "move": "give 1"}
    answer = site.post("moves", {"moves": [move] * 101}, token=table.tokens[0])
    assert "moves" in fields_of(assert_problem(answer, 400, "invalid"))


def test_one_malformed_move_refuses_the_whole_batch(site: Site, table: Table) -> None:
    good = {"match": table.match.pk, "turn": 0, "move": choose(table.turns()[0]["observation"])}
    answer = site.post("moves", {"moves": [good, {"match": 1}]}, token=table.tokens[0])
    assert_problem(answer, 400, "invalid")
    assert not Turn.objects.filter(decided_at__isnull=False).exists()


def statuses(answers: list[httpx.Response]) -> list[int]:
    return [answer.status_code for answer in answers]


@pytest.mark.parametrize(
    ("path", "body"), [("moves", {"moves": []}), ("matches/1/moves", {"turn": 0, "move": "x"})]
)
def test_moves_have_the_rate_limit_of_play(
    site: Site, bot: tuple[Bot, str], settings: Settings, path: str, body: Any
) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "play": (2, 3600)}
    answers = [site.post(path, body, token=bot[1]) for _ in range(3)]
    assert [status == 429 for status in statuses(answers)] == [False, False, True]
    assert answers[2].headers["RateLimit-Policy"] == '"play";q=2;w=3600'
    assert int(answers[2].headers["Retry-After"]) > 0


def test_refused_tokens_count_by_address_and_owner_tokens_by_owner(
    site: Site, ada: tuple[User, str], settings: Settings
) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "play": (2, 3600)}
    sent: list[Any] = [("moves", {"moves": []}, token) for token in ("tn_b_x", "", "tn_b_y")]
    assert statuses([site.post(path, body, token=token) for path, body, token in sent]) == [
        401,
        401,
        429,
    ]
    assert statuses([site.post("moves", {}, token=ada[1]) for _ in range(3)]) == [403, 403, 429]


def test_other_methods_get_the_allowed_ones(site: Site, table: Table) -> None:
    path = f"matches/{table.match.pk}/moves"
    preflight = site.call("OPTIONS", path)
    assert (preflight.status_code, preflight.content) == (204, b"")
    assert preflight.headers["Allow"] == "POST, OPTIONS"
    assert preflight.headers["Access-Control-Allow-Methods"] == "GET, HEAD"
    for method in ("PUT", "GET"):
        refused = site.call(method, path, token=table.tokens[0])
        assert assert_problem(refused, 405, "method-not-allowed")["detail"] == (
            f"This path does not allow {method}. It allows POST."
        )
        assert refused.headers["Allow"] == "POST, OPTIONS"


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        (b"", {}, 400, "invalid"),
        (b"{", {}, 400, "invalid-json"),
        (b"[]", {}, 400, "invalid"),
        (b'{"turn": 0, "turn": 1, "move": "x"}', {}, 400, "invalid-json"),
        (b"turn=0", {"Content-Type": "text/plain"}, 415, "unsupported-media-type"),
        (b"{}", {"Content-Type": ""}, 415, "unsupported-media-type"),
        (b"{}", {"Content-Type": "application/json; charset=rot13"}, 400, "invalid"),
        (b"", {"Content-Type": "application/x-www-form-urlencoded"}, 400, "invalid"),
        (b"{}", {"Accept": "text/html"}, 406, "not-acceptable"),
        (b"{}", {"Host": "elsewhere.example"}, 400, "unknown-host"),
        (b" " * 65_536, {}, 400, "invalid-json"),
        (b" " * 65_537, {}, 413, "body-too-large"),
    ],
)
def test_a_request_that_is_no_move_is_refused(
    site: Site, table: Table, body: bytes, headers: dict[str, str], status: int, code: str
) -> None:
    for path in ("moves", f"matches/{table.match.pk}/moves"):
        answer = site.call("POST", path, body, table.tokens[0], **headers)
        assert_problem(answer, status, code)
    assert not Turn.objects.exclude(illegal_answers=0).exists()


def test_a_body_of_unknown_length_is_refused(site: Site, table: Table) -> None:
    answer = site.client.post("/moves", content=iter([b"{}"]))
    assert_problem(answer, 411, "length-required")
    assert answer.headers["Connection"] == "close"


def test_unknown_names_are_refused_with_the_nearest_known_one(site: Site, table: Table) -> None:
    path = f"matches/{table.match.pk}/moves"
    answer = site.post(path, {"turn": 0, "mov": "x"}, token=table.tokens[0])
    errors = assert_problem(answer, 400, "invalid")["errors"]
    assert {"field": "mov", "message": "There is no field 'mov'. Did you mean 'move'?"} in errors
    for query_path in (path, "moves"):
        answer = site.post(f"{query_path}?bogus=1", {"bogus": 1}, token=table.tokens[0])
        assert fields_of(assert_problem(answer, 400, "invalid")) == {"bogus"}


@pytest.mark.parametrize("match", ["0", "9" * 30])
def test_a_match_that_cannot_exist_is_not_found(site: Site, table: Table, match: str) -> None:
    answer = site.post(f"matches/{match}/moves", {"turn": 0, "move": "x"}, token=table.tokens[0])
    assert match in assert_problem(answer, 404, "not-found")["detail"]


@pytest.mark.parametrize("path", ["moves/", "matches/1/moves/", f"matches/{'9' * 5000}/moves"])
def test_an_address_that_is_not_of_a_move_is_not_found(site: Site, table: Table, path: str) -> None:
    assert_problem(site.post(path, {}, token=table.tokens[0]), 404, "not-found")


def test_a_league_with_tls_sends_moves_there(site: Site, table: Table, settings: Settings) -> None:
    settings.SECURE_SSL_REDIRECT = True
    moved = site.post("moves?a=1", {"moves": []}, token=table.tokens[0])
    assert moved.status_code == 301
    assert moved.headers["Location"] == "https://testserver/api/v1/moves?a=1"
    headers = {"X-Forwarded-Proto": "https"}
    answer = site.call("POST", "moves", {"moves": []}, table.tokens[0], **headers)
    assert answer.status_code == 200
    assert site.client.get("http://testserver/healthz/play").status_code == 200


def test_a_text_that_is_no_move_comes_back_as_it_was_sent(site: Site, table: Table) -> None:
    answer = site.post(
        "moves",
        {"moves": [{"match": table.match.pk, "turn": 0, "move": "give ä\u2028"}]},
        token=table.tokens[0],
    )
    [verdict] = answer.json()["verdicts"]
    assert (verdict["status"], verdict["code"]) == (422, "illegal-move")
    assert verdict["request_id"] == answer.headers["X-Request-ID"]
