"""``new``: write a first bot and its test."""

import re
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

import typer

from bots_sdk import starters
from bots_sdk.commands.errors import ImpossibleError
from bots_sdk.commands.leagues import is_logged_in, league_to_join
from bots_sdk.commands.output import Json, print_commands, print_json
from bots_sdk.installing import install_command
from bots_sdk.invoking import command_word, python_word

_NAME = re.compile(r"[a-z0-9-]{3,32}", re.ASCII)
_GAMES = ("twelve-days", "partridge")
_FOR_TRAINING = ("gymnasium", "numpy", "pettingzoo")


def new(
    name: Annotated[
        str, typer.Argument(help="The bot's name: 3 to 32 characters, a-z, 0-9 and -.")
    ],
    game: Annotated[
        Literal["twelve-days", "partridge"] | None,
        typer.Option(
            help="The game that the bot plays; default: a prompt in a terminal, elsewhere "
            "twelve-days.",
            show_default=False,
        ),
    ] = None,
    template: Annotated[
        Literal["rules", "search", "trained"],
        typer.Option(
            help="; ".join(f"{kind}: {text}" for kind, text in starters.TEMPLATES.items())
        ),
    ] = "rules",
    language: Annotated[
        Literal["python", "c", "rust", "assemblyscript"],
        typer.Option(
            help="The language of the bot. Bots in c, rust and assemblyscript are compiled to "
            "WebAssembly, which the league runs too."
        ),
    ] = "python",
    as_json: Json = False,
) -> None:
    """Write a first bot and a test for it to the current directory.

    The bot beats a bot that plays at random. The command prints what to do next: compile the bot
    (if its language needs this), test it, let it play, and upload it.
    """
    if not _NAME.fullmatch(name):
        rule = f"{name!r} is not a bot name. A name has 3 to 32 characters: a-z, 0-9 and -."
        nearest = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")
        if _NAME.fullmatch(nearest):
            rule += f" For example: twelfth-night new {nearest}"
        raise ImpossibleError(rule)
    if language != "python" and template != "rules":
        raise ImpossibleError(f"The template {template} is in Python; leave out --language.")
    chosen = game or (_ask_game() if sys.stdin.isatty() and not as_json else _GAMES[0])
    stem = name.replace("-", "_")
    if language == "python":
        contents = starters.files(template, chosen, stem)
    else:
        contents = starters.files_in(language, chosen, stem)
    if f"{stem}.py" in contents and _is_module(stem):
        raise ImpossibleError(
            f"{name} is the name of a Python module, and the file {stem}.py would hide it. Choose "
            f"another name, for example: twelfth-night new {name[:28]}-bot"
        )
    files = {Path(path): data for path, data in contents.items()}
    for path in dict.fromkeys(Path(path.parts[0]) for path in files):
        if path.exists():
            raise ImpossibleError(f"{path} exists already. Remove it, or choose another name.")
    _write(files)
    if as_json:
        print_json({"game": chosen, "files": [str(path) for path in files]})
        return
    *first, last = files
    print(f"Wrote {', '.join(map(str, first))} and {last}. The bot plays {chosen}. Next:")
    rows = _next_steps(name, stem, chosen, language, trained=template == "trained")
    print_commands(rows)


def _write(files: dict[Path, bytes]) -> None:
    """Write new files, or none of them, so that the command can run again.

    Raises:
        ImpossibleError: one of them can't be written.
    """
    begun: list[Path] = []
    for path, data in files.items():
        try:
            path.parent.mkdir(exist_ok=True)
            with path.open("xb") as file:
                begun.append(path)
                file.write(data)
        except OSError as error:
            with suppress(OSError):
                for each in begun:
                    each.unlink()
                for parent in {each.parent for each in files} - {Path()}:
                    parent.rmdir()
            raise ImpossibleError(
                f"{path} can't be written: {error.strerror}. Run the command in a directory that "
                "you can write to."
            ) from None


def _ask_game() -> str:
    """Return the game that a person chooses."""
    question = "Which game does it play? 1 twelve-days, 2 partridge"
    while True:
        answer = typer.prompt(question, default="1", err=True).strip().lower()
        for number, game in enumerate(_GAMES, start=1):
            if answer in (str(number), game):
                return game


def _is_module(name: str) -> bool:
    """Return whether Python or this program has a module of this name."""
    return name in sys.stdlib_module_names or name in sys.modules or name in _FOR_TRAINING


def _next_steps(
    name: str, stem: str, game: str, language: str, *, trained: bool
) -> list[tuple[str, str]]:
    """Return the next commands, each with its purpose."""
    python, command = python_word(), command_word()
    bot, upload = (f"{stem}/bot.py", f"{stem}.zip") if trained else (f"{stem}.py", f"{stem}.py")
    if language != "python":
        bot = upload = f"{stem}/{stem}.wasm"
    training = [
        (f"{python} {stem}/train.py", "train it anew, in about a minute"),
        (
            f"{python} -m zipfile -c {upload} {stem}/bot.py {stem}/weights.npz",
            "pack the new weights",
        ),
    ]
    needed = _FOR_TRAINING if trained else () if language == "python" else ("wasmtime",)
    absent = [each for each in needed if find_spec(each) is None]
    installing = (install_command(python, *absent), "install what it needs")
    league = league_to_join()
    signing_up = (f"{command} login {league} --sign-up", "create an account at a league")
    return [
        *([installing] if absent else ()),
        *_building(language, stem),
        (f"{python} test_{stem}.py", "test that it plays without a fault"),
        (f"{command} try {bot}", "play against the league's own bots"),
        (f"{command} check {upload}", "test it in the league's sandbox, on your machine"),
        (f"{command} rules {game}", "read the rules of the game"),
        (f"{command} rules observations", "read what your bot may see"),
        *(training if trained else ()),
        *(() if is_logged_in(league) else (signing_up,)),
        (f"{command} upload {upload}", "let the league run it"),
        (f"{command} enter {game} {name} --wait", "enter it on the ladder, and wait for its rank"),
    ]


def _building(language: str, stem: str) -> list[tuple[str, str]]:
    """Return the commands that compile a bot, each with its purpose; none for Python."""
    if language == "python":
        return []
    if language == "assemblyscript":
        return [
            (f"npm --prefix {stem} install", "install the compiler (with Node.js)"),
            (f"npm --prefix {stem} run build", "compile it, after each change"),
        ]
    compiler = {"c": "clang and lld", "rust": "rustc and its target wasm32-unknown-unknown"}
    return [(f"make -C {stem}", f"compile it, after each change (with {compiler[language]})")]
