"""The canary: a bot that tries to escape from a jail, to prove that the jail holds.

Workers prove their jail when they start and every few minutes. If the canary escapes, or can't be
run, they take no hosted matches.
"""

import contextlib
import ctypes
import os
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bots_sdk.sandbox import folders, numpy_files, playout_files
from bots_sdk.sandbox.errors import SandboxUnavailableError
from bots_sdk.sandbox.jail import Jail, jails
from bots_sdk.sandbox.limits import Limits
from bots_sdk.sandbox.session import BotProcess
from bots_sdk.sandbox.sources import Source

_LIBRARIES = ("/usr/lib/os-release", "/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1")

SECONDS = 20.0
"""The canary's time limit: far more than it needs, so that a busy machine does not fail."""

_CANARY = "test program that tries to break out of the sandbox"
OWN_FILES = {"own.txt": b"own", "mark.txt": b"mark", "mark-2.txt": b"mark"}
"""The canary's own files; it looks for marks that reading the last two leaves."""


def source() -> Source:
    """Return the canary as an upload with several files, which it must be able to read.

    It names NumPy. So the jail loads NumPy for it, which gives a bot more to escape with.
    """
    main = Path(__file__).with_name("canary_bot.py").read_bytes()
    return Source(main, {"bot.py": main, **OWN_FILES})


def proven_jail(tier: int = 0, *, forks: bool = True) -> Jail:
    """Return the strongest jail that holds here.

    In each tier a zygote is tried first, then a new Python for each bot. Each is tried twice if the
    canary does not run to its end: somebody may have killed one of its processes.

    Args:
        tier: the tier; 0 for any.
        forks: whether zygotes may be used.

    Raises:
        SandboxUnavailableError: no jail holds; the message has the reason for each tier.
    """
    reasons = []
    for jail in jails():
        if tier not in (0, jail.tier) or jail.forks > forks:
            continue
        try:
            _prove_twice(jail)
        except SandboxUnavailableError as error:
            reasons.append(f"tier {jail.tier}{', forked' * jail.forks}: {error}")
        else:
            return jail
    if not reasons:
        raise SandboxUnavailableError(f"tier {tier} needs bubblewrap, which is not installed")
    raise SandboxUnavailableError("; ".join(reasons))


def _prove_twice(jail: Jail) -> None:
    try:
        prove(jail)
    except SandboxUnavailableError as error:
        if error.__cause__ is None:  # the canary has given its verdict
            raise
        prove(jail)


def prove(jail: Jail) -> None:
    """Run the canary in a jail.

    Raises:
        SandboxUnavailableError: the canary escaped, or could not be run; then it has a cause.
    """
    limits = Limits(start_seconds=SECONDS)
    try:
        with (
            planted(jail) as plants,
            BotProcess(jail, source(), {}, allowance=lambda: SECONDS, limits=limits) as bot,
        ):
            bot.ready()
            needs = {"numpy": numpy_files.places(), "playouts": playout_files.places()}
            out = bot({"plants": plants, **{name: bool(has) for name, has in needs.items()}})
    except Exception as error:
        raise SandboxUnavailableError(f"the {_CANARY} could not be run: {error}") from error
    if out == "unusable":
        raise SandboxUnavailableError(
            "bots would lack Python's modules, NumPy, playouts, the rules or their files"
        )
    if out != "":
        raise SandboxUnavailableError(f"the {_CANARY} succeeded: {out}")


@contextlib.contextmanager
def planted(jail: Jail | None = None) -> Iterator[dict[str, Any]]:
    """Create the files, sockets and secrets that the canary tries to reach; yield their places.

    Args:
        jail: where other bots with secrets run, before the canary and beside it; without it, this
            process stands in for them.
    """
    secret = f"planted-{secrets.token_hex(8)}"
    buffer = ctypes.create_string_buffer(secret.encode())
    directory = folders.new_folder()
    with contextlib.ExitStack() as stack:
        stack.callback(folders.remove, directory)
        file = directory / "bot.py"
        file.write_text(secret)
        file.chmod(0o644)
        link = directory / "link"
        link.symlink_to(secret)
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        unix, abstract = (stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in "12")
        unix.bind(str(directory / "socket"))
        abstract.bind("\0" + secret)
        for listener in (unix, abstract):
            listener.listen()
        (directory / "socket").chmod(0o777)
        descriptor = os.open(file, os.O_RDONLY)
        stack.callback(os.close, descriptor)
        # A high number, so that no descriptor of the bot replaces it; a new program inherits it.
        high = os.dup(descriptor)
        stack.callback(os.close, high)
        os.set_inheritable(high, True)
        control = stack.enter_context(socket.socket(socket.AF_UNIX)).fileno()
        os.set_inheritable(control, True)
        os.environ["TWELFTH_NIGHT_CANARY"] = secret
        stack.callback(os.environ.pop, "TWELFTH_NIGHT_CANARY", None)
        if jail is None:
            sibling = {
                "sibling": os.getpid(),
                "sibling_address": ctypes.addressof(buffer),
                "sibling_folder": str(directory),
                "known_to_a_bot": _new_text(),
            }
        else:
            with _other_bot(jail) as previous:
                previous({})
            bot = stack.enter_context(_other_bot(jail))
            sibling = {
                "sibling_address": int(bot({})),
                "sibling": bot.process_ids[-1],
                "sibling_folder": str(bot.directory),
            }
        yield {
            **sibling,
            "secret": secret,
            "pid": os.getpid(),
            "address": ctypes.addressof(buffer),
            "file": str(file),
            "link": str(link),
            "host": socket.gethostname(),
            "libraries": [path for path in _LIBRARIES if Path(path).exists()],
            "port": tcp.getsockname()[1],
            "unix": str(directory / "socket"),
            "abstract": secret,
            "descriptor": high,
            "unused": f"unused-{secrets.token_hex(8)}",
        }


def _other_bot(jail: Jail) -> BotProcess:
    """Start a bot that holds a text in memory and answers with its address.

    It names the libraries that the canary names, so the same zygote forks both.
    """
    main = (
        f"import sys  # not numpy, no playouts\nTEXT = b'{_new_text()}'\n"
        "def choose(observation): return str(id(TEXT) + sys.getsizeof(b'') - 1)\n"
    ).encode()
    source = Source(main, {"bot.py": main, "text.txt": _new_text().encode()})
    limits = Limits(start_seconds=SECONDS)
    return BotProcess(jail, source, {}, allowance=lambda: SECONDS, limits=limits)


def _new_text() -> str:
    """Return a text for which the canary searches its memory."""
    return f"known-to-a-bot-{secrets.token_hex(8)}"
