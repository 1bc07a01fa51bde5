"""A league as `make up` runs it, which is started again when its supervisor was killed."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import httpx

from benchmarks.killing.extras import Extras
from benchmarks.killing.logs import faults
from benchmarks.killing.targets import Target, targets
from devserver import processes
from devserver.running import variables_of_running

CHECKOUT = Path(__file__).parents[2]
_READY_SECONDS = 900.0
_STOP_SECONDS = 40.0
_RATES = ("RATE_GENERAL", "RATE_ACCOUNTS", "RATE_PASSWORDS", "RATE_GUESSES", "RATE_ACCOUNT_GUESSES")


class League:
    """A league in a directory.

    Attributes:
        directory: of its data and its output.
        url: its address.

    Args:
        directory: for its data.
        port: of its front.
        variables: more variables of its environment.
        has_extras: whether a second clock worker and a second beat run.
    """

    def __init__(
        self,
        directory: Path,
        port: int,
        variables: Mapping[str, str] | None = None,
        *,
        has_extras: bool = False,
    ) -> None:
        self.directory = directory.absolute()
        self.url = f"http://127.0.0.1:{port}"
        self._log = self.directory.with_suffix(".log")
        self._temporary = self.directory.with_suffix(".tmp")
        self._environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "DJANGO_SETTINGS_MODULE")
        } | {
            "HOUSE_BOTS": "house-random,house-thumb,house-counting",
            **dict.fromkeys(_RATES, "1000000/minute"),
            "MAX_UPLOADS_PER_DAY": "100000",
            "TMPDIR": str(self._temporary),
            "PROBE_URL": f"{self.url}/",
            "LEAGUE_DIRECTORY": str(self.directory),
            **(variables or {}),
        }
        self._command = [sys.executable, "-m", "devserver.up", "--port", str(port)]
        self._command += ["--directory", str(self.directory)]
        self._process: subprocess.Popen[bytes] | None = None
        self._is_set_up = False
        self._extras: Extras | None = None
        if has_extras:
            self._extras = Extras(self.directory, self._environment, self._log)
        self._old: list[int] = []

    @property
    def pid(self) -> int:
        """The pid of the supervisor."""
        assert self._process
        return self._process.pid

    def start(self) -> None:
        """Start the league and wait until it is ready."""
        self._start()
        self.await_ready()
        self._is_set_up = True
        self.start_again()

    def start_again(self) -> None:
        """Start the league if its supervisor has ended, and the extras that have ended."""
        if self._process and self._process.poll() is not None:
            self._start()
        if self._extras and self._is_set_up:
            self._extras.start()

    def targets(self) -> list[Target]:
        """Return all processes of the league that run now."""
        return list(targets(self.pid, self._extras.pids if self._extras else None))

    def _start(self) -> None:
        self._temporary.mkdir(parents=True, exist_ok=True)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, env=self._environment, cwd=CHECKOUT, stdout=log, stderr=log
            )

    def await_ready(self, steady_seconds: float = 0.0) -> float:
        """Wait until ``/readyz`` answers 200; return the time since which it does.

        Args:
            steady_seconds: how long it must answer so without a break.
        """
        deadline = time.monotonic() + _READY_SECONDS
        since: float | None = None
        while since is None or time.monotonic() - since < steady_seconds:
            if (found := self.readiness()) == "ready":
                since = since or time.monotonic()
            else:
                since = None
                self.start_again()
                if time.monotonic() > deadline:
                    raise SystemExit(
                        f"not ready after {_READY_SECONDS:.0f} s: {found}\n{self._tail()}"
                    )
            if since is None or steady_seconds:
                time.sleep(0.1)
        return since

    def readiness(self) -> str:
        """Return "ready", or why the league is not ready."""
        try:
            answer = httpx.get(f"{self.url}/readyz", timeout=5)
        except httpx.HTTPError as error:
            return repr(error)
        return "ready" if answer.status_code == 200 else answer.text

    def metrics(self) -> dict[str, float]:
        """Return the values of ``/metrics`` by name with labels."""
        lines = httpx.get(f"{self.url}/metrics", timeout=30).text.splitlines()
        pairs = (line.rpartition(" ") for line in lines if not line.startswith("#"))
        return {name: float(value) for name, _, value in pairs}

    def manage(self, script: str, *arguments: str) -> str:
        """Run a script with ``manage.py shell`` beside the league, or a command; return its output.

        Raises:
            SystemExit: it failed.
        """
        words = ["shell", "--no-imports", "-c", script] if script else list(arguments)
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            env=self._environment,
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"manage.py {' '.join(words)[:200]} failed:\n{done.stderr[-3000:]}")
        return done.stdout

    def stop(self) -> list[str]:
        """Stop the league; return the processes that are left."""
        assert self._process
        if self._extras:
            self._extras.stop()
        tree = list(targets(self.pid))
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            return [f"supervisor after {_STOP_SECONDS:.0f} s"]
        left = self.processes()
        alive = {pid for target in tree if (pid := target.pid) in left}
        return [f"{left[pid]} ({pid}{', of the tree' if pid in alive else ''})" for pid in left]

    def processes(self) -> dict[int, str]:
        """Return the commands of all processes that belong to the league's directory, by pid.

        They name the directory, or hold its lock.
        """
        with (self.directory / "servers.lock").open() as lock:
            holding = set(processes.holders(lock))
        found: dict[int, str] = {}
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                variables = (entry / "environ").read_bytes()
                mark = f"LEAGUE_DIRECTORY={self.directory}\0".encode()
                pid = int(entry.name)
                if pid in holding or mark in variables or f"{self.directory}/" in command:
                    found[pid] = command[:100]
        found.pop(os.getpid(), None)
        return found

    def temporary_places(self) -> list[Path]:
        """Return the directories for temporary files: the league's own, and that of its bots."""
        return [self._temporary, Path(f"/dev/shm/twelfth-night-bots-{os.geteuid()}")]

    def files_left(self) -> list[str]:
        """Return the sockets and temporary files that are left after a stop."""
        sockets = [each for each in self.directory.rglob("*") if each.is_socket()]
        return sorted(map(str, [*sockets, *self._temporary.iterdir()]))

    def kill(self) -> None:
        """End whatever is left of the league."""
        if self._extras:
            self._extras.stop()
        if self._process and self._process.poll() is None:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOP_SECONDS)
            self._process.kill()
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def log_counts(self) -> dict[str, int]:
        """Return the number of lines, tracebacks and error lines of the log."""
        counts: Counter[str] = Counter(lines=0, tracebacks=0, errors=0)
        with self._log.open(errors="replace") as log:
            for line in log:
                counts["lines"] += 1
                counts["tracebacks"] += "Traceback (most recent" in line
                counts["errors"] += "[error" in line
        return dict(counts)

    def log_faults(self) -> list[str]:
        """Return each kind of error and traceback in the log, with its number."""
        with self._log.open(errors="replace") as log:
            return faults(log)

    @property
    def database_url(self) -> str:
        """The address of the database, while the league runs."""
        return variables_of_running(self.directory).get("DATABASE_URL", "")

    def _tail(self) -> str:
        with self._log.open("rb") as log:
            log.seek(max(0, self._log.stat().st_size - 5000))
            return log.read().decode(errors="replace")
