"""``new``: write a first bot and its test."""

import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from bots_sdk import starters
from bots_sdk.commands.errors import ImpossibleError
from bots_sdk.commands.output import Json, print_json
from bots_sdk.nearby import usual_url

_NAME = re.compile(r"[a-z0-9-]{3,32}", re.ASCII)


def new(
    name: Annotated[
        str, typer.Argument(help="The bot's name: 3 to 32 characters, a-z, 0-9 and -.")
    ],
    game: Annotated[
        Literal["twelve-days", "partridge"], typer.Option(help="The game that the bot plays.")
    ] = "twelve-days",
    as_json: Json = False,
) -> None:
    """Write a first bot and a test for it to the current directory."""
    if not _NAME.fullmatch(name):
        raise ImpossibleError(
            f"{name!r} is not a bot name. A name has 3 to 32 characters: a-z, 0-9 and -."
        )
    stem = name.replace("-", "_")
    files = {
        Path(f"{stem}.py"): starters.bot_text(game, stem),
        Path(f"test_{stem}.py"): starters.check_text(game, stem),
    }
    for path in files:
        if path.exists():
            raise ImpossibleError(f"{path} exists already. Remove it, or choose another name.")
    try:
        for path, text in files.items():
            path.write_text(text)
    except OSError as error:
        raise ImpossibleError(f"{error.filename} can't be written: {error.strerror}.") from None
    if as_json:
        print_json({"files": [str(path) for path in files]})
        return
    bot, test = files
    print(f"Wrote {bot} and {test}. Next:")
    rows = (
        (f"python {test}", "test that it plays without a fault"),
        (f"twelfth-night try {bot}", "play against the reference bots"),
        (f"twelfth-night check {bot}", "run it in the league's sandbox"),
        (f"twelfth-night rules {game}", "read the rules of the game"),
        (f"twelfth-night login {usual_url()} --sign-up", "create an account at a league"),
        (f"twelfth-night upload {bot}", "let the league run it"),
    )
    width = max(len(command) for command, _ in rows)
    for command, purpose in rows:
        print(f"  {command:<{width}}  {purpose}")
