"""``run`` and ``enter``: a bot in its matches and on its ladders."""

import os
from pathlib import Path
from typing import Annotated

import typer

from bots_sdk import calls, runner
from bots_sdk.bot import load
from bots_sdk.commands.leagues import chosen_league, client_for
from bots_sdk.commands.shared import Json, NoTokenError, print_json

_BOT_TOKEN = "tn_b_"


def run(
    file: Annotated[Path, typer.Argument(help="The bot's Python file.")],
    bot: Annotated[
        str, typer.Option(help="As which bot; default: by the file's name.", show_default=False)
    ] = "",
    threads: Annotated[int, typer.Option(min=1, help="Turns thought of at once.")] = runner.THREADS,
    faults: Annotated[
        Path, typer.Option(help="Where the observations of faults are saved.")
    ] = Path("faults"),
    as_json: Json = False,
) -> None:
    """Play a bot in all its matches until Ctrl-C, which lets it finish the moves in hand.

    Where the bot fails its first legal move is played, and what it was asked is saved.
    """
    loaded = load(file)
    url, league = chosen_league()
    name = bot or file.stem.replace("_", "-")
    token = os.environ.get("TWELFTH_NIGHT_TOKEN", "")
    if not token.startswith(_BOT_TOKEN):
        token = league.bots.get(name, "")
    if not token:
        known = f" Saved here: {', '.join(league.bots)}." if league.bots else ""
        raise NoTokenError(
            f"There is no token here for a bot {name} at {url}. `twelfth-night bot create {name}` "
            f"makes the bot, `bot token {name}` gets a new token for one that you have, --bot "
            f"names another.{known}"
        )
    runner.run(loaded, url, token, threads=threads, faults=faults, as_json=as_json)


def enter(
    ladder: Annotated[str, typer.Argument(help="The ladder's slug; `ladder` lists them.")],
    bot: Annotated[str, typer.Argument(help="A bot of yours.")],
    as_json: Json = False,
) -> None:
    """Enter a bot on a ladder; again changes nothing."""
    url, league = chosen_league()
    token = os.environ.get("TWELFTH_NIGHT_TOKEN") or league.token or league.bots.get(bot, "")
    if not token:
        raise NoTokenError(f"There is no token here for {url}; `twelfth-night login` gets one.")
    with client_for(url, token) as client:
        entry = client.send(calls.enter_ladder(ladder, bot))
    if as_json:
        print_json(entry)
    else:
        print(f"{bot} is on the ladder {ladder}: {url}/ladders/{ladder}/")
