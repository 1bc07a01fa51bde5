"""Runs inside the jail: locks itself in, then runs one bot and calls it for its moves.

`jail` starts it in a new Python process. The configuration and the bot come over descriptor 0, so
that no argument and no variable holds anything. Requests have a descriptor of their own; answers go
to 1, and the bot's output to 2. A message is a line of JSON, but a request has the faster form of
`messages.framed`:

    here                              to the referee
    ------------------------------    ---------------------------------------------------
                                      {"locked": true}
    {"file": ..., "info": ...}
    CODE, if it is known, and SOURCE
                                      the length of CODE and CODE, if the referee wants it
                                      {"ready": true}  or  {"failed": reason, "kind": ...}
    {"id": 7, "choose": {...}}        {"id": 7, "move": "play 4"}
                                      {"id": 7, "other": an answer that is not a text}
                                      {"id": 7, "failed": reason, "kind": "crash"|"memory"}

A WebAssembly bot gets its fuel with the question, and each answer has the fuel that it used. It may
also fail with the kind "timeout".

Nothing after ``locked`` can be trusted: the bot can do all that this module can. The kernel's locks
hold the bot, and the referee checks each line.
"""

import gc
import io
import json
import marshal
import os
import resource
import signal
import sys
from collections.abc import Callable
from functools import partial
from types import CodeType
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

if TYPE_CHECKING or __name__ != "harness":  # outside the jail it is imported to be compiled once
    from bots_sdk.sandbox import compiling, packages
else:
    import compiling
    import packages

# After the lock, no code can be mapped, so the C extensions that bots may import are loaded before.
# Other modules of the standard library can be imported at any time.
_EXTENSIONS = (
    *("_bisect", "_blake2", "_contextvars", "_csv", "_datetime", "_decimal", "_heapq", "_md5"),
    *("_opcode", "_pickle", "_queue", "_random", "_sha1", "_sha2", "_sha256", "_sha3", "_sha512"),
    *("_statistics", "_struct", "_typing", "array", "binascii", "cmath", "math"),
    *("select", "unicodedata", "zlib"),
)
# With the C extensions of these, all of NumPy's are loaded.
_NUMPY = ("numpy", "numpy.fft", "numpy.random")
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
_LOCKS = ("broker", "landlock", "rights", "seccomp")
"""Modules that lock the process in, the file broker of tier 2 first; a bot can't import them."""
_OURS = (
    *("c_library", "compiling", "harness", "namespaces", "packages", "passing", "zygote"),
    *_LOCKS,
)
"""Modules of the sandbox, whose names a bot's own files may have."""
_MAX_REASON_LETTERS = 300
_MAX_FRAMES = 30
_OF_THE_NETWORK = ("_socket", "_ssl")
_NICE = 10
"""By how much a bot's priority is lower than its worker's, so that calls don't wait for it."""

_MODULE = b"\0asm"
"""The first bytes of a WebAssembly bot."""

Choose = Callable[[Any], object]
Respond = Callable[[dict[str, Any]], dict[str, Any]]


