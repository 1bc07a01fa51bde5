"""``login`` and ``bot``: your account at a league, and your bots there."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from bots_sdk import calls
from bots_sdk.commands.errors import ImpossibleError
from bots_sdk.commands.leagues import (
    change_saved,
    chosen_league,
    client_for,
    owner_token,
    read_saved,
    save_bot,
)
from bots_sdk.commands.output import Json, JsonWithToken, print_json
from bots_sdk.invoking import typed
from bots_sdk.nearby import USUAL, usual_url
from bots_sdk.saved import SavedError

PrintToken = Annotated[
    bool,
    typer.Option(
        "--print-token",
        help="Print only the bot's token, for a program in another language.",
    ),
]


def login(
    url: Annotated[
        str,
        typer.Argument(
            help="The league's address. Default: the first of these that is set: "
            "TWELFTH_NIGHT_URL, the league of your last login, the league that `make up` runs "
            f"here, and {USUAL}.",
            show_default=False,
        ),
    ] = "",
    username: Annotated[
        str, typer.Option(help="Your username; default: a prompt.", show_default=False)
    ] = "",
    sign_up: Annotated[bool, typer.Option("--sign-up", help="Create the account first.")] = False,
    with_token: Annotated[
        bool,
        typer.Option(
            "--with-token",
            help="Read an owner token from standard input, in place of a username and a password.",
        ),
    ] = False,
    password_stdin: Annotated[
        bool,
        typer.Option("--password-stdin", help="Read the password from standard input."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Log in to a league: save its address and an owner token, which manages your bots there.

    In a terminal, the command prompts for the username and the password. Without a terminal, name
    yourself with --username. Give the password with --password-stdin or in the variable
    TWELFTH_NIGHT_PASSWORD.
    """
    if with_token and (password_stdin or username or sign_up):
        raise ImpossibleError(
            "--with-token needs no username and no password: leave out --username, --sign-up and "
            "--password-stdin."
        )
    url = url or os.environ.get("TWELFTH_NIGHT_URL", "") or read_saved().url or usual_url()
    if with_token:
        if sys.stdin.isatty():
            token = _prompt("owner token", "Use --with-token", hide_input=True).strip()
        else:
            token = _line_of_stdin("owner token", "--with-token").strip()
        with client_for(url, token) as client:
            url = client.url
            client.send(calls.ladders(limit=1))  # refused if the token does not work
    else:
        with client_for(url) as client:
            url = client.url
            client.send(calls.ladders(limit=1))  # checks the address before the prompts
            username = username or _prompt("username", "Use --username NAME")
            if password_stdin:
                password = _line_of_stdin("password", "--password-stdin")
            else:
                password = os.environ.get("TWELFTH_NIGHT_PASSWORD") or _prompt(
                    "password",
                    "Use --password-stdin, or set the variable TWELFTH_NIGHT_PASSWORD",
                    hide_input=True,
                    confirmation_prompt="Repeat the password" if sign_up else False,
                )
            enter = calls.create_account if sign_up else calls.create_token
            token = client.send(enter(username, password))["token"]
    with change_saved() as saved:
        league = saved.league(url)
        league.username, league.token = username or league.username, token
        saved.url = url
    if as_json:
        print_json({"url": url, "username": league.username, "saved": str(saved.path)})
    else:
        print(f"Logged in at {url}; the owner token is saved in {saved.path}.")


