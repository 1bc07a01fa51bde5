"""``login`` and ``bot``: your account at a league, and your bots there."""

import os
import sys
from typing import Annotated, Any, Literal

import typer

from bots_sdk import calls
from bots_sdk.commands.errors import ImpossibleError
from bots_sdk.commands.leagues import (
    LOCAL,
    chosen_league,
    client_for,
    owner_token,
    read_saved,
    save_bot,
)
from bots_sdk.commands.output import Json, print_json


def login(
    url: Annotated[
        str,
        typer.Argument(
            help=f"The league's address; default: the last one, else {LOCAL}.", show_default=False
        ),
    ] = "",
    username: Annotated[
        str, typer.Option(help="Your username; default: a prompt.", show_default=False)
    ] = "",
    sign_up: Annotated[bool, typer.Option("--sign-up", help="Create the account first.")] = False,
    with_token: Annotated[
        bool,
        typer.Option(
            "--with-token", help="Read an owner token from standard input; no username needed."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Log in to a league: save its address and an owner token, which manages your bots there.

    The command prompts for the password, or takes it from TWELFTH_NIGHT_PASSWORD.
    """
    saved = read_saved()
    url = url or os.environ.get("TWELFTH_NIGHT_URL", "") or saved.url or LOCAL
    if with_token:
        token = sys.stdin.readline().strip()
        with client_for(url, token) as client:
            url = client.url
            client.send(calls.ladders(limit=1))  # refused if the token does not work
    else:
        with client_for(url) as client:
            url = client.url
            client.send(calls.ladders(limit=1))  # checks the address before the prompts
            username = username or _prompt("Username", "--username")
            password = os.environ.get("TWELFTH_NIGHT_PASSWORD") or _prompt(
                "Password", "TWELFTH_NIGHT_PASSWORD", hide_input=True, confirmation_prompt=sign_up
            )
            enter = calls.create_account if sign_up else calls.create_token
            token = client.send(enter(username, password))["token"]
    league = saved.league(url)
    league.username, league.token = username or league.username, token
    saved.url = url
    saved.write()
    if as_json:
        print_json({"url": url, "username": league.username, "saved": str(saved.path)})
    else:
        print(f"Logged in at {url}; saved in {saved.path}.")


def password(
    revoke_tokens: Annotated[
        bool, typer.Option("--revoke-tokens", help="Revoke your owner tokens too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Change your password at the league.

    The command prompts for both passwords, or takes them from TWELFTH_NIGHT_PASSWORD and
    TWELFTH_NIGHT_NEW_PASSWORD. Your sessions on the pages end.
    """
    url, league = chosen_league()
    username = league.username or _prompt("Username", "`twelfth-night login --username`")
    old = os.environ.get("TWELFTH_NIGHT_PASSWORD") or _prompt(
        "Password", "TWELFTH_NIGHT_PASSWORD", hide_input=True
    )
    new = os.environ.get("TWELFTH_NIGHT_NEW_PASSWORD") or _prompt(
        "New password", "TWELFTH_NIGHT_NEW_PASSWORD", hide_input=True, confirmation_prompt=True
    )
    with client_for(url) as client:
        client.send(calls.change_password(username, old, new, revoke_tokens=revoke_tokens))
    if as_json:
        print_json({"url": url, "username": username, "tokens_revoked": revoke_tokens})
        return
    print(f"The password of {username} at {url} is changed.")
    if revoke_tokens:
        print(f"Your owner tokens are revoked. Run `twelfth-night login {url}` to get a new one.")


def bot_create(
    name: Annotated[
        str, typer.Argument(help="The bot's name: 3 to 32 characters, a-z, 0-9 and -.")
    ],
    kind: Annotated[
        Literal["remote", "hosted"],
        typer.Option(help="remote: runs on your machine; hosted: runs at the league."),
    ] = "remote",
    as_json: Json = False,
) -> None:
    """Create a bot at the league, and save its token."""
    url, token = owner_token()
    with client_for(url, token) as client:
        bot = client.send(calls.create_bot(name, kind))
    path = save_bot(url, name, bot["token"])
    if as_json:
        print_json(bot)
    else:
        print(f"Created the {kind} bot {name}: {url}/bots/{name}/")
        print(f"Its token is saved in {path}.")


def bot_token(
    name: Annotated[str, typer.Argument(help="One of your bots.")], as_json: Json = False
) -> None:
    """Get a new token for a bot, and save it; the old token stops working."""
    url, token = owner_token()
    with client_for(url, token) as client:
        fresh = client.send(calls.new_bot_token(name))
    path = save_bot(url, name, fresh["token"])
    if as_json:
        print_json({"name": name, **fresh})
    else:
        print(f"{name} has a new token, saved in {path}.")


def _prompt(name: str, source: str, **options: Any) -> str:
    """Return an answer typed at the terminal.

    Args:
        name: the name of the value.
        source: the option or variable that gives the value without a prompt.
        options: options of `typer.prompt`.

    Raises:
        ImpossibleError: there is no terminal, and standard input has no answer.
    """
    try:
        answer: str = typer.prompt(name, err=True, **options)
    except typer.Abort:
        if sys.stdin.isatty():
            raise
        raise ImpossibleError(
            f"No {name.lower()} is given, and there is no terminal to ask for it. Use {source}."
        ) from None
    return answer
