"""The client over real HTTP: what is sent again, what is not, and what is raised."""

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest

from bots_sdk import calls
from bots_sdk.client import AsyncClient, Client, Retry, ServerEvent
from bots_sdk.connection import check_url
from bots_sdk.errors import ProblemError, UnreachableError
from engine.cli import simulate
from engine.playback import play_back
from tests.bots_sdk.stub import DROP, LOSE, StubLeague

QUICK = Retry(seconds=5, first_wait_seconds=0.01, max_wait_seconds=0.02)


@pytest.fixture
def stub() -> Iterator[StubLeague]:
    league = StubLeague(1)
    with league.serving():
        yield league


@pytest.fixture(params=["sync", "async"])
def send(request: pytest.FixtureRequest, stub: StubLeague) -> Any:
    """Make a call with either client."""

    def send_sync(call: Any, retry: Retry = QUICK, **more: Any) -> Any:
        with Client(stub.url, "token", retry=retry, **more) as client:
            return client.send(call)

    async def send_async(call: Any, retry: Retry = QUICK, **more: Any) -> Any:
        async with AsyncClient(stub.url, "token", retry=retry, **more) as client:
            return await client.send(call)

    if request.param == "sync":
        return send_sync
    return lambda *args, **more: asyncio.run(send_async(*args, **more))


def test_a_deletion_whose_answer_is_lost_has_succeeded(stub: StubLeague, send: Any) -> None:
    stub.trouble = [LOSE]  # the second attempt finds no such bot
    assert send(calls.delete_bot("swan")) is None
    assert stub.requests == [("DELETE", "bots/swan")] * 2
    with pytest.raises(ProblemError, match="not-found"):
        send(calls.delete_bot("swan"))


def test_a_deletion_that_never_arrived_before_has_failed() -> None:
    with Client("http://league.test", retry=QUICK) as client:
        attempts = client._connection.attempts(calls.delete_bot("swan"))
        next(attempts)
        attempts.send(httpx.ConnectError("away"))
        gone = {"code": "not-found", "detail": "There is no bot swan."}
        with pytest.raises(ProblemError, match="There is no bot swan"):
            attempts.send(httpx.Response(404, json=gone))


def test_a_call_with_a_former_name_of_a_bot_is_sent_to_its_new_address(
    stub: StubLeague, send: Any
) -> None:
    stub.answers["PATCH bots/old"] = (308, "/api/v1/bots/new")
    stub.answers["PATCH bots/new"] = (200, {"name": "new"})
    assert send(calls.change_bot("old", paused=True)) == {"name": "new"}
    assert stub.bodies[-1] == {"paused": True}
    assert stub.headers[-1]["Authorization"] == "Bearer token"


def test_a_new_address_at_another_host_gets_no_token(stub: StubLeague, send: Any) -> None:
    stub.answers["GET bots/old"] = (308, stub.url.replace("127.0.0.1", "localhost") + "/api/v1/x")
    with pytest.raises(ProblemError, match="a redirect to"):
        send(calls.bot("old"))
    assert stub.requests == [("GET", "bots/old")]


@pytest.mark.parametrize("trouble", [DROP, LOSE, 500, 502, 503, 504, (429, {})])
def test_a_move_is_sent_again_until_it_is_answered(
    stub: StubLeague, send: Any, trouble: Any
) -> None:
    turn = stub.turns()[0]
    move = turn["observation"]["legal_moves"][0]
    stub.trouble = [trouble, trouble]
    answer = send(calls.moves([{"match": 1, "turn": 0, "move": move}]))
    assert [verdict["status"] for verdict in answer["verdicts"]] == ["accepted"]
    assert stub.requests == [("POST", "moves")] * 3
    assert stub.matches[1].decided == {0: move}


