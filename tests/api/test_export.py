"""A ladder as one file, and the page of Python with which a stranger recomputes it."""

import gzip
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from ipaddress import ip_network
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.staticfiles import finders
from django.test import Client
from pytest_django import Settings

from api import exports
from engine.errors import RecordError
from engine.record import read, verify
from league import competitions, play, ratings
from league.models import Block, BotVersion, Ladder, Match, Standing, Tournament
from league.ratings import exporting
from tests.api.conftest import Api, assert_problem
from tests.league import small
from tests.league.kept import kept
from tests.responses import Response

pytestmark = pytest.mark.django_db(transaction=True)

SCRIPT = finders.find("web/recompute_ladder.py") or ""
EXPORT = "ladders/quick/export"


@pytest.fixture
@kept
def ladder(db: None) -> Ladder:
    """A ladder with all that a fold can meet: versions, void blocks and unrated ones, forfeits."""
    ladder = small.ladder()
    bots = small.bots(5)
    for number in range(3):
        tournament = small.tournament(ladder)
        competitions.advance_tournament(tournament.pk)
        if number == 1:
            play.void_block(Block.objects.filter(state="playing").first().pk)
            Block.objects.filter(pk=Block.objects.filter(state="playing").last().pk).update(
                rated=False
            )
        small.run_all()
        bots[number].current = BotVersion.objects.create(bot=bots[number], number=2)
        bots[number].save()
        if number == 1:  # back to the first version
            bots[0].current = bots[0].versions.get(number=1)
            bots[0].save()
    ratings.void_block(block_id=Block.objects.filter(state="finished").first().pk, reason="test")
    ratings.correct(ladder.pk)
    ladder.refresh_from_db()
    return ladder


_exported: list[bytes] = []


@pytest.fixture
def exported(request: pytest.FixtureRequest) -> bytes:
    """The file of `ladder`, made once a process: what is done to it needs no database."""
    if not _exported:
        request.getfixturevalue("ladder")
        _exported.append(export(request.getfixturevalue("api")))
    return _exported[0]


def export(api: Api) -> bytes:
    response = api.get(EXPORT)
    assert response.status_code == 200
    assert response["Content-Type"] == "application/x-ndjson"
    assert 'filename="quick.jsonl"' in response["Content-Disposition"]
    data = response.getvalue()
    response.close()
    return data


def run(path: Path, data: bytes, *, with_engine: bool = False) -> subprocess.CompletedProcess[str]:
    """Run the script as a stranger would: without any packages, or with the engine."""
    path.write_bytes(data)
    return run_script(str(path), with_engine=with_engine)


def run_script(*arguments: str, with_engine: bool = False) -> subprocess.CompletedProcess[str]:
    packages = [] if with_engine else ["-S"]
    command = [sys.executable, "-I", *packages, SCRIPT, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=50)


def sealed(lines: list[Any]) -> bytes:
    """Return the file of these lines, with a correct last line: a careful forgery."""
    body = b"".join(json.dumps(line).encode() + b"\n" for line in lines[:-1])
    end = {**lines[-1], "lines": len(lines) - 1, "sha256": sha256(body).hexdigest()}
    return body + json.dumps(end).encode() + b"\n"


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


def forge(kind: str, change: Callable[[dict[str, Any]], object]) -> Callable[[list[Any]], None]:
    def falsify(lines: list[Any]) -> None:
        line = next(
            line
            for line in lines
            if line["type"] == kind and line.get("deltas", {0: 1}) and line.get("rated", True)
        )
        change(line)

    return falsify


def swap_scores(line: dict[str, Any]) -> None:
    for key in ("scores", "places"):
        line["matches"][0]["record"][key].reverse()


def swap_seats(line: dict[str, Any]) -> None:
    line["matches"][0]["seating"].reverse()


def shift(numbers: dict[str, Any]) -> None:
    first, second = list(numbers)[:2]
    numbers[first] += 1
    numbers[second] -= 1


def drop_a_round(lines: list[Any]) -> None:
    last = max(line["round"] for line in lines if line["type"] == "round")
    lines[:] = [line for line in lines if line.get("round") != last]
    lines[0]["rounds"] -= 1


def forfeit(line: dict[str, Any]) -> None:
    match = max(line["matches"], key=lambda match: match["record"]["scores"][0])
    seat = match["record"]["places"].index(1)
    match["record"]["faults"] = [{"ply": ply, "seat": seat, "kind": "crash"} for ply in range(3)]


