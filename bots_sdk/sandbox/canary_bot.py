"""A bot that tries to get out, run in the jail by `canary`, and never outside but by the tests.

Each attempt is a function that returns true when something got through, and raises or returns
false when it was held. Run where there is no jail every one of them must get through, else it
proves nothing; the tests see to that.
"""

import errno
import os
import platform
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

Plants = dict[str, Any]
Attempt = Callable[[Plants], object]

ATTEMPTS: dict[str, Attempt] = {}
_READ, _WRITE, _EXECUTE = 1, 2, 4
# Numbers of system calls on x86_64 and aarch64, with arguments that do no harm where they pass.
CALLS: dict[str, tuple[int, int, tuple[int, ...]]] = {
    "add_key": (248, 217, (0, 0, 0, 0, 0)),
    "bpf": (321, 280, (0, 0, 0)),
    "chroot": (161, 51, (0,)),
    "execve": (59, 221, (0, 0, 0)),
    "execveat": (322, 281, (-1, 0, 0, 0, 0)),
    "inotify_init1": (294, 26, (0,)),
    "io_uring_setup": (425, 425, (0, 0)),
    "keyctl": (250, 219, (0, -3, 0)),
    "memfd_create": (319, 279, (0, 0)),
    "mount": (165, 40, (0, 0, 0, 0, 0)),
    "mq_open": (240, 180, (0, 0, 0, 0)),
    "open_by_handle_at": (304, 265, (-1, 0, 0)),
    "perf_event_open": (298, 241, (0, 0, -1, -1, 0)),
    "personality": (135, 92, (0xFFFFFFFF,)),
    "pidfd_getfd": (438, 438, (-1, 0, 0)),
    "pidfd_open": (434, 434, (-1, 0)),
    "prctl": (157, 167, (0, 0, 0, 0, 0)),
    "process_vm_writev": (311, 271, (0, 0, 0, 0, 0, 0)),
    "ptrace": (101, 117, (1, 0, 0, 0)),
    "rt_sigqueueinfo": (129, 138, (0, 0, 0)),
    "sched_setaffinity": (203, 122, (0, 0, 0)),
    "seccomp": (317, 277, (99, 0, 0)),
    "setitimer": (38, 103, (0, 0, 0)),
    "setns": (308, 268, (-1, 0)),
    "setpriority": (141, 140, (0, 0, 0)),
    "setuid": (105, 146, (0,)),
    "shmget": (29, 194, (0, 0, 0)),
    "socket": (41, 198, (1, 1, 0)),
    "socketpair": (53, 199, (1, 1, 0, 0)),
    "timer_create": (222, 107, (-1, 0, 0)),
    "unshare": (272, 97, (0,)),
    "userfaultfd": (323, 282, (0,)),
}
ONLY_ROOT = {"bpf", "chroot", "mount", "open_by_handle_at", "perf_event_open", "setuid", "root"}
"""Attempts that get through only as root where there is no jail."""


def choose(observation: dict[str, Any]) -> str:
    """Make some attempts; return the names of those that got through.

    What it needs to be a bot at all counts too, by the name ``unusable``: a jail that holds
    everything proves nothing.

    Args:
        observation: ``plants``, what there is to find, and ``attempts``, all if there is none.
    """
    out = [] if _usable() else ["unusable"]
    for name in observation.get("attempts") or ATTEMPTS:
        try:
            if ATTEMPTS[name](observation["plants"]):
                out.append(name)
        except (Exception, SystemExit):
            continue
    return " ".join(out)


def attempt(function: Attempt) -> Attempt:
    """Have a function be one of the attempts."""
    ATTEMPTS[function.__name__] = function
    return function


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
    """Own a descriptor in the worker's name: then its every byte can send the worker a signal."""
    set_owner = 8
    return _ctypes()["CDLL"](None).fcntl(0, set_owner, plants["pid"]) == 0


