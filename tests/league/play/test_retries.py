"""What follows an attempt without a result: pauses, attempts alone, and a reason in the end."""

import signal
import subprocess
import uuid
from datetime import timedelta
from types import SimpleNamespace
from typing import NoReturn
from urllib.parse import quote

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from engine.record import verify
from engine.referee import Player
from league import competitions, play
from league.models import Match
from league.play import alone, hosted, leases, retries
from tests import logs
from tests.league import small

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def match() -> Match:
    """The first match of a block in a tournament whose first round is not played."""
    tournament = small.tournament(small.ladder())
    small.bots(3)
    competitions.advance_tournament(tournament.pk)
    return Match.objects.earliest("pk")


@pytest.fixture
def played_alone(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Matches that were to be played alone; their processes do nothing."""
    found: list[int] = []

    def play_alone(match_id: int, lease: uuid.UUID) -> bool:
        found.append(match_id)
        return False

    monkeypatch.setattr(alone, "play_alone", play_alone)
    return found


def fails(_: hosted.Seating) -> list[Player]:
    raise RuntimeError("the hidden card is 7")


def let_pass(match: Match, **values: object) -> Match:
    """Let the lease and the pause of a match pass."""
    past = timezone.now() - timedelta(seconds=1)
    Match.objects.filter(pk=match.pk).update(due_at=past, **values)
    Match.objects.filter(pk=match.pk, lease__isnull=False).update(leased_until=past)
    match.refresh_from_db()
    return match


def kill_worker(match: Match) -> None:
    """Begin a match and let its lease run out, as if its worker were killed."""
    assert leases.take(match.pk) is not None
    let_pass(match)


def test_a_match_whose_workers_are_killed_is_not_void_but_played_alone(
    match: Match, played_alone: list[int]
) -> None:
    kill_worker(match)
    kill_worker(match)
    assert not play.play_match(match.pk), "it pauses"
    assert played_alone == []
    assert not play.play_match(let_pass(match).pk)
    assert played_alone == [match.pk]
    match.refresh_from_db()
    assert (match.losses, match.failures, match.status) == (2, 0, "playing")


def test_the_pauses_grow_to_five_minutes() -> None:
    assert [retries.pause_after(number).total_seconds() for number in (1, 2, 3, 4, 5, 60)] == [
        *(5, 15, 45, 135, 300, 300)
    ]


def test_a_match_pauses_after_its_second_loss_and_longer_after_its_third(match: Match) -> None:
    kill_worker(match)
    pauses = []
    for _ in range(3):
        kill_worker(match)
        assert leases.take(match.pk) is None
        match.refresh_from_db()
        pauses.append(round((match.due_at - timezone.now()).total_seconds()))
        let_pass(match)
    assert pauses == [5, 15, 45]


def test_a_database_that_is_away_is_no_failure_of_the_match(match: Match) -> None:
    def away(_: hosted.Seating) -> NoReturn:
        raise OperationalError("terminating connection due to administrator command")

    for _ in range(2):
        assert not play.play_match(match.pk, players=away)
        let_pass(match)
    assert play.play_match(match.pk, players=small.players) is False
    assert play.play_match(let_pass(match).pk, players=small.players)
    match.refresh_from_db()
    assert (match.status, match.losses, match.failures) == ("finished", 2, 0)
    verify(match.record)


def test_a_match_that_fails_three_times_is_void_with_its_reason(match: Match) -> None:
    with logs.captured() as events:
        for failures in (1, 2, 3):
            assert not play.play_match(let_pass(match).pk, players=fails)
            match.refresh_from_db()
            assert match.failures == failures
    assert match.status == "void"
    assert match.block is not None
    assert match.void_reason.endswith(
        "it failed 3 times. No bot gets a fault for this. Last failure: RuntimeError."
    )
    assert match.block.void_reason == match.void_reason
    [line] = [event for event in events if event["event"] == "matches are void"]
    assert line["reason"] == match.void_reason
    assert line["blocks"] == [match.block_id]
    assert match.pk in line["matches"]


def test_after_a_failure_a_match_is_tried_alone(match: Match, played_alone: list[int]) -> None:
    assert not play.play_match(match.pk, players=fails)
    assert not play.play_match(let_pass(match).pk)
    assert played_alone == [match.pk]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (-signal.SIGSEGV, "the process of the match was ended by SIGSEGV"),
        (120, "the process of the match ended with status 120"),
    ],
)
def test_a_match_that_ends_its_own_process_has_failed(
    match: Match, monkeypatch: pytest.MonkeyPatch, code: int, reason: str
) -> None:
    def run(*_: object, **__: object) -> SimpleNamespace:
        return SimpleNamespace(returncode=code)

    monkeypatch.setattr(alone, "subprocess", SimpleNamespace(run=run, DEVNULL=subprocess.DEVNULL))
    let_pass(match, losses=2)
    for _ in range(retries.MAX_FAILURES):
        assert not play.play_match(let_pass(match).pk)
    match.refresh_from_db()
    assert (match.status, match.failures) == ("void", 3)
    assert reason in match.void_reason


def test_a_match_whose_own_process_is_killed_has_not_failed(
    match: Match, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: object, **__: object) -> SimpleNamespace:
        return SimpleNamespace(returncode=-signal.SIGKILL)

    monkeypatch.setattr(alone, "subprocess", SimpleNamespace(run=run, DEVNULL=subprocess.DEVNULL))
    let_pass(match, losses=2)
    for _ in range(retries.MAX_FAILURES):
        assert not play.play_match(let_pass(match).pk)
    match.refresh_from_db()
    assert (match.status, match.failures, match.losses) == ("waiting", 0, 5)


def test_a_match_that_is_lost_again_and_again_is_void_in_the_end(
    match: Match, played_alone: list[int]
) -> None:
    let_pass(match, losses=retries.MAX_LOSSES - 1)
    kill_worker(match)
    assert leases.take(match.pk) is None
    match.refresh_from_db()
    assert match.status == "void"
    assert match.void_reason.endswith(": its worker or sandbox broke 12 times.")


def test_the_failure_of_an_old_lease_does_not_count(match: Match) -> None:
    def overtaken(seating: hosted.Seating) -> list[Player]:
        let_pass(match)
        assert leases.take(match.pk) is not None
        return fails(seating)

    assert not play.play_match(match.pk, players=overtaken)
    match.refresh_from_db()
    assert (match.status, match.failures) == ("playing", 0)


def with_test_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes that are started now use the database of the tests."""
    at = connection.settings_dict
    url = f"postgresql://{at['USER']}@/{at['NAME']}?host={quote(at['HOST'], safe='')}"
    monkeypatch.setenv("DATABASE_URL", url)


def test_a_match_is_played_alone_to_its_end_in_a_process_of_its_own(
    match: Match, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_test_database(monkeypatch)
    names = ["house-random", "house-thumb", "house-random-2"]
    for seat, name in zip(match.seating.order_by("seat"), names, strict=True):
        seat.bot.name = name
        seat.bot.save()
    let_pass(match, losses=2)
    assert play.play_match(match.pk)
    match.refresh_from_db()
    assert (match.status, match.failures, match.losses) == ("finished", 0, 2)
    verify(match.record)


def test_a_process_that_has_lost_its_worker_plays_no_match(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[int] = []

    def prctl(option: int, *_: int) -> int:
        calls.append(option)
        return 0

    monkeypatch.setattr("ctypes.CDLL", lambda _: SimpleNamespace(prctl=prctl))
    with pytest.raises(SystemExit):
        alone.die_with(parent=-1)
    assert calls == [1], "PR_SET_PDEATHSIG"
