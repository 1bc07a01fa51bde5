"""Runs inside the jail: locks itself in, then runs one bot and asks it for its moves.

Started by `jail` in a Python of its own with its configuration as the argument, with requests on
descriptor 0, answers on 1, and what the bot prints on 2. A line of JSON is a message:

    here                              to the referee
    ------------------------------    ---------------------------------------------------
                                      {"locked": true}
    SOURCE, over a descriptor
                                      {"ready": true}  or  {"failed": reason, "kind": ...}
    {"id": 7, "choose": {...}}        {"id": 7, "move": "play 4"}
                                      {"id": 7, "other": what it answered that is no text}
                                      {"id": 7, "failed": reason, "kind": "crash"|"memory"}

Nothing that happens here after ``locked`` is to be trusted: the bot can do all that this module
can. What holds it are the kernel's locks, and the referee's doubts about each line.
"""

import gc
import io
import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec, SourceFileLoader
from typing import TYPE_CHECKING, Any, NoReturn

# Late on, nothing can be mapped that is code: C extensions that bots may import are loaded now.
# Other modules of the standard library can be read, and so imported, at any time.
_EXTENSIONS = (
    *("_bisect", "_blake2", "_contextvars", "_csv", "_datetime", "_decimal", "_heapq", "_md5"),
    *("_opcode", "_pickle", "_queue", "_random", "_sha1", "_sha2", "_sha256", "_sha3", "_sha512"),
    *("_statistics", "_struct", "_typing", "array", "binascii", "cmath", "math"),
    *("select", "unicodedata", "zlib"),
)
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
_LONGEST_REASON = 300
_FILE_NAME = "bot.py"
_MAX_FRAMES = 30

Choose = Callable[[Any], object]


class Log(io.TextIOBase):
    """What stands in for ``sys.stdout`` and ``sys.stderr``: keeps the first so many bytes.

    Part of them is kept back for tracebacks, which must not be lost to a bot that talks much.
    """

    def __init__(self, most: int) -> None:
        self._left = most
        self._kept_back = most // 4
        self._waiting: list[bytes] = []

    def write(self, text: str) -> int:
        """Take a text; the bot's time isn't spent on a system call for it."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._take(text, self._left - self._kept_back)
        return len(text)

    def explain(self, text: str) -> None:
        """Take a text of ours."""
        self._take(text, self._left)

    def send(self) -> None:
        """Hand over what was printed since the last time."""
        if self._waiting:
            data = b"".join(self._waiting)
            self._waiting.clear()
            while data:
                data = data[os.write(2, data) :]

    def _take(self, text: str, room: int) -> None:
        if room > 0:
            data = text[:room].encode("utf-8", "backslashreplace")[:room]
            self._left -= len(data)
            self._waiting.append(data)


def main() -> NoReturn:
    """Lock up, load the bot, and answer until the referee hangs up."""
    config = json.loads(sys.argv[1])
    del sys.argv[1:]
    requests, answers = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    os.dup2(config["source"], 0)  # what reads from sys.stdin will find its end
    os.close(config["source"])
    lock(config)
    _send(answers, {"locked": True})
    with open(0, "rb", closefd=False) as stream:
        about = json.loads(stream.readline())
        source = stream.read()
    log = Log(config["log_bytes"])
    sys.stdout = sys.stderr = log
    try:
        choose = load(source, about["file"], about["info"])
    except BaseException as error:
        _send(answers, _failure(error, source, log), log)
        os._exit(0)
    _send(answers, {"ready": True}, log)
    with os.fdopen(requests, "rb", buffering=1 << 16) as lines:
        for line in lines:
            request = json.loads(line)
            try:
                said = answer(choose, request["choose"])
            except BaseException as error:
                said = _failure(error, source, log)
            _send(answers, {"id": request["id"], **said}, log)
    os._exit(0)  # what else there would be to do at the end, is for nobody


def lock(config: dict[str, Any]) -> None:
    """Give up all that a bot doesn't need; there is no way back.

    Raises:
        OSError: a lock could not be set; nothing is to be run then.
    """
    if TYPE_CHECKING:
        from bots_sdk.sandbox import landlock, seccomp
    else:
        import landlock
        import seccomp
    import ctypes

    prctl = ctypes.CDLL(None, use_errno=True).prctl
    os.environ.clear()
    reached = {path: path for path in config["readable"]}
    if config["uid"] is not None:
        handles = {path: os.open(path, os.O_PATH | os.O_DIRECTORY) for path in reached}
        os.setgroups([])
        os.setresgid(config["uid"], config["uid"], config["uid"])
        os.setresuid(config["uid"], config["uid"], config["uid"])
        # Becoming somebody else hid our own /proc/self.
        _checked(prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0))
        for path, handle in handles.items():
            if os.access(path, os.R_OK | os.X_OK):
                os.close(handle)
            else:  # below a directory that is closed to others, say root's home
                reached[path] = f"/proc/self/fd/{handle}"
    if 0 in (*os.getresuid(), *os.getresgid()):
        raise OSError("it is still root")
    _checked(prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
    if config["parent"] not in (None, os.getppid()):
        raise OSError("the worker is gone")
    _find_modules(reached, config["path"], config["packages"])
    for name in _EXTENSIONS:
        try:
            __import__(name)
        except ImportError:  # another Python's, or part of this one's core
            continue
    for name, (soft, hard) in config["limits"].items():
        resource.setrlimit(getattr(resource, name), (soft, hard))
    landlock.restrict(reached.values())
    seccomp.install()
    for name in ("ctypes", "_ctypes", "landlock", "seccomp", "resource"):
        sys.modules.pop(name, None)
    gc.freeze()


class Packages:
    """Finds the packages that bots may import besides the standard library."""

    def __init__(self, places: dict[str, str]) -> None:
        self._places = places

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return where one of them is, as ``sys.meta_path`` asks."""
        if name not in self._places:
            return None
        place = self._places[name]
        file = f"{place}/__init__.py"
        spec = ModuleSpec(name, SourceFileLoader(name, file), origin=file, is_package=True)
        spec.submodule_search_locations = [place]
        spec.has_location = True
        return spec


