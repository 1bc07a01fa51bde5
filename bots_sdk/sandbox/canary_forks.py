"""Attempts of the canary to find what a forked process shares with others.

A bot that a zygote forked must find nothing of the zygote, of its parent, of a bot that the zygote
forked before, or of one that is still there: the *sibling*.
"""

import errno
import gc
import os
import platform
import re
import stat
import struct
import time
from collections.abc import Callable

from bots_sdk.sandbox.canary_attempts import Plants, attempt
from bots_sdk.sandbox.canary_calls import ctypes_names, system_call

_PROCESS_VM_READV = (310, 270)
_PAGE = 4096
_MAX_SEARCHED = 512 << 20
_MAX_DESCRIPTORS = 4096


def _descriptors() -> list[int]:
    """Return the open descriptors."""
    get_flags = 1
    fcntl = ctypes_names()["CDLL"](None).fcntl
    return [number for number in range(_MAX_DESCRIPTORS) if fcntl(number, get_flags) >= 0]


_INHERITED = _descriptors()


@attempt
def signal_to_sibling(plants: Plants) -> object:
    os.kill(plants["sibling"], 0)
    return True


@attempt
def sibling_exists(plants: Plants) -> object:
    return os.stat(f"/proc/{plants['sibling']}")


@attempt
def cpu_clock_of_sibling(plants: Plants) -> object:
    of_all_threads = 2
    return time.clock_gettime(~plants["sibling"] << 3 | of_all_threads)


@attempt
def cpus_of_sibling(plants: Plants) -> object:
    return os.sched_getaffinity(plants["sibling"])


@attempt
def memory_of_sibling(plants: Plants) -> object:
    return _reads_memory(plants["sibling"], plants["sibling_address"])


@attempt
def memory_of_parent(plants: Plants) -> object:
    """Read the parent's memory; without a jail the worker is the parent."""
    return _reads_memory(os.getppid(), plants["address"]) or _reads_memory(os.getppid(), id(plants))


@attempt
def files_of_sibling(plants: Plants) -> object:
    """Find the folder of another bot, at its place outside or in the zygote."""
    folder = plants["sibling_folder"]
    return os.path.exists(folder) or os.path.exists(f"/bots/{os.path.basename(folder)}")


@attempt
def text_of_another_bot(plants: Plants) -> object:
    """Search the own memory for a text that only other bots have, also where one had it."""
    pattern = re.compile(rb"known-to-a-bot-[0-9a-f]{16}")
    string_at = ctypes_names()["string_at"]
    anchors = {id(each) for each in gc.get_objects()} | {id(plants), plants["sibling_address"]}
    return any(
        pattern.search(string_at(start, length)) for start, length in _mapped_around(anchors)
    )


@attempt
def socket_of_zygote(plants: Plants) -> object:
    return [number for number in _INHERITED if stat.S_ISSOCK(os.fstat(number).st_mode)]


@attempt
def descriptor_of_zygote(plants: Plants) -> object:
    """Find a descriptor that is none of the pipes to the referee."""
    return [number for number in _INHERITED if not stat.S_ISFIFO(os.fstat(number).st_mode)]


@attempt
def own_namespaces(plants: Plants) -> object:
    return os.readlink("/proc/self/ns/pid")


def _reads_memory(process: int, address: int) -> bool:
    length = 8
    buffer = ctypes_names()["create_string_buffer"](length)
    here = struct.pack("QQ", ctypes_names()["addressof"](buffer), length)
    there = struct.pack("QQ", address, length)
    return system_call(_PROCESS_VM_READV, process, here, 1, there, 1, 0)[0] == length


def _mapped_around(addresses: set[int]) -> list[tuple[int, int]]:
    """Return the areas of the own memory around some addresses: their starts and lengths."""
    is_mapped = _page_test()
    areas = []
    searched = end = 0
    for page in sorted({address // _PAGE for address in addresses}):
        if page < end or not is_mapped(page):
            continue
        first, end = page, page + 1
        while is_mapped(first - 1):
            first -= 1
        while is_mapped(end) and (end - first) * _PAGE < _MAX_SEARCHED:
            end += 1
        areas.append((first * _PAGE, (end - first) * _PAGE))
        searched += (end - first) * _PAGE
        if searched > _MAX_SEARCHED:
            break
    return areas


def _page_test() -> Callable[[int], bool]:
    """Return a function that returns whether a page can be read.

    It makes a call that fails after the kernel has read the page, or because it could not.
    """
    names = ctypes_names()
    get_error, call = names["get_errno"], names["CDLL"](None, use_errno=True).syscall
    call.argtypes = (names["c_long"],) * 5
    set_mask, no_way = (14, 135)[platform.machine() == "aarch64"], 99

    def is_mapped(page: int) -> bool:
        call(set_mask, no_way, page * _PAGE, 0, 8)
        return bool(get_error() != errno.EFAULT)

    return is_mapped
