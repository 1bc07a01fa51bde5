"""The archive: old rounds move to files, and everything reads their records from there."""

import base64
import gzip
import json
import os
import sys
from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from django.core.checks import run_checks
from django.db import IntegrityError, connection, transaction
from django.db.models import Count
from django.utils import timezone
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pytest_django import Settings

from engine.packing import unpack
from league import archive_files, play, ratings
from league.archive_files import ArchiveError
from league.models import Block, Ladder, Match, ModerationEntry, Round, RoundArchive, Tournament
from league.play import archive_copies, archiving
from league.ratings import DamagedError, recompute, void_marks
from league.ratings.exporting import export_ladder
from league.ratings.fair_play import fair_play_report
from tests.api.exports import ladder as ladder
from tests.league import small
from tests.league.archive import directory as directory

pytestmark = pytest.mark.django_db
LATER = timedelta(days=100)


def exported(ladder: Ladder) -> bytes:
    return b"".join(export_ladder(ladder))


def archive_all() -> archiving.Run:
    return play.archive_due(timezone.now() + LATER)


def files(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file())


def archived() -> int:
    return Match.objects.filter(archived=True, packed_record=None).count()


def test_an_archived_ladder_has_no_packs_and_the_same_export_to_the_byte(
    ladder: Ladder, directory: Path
) -> None:
    before, finished = exported(ladder), Match.objects.finished().count()
    run = archive_all()
    assert run.rounds == ladder.rounds.count() == len(files(directory))
    assert not run.faults
    assert not Match.objects.exclude(packed_record=None).exists()
    assert archived() == finished
    assert exported(ladder) == before
    archive_files.forget()
    assert recompute(ladder) == []
    assert archive_all().rounds == 0


steps = st.tuples(st.sampled_from(["archive", "put back", "correct", "play"]), st.integers(0, 99))


@given(st.lists(steps, min_size=1, max_size=5))
@hypothesis_settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_archived_export_and_recompute_are_as_without(
    ladder: Ladder, script: list[tuple[str, int]]
) -> None:
    with transaction.atomic():
        for step, number in script:
            rounds = list(ladder.rounds.order_by("pk"))
            round_ = rounds[number % len(rounds)]
            if step == "play":
                bots = sorted(round_.blocks.first().bots.values_list("bot", flat=True))
                small.play_round(ladder, bots)
            elif step == "correct":
                ratings.correct(ladder.pk, reason="test")
                ladder.refresh_from_db()
            else:
                before = exported(ladder)
                if step == "archive":
                    play.archive_round(round_.pk)
                elif RoundArchive.objects.filter(round=round_).exists():
                    play.unarchive_round(round_.pk)
                assert exported(ladder) == before
            assert recompute(ladder) == []
        transaction.set_rollback(True)


class Crash(BaseException):
    """The end of a process: nothing catches it."""


def crash_at_line(number: int, work: Callable[[], object]) -> bool:
    """Call a function; its process ends before the n-th line of the archive's modules.

    Lines are counted when they are reached for the first time. As in a real crash, PostgreSQL sees
    a lost connection. Return whether the function came so far.
    """
    modules = {archive_files.__file__, archiving.__file__}
    seen = set()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in modules:
            return None
        if event == "line":
            seen.add((frame.f_code.co_filename, frame.f_lineno))
            if len(seen) == number:
                raise Crash
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    except Crash:
        sys.settrace(before)
        connection.connection.close()
        connection.connect()
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.django_db(transaction=True)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # an open file
@pytest.mark.parametrize("work", [play.archive_round, play.unarchive_round])
def test_a_crash_at_any_line_loses_nothing_and_archives_nothing_twice(
    ladder: Ladder, directory: Path, work: Callable[[int], object]
) -> None:
    round_ = ladder.rounds.annotate(size=Count("blocks")).order_by("size", "pk").first()
    before, packs = exported(ladder), Match.objects.exclude(packed_record=None).count()
    is_archived = work == play.unarchive_round
    if is_archived:
        play.archive_round(round_.pk)
    crashes = 0
    while crash_at_line(crashes + 1, lambda: work(round_.pk)):
        crashes += 1
        archive_files.forget()
        in_file = Match.objects.filter(archived=True).count()
        assert RoundArchive.objects.exists() == (in_file > 0)
        assert Match.objects.exclude(packed_record=None).count() == packs - in_file
        assert crashes % 16 or exported(ladder) == before
        if RoundArchive.objects.exists() != is_archived:
            break  # it crashed after its commit
    assert crashes > 10
    if is_archived:
        with pytest.raises(RoundArchive.DoesNotExist):
            play.unarchive_round(round_.pk)
    else:
        assert play.archive_round(round_.pk) is None
    assert RoundArchive.objects.exists() != is_archived
    assert exported(ladder) == before
    assert len(files(directory)) == 1, "each try writes the same file"
    assert recompute(ladder) == []