def _find_modules(reached: dict[str, str], path: list[str], packages: dict[str, str]) -> None:
    """Have modules be found where they can be reached, also of packages loaded before."""

    def moved(path: str) -> str:
        for place, now in reached.items():
            if path == place or path.startswith(place + "/"):
                return now + path[len(place) :]
        return path

    sys.path[:] = [moved(entry) for entry in path]
    sys.path_importer_cache.clear()
    for module in list(sys.modules.values()):
        if hasattr(module, "__path__"):
            module.__path__ = [moved(entry) for entry in module.__path__]
    sys.meta_path.append(Packages({name: moved(place) for name, place in packages.items()}))


def load(source: bytes, file: str, info: dict[str, Any]) -> Choose:
    """Run a bot's file and return what chooses its moves, as `bots_sdk.bot` does at home."""
    module = type(sys)("bot")
    module.__file__ = file
    sys.modules["bot"] = module
    exec(compile(source, _FILE_NAME, "exec", dont_inherit=True), module.__dict__)
    player: Any = module.Bot() if hasattr(module, "Bot") else module
    choose: Choose | None = getattr(player, "choose", None)
    if not callable(choose):
        raise TypeError("there is no function choose(observation), and no class Bot with it")
    start = getattr(player, "start", None)
    if start is not None:
        start(info)
    return choose


def answer(choose: Choose, observation: object) -> dict[str, Any]:
    """Ask the bot; return what it answers as part of a message."""
    move = choose(observation)
    if isinstance(move, str):
        return {"move": str.__str__(move)}
    return {"other": ascii(move)[:_LONGEST_REASON]}


def _failure(error: BaseException, source: bytes, log: Log) -> dict[str, Any]:
    """Return what went wrong in one line, and print where for the bot's author."""
    kind = "memory" if isinstance(error, MemoryError) else "crash"
    try:
        import linecache
        import traceback

        lines = source.decode("utf-8", "replace").splitlines(keepends=True)
        linecache.cache[_FILE_NAME] = (len(source), None, lines, _FILE_NAME)
        report = traceback.TracebackException.from_exception(error, limit=-_MAX_FRAMES)
        while report.stack and report.stack[0].filename == __file__:
            del report.stack[0]
        log.explain("".join(report.format()))
        reason = "".join(report.format_exception_only()).strip().splitlines()[-1]
        where = [frame.lineno for frame in report.stack if frame.filename == _FILE_NAME]
        if where:
            reason += f" ({_FILE_NAME}, line {where[-1]})"
    except BaseException:
        reason = type(error).__name__
    return {"failed": reason[:_LONGEST_REASON], "kind": kind}


def _send(answers: int, message: dict[str, Any], log: Log | None = None) -> None:
    if log is not None:
        log.send()
    data = json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(answers, data) :]


def _checked(result: int) -> None:
    if result:
        raise OSError("prctl was refused")
