"""Leagues that are known on this machine: their addresses, and tokens for them, in one file.

A token is used at the address that it was saved for and nowhere else. Only the file's owner can
read it.
"""

import json
import os
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


class SavedError(Exception):
    """The file can't be read or written; the message names it and the remedy."""


@dataclass(slots=True)
class SavedLeague:
    """What is saved for a league.

    Attributes:
        username: of the account.
        token: an owner token.
        bots: bot tokens by the names of the bots.
        password: of an account that a program made up.
    """

    username: str = ""
    token: str = field(default="", repr=False)
    bots: dict[str, str] = field(default_factory=dict, repr=False)
    password: str = field(default="", repr=False)


@dataclass(slots=True)
class Saved:
    """The file's content.

    Attributes:
        path: of the file.
        url: the league that is meant where none is named; empty before the first login.
        leagues: by address.
    """

    path: Path
    url: str = ""
    leagues: dict[str, SavedLeague] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "Saved":
        """Return what is in a file; nothing where there is none.

        Raises:
            SavedError: it can't be read.
        """
        try:
            document: Any = json.loads(path.read_text())
            leagues = {url: SavedLeague(**league) for url, league in document["leagues"].items()}
            return cls(path, document["url"], leagues)
        except FileNotFoundError:
            return cls(path)
        except OSError as error:
            raise SavedError(f"{path} can't be read: {error.strerror}.") from None
        except (ValueError, TypeError, KeyError, AttributeError):
            raise SavedError(
                f"{path} holds no saved leagues; remove it and log in again."
            ) from None

    def league(self, url: str) -> SavedLeague:
        """Return what is saved for a league, to be changed and written."""
        return self.leagues.setdefault(url, SavedLeague())

    def write(self) -> None:
        """Write the file, whole or not at all, for its owner's eyes.

        Raises:
            SavedError: it can't be written.
        """
        leagues = {url: asdict(league) for url, league in self.leagues.items()}
        text = json.dumps({"url": self.url, "leagues": leagues}, indent=1) + "\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # mkstemp makes it readable by its owner alone.
            handle, fresh = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
            with os.fdopen(handle, "w") as file:
                file.write(text)
            Path(fresh).replace(self.path)
        except OSError as error:
            raise SavedError(f"{self.path} can't be written: {error.strerror}.") from None
