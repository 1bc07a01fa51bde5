"""``make restore FILE=...``: replace the data of the league here by a backup.

The league must have ended. PostgreSQL and Valkey run for the time of the command alone.
"""

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from devserver.place import ServersError, reason, secret_key
from devserver.running import CHECKOUT
from devserver.secret_files import with_secrets
from devserver.servers import local_servers

_STEPS = (("set_up_league", "--migrate"), ("recompute",))
"""These follow the restore: the tables of this version, and a look at all ratings."""


def main(words: Sequence[str] | None = None) -> int:
    """Restore a backup into a league's directory; return the exit status.

    Args:
        words: of the command line; None: those of this process.
    """
    parser = argparse.ArgumentParser(prog="make restore", description=__doc__)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--directory", type=Path, default=CHECKOUT / "var")
    options = parser.parse_args(words)
    if options.file is None or not options.file.is_file():
        named = (
            "Name a backup"
            if options.file is None
            else f"There is no file {options.file}. Name a backup"
        )
        backups_at = options.directory / "backups"
        backups = sorted(backups_at.glob("*.dump"))
        found = "".join(f"\n  make restore FILE={path}" for path in backups)
        found = found or f" There is no backup in {backups_at}."
        print(f"make restore: {named}, as in make restore FILE=PATH.{found}", file=sys.stderr)
        return 2
    try:
        given = with_secrets(os.environ)
        with local_servers(
            options.directory,
            database_url=given.get("DATABASE_URL") or None,
            redis_url=given.get("REDIS_URL") or None,
        ) as servers:
            environment = {
                "SECRET_KEY": secret_key(options.directory),
                **given,
                "DATABASE_URL": servers.database_url,
                "REDIS_URL": servers.redis_url,
            }
            return _restore(options.file, environment)
    except (ServersError, OSError) as error:
        print(f"make restore: {reason(error)}", file=sys.stderr)
        return 1


def _restore(file: Path, environment: Mapping[str, str]) -> int:
    """Run the commands of a restore one after the other, up to the first that fails."""
    # Ctrl-C reaches the command too, and the command puts the data back. It needs PostgreSQL.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        for step in (("restore", str(file.resolve())), *_STEPS):
            words = [sys.executable, CHECKOUT / "manage.py", *step]
            done = subprocess.run(words, env=environment, cwd=CHECKOUT, check=False)
            if status := done.returncode:
                print(
                    f"make restore: manage.py {step[0]} ended with status {status}; its "
                    "output is above.",
                    file=sys.stderr,
                )
                return 1
    finally:
        signal.signal(signal.SIGINT, before)
    print("Restored. `make up` starts the league.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
