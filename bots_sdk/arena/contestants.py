"""The bots that play in the arena: house bots by name, and bots from files."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bots_sdk.arena.errors import ArenaError
from bots_sdk.bot import BotFile, Choose, MatchInfo
from bots_sdk.bot_files import PythonFile, load
from bots_sdk.reference import HOUSE, make_player
from engine.errors import nearest

FIELD = "house"
"""The name for all house bots, without their twins."""
QUICK = "quick"
"""The name for the house bots that need less than a tenth of a second per match."""
_SLOW = "house-search"


@dataclass(frozen=True, slots=True)
class Contestant:
    """A bot that can take a seat.

    Attributes:
        name: the name in outputs.
        path: the path of the bot's file; None for a house bot.
    """

    name: str
    path: Path | None = None


def contestant(word: str) -> Contestant:
    """Return the bot for a word: a house bot (``house-thumb`` or ``thumb``), or a file.

    Raises:
        ArenaError: no such bot exists.
    """
    path = Path(word)
    for name in (word, f"{FIELD}-{word}"):
        if name in HOUSE and not path.exists():
            return Contestant(name)
    if not path.exists():
        remedy = f"`twelfth-night new {path.stem}` writes a first bot."
        if near := nearest(word, [each.removeprefix(f"{FIELD}-") for each in HOUSE]):
            remedy = f"Did you mean {near}?"
        raise ArenaError(
            f"There is no file {word}, and no house bot of that name. {remedy} The house bots are "
            f"{', '.join(HOUSE)}."
        )
    inside = path / "bot.py" if path.is_dir() else path
    return Contestant(str(path), inside.resolve())


def field_of(words: Iterable[str]) -> tuple[Contestant, ...]:
    """Return the opponents for some words; ``house`` gives all house bots, ``quick`` most.

    Raises:
        ArenaError: one of the bots does not exist.
    """
    found: list[Contestant] = []
    for word in words:
        if word in (FIELD, QUICK) and not Path(word).exists():
            names = [name for name in HOUSE if not name.endswith("-2")]
            found += [Contestant(name) for name in names if (word, name) != (QUICK, _SLOW)]
        else:
            found.append(contestant(word))
    return tuple(dict.fromkeys(found))


class PlayerFactory:
    """Creates players for contestants, in the process that plays the matches.

    Matches share nothing: each match runs the bot's file and the modules beside it again.
    """

    def __init__(self, contestants: Sequence[Contestant]) -> None:
        """Load all files once, to check that they are bots.

        Raises:
            BotFileError: a file is not a bot.
        """
        self._contestants = contestants
        self._path = list(sys.path)
        self._modules_before = set(sys.modules)
        self._beside = {each.path.parent for each in contestants if each.path}
        self._files: dict[Path, BotFile] = {}
        for each in contestants:
            if each.path is not None:
                self._forget(each.path)
                self._files[each.path] = load(each.path)

    def may_hang(self, index: int) -> bool:
        """Return whether a contestant is a Python file, whose code may hang or exit.

        The fuel of a WebAssembly bot ends each of its moves.
        """
        path = self._contestants[index].path
        return path is not None and isinstance(self._files[path], PythonFile)

    def player(self, index: int, info: MatchInfo, copy: int = 0) -> Choose:
        """Return a player for one match.

        Args:
            index: the contestant.
            info: the argument of the bot's ``start``.
            copy: how many seats the contestant has at this table already. House bots use it
                as a part of their random seed.

        Raises:
            Exception: the file's code raised it.
        """
        seated = self._contestants[index]
        if seated.path is None:
            return make_player(seated.name, luck=f"{seated.name}-{copy}" if copy else "")
        self._forget(seated.path)
        return self._files[seated.path].afresh(info)

    def _forget(self, path: Path) -> None:
        """Unload the modules beside the bots' files, and search this file's directory."""
        sys.path[:] = [*self._path, str(path.parent)]
        stale = []
        for name in sys.modules.keys() - self._modules_before:
            top = sys.modules.get(name.partition(".")[0])
            file = getattr(top, "__file__", None)
            if file is None:
                continue
            place = Path(file).parent
            if place in self._beside or (
                Path(file).stem == "__init__" and place.parent in self._beside
            ):
                stale.append(name)
        for name in stale:
            del sys.modules[name]
