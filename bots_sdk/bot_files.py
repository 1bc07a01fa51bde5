"""Bots from files: a function ``choose(observation)``, or a class ``Bot``.

A Python file has one of these; a ``.wasm`` file is a bot as `bots_sdk.wasm` describes it:

- A function ``choose(observation)``, and optionally ``start(info)``, which is called before the
  first move of a match. The file runs again for every match, so globals belong to one match.
- A class ``Bot`` with ``choose(self, observation)``, and optionally ``start(self, info)``. The
  file runs once, which is better if it takes long to load, and each match gets a new ``Bot()``.
"""

import inspect
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from traceback import format_exception_only
from types import CodeType, ModuleType
from typing import Any

from bots_sdk import paths
from bots_sdk.bot import BotFile, Choose, MatchInfo
from bots_sdk.bot_errors import BotFileError
from bots_sdk.invoking import python_word
from bots_sdk.wasm.binary import is_module
from bots_sdk.wasm.bot import ModuleFile
from engine.errors import nearest

_ROOT = Path(__file__).parents[1]
_SUFFIXES = (".py", ".wasm", ".zip")
_ARCHIVE = (b"PK\3\4", b"PK\5\6")
"""How archives begin, whatever their names are."""
_BINARY = (b"\0asm", *_ARCHIVE)


class PythonFile(BotFile):
    """A bot from a Python file."""

    def __init__(self, path: Path, code: CodeType) -> None:
        self.path = path
        self._code = code
        module = self._run()
        self._class: Any = getattr(module, "Bot", None)
        player = module if self._class is None else self._check_class(module)
        self._check_argument(getattr(player, "choose", None), "choose", "the observation")
        self.wants_info = getattr(player, "start", None) is not None
        if self.wants_info:
            self._check_argument(getattr(player, "start", None), "start", "the match info")

    def __call__(self, info: MatchInfo) -> Choose:
        """Return a player for one match; see `BotFile`."""
        player: Any = self._run() if self._class is None else self._class()
        if self.wants_info:
            player.start(info)
        choose: Choose = player.choose
        return choose

    def afresh(self, info: MatchInfo) -> Choose:
        """Return a player for one match that shares nothing with other matches.

        Unlike a call of the bot, this runs the file again even if it has a class.
        """
        module = self._run()
        player: Any = module if self._class is None else module.Bot()
        if self.wants_info:
            player.start(info)
        choose: Choose = player.choose
        return choose

    def _run(self) -> ModuleType:
        """Run the file in a new module."""
        module = ModuleType(f"bot_{self.path.stem}")
        module.__file__ = str(self.path)
        # dataclasses and pickle search the module of a class there.
        sys.modules[module.__name__] = module
        try:
            exec(self._code, module.__dict__)
        except (Exception, SystemExit) as error:
            raise BotFileError(
                f"{self.path}{_line_of(error, self.path)}: running the file raised "
                f"{type(error).__name__}: {str(error).rstrip('.')}. "
                f"`python {shlex.quote(str(self.path))}` shows where."
            ) from error
        return module

    def _check_class(self, module: ModuleType) -> Any:
        """Return an instance of the class ``Bot``."""
        if hasattr(module, "choose"):
            raise BotFileError(
                f"{self.path} has both a function choose and a class Bot; "
                "remove one, or rename the function."
            )
        if not inspect.isclass(self._class):
            raise BotFileError(f"{self.path}: Bot is not a class; write `class Bot:`.")
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
                f"{type(error).__name__}: {error}. It is called without arguments, once for each "
                "match."
            ) from error

    def _check_argument(self, function: object, name: str, argument: str) -> None:
        if function is None:
            raise BotFileError(
                f"{self.path} has no function {name} and no class Bot; the smallest bot is "
                "`def choose(observation): return observation['legal_moves'][0]`."
            )
        if not callable(function):
            raise BotFileError(f"{self.path}: {name} is not a function; write `def {name}(...):`.")
        if inspect.iscoroutinefunction(function):
            raise BotFileError(f"{self.path}: {name} is async; write `def`, without async.")
        try:
            inspect.signature(function).bind({})
        except TypeError:
            raise BotFileError(
                f"{self.path}: {name} must take one argument, {argument}; "
                f"it is defined as {name}{inspect.signature(function)}."
            ) from None
        except ValueError:  # a builtin without a signature
            return


def load(path: str | Path) -> BotFile:
    """Return the bot in a file; Python may import modules from its directory.

    Raises:
        BotFileError: the file does not exist, is an archive, raises an exception, or contains no
            bot.
    """
    path = Path(path)
    if paths.is_directory(path):
        inside = path / "bot.py"
        if not inside.exists():
            raise BotFileError(f"{path} is a directory; give the bot's .py file.")
        path = inside
    source = read_file(path)
    if is_module(source):
        return ModuleFile(path, source)
    if source.startswith(_ARCHIVE):
        raise BotFileError(_archive_text(path))
    code = compiled(source, str(path))
    sys.path[:] = searched_with(str(path.resolve().parent), sys.path)
    return PythonFile(path, code)


