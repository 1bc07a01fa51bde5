"""Attempts of the canary to find files, processes, the host and its load outside the jail."""

import os
import struct
import time
from pathlib import Path

from bots_sdk.sandbox.canary_attempts import Plants, attempt
from bots_sdk.sandbox.canary_calls import ctypes_names, system_call

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
def read_by_numpy(plants: Plants) -> object:
    """Let a library in C open a file."""
    import numpy

    return numpy.fromfile(plants["file"], numpy.uint8).tobytes() == plants["secret"].encode()


@attempt
def write_by_numpy(plants: Plants) -> object:
    import numpy

    numpy.zeros(1).tofile(plants["file"] + ".numpy")
    return True


@attempt
def map_by_numpy(plants: Plants) -> object:
    import numpy

    return numpy.memmap(plants["file"], mode="r")[0]


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
def other_programs(plants: Plants) -> object:
    return os.stat("/usr/share")


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


def _cpu_clock(pid: int) -> int:
    """Return the clock that counts the CPU time of a process."""
    of_all_threads = 2
    return ~pid << 3 | of_all_threads
