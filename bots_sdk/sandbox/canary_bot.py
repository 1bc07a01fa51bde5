"""A bot that tries to escape; `canary` runs it in the jail, and only tests run it outside.

Each attempt is a function. It returns a true value if it gets through, and returns a false value
or raises an exception if the jail holds. Without a jail every attempt must get through, otherwise
it proves nothing; the tests check that.
"""

import errno
import os
import struct
from pathlib import Path
from typing import Any

from bots_sdk.sandbox import canary_channels, canary_forks, canary_machine
from bots_sdk.sandbox.canary_attempts import (
    ATTEMPTS,
    EXECUTE,
    READ,
    WRITE,
    Attempt,
    Plants,
    attempt,
    library,
    map_memory,
)
from bots_sdk.sandbox.canary_calls import CALLS, ctypes_names, system_call

MORE_ATTEMPTS = (canary_channels, canary_forks, canary_machine)
"""Modules whose import registers their attempts."""


def choose(observation: dict[str, Any]) -> str:
    """Make some attempts, and return the names of the attempts that got through.

    The result contains ``unusable`` if the jail lacks what every bot needs: a jail that blocks
    everything proves nothing.

    Args:
        observation: ``plants``, the places to reach; ``attempts``, by default all; ``numpy`` and
            ``playouts``, whether the jail must have NumPy and the kernel of playouts.
    """
    out = []
    if not _usable(observation.get("numpy"), observation.get("playouts")):
        out = ["unusable"]
    for name in observation.get("attempts") or ATTEMPTS:
        try:
            if ATTEMPTS[name](observation["plants"]):
                out.append(name)
        except (Exception, SystemExit):
            continue
    return " ".join(out)


# -- the network -------------------------------------------------------------------------------


@attempt
def tcp(plants: Plants) -> object:
    import socket

    return socket.create_connection(("127.0.0.1", plants["port"]), 2)


@attempt
def unix(plants: Plants) -> object:
    import socket

    socket.socket(socket.AF_UNIX).connect(plants["unix"])
    return True


@attempt
def abstract_unix(plants: Plants) -> object:
    import socket

    socket.socket(socket.AF_UNIX).connect("\0" + plants["abstract"])
    return True


@attempt
def dns(plants: Plants) -> object:
    import socket

    return socket.getaddrinfo("localhost", 80)


# -- processes ---------------------------------------------------------------------------------


@attempt
def fork(plants: Plants) -> object:
    child = os.fork()
    if not child:
        os._exit(0)
    return os.waitpid(child, 0)


@attempt
def spawn(plants: Plants) -> object:
    return os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)


@attempt
def thread(plants: Plants) -> object:
    import threading

    threading.Thread(target=int).start()
    return True


@attempt
def signal_to_worker(plants: Plants) -> object:
    os.kill(plants["pid"], 0)
    return True


@attempt
def signal_to_parent(plants: Plants) -> object:
    os.kill(os.getppid(), 0)
    return True


@attempt
def signal_to_all(plants: Plants) -> object:
    os.kill(-1, 0)
    return True


@attempt
def signal_by_the_kernel(plants: Plants) -> object:
    """Make the worker the owner of a descriptor, so that each byte sends the worker a signal."""
    set_owner = 8
    return ctypes_names()["CDLL"](None).fcntl(0, set_owner, plants["pid"]) == 0


@attempt
def worker_memory(plants: Plants) -> object:
    length = len(plants["secret"])
    buffer = ctypes_names()["create_string_buffer"](length)
    here = struct.pack("QQ", ctypes_names()["addressof"](buffer), length)
    there = struct.pack("QQ", plants["address"], length)
    system_call((310, 270), plants["pid"], here, 1, there, 1, 0)
    return buffer.raw == plants["secret"].encode()


@attempt
def machine_code(plants: Plants) -> object:
    return map_memory(4096, READ | WRITE | EXECUTE)


@attempt
def machine_code_later(plants: Plants) -> object:
    return system_call((10, 226), map_memory(4096, READ | WRITE), 4096, READ | EXECUTE)[0] == 0


@attempt
def root(plants: Plants) -> object:
    return os.getuid() == 0 or os.geteuid() == 0


# -- secrets -----------------------------------------------------------------------------------


@attempt
def environment(plants: Plants) -> object:
    return plants["secret"] in os.environ.values()


@attempt
def own_environment(plants: Plants) -> object:
    return plants["secret"].encode() in Path("/proc/self/environ").read_bytes()


@attempt
def worker_environment(plants: Plants) -> object:
    return Path(f"/proc/{plants['pid']}/environ").read_bytes()


@attempt
def worker_command(plants: Plants) -> object:
    return Path(f"/proc/{plants['pid']}/cmdline").read_bytes()


@attempt
def processes(plants: Plants) -> object:
    return [name for name in os.listdir("/proc") if name.isdigit()]


@attempt
def descriptor(plants: Plants) -> object:
    return os.pread(plants["descriptor"], 100, 0) == plants["secret"].encode()


@attempt
def file(plants: Plants) -> object:
    return Path(plants["file"]).read_text() == plants["secret"]


@attempt
def file_by_root_of_process(plants: Plants) -> object:
    return Path("/proc/self/root" + plants["file"]).read_text() == plants["secret"]


@attempt
def directory(plants: Plants) -> object:
    return os.listdir(Path(plants["file"]).parent)


