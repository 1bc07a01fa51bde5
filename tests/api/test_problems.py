"""Every error of the API is a problem with the request's id."""

import io
import json
import re
from pathlib import Path
from typing import Any, NoReturn

import pytest
from django.db import OperationalError

from api.middleware import MAX_BODY_BYTES, MAX_UPLOAD_BYTES
from api.problems import CODES, code_for_status
from bots_sdk.sandbox.sources import MAX_BYTES
from league.models import Ladder
from tests import logs
from tests.api.conftest import Api, assert_problem, fields_of

pytestmark = pytest.mark.django_db
CADDYFILE = Path(__file__).parents[2] / "devserver" / "Caddyfile"
NO_JSON = [b"{", b"", b"nonsense", b"\xff\xfe", b'{"a": NaN}', b"[" * 60_000, b"1" * 9_999]


@pytest.mark.parametrize("body", NO_JSON)
def test_a_body_that_is_not_json_is_refused(api: Api, body: bytes) -> None:
    answer = api.post("accounts", body)
    if body == b"":
        assert_problem(answer, 400, "invalid")
    else:
        assert_problem(answer, 400, "invalid-json")


@pytest.mark.parametrize("body", [b"[]", b"1", b"null", b'"text"'])
def test_json_that_is_no_object_is_refused(api: Api, body: bytes) -> None:
    assert_problem(api.post("accounts", body), 400, "invalid")


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "multipart/form-data"])
def test_other_kinds_of_body_are_refused(api: Api, kind: str) -> None:
    answer = api.post("accounts", b"username=a", content_type=kind)
    assert_problem(answer, 415, "unsupported-media-type")


def test_a_json_body_is_utf_8_and_a_claimed_charset_is_ignored(api: Api) -> None:
    kind = "application/json; charset=rot13"
    answer = api.post("accounts", b'{"username": ""}', content_type=kind)
    assert_problem(answer, 400, "invalid")


def test_ten_megabytes_are_refused_by_their_length(api: Api) -> None:
    answer = api.post("accounts", b" " * 10_000_000)
    assert_problem(answer, 413, "body-too-large")


def test_a_body_of_the_maximum_length_is_read_and_a_longer_one_is_refused(api: Api) -> None:
    assert_problem(api.post("accounts", b" " * MAX_BODY_BYTES), 400, "invalid-json")
    assert_problem(api.post("accounts", b" " * (MAX_BODY_BYTES + 1)), 413, "body-too-large")


def test_a_body_of_unknown_length_is_refused_without_reading_it(api: Api) -> None:
    body = io.BytesIO(b"x" * 100_000)
    sent: dict[str, Any] = {
        "CONTENT_LENGTH": "",
        "HTTP_TRANSFER_ENCODING": "chunked",
        "wsgi.input": body,
    }
    answer = api.client.post("/api/v1/accounts", **sent)
    assert_problem(answer, 411, "length-required")
    assert body.tell() == 0
    assert answer["Connection"] == "close"


@pytest.mark.parametrize(
    "path",
    [
        "nothing",
        "/api/",
        "/api/v2/bots",
        "bots/",
        "bots/no-such-bot",
        "bots/a%00b",
        "bots/no-such-bot/versions",
        "ladders/none",
        "ladders/none/standings",
        "ladders/none/rounds",
        "tournaments/1",
        "tournaments/one",
        "tournaments/99999999999999999999999",
        "tournaments/1/rounds",
        "tournaments/1/standings",
        "matches/1",
        "matches/-1",
        "matches/1.5",
        "matches/99999999999999999999999",
        "matches/1/record",
    ],
)
def test_an_unknown_address_is_not_found(api: Api, path: str) -> None:
    assert_problem(api.get(path), 404, "not-found")


def test_an_address_with_nul_is_not_found(api: Api, organiser: str) -> None:
    for path in ("accounts/%00/quarantine", "accounts/ada%00/quarantine", "bots/%00"):
        assert_problem(api.get(path, token=organiser), 404, "not-found")


def test_a_call_with_a_slash_at_its_end_is_named_without_it(api: Api) -> None:
    problem = assert_problem(api.get("bots/no-such-bot/"), 404, "not-found")
    assert problem["detail"].endswith("Calls have no slash at the end: /api/v1/bots/no-such-bot.")
    assert "slash" not in assert_problem(api.get("nothing/"), 404, "not-found")["detail"]


def test_a_refused_method_comes_with_the_allowed_ones(api: Api) -> None:
    answer = api.call("PUT", "bots")
    problem = assert_problem(answer, 405, "method-not-allowed")
    assert problem["detail"] == "This path does not allow PUT. It allows GET and POST."
    assert set(answer["Allow"].split(", ")) >= {"GET", "POST"}


def test_a_client_that_does_not_accept_json_is_refused(api: Api) -> None:
    assert_problem(api.get("games", Accept="text/html"), 406, "not-acceptable")


def test_an_unknown_host_is_refused(api: Api) -> None:
    assert_problem(api.get("games", Host="elsewhere.example"), 400, "unknown-host")


