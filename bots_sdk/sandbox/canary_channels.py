"""Attempts of the canary to leave a mark for another bot, or to learn about the machine.

Two bots that share a wake-up, a lock, a file's time or a count can talk to each other. A bot that
sees the load, the host or other processes learns what it should not.
"""

import os
import struct
import time
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
    import bot

    notify, access, nothing = 1026, 1, 0
    directory = os.open(Path(bot.__file__).parent, os.O_RDONLY)
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
    import bot

    path = Path(bot.__file__).with_name("mark.txt")
    before = path.stat().st_atime_ns
    path.read_bytes()
    return path.stat().st_atime_ns != before


@attempt
def time_of_access_by_descriptor(plants: Plants) -> object:
    import bot

    descriptor = os.open(Path(bot.__file__).with_name("mark-2.txt"), os.O_RDONLY)
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


# -- what exists outside -------------------------------------------------------------------------


@attempt
def stat_foreign(plants: Plants) -> object:
    return os.stat(plants["file"]).st_size == len(plants["secret"])


@attempt
def stat_foreign_link(plants: Plants) -> object:
    return os.lstat(plants["link"])


@attempt
def stat_foreign_from_library(plants: Plants) -> object:
    """Climb from an open directory that may be read."""
    directory = os.open(os.path.dirname(os.__file__), os.O_RDONLY)
    return os.stat("../" * 20 + plants["file"].lstrip("/"), dir_fd=directory)


@attempt
def stat_foreign_by_parents(plants: Plants) -> object:
    return os.stat(os.path.dirname(os.__file__) + "/.." * 20 + plants["file"])


@attempt
def stat_foreign_bare(plants: Plants) -> object:
    here, basic = -100, 0x7FF
    return system_call((332, 291), here, plants["file"].encode(), 0, basic, bytes(256))[0] == 0


@attempt
def read_link(plants: Plants) -> object:
    return os.readlink(plants["link"]) == plants["secret"]


@attempt
def read_own_program(plants: Plants) -> object:
    return os.readlink("/proc/self/exe")


@attempt
def read_own_descriptor(plants: Plants) -> object:
    return os.readlink("/proc/self/fd/0")


@attempt
def exists(plants: Plants) -> object:
    return os.access(plants["file"], os.F_OK)


@attempt
def open_path_only(plants: Plants) -> object:
    return os.fstat(os.open(plants["file"], os.O_PATH))


@attempt
def go_there(plants: Plants) -> object:
    os.chdir(os.path.dirname(plants["file"]))
    return True


@attempt
def worker_exists(plants: Plants) -> object:
    return os.stat(f"/proc/{plants['pid']}")


@attempt
def system_library(plants: Plants) -> object:
    """Open a file of the system that Python does not need."""
    return any(os.open(path, os.O_RDONLY) for path in plants["libraries"])


@attempt
def other_packages(plants: Plants) -> object:
    return os.stat("/usr/share") or os.stat("/usr/bin")


# -- the machine and its processes ---------------------------------------------------------------


@attempt
def host_name(plants: Plants) -> object:
    return os.uname().nodename == plants["host"]


@attempt
def host_name_bare(plants: Plants) -> object:
    buffer = bytes(65 * 6)
    return system_call((63, 160), buffer)[0] == 0


@attempt
def kernel_release(plants: Plants) -> object:
    return os.uname().release or os.uname().version


@attempt
def load_average(plants: Plants) -> object:
    return os.getloadavg()


@attempt
def load_by_system_information(plants: Plants) -> object:
    return system_call((99, 179), bytes(256))[0] == 0


@attempt
def cpu_clock_of_worker(plants: Plants) -> object:
    return time.clock_gettime(_cpu_clock(plants["pid"]))


@attempt
def cpu_clock_resolution_of_worker(plants: Plants) -> object:
    return time.clock_getres(_cpu_clock(plants["pid"]))


@attempt
def sleep_by_clock_of_worker(plants: Plants) -> object:
    absolute = 1
    clock = _cpu_clock(plants["pid"])
    return system_call((230, 115), clock, absolute, struct.pack("qq", 0, 0), None)[0] == 0


@attempt
def cpus_of_worker(plants: Plants) -> object:
    return os.sched_getaffinity(plants["pid"])


@attempt
def scheduler_of_worker(plants: Plants) -> object:
    return os.sched_getscheduler(plants["pid"]) >= 0


@attempt
def slice_of_worker(plants: Plants) -> object:
    return os.sched_rr_get_interval(plants["pid"]) >= 0


@attempt
def priority_of_worker(plants: Plants) -> object:
    os.getpriority(os.PRIO_PROCESS, plants["pid"])
    return True


@attempt
def session_of_worker(plants: Plants) -> object:
    return os.getsid(plants["pid"])


@attempt
def group_of_worker(plants: Plants) -> object:
    return os.getpgid(plants["pid"])


@attempt
def limits_of_worker(plants: Plants) -> object:
    files = 7
    return system_call((302, 261), plants["pid"], files, None, bytes(16))[0] == 0


@attempt
def robust_list_of_worker(plants: Plants) -> object:
    return system_call((274, 100), plants["pid"], bytes(8), bytes(8))[0] == 0


@attempt
def stop_itself_softly(plants: Plants) -> object:
    """Send the own process a signal that does nothing, as a stop would be sent."""
    os.kill(os.getpid(), 0)
    return True


@attempt
def lower_own_priority(plants: Plants) -> object:
    os.nice(1)
    return True


@attempt
def arguments(plants: Plants) -> object:
    """Find a configuration among the arguments of the process."""
    names = ctypes_names()
    count, words = names["c_int"](), names["POINTER"](names["c_wchar_p"])()
    names["PyDLL"](None).Py_GetArgcArgv(names["byref"](count), names["byref"](words))
    return any("{" in (words[at] or "") for at in range(count.value))


@attempt
def original_arguments(plants: Plants) -> object:
    import sys

    return [word for word in sys.orig_argv if "{" in word]


@attempt
def own_command(plants: Plants) -> object:
    return Path("/proc/self/cmdline").read_bytes()


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


def _cpu_clock(pid: int) -> int:
    """Return the clock that counts the CPU time of a process."""
    of_all_threads = 2
    return ~pid << 3 | of_all_threads
