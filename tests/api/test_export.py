"""A ladder as one file: what it holds, and how it is sent."""

import gzip
import json
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client, RequestFactory
from pytest_django import Settings
from rest_framework.request import Request

from api import exports
from engine.record import read, verify
from league import competitions, play, ratings
from league.models import Ladder, Match, Standing, Tournament
from league.ratings import exporting
from tests.api.conftest import Api, assert_problem
from tests.api.exports import EXPORT, SCRIPT, export, run, sealed
from tests.api.exports import ladder as ladder
from tests.league import small
from tests.responses import Response

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_stranger_recomputes_the_ladder_with_python_alone(
    api: Api, ladder: Ladder, tmp_path: Path
) -> None:
    data = export(api)
    done = run(tmp_path / "quick.jsonl", data)
    assert (done.returncode, done.stderr) == (0, "")
    rounds = ladder.rounds.count()
    expected = f"Right: 5 bots, {rounds} rounds; the seeds of {rounds} are public."
    assert done.stdout.startswith(f"{expected} Checked no moves")
    assert data == export(api)
    done = run(tmp_path / "quick.jsonl", data, with_engine=True)
    matches = data.count(b'"deal_seed"')
    assert done.stdout == f"{expected} Checked all moves of {matches} matches.\n"


def test_the_file_has_every_record_of_what_counts(api: Api, ladder: Ladder) -> None:
    lines = [json.loads(line) for line in export(api).splitlines()]
    matches = [match for line in lines if line["type"] == "block" for match in line["matches"]]
    counted = Match.objects.filter(block__state="finished")
    assert {match["id"] for match in matches} == set(counted.values_list("pk", flat=True))
    for match in matches:
        assert verify(read(json.dumps(match["record"]).encode())).is_over
    voided = [line for line in lines if line["type"] == "block" and line["void"]]
    assert len(voided) == 2
    assert all(line["deltas"] == {} and line["matches"] == [] for line in voided)


def test_the_seed_of_a_tournament_that_goes_on_stays_secret(
    api: Api, ladder: Ladder, tmp_path: Path
) -> None:
    Tournament.objects.filter(pk=Tournament.objects.first().pk).update(
        state="running", finished_at=None
    )
    lines = [json.loads(line) for line in export(api).splitlines()]
    secret = [line for line in lines if line["type"] == "round" and line["seed"] is None]
    assert secret
    done = run(tmp_path / "quick.jsonl", export(api))
    assert done.returncode == 0
    assert f"the seeds of {ladder.rounds.count() - len(secret)} are public" in done.stdout


def test_rounds_in_play_are_not_in_the_file(api: Api, ladder: Ladder) -> None:
    before = export(api)
    tournament = small.tournament(ladder)
    competitions.advance_tournament(tournament.pk)
    for match_id in play.claim_due_hosted()[:2]:
        play.play_match(match_id, players=small.players)
    assert export(api) == before


def test_a_ladder_without_a_match_has_an_export(api: Api, tmp_path: Path) -> None:
    small.ladder()
    done = run(tmp_path / "quick.jsonl", export(api))
    assert (done.returncode, done.stderr) == (0, "")
    assert "0 bots, 0 rounds" in done.stdout


def test_a_round_that_is_rated_while_the_file_is_sent_is_left_out(
    api: Api, ladder: Ladder, tmp_path: Path
) -> None:
    pieces = exports.Export(exporting.export_ladder(ladder), frozenset())
    slow = exporting._lines(ladder, exporting._state_of(ladder))  # line by line
    pieces._pieces = (line.encode() for line in slow)
    lines = [next(pieces)]
    small.tournament(ladder)
    small.run_all()
    lines += list(pieces)
    pieces.close()
    lines_read = [json.loads(line) for line in lines]
    assert (
        lines_read[0]["rounds"]
        == max(line.get("round", 0) for line in lines_read)
        < ladder.rounds.count()
    )
    end = {"type": "end", "complete": True}
    assert run(tmp_path / "quick.jsonl", sealed([*lines_read, end])).returncode == 0