@attempt
def worker_memory(plants: Plants) -> object:
    length = len(plants["secret"])
    buffer = _ctypes()["create_string_buffer"](length)
    here = struct.pack("QQ", _ctypes()["addressof"](buffer), length)
    there = struct.pack("QQ", plants["address"], length)
    _call((310, 270), plants["pid"], here, 1, there, 1, 0)
    return buffer.raw == plants["secret"].encode()


@attempt
def machine_code(plants: Plants) -> object:
    return _map(4096, _READ | _WRITE | _EXECUTE)


@attempt
def machine_code_later(plants: Plants) -> object:
    return _call((10, 226), _map(4096, _READ | _WRITE), 4096, _READ | _EXECUTE)[0] == 0


@attempt
def root(plants: Plants) -> object:
    return os.getuid() == 0 or os.geteuid() == 0


# -- what there is to see ----------------------------------------------------------------------


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


# -- what there is to change -------------------------------------------------------------------


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


# -- more than its share -----------------------------------------------------------------------


@attempt
def memory_at_once(plants: Plants) -> object:
    return len(bytearray(1 << 30))


@attempt
def memory_bit_by_bit(plants: Plants) -> object:
    return len([bytes(1 << 20) for _ in range(400)])


@attempt
def memory_mapped(plants: Plants) -> object:
    return _map(1 << 30, _READ | _WRITE)


@attempt
def raise_limits(plants: Plants) -> object:
    address_space, unlimited = 9, 2**64 - 1
    wanted = struct.pack("QQ", unlimited, unlimited)
    return _call((302, 261), 0, address_space, wanted, None)[0] == 0


@attempt
def many_descriptors(plants: Plants) -> object:
    return [os.dup(0) for _ in range(100)]


# -- bare system calls -------------------------------------------------------------------------


def bare_call(name: str) -> Attempt:
    """Return the attempt to make one of `CALLS`: that it isn't refused is too much."""

    def attempt_call(plants: Plants) -> object:
        on_x86, on_arm, arguments = CALLS[name]
        result, error = _call((on_x86, on_arm), *arguments)
        return result != -1 or error not in (errno.EPERM, errno.EACCES, errno.ENOSYS)

    return attempt_call


ATTEMPTS.update({f"call_{name}": bare_call(name) for name in CALLS})


def _usable() -> bool:
    """Return whether a bot has what it was promised: Python, the rules, and its own files."""
    try:
        for name in ("datetime", "decimal", "engine.games.catalogue", "hashlib", "statistics"):
            __import__(name)
        return (Path(__file__).parent / "own.txt").read_text() == "own"
    except (ImportError, OSError):
        return False


def reaches_the_kernel() -> bool:
    """Return whether bare calls get as far as the kernel, which is then what refuses them."""
    return _call((39, 172))[0] == os.getpid()


def _ctypes() -> dict[str, Any]:
    """Return the names of ctypes; where it can't be imported, as the harness has left it."""
    try:
        import ctypes

        return vars(ctypes)
    except ImportError:
        left = next(kind for kind in object.__subclasses__() if kind.__name__ == "CDLL")
        found: dict[str, Any] = left.__init__.__globals__
        return found


def _call(numbers: tuple[int, int], *arguments: int | bytes | None) -> tuple[int, int]:
    """Make a system call; return its result and the error's number."""
    ctypes = _ctypes()
    syscall = ctypes["CDLL"](None, use_errno=True).syscall
    syscall.restype = ctypes["c_long"]
    number = numbers[platform.machine() == "aarch64"]
    wide = [ctypes["c_long"](each) if isinstance(each, int) else each for each in arguments]
    return int(syscall(ctypes["c_long"](number), *wide)), int(ctypes["get_errno"]())


def _map(length: int, protection: int) -> int:
    """Return the address of new memory, or 0."""
    private_anonymous = 0x22
    address, _ = _call((9, 222), 0, length, protection, private_anonymous, -1, 0)
    return 0 if address == -1 else address


def _written(path: str) -> bool:
    with open(path, "w") as stream:
        stream.write("x")
    os.unlink(path)
    return True