@pytest.mark.parametrize("trouble", [DROP, LOSE, 500, 502, 503, 504])
def test_a_call_that_creates_is_sent_again_with_the_same_key(
    stub: StubLeague, send: Any, trouble: Any
) -> None:
    stub.answers["POST bots"] = (201, {"name": "mybot", "token": "tn_b_x"})
    stub.trouble = [trouble]
    assert send(calls.create_bot("mybot", "remote"))["token"] == "tn_b_x"
    first, second = stub.keys
    assert first == second
    assert len(first) == 32
    send(calls.create_bot("mybot", "remote"))
    assert stub.keys[2] != first


def test_a_call_waits_for_its_first_attempt_that_still_runs(stub: StubLeague, send: Any) -> None:
    stub.answers["POST bots"] = (201, {"name": "mybot", "token": "tn_b_x"})
    in_use = {"code": "idempotency-key-in-use", "status": 409, "detail": "It runs."}
    stub.trouble = [(409, {"Retry-After": "0"}, in_use)]
    assert send(calls.create_bot("mybot", "remote"))["token"] == "tn_b_x"


def test_a_call_that_creates_nothing_has_no_key(stub: StubLeague, send: Any) -> None:
    send(calls.turns())
    assert stub.keys == []


def test_every_call_that_did_not_arrive_is_sent_again(stub: StubLeague, send: Any) -> None:
    stub.answers["POST bots"] = (201, {"name": "mybot", "token": "tn_b_x"})
    stub.trouble = [(429, {"Retry-After": "0"})]
    assert send(calls.create_bot("mybot", "remote"))["token"] == "tn_b_x"


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_honoured(stub: StubLeague, send: Any, form: str) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    stub.trouble = [(429, {"Retry-After": "1" if form == "seconds" else date})]
    waits: list[float] = []
    began = time.monotonic()
    assert send(calls.turns(), on_retry=lambda error, wait: waits.append(wait))
    assert time.monotonic() - began > 0.95
    assert len(waits) == 1


def test_a_retry_after_beyond_the_limit_ends_the_retries(stub: StubLeague, send: Any) -> None:
    stub.trouble = [(429, {"Retry-After": "3600"})]
    with pytest.raises(ProblemError) as caught:
        send(calls.turns())
    assert caught.value.retry_after == 3600
    assert caught.value.code == "too-many-requests"


def test_waits_grow_with_jitter_to_the_longest() -> None:
    with Client("http://league.test", retry=Retry(math.inf, 1.0, 4.0)) as client:
        attempts = client._connection.attempts(calls.games())
        assert next(attempts) == 0
        waits = [attempts.send(httpx.ConnectError("away")) for _ in range(8)]
    for wait, longest in zip(waits, [1, 2, 4, 4, 4, 4, 4, 4], strict=True):
        assert longest / 2 <= wait <= longest
    assert len(set(waits)) == len(waits)


def test_a_problem_is_raised_with_its_code_detail_and_members(stub: StubLeague, send: Any) -> None:
    stub.answers["POST accounts"] = (
        400,
        {
            "code": "invalid",
            "status": 400,
            "detail": "Not valid.",
            "errors": [{"field": "username", "message": "The username ada is taken."}],
            "request_id": "abc",
        },
    )
    with pytest.raises(ProblemError, match=r"^The username ada is taken\.$") as caught:
        send(calls.create_account("ada", "secret"))
    assert caught.value.code == "invalid"
    assert caught.value.status == 400
    [error] = caught.value.members["errors"]
    assert error == {"field": "username", "message": "The username ada is taken."}
    assert caught.value.request_id == "abc"


@pytest.mark.parametrize("status", [200, 404])
def test_a_page_of_another_server_is_an_unexpected_answer(
    stub: StubLeague, send: Any, status: int
) -> None:
    stub.answers["GET games"] = (status, b"<h1>Welcome to nginx</h1>")
    with pytest.raises(ProblemError, match="This is not the answer of a league") as caught:
        send(calls.games())
    assert caught.value.code == "unexpected-answer"