def password(
    revoke_tokens: Annotated[
        bool, typer.Option("--revoke-tokens", help="Revoke your owner tokens too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Change your password at the league.

    The command prompts for the old and the new password. If the variables TWELFTH_NIGHT_PASSWORD
    and TWELFTH_NIGHT_NEW_PASSWORD are set, it takes the passwords from them. It signs you out in
    all browsers.
    """
    url, league = chosen_league()
    username = league.username or _prompt("username", "Use `twelfth-night login --username`")
    old = os.environ.get("TWELFTH_NIGHT_PASSWORD") or _prompt(
        "password", "Set the variable TWELFTH_NIGHT_PASSWORD", hide_input=True
    )
    new = os.environ.get("TWELFTH_NIGHT_NEW_PASSWORD") or _prompt(
        "new password",
        "Set the variable TWELFTH_NIGHT_NEW_PASSWORD",
        hide_input=True,
        confirmation_prompt="Repeat the new password",
    )
    with client_for(url) as client:
        client.send(calls.change_password(username, old, new, revoke_tokens=revoke_tokens))
    if as_json:
        print_json({"url": url, "username": username, "tokens_revoked": revoke_tokens})
        return
    print(f"The password of {username} at {url} is changed.")
    if revoke_tokens:
        print(
            typed(
                f"Your owner tokens are revoked. Run `twelfth-night login {url}` to get a new one."
            )
        )


def bot_create(
    name: Annotated[
        str, typer.Argument(help="The bot's name: 3 to 32 characters, a-z, 0-9 and -.")
    ],
    kind: Annotated[
        Literal["remote", "hosted"],
        typer.Option(help="remote: runs on your machine; hosted: runs at the league."),
    ] = "remote",
    print_token: PrintToken = False,
    as_json: JsonWithToken = False,
) -> None:
    """Create a bot at the league, and save its token, the secret with which the bot plays."""
    url, token = owner_token()
    with client_for(url, token) as client:
        bot = client.send(calls.create_bot(name, kind))
    path = _save_bot(url, name, bot["token"], is_printed=print_token or as_json)
    if print_token:
        print(bot["token"])
    elif as_json:
        print_json(bot)
    else:
        print(f"Created the {kind} bot {name}: {url}/bots/{name}/")
        print(typed(f"Its token is saved in {path}; `twelfth-night run` finds it there."))


def bot_token(
    name: Annotated[str, typer.Argument(help="One of your bots.")],
    print_token: PrintToken = False,
    as_json: JsonWithToken = False,
) -> None:
    """Get a new token for a bot, and save it; the old token stops working."""
    url, token = owner_token()
    with client_for(url, token) as client:
        fresh = client.send(calls.new_bot_token(name))
    path = _save_bot(url, name, fresh["token"], is_printed=print_token or as_json)
    old = "The old token no longer works. Start the bot's programs again with the new one."
    if print_token:
        # Standard output has the token alone, for scripts.
        print(f"{name} has a new token. {old}", file=sys.stderr)
        print(fresh["token"])
    elif as_json:
        print_json({"name": name, **fresh})
    else:
        print(f"{name} has a new token, saved in {path}. {old}")


def _save_bot(url: str, name: str, token: str, *, is_printed: bool) -> Path | None:
    """Save a bot's token; return the path of the file, or None if it can't be written.

    The league shows a token once, so a token that is printed must be printed in any case.

    Raises:
        ImpossibleError: the file can't be written, and nothing prints the token.
    """
    try:
        return save_bot(url, name, token)
    except SavedError as error:
        if not is_printed:
            raise ImpossibleError(
                f"The league made a new token for {name}, but this command could not save it. "
                f"{error} The old token no longer works. To print another new one, run "
                f"`twelfth-night bot token {name} --print-token`."
            ) from None
        print(f"Note: the token is not saved: {error}", file=sys.stderr)
        return None


def bot_pause(
    name: Annotated[str, typer.Argument(help="One of your bots.")], as_json: Json = False
) -> None:
    """Pause a bot: it gets no new matches until you resume it."""
    _set_paused(name, paused=True, as_json=as_json)


def bot_resume(
    name: Annotated[str, typer.Argument(help="One of your bots.")], as_json: Json = False
) -> None:
    """Resume a paused bot: it gets new matches again."""
    _set_paused(name, paused=False, as_json=as_json)


def _set_paused(name: str, *, paused: bool, as_json: bool) -> None:
    url, token = owner_token()
    with client_for(url, token) as client:
        bot = client.send(calls.change_bot(name, paused=paused))
    if as_json:
        print_json(bot)
    elif paused:
        print(typed(f"{name} is paused. `twelfth-night bot resume {name}` resumes it."))
    else:
        print(f"{name} plays again: {url}/bots/{name}/")


def _prompt(name: str, remedy: str, **options: Any) -> str:
    """Return an answer typed at the terminal.

    Args:
        name: the name of the value.
        remedy: what to do to give the value without a prompt, as a sentence.
        options: options of `typer.prompt`.

    Raises:
        ImpossibleError: standard input is not a terminal. A prompt would wait for ever, or ask at
            a terminal where nobody sits.
    """
    if not sys.stdin.isatty():
        raise ImpossibleError(
            f"The {name} is missing. Without a terminal, the command can't prompt for it. {remedy}."
        )
    answer: str = typer.prompt(name.capitalize(), err=True, **options)
    return answer


def _line_of_stdin(name: str, option: str) -> str:
    """Return the first line of standard input without its end.

    Raises:
        ImpossibleError: standard input has no such line.
    """
    line = sys.stdin.readline().rstrip("\r\n")
    if not line:
        raise ImpossibleError(
            f"Standard input has no {name}. Write it there, for example "
            f"`twelfth-night login {option} < FILE`."
        )
    return line
