"""The league of a command, and your saved tokens for it."""

import os
import re
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import typer

from bots_sdk.client import Client, Retry
from bots_sdk.commands.errors import ImpossibleError, NoTokenError
from bots_sdk.connection import check_url
from bots_sdk.nearby import USUAL, is_here, running_league
from bots_sdk.saved import Saved, SavedError, SavedLeague
from engine.errors import listed

SHORT = Retry(seconds=3.0)
"""How long commands retry if a league does not answer."""
_AT_HOME = replace(SHORT, connecting=False)
"""The same for a league on this machine: if it refuses connections, it is not running."""

_TOKEN = re.compile(r"[\w-]+", re.ASCII)


class _NoLeagueError(ImpossibleError):
    """No league is set or saved."""

    def __init__(self, remedy: str) -> None:
        super().__init__(f"You are not logged in to a league. {remedy}")


def read_saved() -> Saved:
    """Return the saved leagues.

    Raises:
        SavedError: the file can't be read.
    """
    return Saved.read(_saved_path())


def change_saved() -> AbstractContextManager[Saved]:
    """Return a context that reads the saved leagues for changes, and writes them at its end.

    Raises:
        SavedError: the file can't be read or written.
    """
    return Saved.changing(_saved_path())


def _saved_path() -> Path:
    return Path(typer.get_app_dir("twelfth-night")) / "leagues.json"


def chosen_league() -> tuple[str, SavedLeague]:
    """Return the address of the league, and its saved entry.

    Raises:
        ImpossibleError: no league is set or saved.
    """
    saved = read_saved()
    url = os.environ.get("TWELFTH_NIGHT_URL", "") or saved.url
    if not url:
        running = running_league()
        where = f"A league runs here: `twelfth-night login {running} --sign-up`"
        if not running:
            where = f"Log in to one, for example `twelfth-night login {USUAL} --sign-up`"
        raise _NoLeagueError(f"{where}. If you have an account there, leave out --sign-up.")
    try:
        url = check_url(url)
    except ValueError as error:
        raise ImpossibleError(f"{error}.") from None
    return url, saved.leagues.get(url, SavedLeague())


def is_logged_in(url: str) -> bool:
    """Return whether an owner token is saved for a league, and commands call this league."""
    try:
        saved = read_saved()
    except SavedError:
        return False
    return saved.url == url and bool(saved.leagues.get(url, SavedLeague()).token)


def league_to_join() -> str:
    """Return the address of the league to log in to, for a command that calls no league itself.

    It is the first that is known: TWELFTH_NIGHT_URL, the league that runs in this checkout, the
    league of your last login, and the usual address.
    """
    try:
        saved = read_saved().url
    except SavedError:
        saved = ""
    return os.environ.get("TWELFTH_NIGHT_URL", "").rstrip("/") or running_league() or saved or USUAL


def next_commands(url: str) -> list[str]:
    """Return the two commands with which you go on at a league that has started.

    Logging in is one of them even if a token is saved: the data of the league may be new.
    """
    try:
        saved = read_saved()
    except SavedError:
        saved = Saved(Path())
    league = saved.leagues.get(url, SavedLeague())
    logging_in = f"twelfth-night login {url}"
    if not league.token:
        return [f"{logging_in} --sign-up", "twelfth-night new mybot"]
    user = f" --username {league.username}" if league.username else ""
    going_on = "twelfth-night status" if league.bots else "twelfth-night new mybot"
    return [f"{logging_in}{user}", going_on]


def environment_token() -> str:
    """Return the token that the environment sets; empty without one.

    Raises:
        ImpossibleError: it can't be a token. The message does not show it.
    """
    token = os.environ.get("TWELFTH_NIGHT_TOKEN", "").strip()
    if token and not _TOKEN.fullmatch(token):
        raise ImpossibleError(
            "The variable TWELFTH_NIGHT_TOKEN has a character that no token has. Copy the token "
            "again, without spaces and quotation marks."
        )
    return token


def owner_token() -> tuple[str, str]:
    """Return the league's address and an owner token for it.

    Raises:
        NoTokenError: no league or no owner token is set or saved.
    """
    try:
        url, league = chosen_league()
    except _NoLeagueError as error:
        raise NoTokenError(str(error)) from None
    token = environment_token() or league.token
    if not token:
        raise NoTokenError(not_logged_in(url))
    return url, token


def not_logged_in(url: str) -> str:
    """Return the message for a league without a saved owner token."""
    return (
        f"You are not logged in at {url}. Run `twelfth-night login {url}`; with --sign-up it "
        f"creates the account.{saved_elsewhere(url)}"
    )


def saved_elsewhere(url: str) -> str:
    """Return for which other addresses accounts and tokens are saved; empty if for none."""
    others = [
        other
        for other, each in read_saved().leagues.items()
        if other != url and each != SavedLeague()
    ]
    if not others:
        return ""
    return (
        f" This machine has accounts and tokens for {listed(others, 3)}. If that is another "
        f"address of the same league, use it: `export TWELFTH_NIGHT_URL={others[0]}`."
    )


def save_bot(url: str, name: str, token: str) -> Path:
    """Save a bot's token for a league; return the path of the file."""
    with change_saved() as saved:
        saved.league(url).bots[name] = token
        saved.url = saved.url or url
    return saved.path


def forget_bot(url: str, name: str) -> None:
    """Remove the saved token of a bot that is deleted."""
    with change_saved() as saved:
        if url in saved.leagues:
            saved.leagues[url].bots.pop(name, None)


def rename_bot(url: str, name: str, new_name: str) -> None:
    """Keep the saved token of a bot, if there is one, under its new name."""
    with change_saved() as saved:
        if url in saved.leagues and name in (bots := saved.leagues[url].bots):
            bots[new_name] = bots.pop(name)


def client_for(url: str, token: str | None = None) -> Client:
    """Return a client that retries for a short time only.

    Raises:
        ImpossibleError: the text is not an address.
    """
    try:
        return Client(url, token, retry=_AT_HOME if is_here(url) else SHORT)
    except ValueError as error:
        raise ImpossibleError(f"{error}.") from None
