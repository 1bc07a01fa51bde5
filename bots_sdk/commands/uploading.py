"""``upload``: upload versions of a hosted bot, and read their checks."""

import shlex
import sys
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from bots_sdk import calls
from bots_sdk.bot_files import compiled, read_file
from bots_sdk.call import Call, read_nothing, url_path
from bots_sdk.client import Client
from bots_sdk.commands.errors import REFUSED, ImpossibleError
from bots_sdk.commands.leagues import client_for, forget_bot, owner_token, read_saved, save_bot
from bots_sdk.commands.output import Json, print_json
from bots_sdk.commands.ranking import (
    follow_to_rank,
    ladder_places,
    print_rank,
)
from bots_sdk.commands.versions import (
    archive_remedy,
    import_remedy,
    print_qualifying_matches,
    print_version,
    version_with_name,
)
from bots_sdk.durations import about
from bots_sdk.errors import LeagueError, ProblemError
from bots_sdk.invoking import command_word, typed
from bots_sdk.refusals import SourceRefusedError
from bots_sdk.sandbox.declarations import declared_games
from bots_sdk.sandbox.sources import read_source
from bots_sdk.saved import SavedError

MAX_CHECK_SECONDS = 150.0
"""How long `upload` waits for a check; a check that takes longer waits for a worker."""
_POLL_SECONDS = 0.5
_MEASURED_BLOCKS = 20
"""After this number of blocks, a hosted bot has a rank in less than a minute on an idle league.

benchmarks/README.md has the figures, in the row of ``placement.py``.
"""


