"""Attempts of the canary to leave a mark for another bot.

Two bots that share a wake-up, a lock, a file's time or a page in memory can signal to each other.
"""

import os
import struct
import sys
from pathlib import Path
from typing import Any

from bots_sdk.sandbox.canary_attempts import READ, WRITE, Plants, attempt, library, map_memory
from bots_sdk.sandbox.canary_calls import ctypes_names, system_call

_FUTEX = (202, 98)
_MADVISE, _MINCORE = (28, 233), (27, 232)
_SHARED, _SHARED_VALIDATE, _PRIVATE, _SHARED_MEMORY = 1, 3, 2, 0x21
_WAIT, _WAKE, _REQUEUE, _LOCK_PI, _TRYLOCK_PI, _WAIT_BITSET = 0, 1, 3, 6, 8, 9
_PRIVATE_FUTEX = 128
_TIMED_OUT = 110


# -- wake-ups and shared memory ------------------------------------------------------------------


@attempt
def wake_by_library(plants: Plants) -> object:
    """Wake the waiters at an address in a file that all bots can map."""
    address = map_memory(4096, READ, _SHARED, library())
    return address and system_call(_FUTEX, address, _WAKE, 1)[0] >= 0


@attempt
def wait_by_library(plants: Plants) -> object:
    address = map_memory(4096, READ, _SHARED, library())
    return address and _waited(address, _WAIT)


@attempt
def wait_by_private_mapping(plants: Plants) -> object:
    """Wait at a page of a file that is mapped privately but not yet copied."""
    address = map_memory(4096, READ, _PRIVATE, library())
    return address and _waited(address, _WAIT)


@attempt
def wake_by_private_mapping(plants: Plants) -> object:
    address = map_memory(4096, READ, _PRIVATE, library())
    return address and system_call(_FUTEX, address, _WAKE, 1)[0] >= 0


@attempt
def wait_shared(plants: Plants) -> object:
    return _waited(_word(), _WAIT)


@attempt
def wait_shared_by_bits(plants: Plants) -> object:
    return _waited(_word(), _WAIT_BITSET)


@attempt
def wake_shared(plants: Plants) -> object:
    return system_call(_FUTEX, _word(), _WAKE, 1)[0] >= 0


@attempt
def requeue_shared(plants: Plants) -> object:
    return system_call(_FUTEX, _word(), _REQUEUE, 0, 0, _word())[0] >= 0


@attempt
def lend_priority(plants: Plants) -> object:
    return system_call(_FUTEX, _word(), _LOCK_PI | _PRIVATE_FUTEX, 0, None)[0] == 0


@attempt
def lend_priority_at_once(plants: Plants) -> object:
    return system_call(_FUTEX, _word(), _TRYLOCK_PI)[0] == 0


@attempt
def map_library(plants: Plants) -> object:
    return map_memory(4096, READ, _SHARED, library())


@attempt
def map_library_validated(plants: Plants) -> object:
    return map_memory(4096, READ, _SHARED_VALIDATE, library())


@attempt
def map_shared_memory(plants: Plants) -> object:
    return map_memory(4096, READ | WRITE, _SHARED_MEMORY)


# -- locks, notices and times of files -----------------------------------------------------------


@attempt
def lock_file(plants: Plants) -> object:
    share = 1
    return _c_library().flock(library(), share) == 0


@attempt
def lock_record(plants: Plants) -> object:
    set_lock = 6
    return _lock(set_lock) == 0


@attempt
def lock_record_of_open_file(plants: Plants) -> object:
    set_lock = 37
    return _lock(set_lock) == 0


@attempt
def read_locks(plants: Plants) -> object:
    get_lock = 5
    return _lock(get_lock) == 0


@attempt
def lease(plants: Plants) -> object:
    set_lease, read_lock, unlock = 1024, 0, 2
    descriptor = library()
    taken = _c_library().fcntl(descriptor, set_lease, read_lock) == 0
    _c_library().fcntl(descriptor, set_lease, unlock)  # else a writer of the file waits
    return taken


@attempt
def read_lease(plants: Plants) -> object:
    get_lease = 1025
    return _c_library().fcntl(library(), get_lease) >= 0


@attempt
def watch_directory(plants: Plants) -> object:
    notify, access, nothing = 1026, 1, 0
    directory = os.open(_own_directory(), os.O_RDONLY)
    watched = _c_library().fcntl(directory, notify, access) == 0
    _c_library().fcntl(directory, notify, nothing)  # else the next access ends this process
    return watched


@attempt
def choose_signal(plants: Plants) -> object:
    set_signal = 10
    return _c_library().fcntl(1, set_signal, 10) == 0


@attempt
def size_of_pipe(plants: Plants) -> object:
    get_size = 1032
    return _c_library().fcntl(1, get_size) > 0


@attempt
def time_of_access(plants: Plants) -> object:
    """Read a file, and find the mark that reading leaves."""
    path = _own_directory() / "mark.txt"
    before = path.stat().st_atime_ns
    path.read_bytes()
    return path.stat().st_atime_ns != before


@attempt
def time_of_access_by_descriptor(plants: Plants) -> object:
    descriptor = os.open(_own_directory() / "mark-2.txt", os.O_RDONLY)
    before = os.fstat(descriptor).st_atime_ns
    os.read(descriptor, 100)
    return os.fstat(descriptor).st_atime_ns != before


@attempt
def set_times(plants: Plants) -> object:
    os.utime(plants["file"])
    return True


@attempt
def cached_pages(plants: Plants) -> object:
    """Find which pages of a library file are in memory, because another process read them."""
    address = map_memory(4096, READ, _PRIVATE, library())
    return system_call(_MINCORE, address, 4096, bytes(1))[0] == 0


@attempt
def evict_pages(plants: Plants) -> object:
    page_out = 21
    return _advise(page_out)


@attempt
def load_pages(plants: Plants) -> object:
    will_need = 3
    return _advise(will_need)


@attempt
def cool_pages(plants: Plants) -> object:
    cold = 20
    return _advise(cold)


@attempt
def evict_by_advice(plants: Plants) -> object:
    os.posix_fadvise(library(), 0, 0, os.POSIX_FADV_DONTNEED)
    return True


@attempt
def free_space(plants: Plants) -> object:
    """Read how much of the disk is free, which every process on the machine changes."""
    return os.statvfs("/")


@attempt
def free_space_by_descriptor(plants: Plants) -> object:
    return os.fstatvfs(library())


def _own_directory() -> Path:
    """Return the directory of the canary's own files."""
    return Path(sys.modules["bot"].__file__ or "").parent


def _word() -> int:
    return map_memory(4096, READ | WRITE)


def _waited(address: int, operation: int) -> bool:
    """Return whether the process could wait; the word at the address may have any value."""
    value = int(ctypes_names()["c_int"].from_address(address).value)
    moment = struct.pack("qq", 0, 1)
    result, error = system_call(_FUTEX, address, operation, value, moment, None, 0xFFFF_FFFF)
    return result == 0 or error == _TIMED_OUT


def _lock(command: int) -> int:
    """Set or get a lock for reading on the first byte of a library file."""
    lock = struct.pack("hhqqi4x", 0, 0, 0, 1, 0)
    number: int = _c_library().fcntl(library(), command, lock)
    return number


def _advise(advice: int) -> bool:
    address = map_memory(4096, READ, _PRIVATE, library())
    return system_call(_MADVISE, address, 4096, advice)[0] == 0


def _c_library() -> Any:
    return ctypes_names()["CDLL"](None)
