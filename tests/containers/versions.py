"""The versions of an upgrade: the released one, and this checkout with a migration of its own."""

import os
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.containers.engine import ROOT, CommandError, run
from tests.containers.league import League

_MIGRATIONS = ROOT / "league" / "migrations"
_RELEASED = "league/migrations/released.txt"
_TRIAL = """\
from django.db import migrations

ADD = "ALTER TABLE league_match ADD COLUMN trial integer DEFAULT 12"
INDEX = "CREATE INDEX CONCURRENTLY league_match_trial ON league_match (trial)"


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("league", "{last}")]
    operations = [migrations.RunSQL(ADD), migrations.RunSQL(INDEX)]
"""
"""It takes a lock on the table that each move reads, and adds what the old code does not know."""


@contextmanager
def released() -> Iterator[Path]:
    """Give a checkout of the commit that UPGRADE_FROM names, or that released migrations last.

    Without a history of commits it is this checkout.

    Raises:
        CommandError: there is no such commit.
    """
    commit = os.environ.get("UPGRADE_FROM") or _last_release()
    if not commit:
        print("(no history: the upgrade begins with this checkout)", end=" ", flush=True)
        yield ROOT
        return
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name) / "tree.tar"
        run("git", "archive", "--output", str(tree), commit)
        with tarfile.open(tree) as files:
            files.extractall(Path(name) / "checkout", filter="data")
        print(f"(of commit {commit[:10]})", end=" ", flush=True)
        yield Path(name) / "checkout"


def _last_release() -> str:
    try:
        return run("git", "log", "--max-count=1", "--format=%H", "--", _RELEASED).strip()
    except (CommandError, FileNotFoundError):
        return ""


def build_second(league: League) -> str:
    """Build the image to upgrade to; return its name.

    It is this checkout with the client of an object storage, a variable CHANGED, and one more
    migration.
    """
    league.build("s3", "s3")
    image = f"{league.name}:second"
    last = max(path.stem for path in _MIGRATIONS.glob("0*.py"))
    number = int(last.partition("_")[0]) + 1
    files = {
        "trial.py": _TRIAL.format(last=last),
        "Dockerfile": f"FROM {league.name}:s3\nLABEL changed=yes\nENV CHANGED=yes\n"
        f"COPY trial.py league/migrations/{number:04}_trial.py\n",
    }
    with tempfile.TemporaryDirectory() as name:
        for file, text in files.items():
            (Path(name) / file).write_text(text)
            (Path(name) / file).chmod(0o644)
        run("docker", "build", "--quiet", "--tag", image, name)
    return image


def has_trial(league: League) -> bool:
    """Return whether the league's database has the column of the second version."""
    program = (
        "from django.db import connection as c; cursor = c.cursor(); "
        "cursor.execute('SELECT count(trial) FROM league_match'); print(cursor.fetchone()[0])"
    )
    return int(league.manage("shell", "--verbosity", "0", "--command", program).split()[-1]) > 0
