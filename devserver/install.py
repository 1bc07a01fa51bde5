"""Installs locked packages with pip or uv, and shows how far it is, for ``make venv``.

Runs in a fresh environment, so it needs nothing but Python, and pip or uv. In a terminal it
rewrites one line with a bar; elsewhere it prints a line every few seconds.
"""

import fcntl
import math
import os
import pty
import re
import struct
import subprocess
import sys
import sysconfig
import termios
import threading
import time
from collections import deque
from collections.abc import Container, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import distributions
from pathlib import Path
from typing import IO

_COLLECTING = re.compile(r"Collecting (\S+?)==")
_FETCHED = re.compile(r"\s+(?:Downloading|Using cached) (\S+) \(([\d.]+) (bytes|kB|MB|GB)\)")
_INSTALLING = re.compile(r"Installing collected packages: ")
_PIN = re.compile(r"([\w.-]+)(?:\[[\w,.-]+\])?==([\w.!+]+).*")
_MEGABYTES = {"bytes": 1e-6, "kB": 1e-3, "MB": 1.0, "GB": 1e3}
_UV_PACKAGES = re.compile(r"Preparing packages\.\.\. \((\d+)/(\d+)\)")
_UV_BAR = re.compile(r"([\w.-]+) +-+ +([\d.]+) ([KMG]?)i?B/([\d.]+) ([KMG]?)i?B")
_UV_INSTALLED = re.compile(r"Installed (\d+) packages?")
_UV_MEGABYTES = {"": 1e-6, "K": 2**10 / 1e6, "M": 2**20 / 1e6, "G": 2**30 / 1e6}
_UV_ROWS, _UV_COLUMNS = 200, 200
"""The size of the terminal of uv; in a smaller one uv draws no bar for some files."""
_UV_MOVING = re.compile(r"[\u2580-\u259f\u2800-\u28ff]")
"""Begins a line that uv draws anew ten times a second: a spinner or a bar of blocks."""
_CONTROL = re.compile(r"\x1b\[[\d;?]*[a-zA-Z]")
_COLLECTED_PART = 0.7
"""The part of the time that collecting and downloading take, roughly."""
_FIRST_PART = 0.1
"""From here on, the time left is estimated."""
_SHORT_SECONDS = 40.0
"""A shorter time is shown as less than a minute."""
_BAR = 24
_TERMINAL_SECONDS, _LINE_SECONDS = 0.5, 5.0
_KEPT_LINES = 40


