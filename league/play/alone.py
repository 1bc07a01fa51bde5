"""Matches that are played alone: in a process of their own, beside which their worker waits.

If a match ends its process, its worker sees it and counts a failure of the match. If the worker or
the process is killed, its attempt counts as a loss.
"""

import ctypes
import os
import signal
import subprocess
import sys
import uuid

import structlog
from django.conf import settings

from league.play import leases, retries

log = structlog.get_logger(__name__)

_PR_SET_PDEATHSIG = 1
_FROM_OUTSIDE = {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
"""Signals that an operator or the system sends; a match can't cause them by a defect."""


def play_alone(match_id: int, lease: uuid.UUID) -> bool:
    """Play a leased match in a new process; return whether that finished it."""
    log.info("a match is played alone", match_id=match_id)
    command = [sys.executable, "-m", "django", "play_match_alone", str(match_id), str(lease)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(settings.BASE_DIR), *_paths()])}
    with leases.kept(match_id, lease):
        ended = subprocess.run(
            [*command, "--parent", str(os.getpid())],
            env=environment,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    if -ended.returncode in _FROM_OUTSIDE:
        retries.note_loss(match_id, lease)
    elif ended.returncode < 0:
        name = signal.Signals(-ended.returncode).name
        retries.note_failure(match_id, f"the process of the match was ended by {name}", lease)
    elif ended.returncode > 1:
        reason = f"the process of the match ended with status {ended.returncode}"
        retries.note_failure(match_id, reason, lease)
    return ended.returncode == 0


def die_with(parent: int) -> None:
    """Let the kernel end this process when its parent ends.

    Raises:
        SystemExit: the parent has ended already.
    """
    if ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0):
        raise OSError("prctl was refused")
    if os.getppid() != parent:
        sys.exit(1)


def _paths() -> list[str]:
    return [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
