"""Headers of reads: caching, pages of other sites, compression, HEAD and OPTIONS."""

import gzip

import pytest
from django.contrib.auth.models import User

from api.headers import IMMUTABLE, PRIVATE, PUBLIC, SECRET
from league.models import Bot, Match
from tests.api.conftest import Api
from tests.league import small
from tests.league.play.live import match_of, play_on, remote_bots

pytestmark = pytest.mark.django_db


def test_a_read_that_the_client_has_is_answered_with_304(api: Api) -> None:
    first = api.get("games")
    again = api.get("games", **{"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again["ETag"] == first["ETag"]
    assert again["Access-Control-Allow-Origin"] == "*"
    assert api.get("games", **{"If-None-Match": '"other"'}).status_code == 200


def test_a_changed_answer_has_another_etag(api: Api) -> None:
    before = api.get("ladders")
    small.ladder()
    after = api.get("ladders", **{"If-None-Match": before["ETag"]})
    assert after.status_code == 200
    assert after["ETag"] != before["ETag"]


def test_only_public_answers_are_for_shared_caches(
    api: Api, ada: tuple[User, str], bot: tuple[Bot, str]
) -> None:
    small.ladder()
    assert api.get("ladders")["Cache-Control"] == PUBLIC
    assert "Authorization" in api.get("ladders")["Vary"]
    assert api.get("ladders", token=ada[1])["Cache-Control"] == PRIVATE
    assert api.get("bots/ada-bot/versions/1/log", token=ada[1])["Cache-Control"] == PRIVATE
    assert api.get("nothing")["Cache-Control"] == SECRET
    assert api.post("bots/ada-bot/token", token=ada[1])["Cache-Control"] == SECRET


def test_a_record_never_changes(api: Api) -> None:
    bots = remote_bots(3)
    match = match_of(bots)
    assert api.get(f"matches/{match.pk}/record")["Cache-Control"] == SECRET
    play_on(bots)
    assert api.get(f"matches/{match.pk}")["Cache-Control"] == PUBLIC
    assert api.get(f"matches/{match.pk}/record")["Cache-Control"] == IMMUTABLE
    assert Match.objects.get().status == "finished"


def test_pages_of_other_sites_may_read_but_not_write(api: Api, ada: tuple[User, str]) -> None:
    origin = {"Origin": "https://elsewhere.example"}
    read = api.get("games", **origin)
    assert read["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in read
    assert "ETag" in read["Access-Control-Expose-Headers"]
    asked = {**origin, "Access-Control-Request-Method": "GET"}
    preflight = api.call("OPTIONS", "bots", **asked)
    assert (preflight.status_code, preflight.content) == (204, b"")
    assert preflight["Access-Control-Allow-Methods"] == "GET, HEAD"
    assert "Authorization" not in preflight["Access-Control-Allow-Headers"]
    written = api.post("bots", {"name": "my-bot", "kind": "remote"}, token=ada[1], **origin)
    assert "Access-Control-Allow-Origin" not in written


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("games", {"GET", "HEAD", "OPTIONS"}),
        ("bots", {"GET", "POST", "HEAD", "OPTIONS"}),
    ],
)
def test_options_lists_the_methods_of_an_address(api: Api, path: str, methods: set[str]) -> None:
    answer = api.call("OPTIONS", path)
    assert answer.status_code == 204
    assert set(answer["Allow"].split(", ")) == methods


def test_head_has_the_headers_of_get_and_no_body(api: Api) -> None:
    get, head = api.get("games"), api.call("HEAD", "games")
    assert (head.status_code, head.content) == (200, b"")
    for name in ("ETag", "Cache-Control", "Content-Type", "Content-Length"):
        assert head[name] == get[name]


def test_reads_are_compressed_if_the_client_accepts_it_and_tokens_never(
    api: Api, ada: tuple[User, str]
) -> None:
    plain = api.get("games")
    packed = api.get("games", **{"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in plain
    assert packed["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.content) == plain.content
    assert "Accept-Encoding" in packed["Vary"]
    body = {"name": "my-bot", "kind": "remote"}
    made = api.post("bots", body, token=ada[1], **{"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in made


def test_times_have_milliseconds_and_end_with_z(api: Api, bot: tuple[Bot, str]) -> None:
    created_at = api.get("bots/ada-bot").json()["created_at"]
    assert len(created_at) == len("2026-12-24T18:00:00.000Z")
    assert created_at.endswith("Z")