FORGERIES: dict[str, Callable[[list[Any]], object]] = {
    "scores": forge("block", swap_scores),
    "seats": forge("block", swap_seats),
    "a deal": forge("block", lambda line: line["matches"][0]["record"].update(deal_seed=64 * "0")),
    "a forfeit": forge("block", forfeit),
    "a block's gift": forge("block", lambda line: shift(line["deltas"])),
    "a block left out": forge("block", lambda line: line.update(void=True, deltas={})),
    "a version": lambda lines: forge(
        "block", lambda line: line["bots"].update({min(line["bots"]): 3})
    )(lines[::-1]),
    "a round's seed": forge("round", lambda line: line.update(seed=64 * "0")),
    "K": forge("round", lambda line: line.update(k_steps=[[10, 256], [20, 64]])),
    "a standing": forge("standing", lambda line: line.update(rating=line["rating"] + 1)),
    "a bot's blocks": forge("standing", lambda line: line.update(blocks=20)),
    "a bot that is not there": lambda lines: lines.insert(-1, {**lines[-2], "bot": "ghost"}),
    "a rating after a round": forge(
        "applied", lambda line: min(line["ratings"].values()).reverse()
    ),
    "a round left out": drop_a_round,
    "a block twice": lambda lines: lines.insert(3, next(of for of in lines if of.get("deltas"))),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forgery_is_noticed_even_with_the_right_checksum(
    exported: bytes, tmp_path: Path, forgery: str
) -> None:
    lines = [json.loads(line) for line in exported.splitlines()]
    before = json.dumps(lines)
    FORGERIES[forgery](lines)
    assert json.dumps(lines) != before
    done = run(tmp_path / "forged.jsonl", sealed(lines))
    assert done.returncode == 1
    assert done.stderr.startswith("line ")
    assert "Traceback" not in done.stderr


def test_a_file_with_a_new_but_correct_checksum_passes(exported: bytes, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in exported.splitlines()]
    assert run(tmp_path / "right.jsonl", sealed(lines)).returncode == 0


def test_a_changed_move_or_a_file_cut_short_is_noticed_by_the_checksum(
    exported: bytes, tmp_path: Path
) -> None:
    data = exported
    block = next(line for line in data.splitlines() if b'"moves": [[0, "' in line)
    changed = data.replace(block, block.replace(b'"moves": [[0, "', b'"moves": [[1, "', 1))
    done = run(tmp_path / "changed.jsonl", changed)
    assert (done.returncode, "changed or missing" in done.stderr) == (1, True)
    cut = b"\n".join(data.splitlines()[:-1]) + b"\n"
    assert "changed or missing" in run(tmp_path / "cut.jsonl", cut).stderr


def test_only_the_engine_finds_a_change_of_moves(exported: bytes, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in exported.splitlines()]
    record = next(line for line in lines if line.get("matches"))["matches"][0]["record"]
    assert verify(read(json.dumps(record).encode())).is_over
    record["moves"].reverse()
    with pytest.raises(RecordError):
        verify(read(json.dumps(record).encode()))
    forged = tmp_path / "forged.jsonl"
    assert run(forged, sealed(lines)).returncode == 0
    done = run(forged, sealed(lines), with_engine=True)
    assert done.returncode == 1
    assert "the moves of a match don't lead to its result: " in done.stderr


def test_places_must_follow_from_scores(exported: bytes, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in exported.splitlines()]
    block = next(line for line in lines if line.get("matches") and line["rated"])
    block["matches"][0]["record"]["places"].reverse()
    done = run(tmp_path / "forged.jsonl", sealed(lines))
    assert "the places of a match don't follow from its scores" in done.stderr


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello\n",
        b"\xff\xfe\n",
        b"[]\n",
        b'{"type": "ladder"}\n{"type": "round"}\n',
        b'{"type": "round", "seed": 5}\n',
        b'{"type": "applied", "round": 1}\n',
        b'{"type": "standing", "bot": "a"}\n',
        b'{"type": "block", "void": false, "matches": 7}\n',
        b"[" * 100_000,
        b"9" * 10_000,
        b"<!DOCTYPE html>\n<title>Not found</title>\n",
    ],
)
def test_a_file_that_is_no_export_is_refused_in_one_line(data: bytes, tmp_path: Path) -> None:
    done = run(tmp_path / "other.jsonl", data)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("line ")
    assert len(done.stderr.splitlines()) == 1


def test_the_script_names_a_missing_file_and_its_usage(tmp_path: Path) -> None:
    done = run_script(str(tmp_path / "none.jsonl"))
    assert done.stderr == f"{tmp_path / 'none.jsonl'} can't be read: No such file or directory\n"
    for arguments in ((), ("a", "b")):
        done = run_script(*arguments)
        assert (done.returncode, done.stderr) == (1, "usage: recompute_ladder.py EXPORT.jsonl\n")


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
    assert "corrected meanwhile: get the file again" in done.stderr


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
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "exports": "1/hour"}
    assert export(api)
    assert_problem(api.get(EXPORT), 429, "too-many-requests")
    assert api.get("ladders/quick").status_code == 200


def test_the_ladders_page_links_file_and_script(ladder: Ladder) -> None:
    text = Client().get("/ladders/quick/").content.decode()
    assert f'href="/api/v1/{EXPORT}"' in text
    response = Client().get("/static/web/recompute_ladder.py")
    assert 'href="/static/web/recompute_ladder.py"' in text
    assert response.getvalue() == Path(SCRIPT).read_bytes()