def test_the_packs_stay_if_the_storage_returns_other_bytes(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = archive_files._bytes_of
    monkeypatch.setattr(archive_files, "_bytes_of", lambda name: real(name)[:-1])
    run = archive_all()
    assert (run.rounds, archived(), RoundArchive.objects.count()) == (0, 0, 0)
    assert all("has other bytes than were written" in fault for fault in run.faults)
    assert len(run.faults) == min(3, ladder.rounds.count()), "a storage that fails ends the run"


def test_a_full_disk_is_a_fault_of_the_run(ladder: Ladder, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    run = archive_all()
    assert (run.rounds, archived()) == (0, 0)
    assert "No space left on device" in run.faults[0]
    assert play.archive_state().run == run
    monkeypatch.undo()
    assert archive_all().rounds == ladder.rounds.count()


@pytest.mark.parametrize("damage", ["missing", "changed", "cut", "other"])
def test_a_damaged_file_is_an_error_with_its_name_and_the_remedy(
    ladder: Ladder, directory: Path, damage: str
) -> None:
    rated = ladder.rounds.order_by("pk").first()
    play.archive_round(rated.pk)
    [path] = files(directory)
    data = path.read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage == "changed":
        path.write_bytes(data[:-20] + bytes([data[-20] ^ 1]) + data[-19:])
    elif damage == "cut":
        path.write_bytes(data[: len(data) // 2])
    else:
        text = gzip.decompress(data).replace(b'"bot-1"', b'"bot-2"')
        path.write_bytes(gzip.compress(text))
    archive_files.forget()
    match = Match.objects.filter(archived=True).first()
    with pytest.raises(ArchiveError, match=f"{path.name} is .*Restore it from the backup"):
        _ = match.record
    with pytest.raises(DamagedError, match=path.name):
        recompute(ladder)
    ratings_before = list(ladder.standings.order_by("pk").values())
    with pytest.raises(DamagedError, match=path.name):
        ratings.correct(ladder.pk, reason="test")
    assert list(ladder.standings.order_by("pk").values()) == ratings_before
    ratings.check_ladder(ladder.pk)
    ladder.refresh_from_db()
    assert path.name in ladder.alarm
    with pytest.raises(ArchiveError):
        play.unarchive_round(rated.pk)
    assert list(archive_copies.faults()) == [RoundArchive.objects.get().file]
    path.write_bytes(data)
    assert recompute(ladder) == []
    assert not archive_copies.faults()


def test_a_damaged_pack_is_not_archived_and_does_not_stop_the_others(ladder: Ladder) -> None:
    broken = Match.objects.finished().filter(block__round=ladder.rounds.first()).first()
    Match.objects.filter(pk=broken.pk).update(packed_record=b"damaged")
    run = archive_all()
    assert run.rounds == ladder.rounds.count() - 1
    assert [f"match {broken.pk}" in fault for fault in run.faults] == [True]


def test_void_marks_of_an_archived_round_change_the_ratings_and_can_be_taken_back(
    ladder: Ladder,
) -> None:
    archive_all()
    before = list(ladder.standings.order_by("bot").values_list("bot", "rating"))
    block = Block.objects.finished().filter(round=ladder.rounds.order_by("pk").last())[0]
    ratings.mark_void(block_id=block.pk, reason="test")
    ratings.correct(ladder.pk)
    ladder.refresh_from_db()
    assert list(ladder.standings.order_by("bot").values_list("bot", "rating")) != before
    assert recompute(ladder) == []
    log = ModerationEntry.objects.create(action="restore-block", reason="test")
    with transaction.atomic():
        void_marks.take_mark_back(block=block, reason="test", decision=log)
    ratings.correct(ladder.pk)
    ladder.refresh_from_db()
    assert list(ladder.standings.order_by("bot").values_list("bot", "rating")) == before
    assert recompute(ladder) == []


def test_only_old_rounds_with_public_seeds_are_due(ladder: Ladder, settings: Settings) -> None:
    now = timezone.now()
    old, public = ladder.rounds.order_by("pk").first(), ladder.rounds.count()
    assert play.archive_due(now).rounds == 0
    Round.objects.filter(pk=old.pk).update(applied_at=now - timedelta(days=30, seconds=1))
    assert [each.pk for each in archiving.due_rounds(now)] == [old.pk]
    settings.ARCHIVE_DAYS = 0
    assert not archiving.due_rounds(now + LATER).exists()
    settings.ARCHIVE_DAYS = 30
    Tournament.objects.update(state=Tournament.State.RUNNING)
    assert not archiving.due_rounds(now + LATER).exists()
    with pytest.raises(ValueError, match="its seed is secret"):
        play.archive_round(old.pk)
    Tournament.objects.update(reopened_at=now)
    assert archiving.due_rounds(now + LATER).count() == public


def test_a_few_lines_of_python_read_a_file(ladder: Ladder, directory: Path) -> None:
    records = {match.pk: match.record for match in Match.objects.finished()}
    archive_all()
    read = {}
    for path in files(directory):
        assert sha256(path.read_bytes()).hexdigest()[:16] in path.name
        with gzip.open(path) as file:
            *lines, end = file.readlines()
        assert json.loads(end)["sha256"] == sha256(b"".join(lines)).hexdigest()
        for block in map(json.loads, lines[1:]):
            for match in block["matches"]:
                read[match["id"]] = unpack(
                    base64.b64decode(match["pack"]),
                    game=match["game"],
                    rules=match["rules"],
                    seats=len(match["seats"]),
                    deal_seed=bytes.fromhex(match["deal_seed"]),
                )
    assert read == records


def test_a_match_read_before_its_round_was_archived_or_put_back_finds_its_record(
    ladder: Ladder,
) -> None:
    round_ = ladder.rounds.order_by("pk").first()
    of_round = Match.objects.finished().filter(block__round=round_).order_by("pk")
    expected = of_round.first().record
    read_before = of_round.defer("packed_record").first()
    play.archive_round(round_.pk)
    assert read_before.record == expected
    read_before = of_round.first()
    play.unarchive_round(round_.pk)
    assert read_before.record == expected


def test_the_database_refuses_a_finished_match_without_a_record(ladder: Ladder) -> None:
    finished = Match.objects.filter(pk=Match.objects.finished().first().pk)
    for fields in ({"packed_record": None}, {"archived": True}):
        with pytest.raises(IntegrityError), transaction.atomic():
            finished.update(**fields)


def test_fair_play_and_performance_need_no_file(ladder: Ladder, directory: Path) -> None:
    before = fair_play_report(ladder)
    archive_all()
    for path in files(directory):
        path.unlink()
    archive_files.forget()
    ratings.fit_round(ladder.rounds.order_by("pk").last().pk)
    assert fair_play_report(ladder) == before


def test_a_storage_that_does_not_exist_is_a_fault_of_the_run_and_of_the_check(
    ladder: Ladder, settings: Settings
) -> None:
    assert run_checks() == []
    wrong = {"BACKEND": "league.archive_s3.S3Archives"}
    settings.STORAGES = settings.STORAGES | {"archive": wrong}
    run = archive_all()
    assert (run.rounds, archived()) == (0, 0)
    assert "S3Archives" in run.faults[0]
    assert play.archive_state().run == run
    [found] = run_checks()
    assert found.msg.startswith("ARCHIVE_STORAGE or its options are wrong: ")


def test_another_storage_than_a_directory_keeps_the_files_too(
    ladder: Ladder, settings: Settings
) -> None:
    memory = {"BACKEND": "django.core.files.storage.InMemoryStorage"}
    settings.STORAGES = settings.STORAGES | {"archive": memory}
    before = exported(ladder)
    assert archive_all().rounds == ladder.rounds.count()
    assert exported(ladder) == before
    assert recompute(ladder) == []
    for round_ in ladder.rounds.all():
        play.unarchive_round(round_.pk)
        assert play.archive_round(round_.pk) is not None, "the file is there already"
    assert len({archive.file for archive in RoundArchive.objects.all()}) == ladder.rounds.count()
    assert exported(ladder) == before


def test_a_restore_replaces_a_damaged_file_in_a_storage_that_overwrites_none(
    ladder: Ladder, settings: Settings, tmp_path: Path
) -> None:
    place = {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": tmp_path / "storage"},
    }
    settings.STORAGES = settings.STORAGES | {"archive": place}
    archive_all()
    archive_copies.copy(tmp_path / "backups")
    damaged = files(tmp_path / "storage")[0]
    damaged.write_bytes(b"damaged")
    archive_files.forget()
    assert archive_copies.restore(tmp_path / "backups") == 1
    assert not archive_copies.faults()
    assert len(files(tmp_path / "storage")) == ladder.rounds.count()


def test_an_export_that_meets_a_missing_file_has_no_last_line(
    ladder: Ladder, directory: Path
) -> None:
    archive_all()
    files(directory)[-1].unlink()
    pieces: list[bytes] = []
    with pytest.raises(ArchiveError, match="is missing"):
        pieces.extend(export_ladder(ladder))
    assert b'"type": "end"' not in b"".join(pieces)
