"""``make down``: end the league that runs in a directory, however it was started.

A shell starts background jobs so that they ignore SIGINT, the signal of Ctrl-C. This command sends
SIGTERM.
"""

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from devserver import processes
from devserver.place import LOCK, reason, try_lock
from devserver.running import CHECKOUT

_MAX_SECONDS = 60.0
"""The time in which the league must have ended; a worker finishes its match first."""
_UNSEEN_SECONDS = 5.0
"""If this command finds no process of the league for so long, it can't reach the league."""
_EVERY_SECONDS = 0.05


def main(words: Sequence[str] | None = None) -> int:
    """End the league of a directory and wait for its end; return the exit status.

    Args:
        words: of the command line; None: those of this process.
    """
    parser = argparse.ArgumentParser(prog="make down", description="End the league that runs here.")
    parser.add_argument("--directory", type=Path, default=CHECKOUT / "var")
    directory = parser.parse_args(words).directory
    try:
        lock = (directory / LOCK).open("r")
    except FileNotFoundError:
        print(f"No league runs in {directory}.")
        return 0
    except OSError as error:
        print(f"make down: {reason(error)}", file=sys.stderr)
        return 1
    with lock:
        if try_lock(lock):
            print(f"No league runs in {directory}.")
            return 0
        print(f"Ending the league in {directory} ...", flush=True)
        began = time.monotonic()
        left = _end(lock)
    if left == set():
        print(
            f"make down: a league runs in {directory}, but its processes can't be seen here. They "
            "belong to another user, or run in a container. End the league there.",
            file=sys.stderr,
        )
        return 1
    if left:
        print(
            f"make down: the league has not ended after {_MAX_SECONDS:.0f} s. Its process id is "
            f"{', '.join(map(str, sorted(left)))}. Run `make down` again to keep waiting.",
            file=sys.stderr,
        )
        return 1
    print(f"The league has ended after {time.monotonic() - began:.1f} s. All its data stay.")
    return 0


def _end(lock: IO[str]) -> set[int] | None:
    """End the processes that hold a league's lock; return None when they have ended.

    If some do not end in time, return these. The set is empty if none can be seen here.

    The supervisor alone has the file open, so its pid can't be a stale one. It stops its parts in
    order and then frees the lock.
    """
    asked: set[int] = set()
    began = time.monotonic()
    while not try_lock(lock):
        left = set(processes.holders(lock))
        for pid in left - asked:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        asked |= left
        if time.monotonic() - began > (_MAX_SECONDS if asked else _UNSEEN_SECONDS):
            return left
        time.sleep(_EVERY_SECONDS)
    return None


if __name__ == "__main__":
    sys.exit(main())
