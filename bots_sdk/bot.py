"""Bots from files: one function ``choose(observation)``, or a class ``Bot``.

A file has one of these:

- ``choose(observation)``, and ``start(info)`` if it wants to know the match before its first move.
  The file is run anew for every match, so that what it keeps in globals is of one match.
- ``class Bot`` with ``choose(self, observation)`` and, if it likes, ``start(self, info)``. The file
  is run once, which suits one that takes long to load, and each match gets a ``Bot()`` of its own.
"""

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TypedDict

from engine.games.game import Observation
from engine.referee import TimeControl

Choose = Callable[[Observation], str]
"""What plays in one match: from an observation to one of its ``legal_moves``."""


class MatchInfo(TypedDict):
    """The information that ``start`` receives before the first move of a match."""

    game: str
    rules: str
    seats: int
    seat: int
    move_seconds: float
    bank_seconds: float


def match_info(*, game: str, rules: str, seats: int, seat: int, control: TimeControl) -> MatchInfo:
    """Return the information on a match for the bot in one of its seats."""
    return {
        "game": game,
        "rules": rules,
        "seats": seats,
        "seat": seat,
        "move_seconds": control.move_seconds,
        "bank_seconds": control.bank_seconds,
    }


class BotFileError(Exception):
    """A file is no bot; the message names the file and what to do."""


class BotFile:
    """A bot from a file: call it with what ``start`` is told, and it plays a match.

    Attributes:
        path: of the file.
        wants_info: whether there is a ``start``.
    """

    def __init__(self, path: Path, code: CodeType) -> None:
        self.path = path
        self._code = code
        module = self._run()
        self._class: Any = getattr(module, "Bot", None)
        player = module if self._class is None else self._check_class(module)
        self._check_takes_one(getattr(player, "choose", None), "choose", "the observation")
        self.wants_info = getattr(player, "start", None) is not None
        if self.wants_info:
            self._check_takes_one(getattr(player, "start", None), "start", "what it is told")

    def __call__(self, info: MatchInfo) -> Choose:
        """Return what chooses the moves of one match.

        Whatever the file's own code raises passes through.
        """
        player: Any = self._run() if self._class is None else self._class()
        if self.wants_info:
            player.start(info)
        choose: Choose = player.choose
        return choose

    def afresh(self, info: MatchInfo) -> Choose:
        """Return what it does when called, with nothing kept of other matches.

        The file is run anew also where it has a class, as in a process of its own.
        """
        module = self._run()
        player: Any = module if self._class is None else module.Bot()
        if self.wants_info:
            player.start(info)
        choose: Choose = player.choose
        return choose

    def _run(self) -> ModuleType:
        """Run the file in a module of its own."""
        module = ModuleType(f"bot_{self.path.stem}")
        module.__file__ = str(self.path)
        # Where dataclasses and pickle look for the module of a class.
        sys.modules[module.__name__] = module
        try:
            exec(self._code, module.__dict__)
        except (Exception, SystemExit) as error:
            raise BotFileError(
                f"{self.path}{_line_of(error, self.path)}: running the file raised "
                f"{type(error).__name__}: {error}. `python {self.path}` shows where."
            ) from error
        return module

    def _check_class(self, module: ModuleType) -> Any:
        """Return a player made by the class ``Bot``."""
        if hasattr(module, "choose"):
            raise BotFileError(
                f"{self.path} has both a function choose and a class Bot; "
                "keep one, or name the function something else."
            )
        if not inspect.isclass(self._class):
            raise BotFileError(f"{self.path}: Bot is no class; write `class Bot:`.")
        if not hasattr(self._class, "choose"):
            raise BotFileError(
                f"{self.path}: class Bot has no choose; add "
                "`def choose(self, observation): return observation['legal_moves'][0]`."
            )
        try:
            return self._class()
        except (Exception, SystemExit) as error:
            raise BotFileError(
                f"{self.path}{_line_of(error, self.path)}: Bot() raised "
                f"{type(error).__name__}: {error}. It is made without arguments, one a match."
            ) from error

    def _check_takes_one(self, function: object, name: str, what: str) -> None:
        if function is None:
            raise BotFileError(
                f"{self.path} has no function {name} and no class Bot; the smallest bot is "
                "`def choose(observation): return observation['legal_moves'][0]`."
            )
        if not callable(function):
            raise BotFileError(f"{self.path}: {name} is no function; write `def {name}(...):`.")
        if inspect.iscoroutinefunction(function):
            raise BotFileError(f"{self.path}: {name} is async; write `def`, without async.")
        try:
            inspect.signature(function).bind({})
        except TypeError:
            raise BotFileError(
                f"{self.path}: {name} is called with one argument, {what}; "
                f"it is written {name}{inspect.signature(function)}."
            ) from None
        except ValueError:  # a builtin that doesn't tell
            return


def load(path: str | Path) -> BotFile:
    """Return the bot in a file.

    Modules beside the file can be imported by it.

    Raises:
        BotFileError: there is no such file, its code doesn't run, or it has no bot in it.
    """
    path = Path(path)
    if path.is_dir():
        inside = path / "bot.py"
        if not inside.exists():
            raise BotFileError(f"{path} is a directory; name the bot's .py file.")
        path = inside
    try:
        source = path.read_bytes()
    except FileNotFoundError:
        raise BotFileError(
            f"There is no file {path}; `twelfth-night new {path.stem}` writes a bot."
        ) from None
    except OSError as error:
        raise BotFileError(f"{path} can't be read: {error.strerror}.") from None
    try:
        code = compile(source, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        raise BotFileError(
            f"{path}, line {error.lineno}: {error.msg}. Is it the bot's Python file?"
        ) from None
    except ValueError as error:
        raise BotFileError(f"{path} is no Python: {error}. Name the bot's .py file.") from None
    beside = str(path.resolve().parent)
    if beside not in sys.path:
        sys.path.append(beside)  # at the end: a random.py there is not to hide Python's own
    return BotFile(path, code)


def _line_of(error: BaseException, path: Path) -> str:
    """Return where in a file an error arose."""
    traceback, line = error.__traceback__, 0
    while traceback:
        if traceback.tb_frame.f_code.co_filename == str(path):
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return f", line {line}" if line else ""
