"""The gateway in a process that is killed once it has committed a move, before it answers."""

import os
import signal
from typing import Any

from api.play.app import application as application
from league.play import statements

_write = statements.write


def _write_and_die(changes: Any) -> set[int]:
    if _write(changes):
        os.kill(os.getpid(), signal.SIGKILL)
    return set()


statements.write = _write_and_die
