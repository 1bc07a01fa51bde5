"""``bot rename``, ``delete``, ``note``, ``withdraw``: change your bots."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from bots_sdk import calls
from bots_sdk.commands.errors import ImpossibleError
from bots_sdk.commands.leagues import client_for, forget_bot, owner_token, rename_bot
from bots_sdk.commands.output import Json, print_json
from bots_sdk.invoking import typed
from bots_sdk.saved import SavedError

Name = Annotated[str, typer.Argument(help="One of your bots.")]
Number = Annotated[int, typer.Argument(min=1, help="The number of a version.", metavar="VERSION")]


@contextmanager
def _note_unsaved() -> Iterator[None]:
    """Go on if the saved tokens can't be changed: the league has changed the bot already."""
    try:
        yield
    except SavedError as error:
        print(
            "Note: the league has changed the bot, but the file with your tokens still has the old "
            f"entry. {error}",
            file=sys.stderr,
        )


def rename(
    name: Name,
    new_name: Annotated[str, typer.Argument(help="3 to 32 characters: a-z, 0-9 and -.")],
    as_json: Json = False,
) -> None:
    """Rename a bot. Links with its old name still work."""
    url, token = owner_token()
    with client_for(url, token) as client:
        bot = client.send(calls.change_bot(name, new_name=new_name))
    with _note_unsaved():
        rename_bot(url, name, new_name)
    if as_json:
        print_json(bot)
    else:
        print(f"{name} is called {new_name} now: {url}/bots/{new_name}/")


def delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without a prompt.")] = False,
    as_json: Json = False,
) -> None:
    """Delete a bot. You can't take this back.

    If the bot has played, its results stay, and no other bot can get its name. Otherwise the league
    removes the bot.
    """
    url, token = owner_token()
    if not yes:
        if not sys.stdin.isatty():
            raise ImpossibleError(
                f"Without a terminal you can't confirm the deletion of {name}. Use --yes."
            )
        typer.confirm(f"Delete {name} at {url}? You can't take this back", abort=True, err=True)
    with client_for(url, token) as client:
        if (called := client.send(calls.bot(name))["name"]) != name:
            raise ImpossibleError(
                f"{name} is called {called} now. To delete it: `twelfth-night bot delete {called}`."
            )
        client.send(calls.delete_bot(name))
    with _note_unsaved():
        forget_bot(url, name)
    if as_json:
        print_json({"name": name, "deleted": True})
    else:
        print(f"{name} is deleted.")


def note(
    name: Name,
    number: Number,
    text: Annotated[str, typer.Argument(help="Your note, at most 500 characters.")],
    as_json: Json = False,
) -> None:
    """Change your note about a version of a bot. Only you see it."""
    url, token = owner_token()
    with client_for(url, token) as client:
        version = client.send(calls.change_version(name, number, text))
    if as_json:
        print_json(version)
    else:
        print(f"The note about version {number} of {name} is saved.")


def withdraw(name: Name, number: Number, as_json: Json = False) -> None:
    """Withdraw a version while the league checks it. The version then never plays."""
    url, token = owner_token()
    with client_for(url, token) as client:
        version = client.send(calls.withdraw_version(name, number))
    if as_json:
        print_json(version)
    else:
        print(f"Version {number} of {name} is withdrawn.")
        print(typed(f"If you don't need the bot, delete it: `twelfth-night bot delete {name}`."))