def test_a_file_that_is_older_than_a_correction_ends_with_a_note(
    api: Api, ladder: Ladder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = exporting._round_lines

    def and_correct(*args: Any) -> Iterator[Any]:
        yield from lines(*args)
        if Ladder.objects.get().revision == 2:
            ratings.correct(ladder.pk, reason="test")

    monkeypatch.setattr(exporting, "_round_lines", and_correct)
    done = run(tmp_path / "quick.jsonl", export(api))
    assert done.returncode == 1
    assert "corrected during the download: get the file again" in done.stderr


def test_a_false_rating_in_the_database_is_noticed_by_the_stranger(
    api: Api, ladder: Ladder, tmp_path: Path
) -> None:
    row = ladder.standings.first()
    Standing.objects.filter(pk=row.pk).update(rating=row.rating + 1)
    done = run(tmp_path / "quick.jsonl", export(api))
    assert "the standings do not follow from the rounds" in done.stderr


def test_the_export_comes_in_pieces_and_compressed_on_request(
    api: Api, ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "_BYTES", 1)
    response = api.get(EXPORT, **{"Accept-Encoding": "gzip"})
    assert response["Content-Encoding"] == "gzip"
    packed = response.getvalue()
    response.close()
    assert gzip.decompress(packed) == export(api)
    assert len(packed) < len(export(api)) / 2
    response = api.get(EXPORT)
    assert len(list(response)) > 10
    response.close()
    response = api.get(EXPORT, Accept="application/x-ndjson")
    assert response.status_code == 200
    response.close()


@pytest.fixture
def behind_a_proxy(settings: Settings) -> None:
    settings.TRUSTED_PROXIES = [ip_network("127.0.0.1")]


def from_address(api: Api, number: int) -> Response:
    return api.get(EXPORT, **{"X-Forwarded-For": f"192.0.2.{number}"})


def test_few_exports_run_at_once_and_a_lost_client_frees_its_place(
    api: Api, ladder: Ladder, behind_a_proxy: None
) -> None:
    sending = [from_address(api, number) for number in range(exports.MAX_AT_ONCE)]
    next(iter(sending[0]))
    refused = from_address(api, 99)
    assert_problem(refused, 429, "too-many-requests")
    assert refused["Retry-After"] == "30"
    for response in sending:  # one begun, one never read
        response.close()
    assert export(api)


def test_a_request_for_the_headers_makes_no_file_and_takes_no_place() -> None:
    request = Request(RequestFactory().head("/"))
    for _ in range(exports.MAX_AT_ONCE + 1):
        pieces = iter([b"a piece"])
        response = exports.download(request, pieces, "quick.jsonl")
        assert response["Content-Disposition"] == 'attachment; filename="quick.jsonl"'
        assert b"".join(response) == b""
        assert list(pieces), "no piece was made"


def test_one_client_leaves_a_place_for_others(
    api: Api, ladder: Ladder, behind_a_proxy: None, ada: tuple[User, str], eve: tuple[User, str]
) -> None:
    first = api.get(EXPORT, token=ada[1], **{"X-Forwarded-For": "192.0.2.1"})
    same_account = api.get(EXPORT, token=ada[1], **{"X-Forwarded-For": "192.0.2.2"})
    same_address = api.get(EXPORT, token=eve[1], **{"X-Forwarded-For": "192.0.2.1"})
    for refused in (same_account, same_address):
        detail = assert_problem(refused, 429, "too-many-requests")["detail"]
        assert "to your account or address" in detail
    other = api.get(EXPORT, token=eve[1], **{"X-Forwarded-For": "192.0.2.2"})
    assert other.status_code == 200
    for response in (first, other):
        response.close()


def test_an_export_ends_if_its_client_reads_too_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(exports, "time", SimpleNamespace(monotonic=lambda: now))

    def pieces() -> Iterator[bytes]:
        nonlocal now
        while True:
            now += 1000  # the league is slow, not the client
            yield bytes(exports.MIN_BYTES_PER_SECOND)

    export = exports.Export(pieces(), frozenset(["ip:192.0.2.1"]))
    for _ in range(100):
        next(export)
        now += 1
    now += exports.GRACE_SECONDS
    next(export)
    now += 2
    with pytest.raises(exports.SlowReaderError):
        next(export)
    export.close()


def test_exports_have_their_own_rate_limit(api: Api, ladder: Ladder, settings: Settings) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "exports": (1, 3600)}
    assert export(api)
    assert_problem(api.get(EXPORT), 429, "too-many-requests")
    assert api.get("ladders/quick").status_code == 200


def test_the_ladders_page_links_file_and_script(ladder: Ladder) -> None:
    text = Client().get("/ladders/quick/?view=statistics").content.decode()
    assert f'href="/api/v1/{EXPORT}"' in text
    response = Client().get("/static/web/recompute_ladder.py")
    assert 'href="/static/web/recompute_ladder.py"' in text
    assert response.getvalue() == Path(SCRIPT).read_bytes()
