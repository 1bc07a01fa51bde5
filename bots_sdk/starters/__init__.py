"""The files that ``twelfth-night new`` writes: a first bot of a kind for each game, and its test.

Those in Python are ordinary modules, so the checks cover them too. ``NAME`` stands for the bot's
name, and ``twelve-days`` for the game in files that suit both games.
"""

import io
import zipfile
from importlib import resources

TEMPLATES = {
    "rules": "rules of thumb, and three ideas to improve them",
    "search": "plays many possible matches for each move",
    "trained": "a neural network in NumPy, with its weights and the program that trains it",
}
"""A description of each kind of bot, by name."""

LANGUAGES = {
    "c": ("bot.c", "Makefile"),
    "rust": ("bot.rs", "Makefile"),
    "assemblyscript": ("bot.ts", "package.json"),
}
"""The files of a first bot in a language that compiles to WebAssembly."""

_RULES = {"twelve-days": "twelve_days.py", "partridge": "partridge.py"}


def files(template: str, game: str, name: str) -> dict[str, bytes]:
    """Return the content of a first bot's files by path.

    The test is ``test_NAME.py``. The bot is ``NAME.py``. A trained bot has several files in the
    directory ``NAME``, and the archive to upload, ``NAME.zip``.
    """
    if template != "trained":
        source = _RULES[game] if template == "rules" else "search.py"
        return {
            f"{name}.py": _text(source, game, name),
            f"test_{name}.py": _text("check.py", game, name),
        }
    bot = {
        "bot.py": _text("trained/bot.py", game, name),
        "weights.npz": (_here() / "trained" / f"{game.replace('-', '_')}.npz").read_bytes(),
    }
    test = _text("check.py", game, name).replace(f"{name}.py".encode(), f"{name}/bot.py".encode())
    return {
        **{f"{name}/{file}": data for file, data in bot.items()},
        f"{name}/train.py": _text("trained/train.py", game, name),
        f"{name}.zip": _packed(bot),
        f"test_{name}.py": test.replace(b"with_name(", b"parent.joinpath("),
    }


def files_in(language: str, game: str, name: str) -> dict[str, bytes]:
    """Return the content of a first bot's files in a language of `LANGUAGES`, by path.

    The source and what builds it are in the directory ``NAME``. The compiler writes
    ``NAME/NAME.wasm``, and the test is ``test_NAME.py``.
    """
    test = _text("check.py", game, name).replace(b"with_name(", b"parent.joinpath(")
    return {
        **{
            f"{name}/{file}": _text(f"{language}/{file}", game, name)
            for file in LANGUAGES[language]
        },
        f"test_{name}.py": test.replace(f"{name}.py".encode(), f"{name}/{name}.wasm".encode()),
    }


def _text(file: str, game: str, name: str) -> bytes:
    text = (_here() / file).read_text(encoding="utf-8")
    for words in ("bot for twelve-days", 'GAMES = ["twelve-days"]', 'GAME = "twelve-days"'):
        text = text.replace(words, words.replace("twelve-days", game))
    text = text.replace("plays_twelve_days", f"plays_{game.replace('-', '_')}")
    text = text.replace("rules twelve-days`", f"rules {game}`")
    return text.replace("NAME", name).encode()


def _packed(contents: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in contents.items():
            archive.writestr(path, data)
    return stream.getvalue()


def _here() -> resources.abc.Traversable:
    return resources.files(__name__)