def test_without_retries_of_connecting_the_first_refusal_ends_the_call() -> None:
    with Client("http://league.test", retry=Retry(math.inf, connecting=False)) as client:
        attempts = client._connection.attempts(calls.games())
        next(attempts)
        attempts.send(httpx.ReadTimeout("slow"))
        with pytest.raises(UnreachableError, match=r"does not answer \(Connection refused\)$"):
            attempts.send(httpx.ConnectError("[Errno 111] Connection refused"))


def test_a_refused_connection_is_unreachable(send: Any, stub: StubLeague) -> None:
    with (
        pytest.raises(UnreachableError, match=r"http://127\.0\.0\.1:1 does not answer"),
        Client("http://127.0.0.1:1", retry=Retry(0)) as client,
    ):
        client.send(calls.games())


def test_lists_are_read_to_their_end_and_the_token_goes_to_no_other_host(stub: StubLeague) -> None:
    pages = iter(
        [
            {"results": [{"name": "a"}, {"name": "b"}], "next": "http://evil.test/x?cursor=2"},
            {"results": [{"name": "c"}], "next": None},
        ]
    )
    requests = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append((request.url.host, request.url.path, dict(request.url.params)))
        return httpx.Response(200, json=next(pages))

    with Client("http://league.test", "t", transport=httpx.MockTransport(answer)) as client:
        assert [bot["name"] for bot in client.pages(calls.bots(limit=2))] == ["a", "b", "c"]
    assert requests == [
        ("league.test", "/api/v1/bots", {"limit": "2"}),
        ("league.test", "/api/v1/bots", {"cursor": "2"}),
    ]


def test_the_token_is_sent_and_not_shown(stub: StubLeague) -> None:
    with Client(stub.url, "tn_o_secret", retry=QUICK) as client:
        client.send(calls.turns())
        assert "secret" not in repr(client._connection)
    assert stub.headers[0]["Authorization"] == "Bearer tn_o_secret"


def test_a_file_is_uploaded_as_multipart(stub: StubLeague, send: Any) -> None:
    stub.answers["POST bots/mybot/versions"] = (202, {"number": 1, "state": "checking"})
    assert send(calls.upload("mybot", "mybot.py", b"choose = 1", "first"))["number"] == 1
    assert stub.headers[0]["Content-Type"].startswith("multipart/form-data")
    assert b'name="note"\r\n\r\nfirst' in stub.bodies[0]
    assert b'filename="mybot.py"' in stub.bodies[0]
    assert b"choose = 1" in stub.bodies[0]


EVENT_STREAM = {"Content-Type": "text/event-stream"}
STREAM = b""": connected

event: turn
id: 7-0
data: {"match": 7,
data: "turn": 0}

: keep-alive

event: end
data: {}

"""


@pytest.fixture(params=["sync", "async"])
def listen(request: pytest.FixtureRequest) -> Any:
    """Return the events of a match's stream after event 6, from either client."""

    def listen_sync(answer: Any) -> list[ServerEvent]:
        with (
            Client("http://league.test", transport=httpx.MockTransport(answer)) as client,
            client.events(calls.match_events(7, "6")) as events,
        ):
            return list(events)

    async def listen_async(answer: Any) -> list[ServerEvent]:
        transport = httpx.MockTransport(answer)
        async with (
            AsyncClient("http://league.test", transport=transport) as client,
            client.events(calls.match_events(7, "6")) as events,
        ):
            return [event async for event in events]

    if request.param == "sync":
        return listen_sync
    return lambda answer: asyncio.run(listen_async(answer))


def test_a_stream_gives_its_events_after_the_last_one(listen: Any) -> None:
    sent: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers.get("last-event-id"))
        return httpx.Response(200, headers=EVENT_STREAM, content=STREAM)

    assert listen(answer) == [
        ServerEvent("turn", {"match": 7, "turn": 0}, "7-0"),
        ServerEvent("end", {}, "7-0"),
    ]
    assert sent == ["6"]


