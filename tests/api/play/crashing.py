"""The gateway in a process that is killed once it has committed a move, before it answers."""

import os
import signal

from api.play.app import application as application
from league.play import statements

_written = statements.written


def _note_and_die(rows: statements.Rows) -> set[int]:
    if _written(rows):
        os.kill(os.getpid(), signal.SIGKILL)
    return set()


statements.written = _note_and_die
