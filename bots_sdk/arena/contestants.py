"""The bots that play in the arena: house bots by name, and bots from files."""

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from bots_sdk import paths
from bots_sdk.arena.errors import ArenaError
from bots_sdk.bot import BotFile, Choose, MatchInfo
from bots_sdk.bot_files import PythonFile, instead_of, load, searched_with
from bots_sdk.reference import HOUSE, make_player
from engine.errors import nearest
from engine.games.game import Observation

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
        if name in HOUSE and not paths.exists(path):
            return Contestant(name)
    if not paths.exists(path):
        remedy = instead_of(path)
        if near := nearest(word, [each.removeprefix(f"{FIELD}-") for each in HOUSE]):
            remedy = f"Did you mean {near}?"
        raise ArenaError(
            f"There is no file {word}, and no house bot of that name. {remedy} The house bots are "
            f"{', '.join(HOUSE)}."
        )
    inside = path / "bot.py" if paths.is_directory(path) else path
    return Contestant(str(path), inside.resolve())


def field_of(words: Iterable[str]) -> tuple[Contestant, ...]:
    """Return the opponents for some words; ``house`` gives all house bots, ``quick`` most.

    Raises:
        ArenaError: one of the bots does not exist.
    """
    found: list[Contestant] = []
    for word in words:
        if word in (FIELD, QUICK) and not paths.exists(word):
            names = [name for name in HOUSE if not name.endswith("-2")]
            found += [Contestant(name) for name in names if (word, name) != (QUICK, _SLOW)]
        else:
            found.append(contestant(word))
    return tuple(dict.fromkeys(found))


@dataclass(slots=True)
class _Imports:
    """What the imports of one player depend on.

    Attributes:
        path: the directories to search.
        modules: the modules beside the bots' files, while another player has the process.
    """

    path: list[str]
    modules: dict[str, ModuleType] = field(default_factory=dict)


class PlayerFactory:
    """Creates players for contestants, in the process that plays the matches.

    Matches share nothing: each match runs the bot's file and the modules beside it again. Each
    player finds its own modules also if it imports them during a move.
    """

    def __init__(self, contestants: Sequence[Contestant]) -> None:
        """Load all files once, to check that they are bots.

        Raises:
            BotFileError: a file is not a bot.
        """
        self._contestants = contestants
        self._path = list(sys.path)
        self._modules_before = set(sys.modules)
        self._beside = {str(each.path.parent) for each in contestants if each.path}
        self._entered: _Imports | None = None
        self._loaded = 0
        """The number of modules when it was entered."""
        self._files: dict[Path, BotFile] = {}
        for each in contestants:
            if each.path is not None:
                self._enter(self._imports(each.path))
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
        file, imports = self._files[seated.path], self._imports(seated.path)
        self._enter(imports)
        choose = file.afresh(info)
        if not isinstance(file, PythonFile):
            return choose  # it imports nothing

        def entered(observation: Observation) -> str:
            self._enter(imports)
            return choose(observation)

        return entered

    def _imports(self, path: Path) -> _Imports:
        return _Imports(searched_with(str(path.parent), self._path).copy())

    def _enter(self, imports: _Imports) -> None:
        """Put away the modules of the player that ran last, and bring back this player's."""
        last = self._entered
        if last is imports:
            return
        if last is not None and len(sys.modules) == self._loaded:
            for name in last.modules:  # it has imported nothing since
                sys.modules.pop(name, None)
        else:
            modules = self._put_away()
            if last is not None:
                last.modules = modules
        if last is not None:
            last.path = list(sys.path)
        sys.path[:] = imports.path
        sys.modules.update(imports.modules)
        self._entered, self._loaded = imports, len(sys.modules)

    def _put_away(self) -> dict[str, ModuleType]:
        """Unload the modules beside the bots' files; return them by name."""
        found: dict[str, ModuleType] = {}
        for name in sys.modules.keys() - self._modules_before:
            if self._is_beside(sys.modules.get(name.partition(".")[0])):
                found[name] = sys.modules[name]
            else:
                self._modules_before.add(name)  # not looked at again
        for name in found:
            del sys.modules[name]
        return found

    def _is_beside(self, top: ModuleType | None) -> bool:
        """Return whether a module is in a bot's directory, or in one below that the bot added.

        Args:
            top: the module, or the package around it. A package without an ``__init__.py`` has no
                file, so its directories count.
        """
        file = getattr(top, "__file__", None)
        for place in getattr(top, "__path__", None) or ([file] if file else []):
            searched = os.path.dirname(place)  # noqa: PTH120 - once a move: fast
            if searched in self._beside:
                return True
            if searched not in self._path and any(
                searched.startswith(f"{each}{os.sep}") for each in self._beside
            ):
                return True
        return False