def test_a_phase_of_a_match_stream_has_events_of_the_engine(listen: Any) -> None:
    phases = list(play_back(simulate("twelve-days", "calliope", 3, bytes(32), max, "last")))
    public = [tuple(event.seen_by(None) for event in phase.events) for phase in phases]
    documents = [[event.as_json() for event in events] for events in public]
    parts = [f"event: phase\ndata: {json.dumps({'events': each})}\n\n" for each in documents]
    content = "".join([*parts, 'event: end\ndata: {"status": "finished"}\n\n']).encode()
    *found, end = listen(lambda request: httpx.Response(200, headers=EVENT_STREAM, content=content))
    assert [event.events for event in found] == public
    assert [event.data["events"] for event in found] == documents
    assert end.events == ()


def test_an_event_that_this_engine_does_not_have_is_refused() -> None:
    event = ServerEvent("phase", {"events": [{"kind": "card_burnt", "seat": 0}]}, "4")
    with pytest.raises(ValueError, match="unknown kind of event 'card_burnt'"):
        _ = event.events


def test_a_stream_without_content_has_no_events(listen: Any) -> None:
    assert listen(lambda request: httpx.Response(204)) == []


def test_a_page_in_place_of_a_stream_is_an_unexpected_answer(listen: Any) -> None:
    with pytest.raises(ProblemError, match="This is not the answer of a league") as caught:
        listen(lambda request: httpx.Response(200, html="<h1>Welcome</h1>"))
    assert caught.value.code == "unexpected-answer"


def test_a_problem_in_place_of_a_stream_is_raised(listen: Any) -> None:
    problem = {"code": "not-found", "status": 404, "detail": "There is no match 7."}
    with pytest.raises(ProblemError, match="no match 7") as caught:
        listen(lambda request: httpx.Response(404, json=problem))
    assert caught.value.code == "not-found"


@pytest.mark.parametrize("failure", [httpx.ReadTimeout("silent"), httpx.ReadError("reset")])
def test_a_broken_stream_is_unreachable(listen: Any, failure: httpx.RequestError) -> None:
    class BrokenStream(httpx.SyncByteStream, httpx.AsyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            yield STREAM
            raise failure

        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield STREAM
            raise failure

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers=EVENT_STREAM, stream=BrokenStream())

    with pytest.raises(UnreachableError, match="does not answer"):
        listen(answer)


def test_names_stay_in_their_part_of_the_path() -> None:
    assert calls.bot("../tokens/current").path == "bots/..%2Ftokens%2Fcurrent"


@pytest.mark.parametrize("text", ["", "league.test", "ftp://league.test", "http://"])
def test_a_text_that_is_not_an_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an address"):
        check_url(text)


@pytest.mark.parametrize(
    "text", ["http://league.test", " http://league.test/ ", "http://league.test/api/v1/"]
)
def test_an_address_is_normalised(text: str) -> None:
    assert check_url(text) == "http://league.test"


@pytest.mark.parametrize(
    ("field", "message", "text"),
    [
        ("name", "The name ada is taken.", "The name ada is taken."),
        ("bank_seconds", "The bank seconds are 1 to 9.", "The bank seconds are 1 to 9."),
        ("name", "Is missing.", "The input is not valid. name: Is missing."),
        ("am", "The name is long.", "The input is not valid. am: The name is long."),
    ],
)
def test_a_sentence_that_names_its_only_field_stands_alone(
    field: str, message: str, text: str
) -> None:
    errors = [{"field": field, "message": message}]
    members = {"title": "The input is not valid.", "errors": errors}
    assert str(ProblemError("invalid", 400, f"{field}: {message}", members)) == text


def test_the_message_of_invalid_input_has_each_error_once() -> None:
    errors = [{"field": "a", "message": "Is missing."}, {"field": "b", "message": "Is wrong."}]
    members = {"title": "The input is not valid.", "errors": errors}
    error = ProblemError("invalid", 400, "a: Is missing. (1 more error.)", members)
    assert str(error) == "The input is not valid. a: Is missing; b: Is wrong."