@dataclass(slots=True)
class Progress:
    """How far an installation is.

    Attributes:
        total: the number of packages.
        collected: the number of packages that pip has collected.
        megabytes: the size of the files so far.
        package: the last collected package.
        installs: whether pip installs the collected packages now.
        began: the start, by `time.monotonic`.
        minutes: the least estimate of the minutes left that was shown.
        printed: the number of packages and the time left in the last line of `news`.
        last_lines: the end of the installer's output.
    """

    total: int
    collected: int = 0
    megabytes: float = 0.0
    package: str = ""
    installs: bool = False
    began: float = field(default_factory=time.monotonic)
    minutes: int | None = None
    printed: tuple[str, str] = ("", "")
    last_lines: deque[str] = field(default_factory=lambda: deque(maxlen=_KEPT_LINES))

    def read(self, line: str) -> None:
        """Take a line of pip's output."""
        self.last_lines.append(line)
        if found := _COLLECTING.match(line):
            self.collected, self.package = self.collected + 1, found[1]
        elif found := _FETCHED.match(line):
            self.megabytes += float(found[2]) * _MEGABYTES[found[3]]
        elif _INSTALLING.match(line):
            self.installs = True

    def news(self, installed: int) -> str:
        """Return the progress as a line without a bar; empty if no package came since the last one.

        The line has the time left only if it changed.
        """
        what, left, package = self._parts(installed)[1:]
        if what == self.printed[0]:
            return ""
        text = f"{what}{left if left != self.printed[1] else ''}{package}"
        self.printed = (what, left)
        return text

    def text(self, installed: int) -> str:
        """Return the progress as a line with a bar.

        Args:
            installed: the number of packages that are in the environment.
        """
        part, *texts = self._parts(installed)
        filled = round(_BAR * part)
        return f"[{'#' * filled}{'.' * (_BAR - filled)}] {''.join(texts)}"

    def _parts(self, installed: int) -> tuple[float, str, str, str]:
        """Return the finished part, the number of packages, the time left and the last package."""
        total = max(1, self.total)
        if self.installs:
            done = min(installed, total)
            part = _COLLECTED_PART + (1 - _COLLECTED_PART) * done / total
            what = f"all fetched, installed {done} of {self.total} packages"
        else:
            part = _COLLECTED_PART * self._fetched_part()
            what = f"fetched {self.collected} of {self.total} packages"
        what += f", {self._size()}"
        if not self.total:
            what = "looking up the packages"
        left = f", {self._left(part)} left" if part > _FIRST_PART else ""
        package = f" ({self.package})" if self.package and not self.installs else ""
        return part, what, left, package

    def _fetched_part(self) -> float:
        """Return how much of the download is finished, from 0 to 1."""
        return min(self.collected, self.total) / max(1, self.total)

    def _size(self) -> str:
        """Return the size of the files so far."""
        return f"{self.megabytes:.0f} MB"

    def _left(self, part: float) -> str:
        """Return about how long it still takes; it never rises.

        Packages differ in size by a thousand times, so a finer estimate would jump.
        """
        left = (time.monotonic() - self.began) * (1 - part) / part
        minutes = math.ceil(left / 60) if left > _SHORT_SECONDS else 0
        self.minutes = minutes if self.minutes is None else min(minutes, self.minutes)
        return f"about {self.minutes} min" if self.minutes else "less than 1 min"


@dataclass(slots=True)
class UvProgress(Progress):
    """How far an installation by uv is.

    uv fetches up to 50 files at the same time. So the sizes give the finished part, and not the
    number of packages.

    Attributes:
        files: how much of each file is fetched, and its size, in MB.
    """

    files: dict[str, tuple[float, float]] = field(default_factory=dict)

    def read(self, line: str) -> None:
        """Take a line that uv draws: the number of packages, and a bar for each file."""
        text = _CONTROL.sub("", line).strip()
        bars = _UV_BAR.findall(text)
        for name, done, done_unit, size, unit in bars:
            megabytes = float(size) * _UV_MEGABYTES[unit]
            fetched = float(done) * _UV_MEGABYTES[done_unit]
            if fetched < megabytes:
                self.package = name
            self.files[name] = fetched, megabytes
        if found := _UV_PACKAGES.search(text):
            self.collected, self.total = int(found[1]), int(found[2])
        elif text.startswith("Prepared "):
            self.installs = True
            self.files = {name: (size, size) for name, (_, size) in self.files.items()}
        elif found := _UV_INSTALLED.match(text):
            self.total = int(found[1])
        elif text and not bars and not _UV_MOVING.match(text):
            self.last_lines.append(text)
        self.megabytes = sum(fetched for fetched, _ in self.files.values())

    def _fetched_part(self) -> float:
        return self.megabytes / self._all() if self.files else 0.0

    def _size(self) -> str:
        of_all = "" if self.installs else f" of {self._all():.0f}"
        return f"{self.megabytes:.0f}{of_all} MB"

    def _all(self) -> float:
        """Return the size of all files that uv has begun to fetch, in MB."""
        return sum(size for _, size in self.files.values())


def count_packages(lines: Iterable[str], installed: Container[tuple[str, str]] = ()) -> int:
    """Return how many packages of a locked file this Python on this system lacks.

    Args:
        lines: the locked file.
        installed: names, as the locked file writes them, and versions.
    """
    found = [_PIN.match(line) for line in lines]
    pins = [
        line[0].split("\\")[0].strip() for line in found if line and line.groups() not in installed
    ]
    try:
        from pip._vendor.packaging.requirements import Requirement
    except ImportError:  # another pip has it elsewhere; the count is then a little too large
        return len(pins)
    needed = [Requirement(pin) for pin in pins]
    return sum(each.marker is None or each.marker.evaluate() for each in needed)


