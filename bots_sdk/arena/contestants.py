"""Who plays in the arena: reference bots by name, and bots from files, run anew for each match."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bots_sdk.arena.errors import ArenaError
from bots_sdk.bot import BotFile, Choose, MatchInfo, load
from bots_sdk.reference import HOUSE, make_player

FIELD = "house"
"""The name that stands for all reference bots, without their twins."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """A bot that can be seated.

    Attributes:
        name: that it is shown by.
        path: of its file; None for a reference bot.
    """

    name: str
    path: Path | None = None


def contestant(word: str) -> Contestant:
    """Return the bot that a word means: ``house-thumb`` or ``thumb``, or a file.

    Raises:
        ArenaError: there is no such bot.
    """
    path = Path(word)
    for name in (word, f"{FIELD}-{word}"):
        if name in HOUSE and not path.exists():
            return Contestant(name)
    if not path.exists():
        raise ArenaError(
            f"There is no file {word}, and no reference bot of that name: {', '.join(HOUSE)}."
        )
    inside = path / "bot.py" if path.is_dir() else path
    return Contestant(str(path), inside.resolve())


def field_of(words: Iterable[str]) -> tuple[Contestant, ...]:
    """Return the opponents that words mean, ``house`` for all reference bots.

    Raises:
        ArenaError: there is no such bot.
    """
    found: list[Contestant] = []
    for word in words:
        if word == FIELD and not Path(word).exists():
            found += [Contestant(name) for name in HOUSE if not name.endswith("-2")]
        else:
            found.append(contestant(word))
    return tuple(dict.fromkeys(found))


class Bench:
    """Makes players of contestants, in the process that plays them.

    No match gets anything of another: a file is run anew for each, the modules beside it too.
    """

    def __init__(self, contestants: Sequence[Contestant]) -> None:
        """Load all files once, to see whether they are bots.

        Raises:
            BotFileError: one is none.
        """
        self._contestants = contestants
        self._path = list(sys.path)
        self._known = set(sys.modules)
        self._beside = {each.path.parent for each in contestants if each.path}
        self._files: dict[Path, BotFile] = {}
        for each in contestants:
            if each.path is not None:
                self._forget(each.path)
                self._files[each.path] = load(each.path)

    def from_file(self, index: int) -> bool:
        """Return whether a contestant is somebody's file, of which anything must be expected."""
        return self._contestants[index].path is not None

    def player(self, index: int, info: MatchInfo, copy: int = 0) -> Choose:
        """Return a player for one match.

        Args:
            index: of the contestant.
            info: what its ``start`` is told.
            copy: how many of it sit at the table already; reference bots with luck get their own.

        Raises:
            Exception: whatever the file's code raises.
        """
        seated = self._contestants[index]
        if seated.path is None:
            return make_player(seated.name, luck=f"{seated.name}-{copy}" if copy else "")
        self._forget(seated.path)
        return self._files[seated.path].afresh(info)

    def _forget(self, path: Path) -> None:
        """Have a file find the modules beside itself, as they are before anybody used them."""
        sys.path[:] = [*self._path, str(path.parent)]
        stale = []
        for name in sys.modules.keys() - self._known:
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
