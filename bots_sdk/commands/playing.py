"""``run`` and ``enter``: play a remote bot's matches, and enter a bot on a ladder."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from bots_sdk import calls, running
from bots_sdk.bot_files import load
from bots_sdk.client import Client
from bots_sdk.commands.errors import ImpossibleError, NoTokenError
from bots_sdk.commands.home import Faults
from bots_sdk.commands.leagues import (
    chosen_league,
    client_for,
    environment_token,
    not_logged_in,
    read_saved,
)
from bots_sdk.commands.output import Json, print_json
from bots_sdk.commands.ranking import follow_to_rank, ladder_places, print_rank
from bots_sdk.commands.remedies import after_silence
from bots_sdk.errors import ProblemError, UnreachableError
from bots_sdk.invoking import typed
from bots_sdk.runner import THREADS
from engine.errors import listed

_BOT_TOKEN = "tn_b_"


def run(
    file: Annotated[Path, typer.Argument(help="The bot's file, .py or .wasm.")],
    bot: Annotated[
        str, typer.Option(help="The bot's name; default: the file's name.", show_default=False)
    ] = "",
    threads: Annotated[
        int, typer.Option(min=1, help="How many turns to compute in parallel.")
    ] = THREADS,
    faults: Faults = Path("faults"),
    as_json: Json = False,
) -> None:
    """Run a remote bot on this machine: play all its matches until Ctrl-C.

    If the bot raises an error, is too slow, or returns an illegal move, the command plays the first
    legal move instead. It saves the bot's input in the directory of --faults. At the league this is
    no fault, because the league gets a legal move in time.

    After Ctrl-C, the bot finishes the moves that it is computing. A second Ctrl-C stops at once.
    """
    loaded = load(file)
    url, league = chosen_league()
    name = bot or file.stem.replace("_", "-")
    token = environment_token()
    if token and not token.startswith(_BOT_TOKEN):
        raise NoTokenError(
            "The token in the variable TWELFTH_NIGHT_TOKEN is not a bot token. A bot token begins "
            f"with {_BOT_TOKEN}. Set the variable to the bot's token. To use the saved token, run "
            "`unset TWELFTH_NIGHT_TOKEN`."
        )
    token = token or league.bots.get(name, "")
    if not token:
        elsewhere = [
            other
            for other, each in read_saved().leagues.items()
            if other != url and name in each.bots
        ]
        if elsewhere:
            raise NoTokenError(
                f"The token of the bot {name} is saved for {elsewhere[0]}, not for {url}. Use that "
                f"league: `export TWELFTH_NIGHT_URL={elsewhere[0]}`."
            )
        remote = _remote_bots(url, list(league.bots))
        known = f" Tokens of remote bots are saved for {listed(remote)}." if remote else ""
        raise NoTokenError(
            f"No token is saved here for the bot {name} at {url}. "
            f"If the bot does not exist, create it: `twelfth-night bot create {name}`. "
            f"If it exists, get a new token: `twelfth-night bot token {name}`. "
            f"To run the file as another remote bot, use --bot.{known}"
        )
    _check_kind(url, token, name, file)
    running.run(loaded, url, token, name=name, threads=threads, faults=faults, as_json=as_json)


def _remote_bots(url: str, names: list[str]) -> list[str]:
    """Return the remote bots among some names; none if the league does not answer."""
    remote = []
    with client_for(url) as client:
        for name in names:
            try:
                if client.send(calls.bot(name))["kind"] == "remote":
                    remote.append(name)
            except UnreachableError:
                return []
            except ProblemError:  # the bot is deleted, or the league began anew
                continue
    return remote


def _check_kind(url: str, token: str, name: str, file: Path) -> None:
    """Refuse a hosted bot, which the league runs itself: it would wait for turns for ever.

    Raises:
        ImpossibleError: the bot is a hosted bot.
    """
    try:
        with client_for(url, token) as client:
            kind = client.send(calls.bot(name))["kind"]
    except UnreachableError as error:
        # The runner waits for the league, which may start later.
        print(typed(f"Note: {error}. {after_silence(error)}"), file=sys.stderr)
        return
    except ProblemError as error:
        if error.code != "not-found":
            raise
        return  # the token in TWELFTH_NIGHT_TOKEN may be that of a bot with another name
    if kind == "hosted":
        home = f"{name[:24]}-at-home"
        raise ImpossibleError(
            f"{name} is a hosted bot, so the league runs it. To upload a version, run "
            f"`twelfth-night upload {file} --bot {name}`. To run the file here, create a remote "
            f"bot: `twelfth-night bot create {home}`, then `twelfth-night run {file} --bot {home}`."
        )


def enter(
    ladder: Annotated[
        str, typer.Argument(help="The ladder's short name, from `twelfth-night ladder`.")
    ],
    bot: Annotated[str, typer.Argument(help="One of your bots.")],
    wait: Annotated[
        bool, typer.Option("--wait", help="Show the bot's progress until it has a rank.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Enter a bot on a ladder, and show when it plays.

    If the bot is on the ladder already, the command changes nothing.

    The bot gets a rank after its first blocks. A block is a set of matches at one table. It has as
    many matches as the table has seats, so each bot sits once in each seat. With --wait the
    command shows the bot's progress until it has a rank. After Ctrl-C the league plays on.
    """
    url, league = chosen_league()
    token = environment_token() or league.token or league.bots.get(bot, "")
    if not token:
        raise NoTokenError(not_logged_in(url))
    with client_for(url, token) as client:
        try:
            entry = client.send(calls.enter_ladder(ladder, bot))
        except ProblemError as error:
            if error.code == "not-qualified":
                error.remedy = _ladders_of_its_games(client, bot)
            elif error.code == "not-found" and _is_ladder(client, bot):
                error.remedy = (
                    f"Name the ladder first, then the bot: `twelfth-night enter {bot} {ladder}`."
                )
            raise
        printed = ""
        if not as_json:
            place = client.send(calls.ladder_entry(ladder, bot))
            print(f"{bot} is on the ladder {ladder}: {url}/ladders/{ladder}/")
            printed = place["next_block"]
            print(printed, flush=True)
            if not wait and client.send(calls.bot(bot))["paused"]:
                print(typed(f"`twelfth-night bot resume {bot}` resumes it."))
            elif not wait and place["rank_progress"] is not None:
                command = f"`twelfth-night enter {ladder} {bot} --wait`"
                print(typed(f"{command} shows its progress until it has a rank."))
        if wait:
            place = follow_to_rank(client, ladder, bot, printed=printed, quiet=as_json)
            if as_json:
                print_json(place)
            else:
                print_rank(client, url, ladder, bot)
        elif as_json:
            print_json(entry)


def _is_ladder(client: Client, slug: str) -> bool:
    """Return whether a ladder has this slug."""
    return any(each["slug"] == slug for each in client.pages(calls.ladders()))


def _ladders_of_its_games(client: Client, bot: str) -> str:
    """Return the commands that enter a bot on further ladders of its games; empty without one."""
    number = client.send(calls.bot(bot))["version"]
    if number is None:
        return ""
    try:
        checked = client.send(calls.version_log(bot, number))["qualifying"]
    except ProblemError:  # for example, a token of another owner
        return ""
    played = {match["game"] for match in checked if match["passed"]}
    entered = {place["ladder"] for place in ladder_places(client, bot)}
    commands = [
        f"`twelfth-night enter {each['slug']} {bot}`"
        for each in client.send(calls.ladders())["results"]
        if each["game"] in played and each["slug"] not in entered
    ]
    return f"It can play on another ladder: {' or '.join(commands)}." if commands else ""
