"""``upload`` and ``logs``: a hosted bot's versions, and what became of them."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from bots_sdk import calls
from bots_sdk.client import Client
from bots_sdk.commands.leagues import client_for, owner_token, save_bot
from bots_sdk.commands.shared import REFUSED, ImpossibleError, Json, print_json
from bots_sdk.errors import ProblemError

CHECKED_WITHIN = 120.0
"""Seconds; what takes longer waits for a worker."""
_ASK_EVERY = 0.5
_MATCHES = 50


def upload(
    file: Annotated[Path, typer.Argument(help="A .py file, or a .zip with a bot.py.")],
    bot: Annotated[
        str, typer.Option("--bot", help="Its name; the file's, if left out.", show_default=False)
    ] = "",
    note: Annotated[str, typer.Option(help="About this version.", show_default=False)] = "",
    held: Annotated[
        bool, typer.Option("--held", help="Don't have it take over when it is ready.")
    ] = False,
    wait: Annotated[bool, typer.Option(help="Wait until it is checked.")] = True,
    as_json: Json = False,
) -> None:
    """Upload a version of a hosted bot; the league checks it and runs it.

    A bot that there is not yet is made. Exit status 1: the version was refused.
    """
    try:
        source = file.read_bytes()
    except OSError as error:
        raise ImpossibleError(f"{file} can't be read: {error.strerror}.") from None
    name = bot or file.stem.replace("_", "-").lower()
    url, token = owner_token()
    with client_for(url, token) as client:
        made = _find_or_make(client, url, name)
        if made and not as_json:
            print(f"{name} is a hosted bot now: {url}/bots/{name}/")
        version: Any = client.send(calls.upload(name, file.name, source, note, held=held))
        if wait:
            version = _checked(client, name, version["number"], quiet=as_json)
    if as_json:
        print_json(version)
    else:
        _tell(url, version)
    if version["state"] == "refused":
        raise typer.Exit(REFUSED)


def logs(
    name: Annotated[str, typer.Argument(help="A bot of yours.")],
    number: Annotated[
        int | None, typer.Option("--version", min=1, help="How this version was checked.")
    ] = None,
    match: Annotated[int | None, typer.Option(min=1, help="A match.", metavar="ID")] = None,
    tests: Annotated[
        Path | None, typer.Option(help="A directory: write a test there for every fault.")
    ] = None,
    as_json: Json = False,
) -> None:
    """See what a bot printed and why it had faults: in a check, a match, or its last matches."""
    url, token = owner_token()
    with client_for(url, token) as client:
        if number is not None:
            checked: Any = client.send(calls.version_log(name, number))
            if as_json:
                print_json(checked)
            else:
                _tell(url, checked)
                _show_qualifying(checked)
            return
        numbers = [match] if match is not None else _matches_with_faults(client, name)
        reports = [
            {"match": each, **seat}
            for each in numbers
            for seat in client.send(calls.match_log(each))["results"]
            if seat["bot"] == name
        ]
    if match is not None and not reports:
        raise ImpossibleError(f"{name} has no seat in match {match}.")
    written = _write_tests(reports, tests) if tests is not None else []
    if as_json:
        print_json(reports)
        return
    if not reports:
        print(f"No fault in the last {_MATCHES} finished matches of {name}; --match ID shows one.")
    for report in reports:
        _tell_report(url, report)
    for path in written:
        print(f"Written: {path}")


def _find_or_make(client: Client, url: str, name: str) -> bool:
    """Return whether a bot had to be made."""
    try:
        found = client.send(calls.bot(name))
    except ProblemError as error:
        if error.code != "not-found":
            raise
        save_bot(url, name, client.send(calls.create_bot(name, "hosted"))["token"])
        return True
    if found["kind"] != "hosted":
        raise ImpossibleError(
            f"{name} is a {found['kind']} bot, which is not uploaded; --bot names another."
        )
    return False


def _checked(client: Client, name: str, number: int, *, quiet: bool) -> Any:
    """Return a version once it is checked, with how it was, or as it is after a while."""
    until = time.monotonic() + CHECKED_WITHIN
    with Console(stderr=True, quiet=quiet).status(f"Version {number} is being checked"):
        while True:
            version = client.send(calls.version(name, number))
            if version["state"] != "checking" or time.monotonic() > until:
                break
            time.sleep(_ASK_EVERY)
    return client.send(calls.version_log(name, number))


def _tell(url: str, version: Any) -> None:
    name, number, state = version["bot"], version["number"], version["state"]
    if state == "ready":
        print(f"Version {number} of {name} is ready: {url}/bots/{name}/")
    elif state == "refused":
        print(f"Version {number} of {name} is refused: {version['reason']}")
        print(f"`twelfth-night logs {name} --version {number}` shows what it printed.")
    else:
        print(f"Version {number} of {name} waits to be checked: `twelfth-night logs {name}", end="")
        print(f" --version {number}` says how that went.")


def _show_qualifying(version: Any) -> None:
    for match in version["qualifying"]:
        print(f"\n{match['game']}: {'passed' if match['passed'] else match['reason']}")
        if match["printed"]:
            print(_indented(match["printed"]))


def _matches_with_faults(client: Client, name: str) -> list[int]:
    found = client.send(calls.matches(bot=name, status="finished", limit=_MATCHES))["results"]
    return [
        match["id"]
        for match in reversed(found)
        if any(seat["bot"] == name and seat["faults"] for seat in match["seating"])
    ]


def _tell_report(url: str, report: Any) -> None:
    print(
        f"\nMatch {report['match']}, seat {report['seat']}, version {report['version']}: ", end=""
    )
    print(f"{url}/matches/{report['match']}/")
    for fault in report["faults"]:
        print(f"  move {fault['ply']}, {fault['kind']}: {fault['reason']}")
    if not report["faults"]:
        print("  no fault")
    if report["printed"]:
        print("  It printed:")
        print(_indented(report["printed"], 4))


def _write_tests(reports: list[Any], directory: Path) -> list[Path]:
    """Write the tests of faults; return where."""
    written = []
    directory.mkdir(parents=True, exist_ok=True)
    for report in reports:
        for fault in report["faults"]:
            if fault["test"]:
                path = directory / f"test_match_{report['match']}_ply_{fault['ply']}.py"
                path.write_text(fault["test"])
                written.append(path)
    return written


def _indented(text: str, by: int = 2) -> str:
    return "\n".join(" " * by + line for line in text.rstrip("\n").split("\n"))
