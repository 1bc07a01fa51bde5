"""A second clock worker and a second beat beside the parts of `make up`."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from devserver import processes
from devserver.running import CHECKOUT, variables_of_running
from devserver.up import BIN, THREADS, worker


class Extras:
    """Parts that the benchmark itself starts again whenever they have ended.

    Args:
        directory: of the league.
        environment: the variables of the league.
        log: the file for their output.
    """

    def __init__(self, directory: Path, environment: Mapping[str, str], log: Path) -> None:
        self._environment = {**environment, "PYTHONUNBUFFERED": "1", "CELERY_SKIP_CHECKS": "yes"}
        self._directory, self._log = directory, log
        beat = [BIN / "celery", "-A", "config", "--quiet", "beat", "--loglevel", "WARNING"]
        schedule = directory / "second-beat-schedule"
        self._commands = {
            "clock": worker("second-clock", "clock", *THREADS, "4").words(),
            "beat": [*map(str, beat), "--schedule", str(schedule), "--pidfile="],
        }
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        """Start those that do not run, if the league does."""
        addresses = variables_of_running(self._directory)
        if not addresses:
            return
        for kind, command in self._commands.items():
            process = self._running.get(kind)
            if process is None or process.poll() is not None:
                with self._log.open("ab") as log:
                    self._running[kind] = subprocess.Popen(
                        [*processes.ends_with_us("KILL"), *command],
                        env=self._environment | addresses,
                        cwd=CHECKOUT,
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=log,
                        start_new_session=True,
                    )

    @property
    def pids(self) -> dict[int, str]:
        """The kinds of those that run, by pid."""
        return {
            process.pid: f"second {kind}"
            for kind, process in self._running.items()
            if process.poll() is None
        }

    def stop(self) -> None:
        """End all, kill those that take too long."""
        for process in self._running.values():
            process.terminate()
        for process in self._running.values():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
        self._running.clear()
