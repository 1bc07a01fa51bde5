"""A backup is restored into another database, and its ratings equal its records there."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from psycopg import connect, sql
from psycopg.conninfo import make_conninfo
from pytest_django import Settings

from league import backups, play
from league.models import BlockEntry, Match
from tests.docs.documents import ROOT
from tests.league import small

pytestmark = pytest.mark.django_db(transaction=True)
NOW = datetime(2026, 11, 23, 3, 30, tzinfo=UTC)
OTHER = "restored"


def conninfo(name: str) -> str:
    given = settings.DATABASES["default"]
    known = {"user": given.get("USER"), "password": given.get("PASSWORD")}
    known |= {"host": given.get("HOST"), "port": given.get("PORT"), "dbname": name}
    return make_conninfo(**{key: value for key, value in known.items() if value})


@pytest.fixture
def other() -> Iterator[str]:
    """The connection string of an empty database on the server of the tests."""
    name = f"{connection.settings_dict['NAME']}_{OTHER}"
    drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
    with connect(conninfo("postgres"), autocommit=True) as server:
        server.execute(drop)
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    yield conninfo(name)
    with connect(conninfo("postgres"), autocommit=True) as server:
        server.execute(drop)


def manage(database: str, *words: object, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *map(str, words)],
        env=os.environ | {"DATABASE_URL": database} | variables,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def counts(database: str) -> dict[str, int]:
    """Return the number of rows of each table."""
    with connect(database) as read:
        tables = read.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        return {
            name: read.execute(
                sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(name))
            ).fetchall()[0][0]
            for (name,) in tables.fetchall()
        }


def test_a_restored_league_has_all_rows_and_its_recompute_finds_no_difference(
    tmp_path: Path, other: str
) -> None:
    ladder = small.ladder()
    small.play_round(ladder, [bot.pk for bot in small.bots(3)])
    assert Match.objects.finished().count()
    assert BlockEntry.objects.count()
    path = backups.back_up(tmp_path, NOW, keep=1)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for _ in range(2):  # the second one replaces a league
        done = manage(other, "restore", path)
        assert done.returncode == 0, done.stderr
    here = counts(conninfo(str(connection.settings_dict["NAME"])))
    assert counts(other) == here
    assert here["league_match"]
    done = manage(other, "recompute")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "quick: 3 ratings, 0 differ\n"


def test_a_restore_that_fails_or_meets_another_client_changes_nothing(
    tmp_path: Path, other: str
) -> None:
    path = backups.back_up(tmp_path, NOW, keep=1)
    with connect(other) as client:
        client.execute("CREATE TABLE kept (number int)")
        client.commit()
        refused = manage(other, "restore", path)
        assert refused.returncode == 1
        assert "1 other connections use the database" in refused.stderr
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    failed = manage(other, "restore", path)
    assert failed.returncode == 1
    assert "pg_restore failed: " in failed.stderr
    assert counts(other) == {"kept": 0}


OLD_SERVER = """#!/bin/sh
case "$*" in
    *--list*) exec {program} "$@" ;;
    *--exit-on-error* | *--single-transaction*) errors=1; ignored= ;;
    *) {program} "$@" || exit; errors={errors}; ignored={errors} ;;
esac
for _ in $(seq $errors); do
    echo 'pg_restore: error: could not execute query: ERROR:  unrecognized configuration' \\
        'parameter "transaction_timeout"'
    echo 'Command was: SET transaction_timeout = 0;'
done >&2
[ "$ignored" ] && echo "pg_restore: warning: errors ignored on restore: $ignored" >&2
exit 1
"""
"""A `pg_restore` whose server is older than 17."""
RESTORE = """
import sys
import django
django.setup()
from pathlib import Path
from league import backups
backups._server_version = lambda: 15_00_00
find = backups._find
backups._find = lambda program: sys.argv[2] if program == "pg_restore" else find(program)
backups.restore(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("errors", [1, 2])
def test_a_server_older_than_17_may_refuse_the_timeout_of_pg_restore_and_nothing_else(
    errors: int, tmp_path: Path, other: str
) -> None:
    if backups._server_version() < 17_00_00:
        pytest.skip("this server refuses it by itself, so all other tests of restores show it")
    path = backups.back_up(tmp_path, NOW, keep=1)
    program = tmp_path / "pg_restore"
    program.write_text(OLD_SERVER.format(program=backups._find("pg_restore"), errors=errors))
    program.chmod(0o700)
    done = subprocess.run(
        [sys.executable, "-c", RESTORE, str(path), str(program)],
        env=os.environ | {"DATABASE_URL": other},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ("transaction_timeout" in done.stderr) == (errors > 1), done.stderr
    assert bool(counts(other)) == (errors == 1)


INTERRUPTED = """
import sys
import django
django.setup()
from pathlib import Path
from league import backups
def fill(*_):
    raise KeyboardInterrupt
backups._fill = fill
try:
    backups.restore(Path(sys.argv[1]))
except backups.BackupError as error:
    print(error)
"""


def test_a_restore_that_ctrl_c_ends_changes_nothing(tmp_path: Path, other: str) -> None:
    path = backups.back_up(tmp_path, NOW, keep=1)
    with connect(other) as client:
        client.execute("CREATE TABLE kept (number int)")
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(path)],
        env=os.environ | {"DATABASE_URL": other},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "The restore was interrupted. The database is as it was.\n", done.stderr
    assert counts(other) == {"kept": 0}


def test_no_new_league_begins_in_the_tables_of_a_restore_that_was_killed(
    tmp_path: Path, other: str
) -> None:
    path = backups.back_up(tmp_path, NOW, keep=1)
    with connect(other) as client:
        client.execute("CREATE TABLE kept (number int)")
        client.execute("ALTER SCHEMA public RENAME TO replaced_by_restore")
        client.execute("CREATE SCHEMA public")
    refused = manage(other, "set_up_league", "--migrate")
    assert refused.returncode == 1
    assert "A restore has not ended" in refused.stderr
    assert counts(other) == {}
    broken = tmp_path / "broken.dump"
    broken.touch()
    assert manage(other, "restore", broken).returncode == 1
    assert counts(other) == {"kept": 0}, "the next restore puts the old tables back first"
    assert manage(other, "restore", path).returncode == 0
    assert manage(other, "set_up_league", "--migrate").returncode == 0


def test_a_restore_without_rights_to_the_schema_shows_the_statement_that_gives_them(
    tmp_path: Path, other: str
) -> None:
    path = backups.back_up(tmp_path, NOW, keep=1)
    user = sql.Identifier("plain_user")
    with connect(other, autocommit=True) as server:
        server.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(user))
        server.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'plain'").format(user))
    try:
        plain = make_conninfo(other, user="plain_user", password="plain")
        refused = manage(plain, "restore", path)
        assert refused.returncode == 1
        assert 'run ALTER SCHEMA public OWNER TO "plain_user"' in refused.stderr
        assert "Traceback" not in refused.stderr
    finally:
        with connect(other, autocommit=True) as server:
            server.execute(sql.SQL("DROP ROLE {}").format(user))