def searched_with(directory: str, path: list[str]) -> list[str]:
    """Return the directories to search for modules, with the directory of a bot among them.

    The bot's directory comes after Python's own: a random.py in it must not hide Python's. It comes
    before a checkout of Twelfth Night, whose config.py must not hide the bot's. If the checkout
    stands before Python's own, for example because PYTHONPATH names it, it moves behind the bot's.
    The sandbox has only two packages of the checkout, so the order matters only outside of it.
    """
    if directory in path:
        return path
    library, root = str(Path(inspect.__file__).parent), str(_ROOT)
    if library not in path or not (_ROOT / "pyproject.toml").exists():
        return [*path, directory]
    begin = path.index(library)
    found = [each for each in path[:begin] if each != root] + path[begin:]
    if root not in found and root in path:
        found.append(root)
    at = found.index(root) if root in found else len(found)
    return [*found[:at], directory, *found[at:]]


def compiled(source: bytes, name: str) -> CodeType:
    """Return the code of a Python file.

    Args:
        source: the file's content.
        name: the file's name in the message.

    Raises:
        BotFileError: the file is not valid Python. The message shows the line and the place in it.
    """
    try:
        return compile(source, name, "exec", dont_inherit=True)
    except SyntaxError as error:
        if error.lineno is None:  # for example, a byte 0
            raise BotFileError(_not_python(name, error.msg)) from None
        # The first line repeats the file's name, the last one the message.
        shown = "".join(format_exception_only(error)).splitlines()[1:-1]
        raise BotFileError(
            "\n".join([f"{name}, line {error.lineno}: {error.msg}", *shown])
        ) from None
    except ValueError as error:
        raise BotFileError(_not_python(name, str(error))) from None
    except (RecursionError, MemoryError):
        raise BotFileError(
            f"{name} can't be compiled: an expression or a block in it is nested too deeply. Split "
            "it, or read long data from a file."
        ) from None


def _not_python(name: str, why: str) -> str:
    return f"{name} is not Python: {why}. Give the bot's .py file."


def _archive_text(path: Path) -> str:
    """Return the message for an archive: how to unpack it, and which file to give."""
    with suppress(ValueError):
        path = path.relative_to(Path.cwd())
    folder = path.with_suffix("") if path.suffix else path.with_name(f"{path.name}-unpacked")
    name, target = shlex.quote(str(path)), shlex.quote(str(folder))
    bot = f"`twelfth-night try {shlex.quote(str(folder / 'bot.py'))}`"
    remedy = (
        f"Give the bot.py of the directory beside it, for example {bot}."
        if (folder / "bot.py").exists()
        else f"Unpack it with `{python_word()} -m zipfile -e {name} {target}`, and give its "
        f"bot.py, for example {bot}."
    )
    return f"{path} is an archive. {remedy} `twelfth-night check` and `upload` take archives."


def instead_of(path: Path) -> str:
    """Return a sentence for a bot's file that does not exist: a file with a like name, or `new`."""
    try:
        beside = {each.stem: each for each in path.parent.iterdir() if each.suffix in _SUFFIXES}
    except OSError:
        beside = {}
    if near := nearest(path.stem, [*beside]):
        return f"Did you mean {beside[near]}?"
    return f"`twelfth-night new {path.stem}` writes a first bot."


def read_file(path: Path) -> bytes:
    """Return the bytes of a bot's file.

    Raises:
        BotFileError: the file does not exist, can't be read, or is of another kind.
    """
    if paths.is_directory(path):
        raise BotFileError(
            f"{path} is a directory. Give the bot's file, or create a zip archive with bot.py at "
            f"its top level: `cd {shlex.quote(str(path))}; zip -r bot.zip .`"
        )
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise BotFileError(f"There is no file {path}. {instead_of(path)}") from None
    except OSError as error:
        remedy = " Check its permissions." if isinstance(error, PermissionError) else ""
        raise BotFileError(f"{path} can't be read: {error.strerror}.{remedy}") from None
    if path.suffix and path.suffix not in _SUFFIXES and not data.startswith(_BINARY):
        raise BotFileError(
            f"{path} is not a bot's file: a bot is a .py, .wasm or .zip file. Compile a bot in "
            "another language to .wasm, or let it play as a remote bot: create it with "
            "`twelfth-night bot create NAME`, and read docs/remote-bot.md."
        )
    return data


def _line_of(error: BaseException, path: Path) -> str:
    """Return the line of a file in which an error arose, as a part of a sentence."""
    traceback, line = error.__traceback__, 0
    while traceback:
        if traceback.tb_frame.f_code.co_filename == str(path):
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return f", line {line}" if line else ""
