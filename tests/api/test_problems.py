"""Whatever goes wrong comes out as a problem, with the request's id."""

import io
import logging

import pytest
from django.db import OperationalError

from api.middleware import MAX_BODY_BYTES
from api.request_ids import RequestIdFilter
from league.models import Ladder
from tests.api.conftest import assert_problem

pytestmark = pytest.mark.django_db
NO_JSON = [b"{", b"", b"nonsense", b"\xff\xfe", b'{"a": NaN}', b"[" * 60_000, b"1" * 9_999]


@pytest.mark.parametrize("body", NO_JSON)
def test_a_body_that_is_not_json_is_refused(api, body):
    answer = api.post("accounts", body)
    if body == b"":
        assert_problem(answer, 400, "invalid")
    else:
        assert_problem(answer, 400, "invalid-json")


@pytest.mark.parametrize("body", [b"[]", b"1", b"null", b'"text"'])
def test_json_that_is_no_object_is_refused(api, body):
    assert_problem(api.post("accounts", body), 400, "invalid")


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "multipart/form-data"])
def test_other_kinds_of_body_are_refused(api, kind):
    answer = api.post("accounts", b"username=a", content_type=kind)
    assert_problem(answer, 415, "unsupported-media-type")


def test_json_is_utf_8_whatever_charset_is_claimed(api):
    kind = "application/json; charset=rot13"
    answer = api.post("accounts", b'{"username": ""}', content_type=kind)
    assert_problem(answer, 400, "invalid")


def test_ten_megabytes_are_refused_by_their_length(api):
    answer = api.post("accounts", b" " * 10_000_000)
    assert_problem(answer, 413, "body-too-large")


def test_the_longest_body_that_is_taken_is_taken(api):
    assert_problem(api.post("accounts", b" " * MAX_BODY_BYTES), 400, "invalid-json")
    assert_problem(api.post("accounts", b" " * (MAX_BODY_BYTES + 1)), 413, "body-too-large")


def test_a_body_of_unknown_length_is_refused_after_it_was_sent(api):
    body = io.BytesIO(b"x" * 100_000)
    sent = {"CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input": body}
    answer = api.client.post("/api/v1/accounts", **sent)
    assert_problem(answer, 411, "length-required")
    assert body.tell() == 100_000


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
def test_what_is_not_there_is_not_found(api, path):
    assert_problem(api.get(path), 404, "not-found")


def test_another_method_is_told_which_there_are(api):
    answer = api.call("PUT", "bots")
    assert_problem(answer, 405, "method-not-allowed")
    assert set(answer["Allow"].split(", ")) >= {"GET", "POST"}


def test_whoever_takes_no_json_is_told(api):
    assert_problem(api.get("games", Accept="text/html"), 406, "not-acceptable")


def test_a_host_that_is_not_ours_is_refused(api):
    assert_problem(api.get("games", Host="elsewhere.example"), 400, "bad-request")


def test_what_nobody_foresaw_is_logged_under_the_id(api, monkeypatch, caplog):
    def fail(*args):
        raise RuntimeError("secret detail")

    monkeypatch.setattr("api.views.ladders.find_ladder", fail)
    answer = api.get("ladders/any")
    problem = assert_problem(answer, 500, "internal-error")
    assert "secret" not in problem["detail"]
    assert any(record.exc_info for record in caplog.records)


def test_a_database_that_is_away_is_told_with_when_to_try_again(api, monkeypatch):
    def fail(*args):
        raise OperationalError

    monkeypatch.setattr("api.views.ladders.find_ladder", fail)
    answer = api.get("ladders/any")
    assert_problem(answer, 503, "unavailable")
    assert answer["Retry-After"] == "1"


def test_a_sane_request_id_is_kept_and_another_replaced(api):
    assert api.get("games", **{"X-Request-ID": "abc-1.2_3"})["X-Request-ID"] == "abc-1.2_3"
    for bad in ("", "a b", "x" * 65, "a\tb", "ä"):
        made = api.get("games", **{"X-Request-ID": bad})["X-Request-ID"]
        assert made != bad
        assert len(made) == 24


def test_the_request_id_is_in_the_log(api, caplog):
    caplog.handler.addFilter(RequestIdFilter())
    with caplog.at_level(logging.INFO, "api.requests"):
        api.get("games", **{"X-Request-ID": "my-request"})
    assert [record.request_id for record in caplog.records] == ["my-request"]


def test_pages_have_a_request_id_and_a_line_in_the_log_too(api, caplog):
    with caplog.at_level(logging.INFO, "api.requests"):
        assert len(api.get("/no/such/page")["X-Request-ID"]) == 24
        api.get("/healthz")
    [line] = [record.getMessage() for record in caplog.records if record.name == "api.requests"]
    assert line.startswith("GET '/no/such/page' 404 in ")


@pytest.mark.parametrize(
    "cursor", ["", "x", "ä", "W10", "WzAsICJhXHUwMDAwYiJd", "MTIz", "W251bGxd"]
)
def test_a_cursor_that_was_never_given_out_is_refused(api, cursor):
    assert_problem(api.get(f"bots?cursor={cursor}"), 400, "invalid-cursor")


@pytest.mark.parametrize("limit", ["0", "-1", "201", "ten", "9" * 999, ""])
def test_a_page_of_another_size_is_refused(api, limit):
    problem = assert_problem(api.get(f"bots?limit={limit}"), 400, "invalid")
    assert "limit" in problem["errors"]


def test_pages_lead_through_a_list_and_back(api):
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
