"""``logs``: a bot's output, and the reasons of its faults."""

from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

from bots_sdk import answers, calls
from bots_sdk.client import Client
from bots_sdk.commands.errors import ImpossibleError
from bots_sdk.commands.leagues import client_for, owner_token
from bots_sdk.commands.output import Json, print_json
from bots_sdk.commands.versions import indented, print_qualifying_matches, print_version
from bots_sdk.errors import ProblemError
from bots_sdk.invoking import python_word
from engine.faults import fault_noun

_MAX_MATCHES = 50


def logs(
    name: Annotated[str, typer.Argument(help="One of your bots.")],
    number: Annotated[
        int | None,
        typer.Option("--version", min=1, help="Show the result of the check of this version."),
    ] = None,
    match: Annotated[
        int | None,
        typer.Option(
            min=1, help="Show the bot's output and faults in this match.", metavar="MATCH"
        ),
    ] = None,
    tests: Annotated[
        Path | None,
        typer.Option(help="Write a unit test for every fault to this directory."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a bot's output and the reasons of its faults.

    A fault is a move that the referee, the program that runs a match, played for the bot.

    Without --match or --version, the command shows each match with a fault among the bot's last 50
    finished matches. If no version of the bot can play, it shows the check of the newest version.
    """
    url, token = owner_token()
    with client_for(url, token) as client:
        found = client.send(calls.bot(name))  # refused if there is no such bot
        name = found["name"]  # it may have been renamed
        is_plain = number is None and match is None and tests is None and not as_json
        if is_plain and found["kind"] == "hosted":
            number = _newest_if_none_plays(client, found)
        if number is not None:
            checked: Any = client.send(calls.version_log(name, number))
            if as_json:
                print_json(checked)
            else:
                print_version(url, checked)
                print_qualifying_matches(checked)
            return
        if found["version"] is not None:
            _require_own(client, name, found["owner"], found["version"])
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
        print(
            f"{name} had no faults in its last {_MAX_MATCHES} finished matches. "
            "--match MATCH shows the output of one match."
        )
    for report in reports:
        _print_report(url, report)
    for path in written:
        print(f"Wrote {path}")
    if written:
        print(
            "Put each test into the directory of your bot's file. In the test, import that file: "
            "for mybot.py, write `import mybot as bot` instead of `import bot`. Then run the test "
            f"there: `{python_word()} {written[0].name}`"
        )


def _newest_if_none_plays(client: Client, bot: answers.Bot) -> int | None:
    """Return the number of the newest version of a bot without a current version."""
    if bot["version"] is not None:
        return None
    uploaded = client.send(calls.versions(bot["name"], limit=1))["results"]
    return uploaded[0]["number"] if uploaded else None


def _require_own(client: Client, name: str, owner: str | None, version: int) -> None:
    """Refuse a bot of somebody else: the league decides, by a call for owners alone.

    Raises:
        ImpossibleError: the bot belongs to another account or to the league.
    """
    try:
        client.send(calls.version_log(name, version))
    except ProblemError as error:
        if error.code != "not-your-bot":
            raise
        whose = f"a bot of {owner}" if owner else "a house bot, a bot of the league itself"
        raise ImpossibleError(
            f"{name} is {whose}. Only its owner may see its output and its faults."
        ) from None


def _matches_with_faults(client: Client, name: str) -> list[int]:
    found = client.send(calls.matches(bot=name, status="finished", limit=_MAX_MATCHES))["results"]
    return [
        match["id"]
        for match in reversed(found)
        if any(seat["bot"] == name and seat["faults"] for seat in match["seating"])
    ]


def _print_report(url: str, report: Any) -> None:
    print(
        f"\nMatch {report['match']}, seat {report['seat']}, version {report['version']}: ", end=""
    )
    print(f"{url}/matches/{report['match']}/")
    for line in _fault_lines(report["faults"]):
        print(f"  {line}")
    if not report["faults"]:
        print("  no faults")
    if report["printed"]:
        print(f"  Output, kept until {report['printed_until'][:10]} at the latest:")
        print(indented(report["printed"], 4))


def _fault_lines(faults: list[Any]) -> list[str]:
    """Return a line for each fault; one line for faults in a row of one kind and reason."""
    lines = []
    for (kind, reason), each in groupby(faults, lambda fault: (fault["kind"], fault["reason"])):
        plies = [fault["ply"] for fault in each]
        which = f"move {plies[0]}"
        if len(plies) > 1:
            which = f"{len(plies)} moves from {plies[0]} to {plies[-1]}"
        lines.append(f"{which}, {fault_noun(kind)}: {reason}")
    return lines


def _write_tests(reports: list[Any], directory: Path) -> list[Path]:
    """Write the tests of the faults; return the paths."""
    written = []
    directory.mkdir(parents=True, exist_ok=True)
    for report in reports:
        for fault in report["faults"]:
            if fault["test"]:
                path = directory / f"test_match_{report['match']}_ply_{fault['ply']}.py"
                path.write_text(fault["test"])
                written.append(path)
    return written