class Log(io.TextIOBase):
    """Replaces ``sys.stdout`` and ``sys.stderr``, and keeps the first bytes up to a limit.

    A quarter of the limit is reserved for tracebacks, so that they fit after a long output.
    """

    def __init__(self, most: int) -> None:
        self._left = most
        self._kept_back = most // 4
        self._waiting: list[bytes] = []

    def write(self, text: str) -> int:
        """Add a text, without a system call in the bot's time."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._take(text, self._left - self._kept_back)
        return len(text)

    def add(self, text: str) -> None:
        """Add a text of a WebAssembly bot."""
        self.write(text)

    def explain(self, text: str) -> None:
        """Add a text of the harness."""
        self._take(text, self._left)

    def send(self) -> None:
        """Write the output since the last call to descriptor 2."""
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


def main(config: dict[str, Any]) -> NoReturn:
    """Run one bot in this process, which is new.

    Args:
        config: from `jail.Jail.config`; ``own`` is the part of this bot.
    """
    prepare(config)
    run(config, config["own"])


def prepare(config: dict[str, Any]) -> None:
    """Load all that can't be loaded after the lock; nothing of a bot is known or needed here.

    Args:
        config: from `jail.Jail.config`.
    """
    os.environ.clear()
    # If the parent ignores SIGCHLD, this process does too. Then the zygote and the broker would not
    # get the statuses of their children.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _hide_machine()
    for name in _LOCKS if config["broker"] else _LOCKS[1:]:
        __import__(name)
    if {"playouts", "wasmtime"} & {*config["libraries"]}:
        _import_wasm_player()
    _load_extensions()
    places = {path: place for path, place in config["readable"].items() if path != place}
    packages.find_modules(config["path"], config["packages"], places)
    for name in config["libraries"]:
        LIBRARIES[name]()


def run(config: dict[str, Any], own: dict[str, Any]) -> NoReturn:
    """Lock the process, load the bot, and answer requests until their descriptor ends.

    A bot that reads ``sys.stdin`` finds its end.

    Args:
        config: from `jail.Jail.config`.
        own: the part of the configuration that only this bot has, from `jail.Jail.own_config`.
    """
    requests, answers = own["requests"], os.dup(1)
    os.dup2(2, 1)
    lock(config, own, (0, 1, 2, requests, answers))
    _send(answers, {"locked": True})
    with open(0, "rb", closefd=False) as stream:
        about = {**json.loads(stream.readline()), "path": own["own_path"]}
        code = stream.read(about["code_bytes"])
        source = stream.read()
    log = Log(own["log_bytes"])
    sys.stdout = sys.stderr = log
    try:
        respond = _responder(source, code, about, log, answers)
    except BaseException as error:
        _send(answers, _failure(error, source, log), log)
        os._exit(0)
    _send(answers, {"ready": True}, log)
    with os.fdopen(requests, "rb", buffering=1 << 16) as stream:
        while (request := _next_request(stream)) is not None:
            try:
                result = respond(request)
            except BaseException as error:
                result = _failure(error, source, log)
            _send(answers, {"id": request["id"], **result}, log)
    os._exit(0)  # without exit handlers of the bot


def _next_request(stream: BinaryIO) -> Any:
    """Return the next request; None at the end. Workers before 0110 send lines of JSON.

    An upgrade without containers replaces the files of the sandbox while such a worker plays.
    """
    head = stream.read(4)
    if head == b'{"id':
        return json.loads(head + stream.readline())
    return marshal.loads(stream.read(int.from_bytes(head, "little"))) if head else None


def lock(
    config: dict[str, Any],
    own: dict[str, Any],
    descriptors: tuple[int, ...],
) -> None:
    """Give up all rights that a bot does not need, for good.

    Args:
        config: from `jail.Jail.config`.
        own: from `jail.Jail.own_config`.
        descriptors: those of the pipes to the referee.

    Raises:
        OSError: a lock could not be set, so no bot may run.
    """
    if TYPE_CHECKING:
        from bots_sdk.sandbox import broker, landlock, rights, seccomp
    else:
        import landlock
        import rights
        import seccomp

        if config["broker"]:
            import broker

    os.nice(_NICE)
    readable: dict[str, str] = config["readable"] | own["readable"]
    roots = {path: os.open(place, os.O_PATH | os.O_DIRECTORY) for path, place in readable.items()}
    if config["uid"] is not None:
        os.setgroups([])
        os.setresgid(config["uid"], config["uid"], config["uid"])
        os.setresuid(config["uid"], config["uid"], config["uid"])
    if 0 in (*os.getresuid(), *os.getresgid()):
        raise OSError("the process is still root")
    rights.drop_capabilities()
    # The broker reads the memory of this process, which a change of the user forbids. Without a
    # broker no process may, and there are no core dumps.
    rights.set_dumpable(config["broker"])
    rights.die_with_parent(own["parent"])
    # The kernel ignores SIGXCPU for the first process of a namespace, unless it is handled.
    if os.getpid() == 1:
        signal.signal(signal.SIGXCPU, lambda *_: os._exit(128 + signal.SIGXCPU))
    for name, (soft, hard) in own["limits"].items():
        resource.setrlimit(getattr(resource, name), (soft, hard))
    landlock.restrict(roots.values())
    if config["broker"]:
        broker.start(roots, descriptors)
    else:
        for handle in roots.values():
            os.close(handle)
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    seccomp.install()
    packages.forget_places()
    if "wasmtime" not in sys.modules:  # a second ctypes would break Wasmtime, which uses the first
        for name in ("ctypes", "_ctypes"):
            sys.modules.pop(name, None)
    for name in ("resource", *_OURS):
        sys.modules.pop(name, None)
    gc.freeze()


def _hide_machine() -> None:
    """Replace ``os.uname``, which the lock forbids but which modules need."""
    machine = os.uname().machine
    shown = os.uname_result(("Linux", "bot", "", "", machine))
    os.uname = lambda: shown
    sys.orig_argv.clear()


def _load_extensions() -> None:
    for name in _EXTENSIONS:
        try:
            __import__(name)
        except ImportError:  # this Python has no such extension
            continue


def _load_numpy() -> None:
    """Load NumPy with one thread; if it can't be loaded, the bot's own import of it fails."""
    os.environ.update(_ONE_THREAD)
    # Without OpenSSL, which NumPy's `secrets` would load and does not need.
    sys.modules["_hashlib"] = None  # type: ignore[assignment] # its import fails
    try:
        for name in _NUMPY:
            __import__(name)
    except Exception:
        for name in [name for name in sys.modules if name.partition(".")[0] == "numpy"]:
            del sys.modules[name]
    finally:
        os.environ.clear()
        del sys.modules["_hashlib"]


def _load_playouts() -> None:
    """Compile the kernel of playouts; if that fails, the engine plays in plain Python."""
    try:
        from engine.playouts import wasm

        wasm.kernel()
    except Exception:
        for name in [name for name in sys.modules if name.partition(".")[0] == "wasmtime"]:
            del sys.modules[name]
    else:
        _import_wasm_player().protect_callbacks()


def _load_wasmtime() -> None:
    _import_wasm_player().prepare()


LIBRARIES: dict[str, Callable[[], None]] = {
    "numpy": _load_numpy,
    "playouts": _load_playouts,
    "wasmtime": _load_wasmtime,
}
"""What loads the libraries that only some bots get, all before the lock; see `prepare`."""


def load(code: CodeType, file: str, info: dict[str, Any]) -> Choose:
    """Run a bot's code and return its player, as `bots_sdk.bot_files` does outside the sandbox."""
    module = type(sys)("bot")
    module.__file__ = file
    sys.modules["bot"] = module
    exec(code, module.__dict__)
    player: Any = module.Bot() if hasattr(module, "Bot") else module
    choose: Choose | None = getattr(player, "choose", None)
    if not callable(choose):
        raise TypeError("there is no function choose(observation), and no class Bot with it")
    start = getattr(player, "start", None)
    if start is not None:
        start(info)
    return choose