def test_only_the_newest_backups_stay(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    written = [backups.back_up(tmp_path, NOW + timedelta(days=day), keep=2) for day in range(3)]
    assert sorted(tmp_path.iterdir()) == [*written[1:], tmp_path / "notes.txt"]


def test_a_new_backup_stays_if_the_clock_was_wrong_before(tmp_path: Path) -> None:
    backups.back_up(tmp_path, NOW + timedelta(days=3650), keep=1)
    path = backups.back_up(tmp_path, NOW, keep=1)
    assert list(tmp_path.iterdir()) == [path]


def test_two_backups_at_once_may_remove_the_same_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [backups.back_up(tmp_path, NOW - timedelta(days=1), keep=1)]
    monkeypatch.setattr(Path, "glob", lambda *_: found)
    found[0].unlink()  # the other backup, which has found it too, removes it
    assert backups.back_up(tmp_path, NOW, keep=1).exists()


def test_a_later_backup_removes_the_file_of_a_killed_one(tmp_path: Path) -> None:
    left, in_work = (tmp_path / f"league-2026112{day}T033000Z.part" for day in (1, 2))
    for path in (left, in_work):
        path.touch()
    os.utime(left, (0, 0))
    path = backups.back_up(tmp_path, NOW, keep=1)
    assert sorted(tmp_path.iterdir()) == [in_work, path]


def test_a_backup_that_fails_removes_none_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = backups.back_up(tmp_path, NOW, keep=1)
    monkeypatch.setattr(backups, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CommandError, match="pg_dump is not installed"):
        call_command("backup", directory=tmp_path)
    assert list(tmp_path.iterdir()) == [kept]


def test_a_directory_that_takes_no_backup_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(CommandError, match=f"{file}: "):
        call_command("backup", directory=file)


def test_a_backup_has_the_files_of_the_archive_and_a_restore_puts_them_back(
    tmp_path: Path, other: str, settings: Settings
) -> None:
    ladder = small.ladder()
    small.play_round(ladder, [bot.pk for bot in small.bots(3)])
    settings.ARCHIVE_DAYS = 1
    archive, saved = tmp_path / "archive", tmp_path / "backups"
    place = {
        "BACKEND": "league.archive_files.ArchiveDirectory",
        "OPTIONS": {"location": str(archive)},
    }
    settings.STORAGES = settings.STORAGES | {"archive": place}
    play.archive_due(datetime.now(UTC) + timedelta(days=2))
    call_command("backup", directory=saved)
    [path] = saved.glob("league-*.dump")
    [file] = [each for each in archive.rglob("*") if each.is_file()]
    copy = saved / "archive" / file.relative_to(archive)
    content = file.read_bytes()
    assert copy.read_bytes() == content
    written = copy.stat().st_mtime_ns
    call_command("backup", directory=saved)
    assert copy.stat().st_mtime_ns == written, "a file is copied once"
    for damaged in (b"", content[:-1], None):
        if damaged is None:
            file.unlink()
        else:
            file.write_bytes(damaged)
        done = manage(other, "restore", path, ARCHIVE_DIRECTORY=str(archive))
        assert done.returncode == 0, done.stderr
        assert "1 files of the archive were restored" in done.stdout
        assert file.read_bytes() == content
    done = manage(other, "recompute", ARCHIVE_DIRECTORY=str(archive))
    assert done.stdout == "quick: 3 ratings, 0 differ\n"
    copy.unlink()
    file.unlink()
    done = manage(other, "restore", path, ARCHIVE_DIRECTORY=str(archive))
    assert done.returncode == 1
    assert copy.name in done.stderr
    assert "The database is restored" in done.stderr
    done = manage(other, "recompute", ARCHIVE_DIRECTORY=str(archive))
    assert done.returncode == 1
    assert f"the archive file {copy.relative_to(saved / 'archive')} is missing" in done.stderr
    with pytest.raises(CommandError, match="is missing"):
        call_command("backup", directory=saved)
