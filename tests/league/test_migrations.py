"""Migrations: none is missing, and none takes a lock that stops a league in play."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

from league.management.schema_changes import SchemaChanges

MIGRATIONS = Path(__file__).parents[2] / "league" / "migrations"
SQUAWK = Path(sys.executable).with_name("squawk")
FIRST = "0001_initial"
"""It makes new tables, in a database that nobody uses yet."""


def lint(sql: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Check SQL with squawk, by the rules of `.squawk.toml`."""
    file = folder / "migration.sql"
    file.write_text(sql)
    return subprocess.run([SQUAWK, file], capture_output=True, text=True, check=False)


@pytest.mark.django_db
def test_every_change_of_a_model_has_its_migration() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_a_released_migration_stays_as_it_is() -> None:
    released = (MIGRATIONS / "released.txt").read_text().splitlines()
    assert released
    for line in released:
        digest, name = line.split()
        found = hashlib.sha256((MIGRATIONS / name).read_bytes()).hexdigest()
        assert found == digest, f"{name} is released: add a migration, see docs/migrations.md"


def changes(old: models.Field, new: models.Field) -> bool:  # type: ignore[type-arg]
    """Return whether a migration is needed for a field that becomes another."""
    found = SchemaChanges(ProjectState(), ProjectState())
    return found.deep_deconstruct(old) != found.deep_deconstruct(new)


def test_only_a_change_of_the_schema_needs_a_migration() -> None:
    old = models.IntegerField(help_text="seconds")
    assert not changes(old, models.IntegerField("pause", help_text="pause in seconds"))
    assert changes(old, models.IntegerField(null=True))
    assert changes(old, models.FloatField(help_text="seconds"))


@pytest.mark.django_db
def test_no_migration_holds_a_lock_that_stops_a_running_league(tmp_path: Path) -> None:
    loader = MigrationLoader(connection)
    names = [key for key in loader.graph.nodes if key[0] == "league" and key[1] != FIRST]
    assert names
    for key in names:
        sql = "\n".join(loader.collect_sql([(loader.graph.nodes[key], False)]))
        found = lint(sql, tmp_path)
        assert found.returncode == 0, f"{key[1]}: see docs/migrations.md\n{found.stdout}"


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE league_bot ADD COLUMN nation integer NOT NULL;",
        "CREATE INDEX bots_by_nation ON league_bot (nation);",
        "ALTER TABLE league_bot RENAME COLUMN name TO title;",
        "ALTER TABLE league_bot ADD CONSTRAINT named CHECK (name <> '');",
    ],
)
def test_the_check_finds_changes_that_stop_a_running_league(sql: str, tmp_path: Path) -> None:
    assert lint(sql, tmp_path).returncode == 1