def _responder(
    source: bytes, code: bytes, about: dict[str, Any], log: Log, answers: int
) -> Respond:
    """Load a bot, and return what makes the answer to a request."""
    keep = partial(compiling.send, answers) if about["wants_code"] else None
    if source.startswith(_MODULE):
        player = _import_wasm_player()
        respond: Respond = player.load(source, code, about["info"], log.add, keep).answer
        return respond
    compiled = compiling.code_of(source, code, keep)
    sys.modules.pop("wasm_player", None)  # a bot's own file may have this name
    # Only now: the compiler may import modules, such as a codec. A file of the bot must not be one.
    sys.path.extend(about["path"])
    choose = load(compiled, about["file"], about["info"])
    return lambda request: answer(choose, request["choose"])


def _import_wasm_player() -> Any:
    """Return the module that plays WebAssembly bots; first called in `prepare`."""
    if TYPE_CHECKING:
        from bots_sdk.sandbox import wasm_player
    else:
        import wasm_player
    return wasm_player


def answer(choose: Choose, observation: object) -> dict[str, Any]:
    """Call the bot, and return its answer as a part of a message."""
    move = choose(observation)
    if isinstance(move, str):
        return {"move": str.__str__(move)}
    return {"other": ascii(move)[:_MAX_REASON_LETTERS]}


def _failure(error: BaseException, source: bytes, log: Log) -> dict[str, Any]:
    """Return the reason in one line, and print the traceback for the bot's author."""
    kind = "memory" if isinstance(error, MemoryError) else "crash"
    if source.startswith(_MODULE):  # its traceback would show the league's Python only
        kind = "timeout" if isinstance(error, TimeoutError) else kind
        return {"failed": (str(error) or type(error).__name__)[:_MAX_REASON_LETTERS], "kind": kind}
    try:
        import linecache
        import traceback

        lines = source.decode("utf-8", "replace").splitlines(keepends=True)
        linecache.cache[compiling.FILE_NAME] = (len(source), None, lines, compiling.FILE_NAME)
        report = traceback.TracebackException.from_exception(error, limit=-_MAX_FRAMES)
        while report.stack and report.stack[0].filename in (__file__, compiling.__file__):
            del report.stack[0]
        log.explain(packages.without_directories("".join(report.format())))
        reason = "".join(report.format_exception_only()).strip().splitlines()[-1]
        reason = packages.without_directories(reason)
        if isinstance(error, ImportError) and "failed to map segment" in reason:
            module = os.path.basename(error.path or "").partition(".")[0]
            reason = f"ImportError: the sandbox has no module {module}"
            if module in _OF_THE_NETWORK:
                reason += ", because bots can't use the network"
        where = [frame.lineno for frame in report.stack if frame.filename == compiling.FILE_NAME]
        if where:
            reason += f" ({compiling.FILE_NAME}, line {where[-1]})"
    except BaseException:
        reason = type(error).__name__
    return {"failed": reason[:_MAX_REASON_LETTERS], "kind": kind}


def _send(answers: int, message: dict[str, Any], log: Log | None = None) -> None:
    if log is not None:
        log.send()
    compiling.write(answers, json.dumps(message).encode() + b"\n")
