"""A league for benchmarks: real servers, its web programs, and a client with low cost.

Import it before any module of the league: `league` sets up Django for the servers that it starts.
"""

import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
sys.path.insert(0, str(CHECKOUT))
os.environ["PYTHONPATH"] = str(CHECKOUT)  # for what is started here

from devserver.part import Part  # noqa: E402
from devserver.servers import local_servers  # noqa: E402

_READY_SECONDS = 30.0


@contextmanager
def league() -> Iterator[Path]:
    """Run the servers of an empty league as `make up` does, durable; yield their directory."""
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="league-bench-")))
        servers = stack.enter_context(local_servers(directory))
        os.environ |= {
            "DATABASE_URL": servers.database_url,
            "REDIS_URL": servers.redis_url,
            "SECRET_KEY": secrets.token_urlsafe(48),
            "DJANGO_SETTINGS_MODULE": "config.settings",
            # The league counts calls, but no client reaches the limits.
            "RATE_PLAY": "100000000/minute",
            "RATE_GENERAL": "100000000/minute",
            "MAX_BOTS_PER_DAY": "100000",
            "MAX_WAITING_PER_ADDRESS": "100000",
            "MAX_WAITING_IN_ALL": "100000",
        }
        import django
        from django.core.management import call_command
        from django.db import connections

        django.setup()
        call_command("migrate", verbosity=0)
        stack.callback(connections.close_all)
        yield directory


def database_cpu(directory: Path) -> float:
    """Return the processor time of PostgreSQL in seconds."""
    pid = (directory / "postgres" / "postmaster.pid").read_text().split()[0]
    # PostgreSQL reports the same process id that this namespace uses.
    return cpu_seconds(int(pid))


@contextmanager
def running(part: Part, at: Path, log: Path) -> Iterator[int]:
    """Run a web program on a unix socket with its output in a file; yield its process id."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            list(map(str, part.command)), cwd=CHECKOUT, stdout=output, stderr=output
        )
    try:
        deadline = time.monotonic() + _READY_SECONDS
        while not _answers(at):
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"{part.name} does not answer:\n{log.read_text()[-2000:]}")
            time.sleep(0.05)
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def _answers(at: Path) -> bool:
    try:
        Client(at).close()
    except OSError:
        return False
    return True


class Client:
    """A persistent connection to a unix socket, for prepared requests."""

    def __init__(self, at: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(60)
        self._socket.connect(str(at))
        self._received = b""

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def fileno(self) -> int:
        """Return the descriptor, with which one thread can wait for several clients."""
        return self._socket.fileno()

    def send(self, request: bytes) -> tuple[int, bytes]:
        """Send a request; return status and body of the response."""
        self.begin(request)
        while (answer := self.receive()) is None:
            pass
        return answer

    def begin(self, request: bytes) -> None:
        """Send a request."""
        self._socket.sendall(request)
        self._received = b""

    def receive(self) -> tuple[int, bytes] | None:
        """Wait for a part of the response; return status and body once it is whole."""
        part = self._socket.recv(65536)
        if not part:
            raise ConnectionError("the server closed the connection")
        self._received += part
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return None
        head = self._received[:end].lower()
        start = head.find(b"content-length:") + len(b"content-length:")
        if start < len(b"content-length:"):
            raise ConnectionError(f"an answer without a length: {self._received[:500]!r}")
        whole = end + 4 + int(head[start:].split(b"\r\n", 1)[0])
        if len(self._received) < whole:
            return None
        return int(self._received[9:12]), self._received[end + 4 : whole]


def request(method: str, path: str, token: str = "", body: bytes = b"") -> bytes:
    """Return the bytes of an HTTP request."""
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n"
    head += f"Authorization: Bearer {token}\r\n" if token else ""
    if method == "POST":
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return f"{head}\r\n".encode() + body


def at_share(values: Sequence[float], share: float) -> float:
    """Return a quantile of the values."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def processes_of(pid: int) -> list[int]:
    """Return the ids of a process and all its descendants."""
    found = [pid]
    for parent in found:
        with suppress(OSError):  # it has ended meanwhile
            for children in Path(f"/proc/{parent}/task").glob("*/children"):
                found += map(int, children.read_text().split())
    return found


def memory_kib(pid: int) -> int:
    """Return the memory of a process and its children in KiB, as proportional set size."""
    total = 0
    for process in processes_of(pid):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process and its children, past ones too, in seconds."""
    ticks = 0
    for process in processes_of(pid):
        with suppress(OSError):
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")
