"""The leagues that you logged in to: one file with their addresses and your tokens.

A token is only sent to the address that it was saved for. Only you can read the file.
"""

import errno
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]


class SavedError(Exception):
    """The file can't be read or written; the message names the file and a remedy."""


@dataclass(slots=True)
class SavedLeague:
    """Your names and tokens for one league.

    Attributes:
        username: your username.
        token: an owner token.
        bots: the bot tokens by bot.
        password: the password of an account that a program created.
    """

    username: str = ""
    token: str = field(default="", repr=False)
    bots: dict[str, str] = field(default_factory=dict, repr=False)
    password: str = field(default="", repr=False)


@dataclass(slots=True)
class Saved:
    """The content of the file.

    Attributes:
        path: the path of the file.
        url: the address of the default league; empty before the first login.
        leagues: the leagues by address.
    """

    path: Path
    url: str = ""
    leagues: dict[str, SavedLeague] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "Saved":
        """Return the content of a file; empty if the file does not exist.

        Raises:
            SavedError: the file can't be read.
        """
        try:
            document: Any = json.loads(path.read_text())
            leagues = {url: SavedLeague(**league) for url, league in document["leagues"].items()}
            texts = [document["url"]]
            for league in leagues.values():
                texts += [league.username, league.token, league.password, *league.bots.values()]
            if not all(isinstance(text, str) for text in texts):
                raise TypeError
            return cls(path, document["url"], leagues)
        except FileNotFoundError:
            return cls(path)
        except OSError as error:
            raise SavedError(f"{path} can't be read: {error.strerror}. {_remedy(error)}") from None
        except (ValueError, TypeError, KeyError, AttributeError):
            raise SavedError(f"{path} is damaged. Remove it, then log in again.") from None

    @classmethod
    @contextmanager
    def changing(cls, path: Path) -> Iterator["Saved"]:
        """Read the file, let the caller change the content, and write it if it has changed.

        Until then, other processes that change the file wait, so that no change is lost.
        An exception of the caller leaves the file as it is.

        Raises:
            SavedError: the file can't be read or written.
        """
        with _alone(path):
            saved = cls.read(path)
            before = saved._as_text()
            yield saved
            if (text := saved._as_text()) != before:
                saved._write(text)

    def league(self, url: str) -> SavedLeague:
        """Return the entry of a league; create it if it does not exist."""
        return self.leagues.setdefault(url, SavedLeague())

    def _as_text(self) -> str:
        leagues = {url: asdict(league) for url, league in self.leagues.items()}
        return json.dumps({"url": self.url, "leagues": leagues}, indent=1) + "\n"

    def _write(self, text: str) -> None:
        """Replace the file in one step; only its owner can read it."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # mkstemp creates a file that only its owner can read.
            handle, fresh = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
            with os.fdopen(handle, "w") as file:
                file.write(text)
            Path(fresh).replace(self.path)
        except OSError as error:
            raise SavedError(
                f"{self.path} can't be written: {error.strerror}. {_remedy(error)}"
            ) from None


def _remedy(error: OSError) -> str:
    """Return what a person can do about a file that can't be read or written, as a sentence."""
    elsewhere = ", or set XDG_CONFIG_HOME to another directory" * (sys.platform == "linux")
    if error.errno == errno.ENOSPC:
        return f"Free some space on its disk{elsewhere}."
    if error.errno == errno.EROFS:
        return f"Make its disk writable{elsewhere}."
    if error.errno in (errno.ENOTDIR, errno.EEXIST, errno.EISDIR):
        return f"Move away what stands in its place{elsewhere}."
    return f"Check the permissions of the file and its directory{elsewhere}."


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the lock of a file, if the system and the disk have such locks."""
    with ExitStack() as stack:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context(path.with_name(f".{path.name}.lock").open("a"))
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield
