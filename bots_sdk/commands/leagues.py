"""Which league a command means, and the tokens for it that are saved here."""

import os
from pathlib import Path

import typer

from bots_sdk.client import Client, Retry
from bots_sdk.commands.shared import ImpossibleError, NoTokenError
from bots_sdk.saved import Saved, SavedLeague

A_MOMENT = Retry(seconds=3.0)
"""How long commands wait for a league that does not answer."""
LOCAL = "http://127.0.0.1:8000"


def read_saved() -> Saved:
    """Return what is saved on this machine.

    Raises:
        SavedError: the file can't be read.
    """
    return Saved.read(Path(typer.get_app_dir("twelfth-night")) / "leagues.json")


def chosen_league() -> tuple[str, SavedLeague]:
    """Return the address of the league that is meant, and what is saved for it.

    Raises:
        ImpossibleError: none is named or saved.
    """
    saved = read_saved()
    url = os.environ.get("TWELFTH_NIGHT_URL", "") or saved.url
    if not url:
        raise ImpossibleError(
            f"Which league? `twelfth-night login {LOCAL}` saves one; or set TWELFTH_NIGHT_URL."
        )
    with client_for(url) as client:
        return client.url, saved.leagues.get(client.url, SavedLeague())


def owner_token() -> tuple[str, str]:
    """Return the league's address and an owner token for it.

    Raises:
        ImpossibleError: no league is named or saved.
        NoTokenError: nobody has logged in there.
    """
    url, league = chosen_league()
    token = os.environ.get("TWELFTH_NIGHT_TOKEN") or league.token
    if not token:
        raise NoTokenError(f"Not logged in at {url}; `twelfth-night login {url}` does it.")
    return url, token


def save_bot(url: str, name: str, token: str) -> Path:
    """Save a bot's token for a league; return in which file."""
    saved = read_saved()
    saved.league(url).bots[name] = token
    saved.url = saved.url or url
    saved.write()
    return saved.path


def client_for(url: str, token: str | None = None) -> Client:
    """Return a client that gives up on a league after a moment.

    Raises:
        ImpossibleError: this is no address.
    """
    try:
        return Client(url, token, retry=A_MOMENT)
    except ValueError as error:
        raise ImpossibleError(f"{error}.") from None
