"""What uploaded bots print is kept for some days and up to a size."""

from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from league import play
from league.models import BotVersion, MatchSeat, QualifyingMatch, SeatLog
from league.play import bot_output
from league.play.owner_reports import owner_report
from tests.league import small
from tests.league.bots.uploaded import owner, ready_bot

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
def ada() -> User:
    return owner()


@pytest.fixture
def seats(ada: User) -> list[MatchSeat]:
    versions = small.versions([ready_bot(ada) for _ in range(3)])
    match = play.open_unrated_match(
        game="twelve-days", rules="eight-nights", versions=versions, move_seconds=5
    )
    return list(match.seating.order_by("seat"))


def write(seat: MatchSeat, size: int, age: timedelta, **more: object) -> SeatLog:
    printed = "ü" * (size // 2)
    log = SeatLog.objects.create(match=seat.match, seat=seat.seat, printed=printed, **more)
    SeatLog.objects.filter(pk=log.pk).update(written_at=NOW - age)
    return log


def qualify(version: BotVersion, size: int, age: timedelta) -> QualifyingMatch:
    match = QualifyingMatch.objects.create(
        version=version, game="twelve-days", passed=True, printed="x" * size
    )
    QualifyingMatch.objects.filter(pk=match.pk).update(played_at=NOW - age)
    return match


def kept() -> list[tuple[int, int]]:
    return [(log.seat, len(log.printed)) for log in SeatLog.objects.order_by("seat")]


def test_output_is_removed_after_its_days_and_reasons_of_faults_stay(
    seats: list[MatchSeat], settings: Settings
) -> None:
    settings.MAX_OUTPUT_DAYS = 14
    write(seats[0], 10, timedelta(days=14, seconds=1))
    write(seats[1], 10, timedelta(days=14, seconds=1), reasons={"3": "crash"})
    write(seats[2], 10, timedelta(days=13))
    old = qualify(seats[0].version, 10, timedelta(days=15))
    assert bot_output.remove_old_output(NOW) == 3
    assert kept() == [(1, 0), (2, 5)]
    assert SeatLog.objects.get(seat=1).reasons == {"3": "crash"}
    old.refresh_from_db()
    assert (old.printed, old.passed) == ("", True)
    assert bot_output.remove_old_output(NOW) == 0


def test_beyond_the_size_in_all_the_oldest_output_is_removed_first(
    seats: list[MatchSeat], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MAX_OUTPUT_MEGABYTES = 1
    monkeypatch.setattr(bot_output, "BATCH", 1)
    write(seats[0], 400_000, timedelta(days=1))
    write(seats[1], 400_000, timedelta(days=4))
    write(seats[2], 400_000, timedelta(days=2))
    oldest = qualify(seats[0].version, 100_000, timedelta(days=5))
    assert bot_output.remove_old_output(NOW) == 2
    oldest.refresh_from_db()
    assert oldest.printed == ""
    assert kept() == [(0, 200_000), (2, 200_000)]


def test_an_owner_reads_until_when_output_is_kept(ada: User, seats: list[MatchSeat]) -> None:
    log = write(seats[0], 10, timedelta(days=1))
    log.refresh_from_db()
    first, second, _ = owner_report(seats[0].match, ada)
    until: datetime = first["printed_until"]
    assert until - log.written_at == timedelta(days=14)
    assert second["printed_until"] is None
