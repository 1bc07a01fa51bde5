#!/usr/bin/env python3
"""Upgrade a league with systemd to the version that is checked out in its directory.

Run it as root. It needs Python alone. It installs packages and units, checks the settings and
migrates the database, while the old parts serve. Then it restarts one part after the other. The
front keeps requests to a part that restarts, and one of the two fronts always runs.
"""

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
BIN = HOME / ".venv" / "bin"
UNITS = Path("/etc/systemd/system")
CODE = ("api", "bots_sdk", "config", "engine", "league", "web")
PARTS = ("beat", "ratings", "checks", "seats", "clock", "play", "web")
FRONTS = ("front@1", "front@2")
"""The gateway restarts with each of them: it ends the streams, for which an old front waits."""
SILENT_SECONDS = 6
"""More than the 5 s after which `/readyz` takes a silent part for down."""
DELAY_SECONDS = 12
"""More than FRONT_SHUTDOWN_DELAY of the unit: an ending front accepts so long."""
READY_SECONDS = 300
POLL_SECONDS = 0.2
READY = "http://127.0.0.1:8001/readyz"
_MIGRATE_REQUESTS = Path("/proc/sys/net/ipv4/tcp_migrate_req")


class UpgradeError(Exception):
    """The upgrade can't go on; the message has the reason."""


def main() -> int:
    """Upgrade; return the exit status."""
    if os.geteuid():
        print("upgrade: run it as root", file=sys.stderr)
        return 1
    try:
        upgrade()
    except UpgradeError as error:
        print(f"upgrade: {error}", file=sys.stderr)
        return 1
    return 0


def upgrade() -> None:
    """Take all steps.

    Raises:
        UpgradeError: a step failed; later parts run the old version still.
    """
    step("packages")
    requirements = str(HOME / "requirements" / "server.txt")
    run(str(BIN / "pip"), "install", "--quiet", "--require-hashes", "-r", requirements)
    run(str(BIN / "python"), "-m", "compileall", "-q", *(str(HOME / name) for name in CODE))
    step("units")
    run("cp", "-r", f"{HOME}/deploy/systemd/.", str(UNITS))
    run("systemctl", "daemon-reload")
    step("check and migrate")
    run(str(HOME / "deploy" / "manage"), "check")
    run("systemctl", "restart", "twelfth-night-prepare")
    for part in PARTS:
        step(part)
        run("systemctl", "restart", f"twelfth-night-{part}")
        time.sleep(SILENT_SECONDS)
        wait_for(is_ready, "the league is not ready: see its /readyz, and journalctl")
    if _MIGRATE_REQUESTS.exists():
        # Connections that one front has not accepted when it ends go to the other one.
        _MIGRATE_REQUESTS.write_text("1\n")
    for front in FRONTS:
        step(f"{front} and gateway")
        replace_front(f"twelfth-night-{front}")


def replace_front(unit: str) -> None:
    """Restart a front, and the gateway once the front accepts no connection any more."""
    old = invocation(unit)
    run("systemctl", "restart", "--no-block", unit)
    time.sleep(DELAY_SECONDS)
    run("systemctl", "restart", "twelfth-night-gateway")
    wait_for(
        lambda: invocation(unit) not in ("", old) and is_ready(),
        f"{unit} did not start again: see journalctl -u {unit}",
    )


def invocation(unit: str) -> str:
    """Return the id of the current run of a unit that is active, or else an empty text."""
    words = ("systemctl", "show", "--property=ActiveState,InvocationID", unit)
    found = dict(line.split("=", 1) for line in run(*words).splitlines())
    return found["InvocationID"] if found["ActiveState"] == "active" else ""


def is_ready() -> bool:
    """Return whether all parts work."""
    request = urllib.request.Request(READY, headers={"X-Forwarded-Proto": "https"})
    try:
        with urllib.request.urlopen(request, timeout=10):
            return True
    except OSError:
        return False


def wait_for(condition: Callable[[], bool], failure: str) -> None:
    """Wait until a condition holds.

    Raises:
        UpgradeError: it does not within `READY_SECONDS`.
    """
    end = time.monotonic() + READY_SECONDS
    while not condition():
        if time.monotonic() > end:
            raise UpgradeError(failure)
        time.sleep(POLL_SECONDS)


def step(name: str) -> None:
    """Print the name of a step."""
    print(f"{time.strftime('%H:%M:%S')} {name}", flush=True)


def run(*words: str) -> str:
    """Run a command; return what it prints.

    Raises:
        UpgradeError: it failed; the message has its last lines.
    """
    done = subprocess.run(words, cwd=HOME, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()
        raise UpgradeError("\n".join([f"{' '.join(words)}:", *lines[-15:]]))
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