def test_a_failure_is_logged_with_the_request_id(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> NoReturn:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("api.views.ladders.find_ladder", fail)
    with logs.captured() as events:
        answer = api.get("ladders/any")
    problem = assert_problem(answer, 500, "internal-error")
    assert "secret" not in problem["detail"]
    [event] = [event for event in events if event["event"] == "the request failed"]
    assert "RuntimeError: secret detail" in event["exception"]
    assert (event["code"], event["request_id"]) == ("internal-error", problem["request_id"])


def test_an_outage_of_the_database_has_a_retry_time(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> NoReturn:
        raise OperationalError

    monkeypatch.setattr("api.views.ladders.find_ladder", fail)
    answer = api.get("ladders/any")
    assert_problem(answer, 503, "unavailable")
    assert answer["Retry-After"] == "1"


def test_a_fit_request_id_is_kept_and_an_unfit_one_is_replaced(api: Api) -> None:
    assert api.get("games", **{"X-Request-ID": "abc-1.2_3"})["X-Request-ID"] == "abc-1.2_3"
    for bad in ("", "a b", "x" * 65, "a\tb", "ä"):
        made = api.get("games", **{"X-Request-ID": bad})["X-Request-ID"]
        assert made != bad
        assert len(made) == 24


def test_each_request_has_an_event_in_the_log_with_its_id(api: Api) -> None:
    with logs.captured() as events:
        api.get("games", **{"X-Request-ID": "my-request"})
        page = api.get("/no/such/page")
        api.get("/healthz")
    first, second, health = events
    assert first.pop("milliseconds") >= 0
    assert first == {
        "event": "request finished",
        "log_level": "info",
        "logger": "api.requests",
        "request_id": "my-request",
        "method": "GET",
        "path": "/api/v1/games",
        "status": 200,
    }
    assert len(page["X-Request-ID"]) == 24
    assert (second["request_id"], second["status"]) == (page["X-Request-ID"], 404)
    assert health["log_level"] == "debug"


def test_problems_of_the_front_are_those_of_the_table() -> None:
    found = [json.loads(body) for body in re.findall(r"respond `(.*)`", CADDYFILE.read_text())]
    codes = ["body-too-large", "body-too-large", "length-required", "unavailable"]
    assert [problem["code"] for problem in found] == codes
    for problem in found:
        assert (problem["status"], problem["title"]) == CODES[problem["code"]]
        assert problem["type"] == f"/api/v1/docs/#{problem['code']}"
        assert problem["detail"]


def test_the_front_has_the_limits_of_the_table() -> None:
    limits = re.findall(r"> (\d+)`", CADDYFILE.read_text())
    assert limits == [str(MAX_UPLOAD_BYTES), str(MAX_BODY_BYTES)]
    of_calls, *of_others = re.findall(r"max_size (\d+)\n", CADDYFILE.read_text())
    assert (of_calls, set(of_others)) == (str(MAX_BODY_BYTES), {str(MAX_UPLOAD_BYTES)})
    assert f"{MAX_BYTES >> 20} MiB at most" in CADDYFILE.read_text()


def test_the_front_reads_bodies_before_a_part_does() -> None:
    buffers = re.findall(r"request_buffers (\d+)(KB|MiB)\n", CADDYFILE.read_text())
    of_moves, *of_others = (
        int(size) * {"KB": 1000, "MiB": 1 << 20}[unit] for size, unit in buffers
    )
    assert of_moves >= MAX_BODY_BYTES
    assert min(of_others) >= MAX_UPLOAD_BYTES


@pytest.mark.parametrize(
    "cursor", ["", "x", "ä", "W10", "WzAsICJhXHUwMDAwYiJd", "MTIz", "W251bGxd"]
)
def test_a_made_up_cursor_is_refused(api: Api, cursor: str) -> None:
    assert_problem(api.get(f"bots?cursor={cursor}"), 400, "invalid-cursor")


@pytest.mark.parametrize("limit", ["0", "-1", "201", "ten", "9" * 999, ""])
def test_a_page_size_beyond_the_bounds_is_refused(api: Api, limit: str) -> None:
    problem = assert_problem(api.get(f"bots?limit={limit}"), 400, "invalid")
    assert "limit" in fields_of(problem)


def test_pages_lead_through_a_list_and_back(api: Api) -> None:
    slugs = [f"ladder-{number}" for number in range(7)]
    for slug in slugs:
        Ladder.objects.create(slug=slug, title=slug, game="partridge", rules="eagle", seats=4)
    pages = []
    page = api.get("ladders?limit=3").json()
    assert page["previous"] is None
    while True:
        pages.append([row["slug"] for row in page["results"]])
        if page["next"] is None:
            break
        page = api.get(page["next"]).json()
    assert pages == [slugs[:3], slugs[3:6], slugs[6:]]
    page = api.get(page["previous"]).json()
    assert [row["slug"] for row in page["results"]] == slugs[3:6]
    page = api.get(page["previous"]).json()
    assert [row["slug"] for row in page["results"]] == slugs[:3]
    assert page["previous"] is None


def test_a_status_alone_has_the_general_code_of_its_kind() -> None:
    codes = {status: code_for_status(status) for status, _ in CODES.values()}
    assert codes == {
        400: "bad-request",
        401: "not-authenticated",
        403: "not-allowed",
        404: "not-found",
        405: "method-not-allowed",
        406: "not-acceptable",
        409: "bad-request",
        411: "length-required",
        413: "body-too-large",
        415: "unsupported-media-type",
        422: "bad-request",
        429: "too-many-requests",
        500: "internal-error",
        503: "unavailable",
    }
    assert code_for_status(502) == "internal-error"