@attempt
def passwords(plants: Plants) -> object:
    return Path("/etc/passwd").read_bytes()


@attempt
def machine(plants: Plants) -> object:
    return os.listdir("/sys") or os.listdir("/etc")


# -- files to change ---------------------------------------------------------------------------


@attempt
def write_temporary(plants: Plants) -> object:
    return _written("/tmp/" + plants["unused"])


@attempt
def write_shared_memory(plants: Plants) -> object:
    return _written("/dev/shm/" + plants["unused"])


@attempt
def write_here(plants: Plants) -> object:
    return _written(plants["unused"])


@attempt
def write_own_directory(plants: Plants) -> object:
    return _written(os.path.join(os.path.dirname(os.path.abspath(__file__)), plants["unused"]))


@attempt
def write_python(plants: Plants) -> object:
    return os.open(os.__file__, os.O_WRONLY)


@attempt
def write_engine(plants: Plants) -> object:
    import engine

    return os.open(engine.__file__, os.O_WRONLY)


@attempt
def append(plants: Plants) -> object:
    return os.open(plants["file"], os.O_WRONLY | os.O_APPEND)


@attempt
def truncate(plants: Plants) -> object:
    os.truncate(plants["file"], len(plants["secret"]))
    return True


@attempt
def symlink(plants: Plants) -> object:
    os.symlink(plants["file"], plants["file"] + ".symlink")
    return True


@attempt
def hard_link(plants: Plants) -> object:
    os.link(plants["file"], plants["file"] + ".link")
    return True


@attempt
def rename(plants: Plants) -> object:
    os.rename(plants["file"], plants["file"])
    return True


@attempt
def mode(plants: Plants) -> object:
    os.chmod(plants["file"], 0o644)
    return True


@attempt
def make_directory(plants: Plants) -> object:
    os.mkdir(plants["file"] + ".directory")
    return True


# -- limits ------------------------------------------------------------------------------------


@attempt
def memory_at_once(plants: Plants) -> object:
    return len(bytearray(1 << 30))


@attempt
def memory_bit_by_bit(plants: Plants) -> object:
    return len([bytes(1 << 20) for _ in range(400)])


@attempt
def memory_mapped(plants: Plants) -> object:
    return map_memory(1 << 30, READ | WRITE)


@attempt
def memory_that_grows_down(plants: Plants) -> object:
    """Map memory that the kernel counts as a stack, not as data."""
    private_anonymous_grows_down = 0x122
    return map_memory(1 << 20, READ | WRITE, private_anonymous_grows_down)


@attempt
def memory_in_huge_pages(plants: Plants) -> object:
    """Ask for memory from the machine's stock of huge pages, which may be empty."""
    flags = 0x40022
    _, error = system_call((9, 222), 0, 1 << 21, READ | WRITE, flags, -1, 0)
    return error != errno.EPERM


@attempt
def raise_limits(plants: Plants) -> object:
    address_space, unlimited = 9, 2**64 - 1
    wanted = struct.pack("QQ", unlimited, unlimited)
    return system_call((302, 261), 0, address_space, wanted, None)[0] == 0


@attempt
def many_descriptors(plants: Plants) -> object:
    return [os.dup(0) for _ in range(100)]


# -- bare system calls -------------------------------------------------------------------------


def bare_call(name: str) -> Attempt:
    """Return the attempt to make one of `CALLS`; any result except a refusal gets through."""

    def attempt_call(plants: Plants) -> object:
        on_x86, on_arm, arguments = CALLS[name]
        result, error = system_call((on_x86, on_arm), *arguments)
        return result != -1 or error not in (errno.EPERM, errno.EACCES, errno.ENOSYS)

    return attempt_call


ATTEMPTS.update({f"call_{name}": bare_call(name) for name in CALLS})


def _usable(numpy: object, kernel: object) -> bool:
    """Return whether a bot has all that it needs: Python, libraries, the engine, its own files."""
    try:
        if (numpy and not _multiplies()) or (kernel and not _plays_out()):
            return False
        for name in ("datetime", "decimal", "engine.games.catalogue", "hashlib", "statistics"):
            __import__(name)
        os.close(library())
        own = Path(__file__).parent
        return (own / "own.txt").read_text() == "own" and "own.txt" in os.listdir(own)
    except (ImportError, OSError):
        return False


def _multiplies() -> bool:
    """Return whether NumPy multiplies matrices, for which it needs its own memory."""
    import numpy

    square = numpy.full((100, 100), 2.0)
    return bool((square @ square == 400).all()) and 0 <= numpy.random.default_rng(1).random() < 1


def _plays_out() -> bool:
    """Return whether the compiled kernel plays, for which code was mapped before the lock."""
    from engine.playouts import NewMatch, play

    match = NewMatch("partridge", "eagle-short", 2)
    return play(match, 2, in_kernel=True) == play(match, 2, in_kernel=False)


def reaches_the_kernel() -> bool:
    """Return whether bare system calls reach the kernel, so that the kernel refuses them."""
    futex, wake_private, word = (202, 98), 1 | 128, map_memory(4096, READ | WRITE)
    return system_call((39, 172))[0] == os.getpid() and (
        system_call(futex, word, wake_private, 1)[0] == 0
    )


def _written(path: str) -> bool:
    with open(path, "w") as stream:
        stream.write("x")
    os.unlink(path)
    return True