def _locked_name(name: str) -> str:
    """Return a package's name as locked files write it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def run(command: list[str], progress: Progress, packages: Path) -> int:
    """Run pip or uv, show the progress, and return the exit status.

    Args:
        command: pip or uv, with its arguments.
        progress: how far it is.
        packages: the directory of the environment's packages.
    """
    before = len(list(packages.glob("*.dist-info")))
    terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    ended = threading.Event()

    def show() -> None:
        while not ended.wait(_TERMINAL_SECONDS if terminal else _LINE_SECONDS):
            installed = len(list(packages.glob("*.dist-info"))) - before
            if terminal:
                columns = os.get_terminal_size().columns
                text = progress.text(installed)[: columns - 1]
                print(f"\r\x1b[2K{text}", end="", flush=True)
            elif text := progress.news(installed):
                print(f"venv: {text}", flush=True)

    shower = threading.Thread(target=show, daemon=True)
    installer, output = _start(command, draws_bars=isinstance(progress, UvProgress))
    shower.start()
    try:
        with suppress(OSError):  # the end of a terminal's output
            for line in output:
                progress.read(line.rstrip("\n"))
        return installer.wait()
    finally:
        ended.set()
        shower.join()
        if terminal:
            print("\r\x1b[2K", end="", flush=True)
        installer.kill()
        installer.wait()
        output.close()


def _start(command: list[str], *, draws_bars: bool) -> tuple[subprocess.Popen[str], IO[str]]:
    """Start pip or uv; return the process and its output.

    Args:
        command: pip or uv, with its arguments.
        draws_bars: whether it needs a terminal, because it draws bars in terminals only.
    """
    if not draws_bars:
        pip = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert pip.stdout is not None
        return pip, pip.stdout
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", _UV_ROWS, _UV_COLUMNS, 0, 0))
    environment = os.environ | {"TERM": "xterm", "NO_COLOR": "1"}
    environment.pop("UV_NO_PROGRESS", None)
    try:
        installer = subprocess.Popen(
            command, stdout=theirs, stderr=theirs, env=environment, text=True
        )
    finally:
        os.close(theirs)
    return installer, os.fdopen(ours, errors="replace")


def main(arguments: list[str]) -> int:
    """Install the packages of a locked file into this Python's environment.

    Args:
        arguments: the locked file, and the path of uv if uv installs.
    """
    locked, *uv = arguments
    options = ["--require-hashes", "-r", locked]
    packages = Path(sysconfig.get_path("purelib"))
    progress: Progress
    if uv:
        progress = UvProgress(0)
        command = [*uv, "pip", "install", "--python", sys.executable, *options]
        print(f"venv: uv installs {locked} into {sys.prefix}", flush=True)
    else:
        installed = {(_locked_name(each.name), each.version) for each in distributions()}
        progress = Progress(count_packages(Path(locked).read_text().splitlines(), installed))
        command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
        command += ["--progress-bar", "off", *options]
        print(
            f"venv: installing {progress.total} packages of {locked} into {sys.prefix}", flush=True
        )
    try:
        status = run(command, progress, packages)
    except KeyboardInterrupt:
        return 130
    if status:
        print("\n".join(progress.last_lines), file=sys.stderr)
        print(
            f"venv: {'uv' if uv else 'pip'} failed; its last lines are above. The packages come "
            "from a Python package index: check the connection, and run the same command again.",
            file=sys.stderr,
        )
        return status
    took = f"{progress.megabytes:.0f} MB, in {time.monotonic() - progress.began:.0f} s"
    print(f"venv: installed {progress.total} packages, {took}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
