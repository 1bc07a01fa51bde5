"""Write ``docker/.env`` with random secrets for `docker compose`; it needs Python alone."""

import os
import secrets
import sys
from pathlib import Path

NAMES = ("SECRET_KEY", "POSTGRES_PASSWORD", "METRICS_TOKEN")


def main(path: Path) -> int:
    """Write the file for its owner alone; return the exit status.

    A file that is there stays as it is: another password would not fit the database.
    """
    lines = [f"{name}={secrets.token_urlsafe(48)}\n" for name in NAMES]
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        print(f"{path} is there already; nothing was changed.", file=sys.stderr)
        return 1
    try:
        with os.fdopen(file, "w") as secret_file:
            secret_file.writelines(lines)
    except BaseException as error:  # else the next run would leave an empty file as it is
        path.unlink()
        if not isinstance(error, OSError):
            raise
        print(f"{path} can't be written: {error.strerror}.", file=sys.stderr)
        return 1
    print(f"Wrote {path} with {', '.join(NAMES)}. Keep a copy: backups need SECRET_KEY.")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name(".env")))