def upload(
    file: Annotated[
        Path,
        typer.Argument(
            help="A .py or .wasm file, or a zip archive with a bot.py at its top level."
        ),
    ],
    bot: Annotated[
        str,
        typer.Option("--bot", help="The bot's name; default: the file's name.", show_default=False),
    ] = "",
    note: Annotated[
        str, typer.Option(help="Your note about this version.", show_default=False)
    ] = "",
    held: Annotated[
        bool,
        typer.Option(
            "--hold",
            help="Hold the version: it does not play yet. It plays after you promote it on its "
            "page, or after a comparison (an A/B test on the bot's page) promotes it.",
        ),
    ] = False,
    again: Annotated[
        bool,
        typer.Option(
            "--again",
            help="Upload the file even if the bot's current version is the same file. The new "
            "version begins without a rank.",
        ),
    ] = False,
    wait: Annotated[
        bool | None,
        typer.Option(
            "--wait/--no-wait",
            help="--wait: wait until the bot has a rank on its ladders. --no-wait: return right "
            "after the upload. Default: wait until the check ends.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Upload a version of a hosted bot; the league checks it, then runs it.

    If the bot does not exist, the command creates it. If the league then refuses the version, the
    command deletes the new bot. A bot that existed before stays. A version that passes its check
    becomes the current version, the one that plays. With --hold it does not.

    Exit status 1: the league refused the version.
    """
    source = read_file(file)
    _refuse_early(file, source)
    name = bot or file.stem.replace("_", "-").lower()
    url, token = owner_token()
    with client_for(url, token) as client:
        created = _find_or_create(client, url, name, file)
        if created and not as_json:
            print(f"Created the hosted bot {name}: {url}/bots/{name}/")
            if read_saved().league(url).bots.keys() - {name}:
                print("If the file is a new version of another bot of yours, add --bot NAME.")
        version: Any = None
        try:
            version = _send(client, name, file, source, note, held=held, again=again)
            if not as_json:
                _print_check(version)
            if wait is not False:
                version = _wait_for_check(client, name, version["number"], quiet=as_json)
        finally:
            deleted = (
                created
                and (version is None or version["state"] == "refused")
                and _delete(client, url, name, version and version["number"])
            )
        shown = version_with_name(version, file)
        if not as_json and not deleted:
            print_version(url, shown)
            if version["state"] == "refused":
                _print_refusal(client, shown, file)
            elif version["state"] == "checking":
                log = f"`twelfth-night logs {name} --version {version['number']}`"
                print(typed(f"{log} shows the result later."))
            _print_next_step(client, url, version)
        if wait and version["state"] == "ready" and not version["held"]:
            for place in ladder_places(client, name):
                said = place["next_block"]
                follow_to_rank(client, place["ladder"], name, printed=said, quiet=as_json)
                if not as_json:
                    print_rank(client, url, place["ladder"], name)
    if as_json:
        print_json(version)
    elif deleted:
        print(f"The league refused the file: {shown['reason']}")
        print_qualifying_matches(shown)
        _print_remedy(shown, file)
        print(f"\nThe bot {name} had no other version, so this command deleted it.")
        checked = f"`twelfth-night check {shlex.quote(str(file))}`"
        remedy = f"{checked} finds most causes before you upload."
        print(f"Change the file, and try again. {typed(remedy)}")
    if version["state"] == "refused":
        raise typer.Exit(REFUSED)


def _send(
    client: Client, name: str, file: Path, source: bytes, note: str, *, held: bool, again: bool
) -> Any:
    """Upload a version; if the bot has this file already, ask first."""
    file_name = file.name.encode("utf-8", "replace").decode()  # an old name may not be UTF-8
    try:
        return client.send(calls.upload(name, file_name, source, note, held=held, again=again))
    except ProblemError as error:
        if error.code == "not-your-bot":
            error.remedy = f"Give your bot another name: {_with_other_name(file)}."
        if error.code != "same-file" or not in_terminal():
            raise
        typer.confirm(f"{error} Upload it again?", abort=True, err=True)
    return client.send(calls.upload(name, file_name, source, note, held=held, again=True))


def _with_other_name(file: Path) -> str:
    return f"`twelfth-night upload {shlex.quote(str(file))} --bot OTHER-NAME`"


def in_terminal() -> bool:
    """Return whether somebody can answer a question."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _find_or_create(client: Client, url: str, name: str, file: Path) -> bool:
    """Create a bot if it does not exist; return whether it was created."""
    try:
        found = client.send(calls.bot(name))
    except ProblemError as error:
        if error.code != "not-found":
            raise
        created = client.send(calls.create_bot(name, "hosted"))
        with suppress(SavedError):  # the league runs the bot, so an upload needs no bot token
            save_bot(url, name, created["token"])
        return True
    if found["kind"] == "house":
        raise ImpossibleError(
            f"The name {name} is taken by a house bot, a bot of the league itself. Upload the file "
            f"under another name: {_with_other_name(file)}."
        )
    if found["kind"] != "hosted":
        raise ImpossibleError(
            f"{name} is a {found['kind']} bot, but you can upload files only for hosted bots. "
            f"Upload the file under another name: {_with_other_name(file)}."
        )
    return False


def _refuse_early(file: Path, source: bytes) -> None:
    """Refuse a file by the league's own rules before any call is made.

    Raises:
        ImpossibleError: the file is too large, not safe, or declares no games of the league.
        BotFileError: the bot's Python file has a syntax error.
    """
    try:
        found = read_source(source)
        declared_games(found)
    except SourceRefusedError as error:
        raise ImpossibleError(f"The league would refuse {file}: {error}.") from None
    if not found.is_module:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled(found.main, f"{file}, bot.py" if found.files else str(file))


def _delete(client: Client, url: str, name: str, number: int | None) -> bool:
    """Delete a bot that this command created, with its saved token; return whether it is gone.

    The bot stays if another upload has added a version to it meanwhile.
    """
    try:
        uploaded = client.send(calls.versions(name, limit=2))["results"]
        if any(each["number"] != number for each in uploaded):
            return False
        client.send(Call("DELETE", url_path("bots", name), read=read_nothing))
    except LeagueError:
        return False
    forget_bot(url, name)
    return True


def _wait_for_check(client: Client, name: str, number: int, *, quiet: bool) -> Any:
    """Return a version with its check; after `MAX_CHECK_SECONDS`, as it is then."""
    until = time.monotonic() + MAX_CHECK_SECONDS
    with Console(stderr=True, quiet=quiet).status(f"The league checks version {number}"):
        while True:
            version = client.send(calls.version(name, number))
            if version["state"] != "checking" or time.monotonic() > until:
                break
            time.sleep(_POLL_SECONDS)
    return client.send(calls.version_log(name, number))


def _print_refusal(client: Client, version: Any, file: Path) -> None:
    """Print what the bot printed in its check, a remedy, and which version plays now."""
    print_qualifying_matches(version)
    _print_remedy(version, file)
    name, current = version["bot"], client.send(calls.bot(version["bot"]))["version"]
    stays = f"Version {current} still plays."
    print(f"\n{stays if current else f'{name} has no version that can play yet.'}")


def _print_remedy(version: Any, file: Path) -> None:
    reason = version["reason"]
    if remedy := import_remedy(reason, file) or archive_remedy(reason, file):
        print(typed(f"\n{remedy}"))


def _print_check(version: Any) -> None:
    """Print how long the check of a new version takes."""
    left = version.get("check_seconds_left")
    when = f" The check ends in {about(left)}." if left is not None else ""
    print(
        f"Uploaded version {version['number']}. The league checks it with one match of each of the "
        f"bot's games.{when}"
    )


def _print_next_step(client: Client, url: str, version: Any) -> None:
    """Print when a bot has a rank on its ladders; without a ladder, the commands that enter it."""
    name, number = version["bot"], version["number"]
    if version["state"] == "refused":
        return
    if version["held"]:
        if version["state"] == "ready":
            page = f"{url}/account/bots/{name}/versions/{number}/"
            print(f"This version does not play until you promote it: {page}")
        return
    places = ladder_places(client, name)
    is_checked = version["state"] == "ready"
    for place in places:
        text = place["next_block"]
        if not is_checked:
            needed = client.send(calls.ladder(place["ladder"]))["ranked_from"]
            text = f"After its check, version {number} plays {needed} blocks for a rank."
        print(f"On {place['ladder']}: {text}")
    if places:
        shown = "its progress" if is_checked else "its progress, and when it has a rank"
        print(typed(f"`twelfth-night status {name}` shows {shown}."))
        return
    ladders = client.send(calls.ladders())["results"]
    checked = version.get("qualifying", [])  # absent if the command did not wait
    passed = {match["game"] for match in checked if match["passed"]}
    open_to_it = [each for each in ladders if not checked or each["game"] in passed]
    if not open_to_it:
        return
    blocks = " or ".join(map(str, sorted({each["ranked_from"] for each in open_to_it})))
    which = "This command enters" if len(open_to_it) == 1 else "Each of these commands enters"
    after = "" if is_checked else " after the check"
    is_soon = all(each["ranked_from"] <= _MEASURED_BLOCKS for each in open_to_it)
    soon = " If no other matches wait, this takes less than a minute." if is_soon else ""
    print(
        f"To get a rating, enter {name} on a ladder (a lasting ranking){after}. It gets a rank, "
        f"its position on the ladder, after {blocks} blocks.{soon} {which} it and shows its "
        "progress:"
    )
    for each in open_to_it:
        print(f"  {command_word()} enter {each['slug']} {name} --wait")
