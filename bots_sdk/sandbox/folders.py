"""Folders with the files of bots: in memory where it has room, and swept after a killed process.

Each process has one folder, keeps its bots' folders in it, and holds a lock (``flock``) beside it.
The kernel frees the lock when the process ends in any way. A process that lays out its first folder
removes the folders whose lock is free.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock

_MEMORY = Path("/dev/shm")
_SPARE_BYTES = 64 << 20
"""Memory that stays free for other bots and programs."""

_guard = Lock()
_own: dict[Path, tuple[Path, int]] = {}
"""This process's folder and the descriptor of its lock, by root."""


def new_folder(files: Mapping[str, bytes] | None = None) -> Path:
    """Return a new folder that any user may read, with some files.

    Args:
        files: their contents, by path with ``/``.

    Raises:
        OSError: there is no room.
    """
    files = files or {}
    folder = Path(tempfile.mkdtemp(prefix="bot-", dir=folder_of_process(files)))
    try:
        for name, data in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
    except BaseException:
        remove(folder)
        raise
    return folder


def remove(folder: Path) -> None:
    """Remove a folder; one that is gone already does no harm."""
    shutil.rmtree(folder, ignore_errors=True)


def sweep() -> int:
    """Remove the folders of processes that have ended; return the number of these processes."""
    return sum(_sweep(root) for root in _roots())


def folder_of_process(files: Mapping[str, bytes] | None = None) -> Path:
    """Return this process's folder in a root with room for files; the first call sweeps the root.

    Raises:
        OSError: there is no room.
    """
    root = _root(files or {})
    with _guard:
        if root not in _own:
            _sweep(root)
            _own[root] = _locked_folder(root)
        return _own[root][0]


def _roots() -> list[Path]:
    """Return the directories that may hold folders, memory first."""
    places = (_MEMORY, Path(tempfile.gettempdir()))
    return [place / f"twelfth-night-bots-{os.geteuid()}" for place in places if place.is_dir()]


def _root(files: Mapping[str, bytes]) -> Path:
    """Return the first root with room for files.

    Raises:
        OSError: none has room, or another user has taken its name.
    """
    needed = 2 * sum(map(len, files.values())) + _SPARE_BYTES
    error: OSError | None = None
    for root in _roots():
        try:
            root.mkdir(mode=0o711, exist_ok=True)
            if root.is_symlink() or root.stat().st_uid != os.geteuid():
                raise PermissionError(f"{root} belongs to another user")
            root.chmod(0o711)
            free = os.statvfs(root)
            if free.f_bavail * free.f_frsize >= needed:
                return root
            error = OSError(f"{root} has less than {needed >> 20} MiB left")
        except OSError as refused:
            error = refused
    raise error or FileNotFoundError("there is no directory for temporary files")


def _locked_folder(root: Path) -> tuple[Path, int]:
    while True:
        descriptor, name = tempfile.mkstemp(prefix=f"{os.getpid()}-", suffix=".lock", dir=root)
        lock = Path(name)
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if lock.exists():  # another process could take the lock, and remove it, before this one
                folder = lock.with_suffix("")
                folder.mkdir(mode=0o711)
                return folder, descriptor
        os.close(descriptor)


def _sweep(root: Path) -> int:
    """Remove the folders in a root whose process has ended; return their number."""
    swept = 0
    for lock in root.glob("*.lock"):
        with suppress(OSError), lock.open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
            lock.unlink(missing_ok=True)
            swept += 1
    return swept


def _forget() -> None:
    """After a fork: the folders belong to the parent, whose lock must end with the parent."""
    global _guard
    _guard = Lock()
    for _, descriptor in _own.values():
        with suppress(OSError):
            os.close(descriptor)
    _own.clear()


os.register_at_fork(after_in_child=_forget)
