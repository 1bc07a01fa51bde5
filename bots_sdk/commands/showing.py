"""``match`` and ``verify``: a match of a league with the reasons of its results, and its checks."""

from typing import Annotated

import typer

from bots_sdk import calls
from bots_sdk.arena.replay import outcomes
from bots_sdk.commands.errors import REFUSED, ImpossibleError
from bots_sdk.commands.leagues import chosen_league, client_for
from bots_sdk.commands.output import Json, add_row, new_table, print_json, print_table
from bots_sdk.invoking import typed
from bots_sdk.verifying import check_match
from engine.errors import RecordError
from engine.record import read
from engine.record import verify as verify_record


def match(
    number: Annotated[int, typer.Argument(min=1, help="The match's number.", metavar="ID")],
    as_json: Json = False,
) -> None:
    """Show a match: its bots with places and scores, and why each day or trick was won.

    A match of twelve-days has days, a match of partridge has tricks. The reasons appear when the
    league has published the match's record: its deal and moves.
    """
    url = chosen_league()[0]
    with client_for(url) as client:
        found = client.send(calls.match(number))
        is_public = found["deal_seed"] is not None
        line = client.send(calls.record(number)) if is_public and not as_json else b""
    if as_json:
        print_json(found)
        return
    what = "unrated" if found["ladder"] is None else f"rated on {found['ladder']}"
    print(f"Match {number}: {found['game']} {found['rules']}, {what}, {found['status']}")
    if line:
        _print_outcomes(line, number)
    columns = ("seat", "bot", "version", "place", "score", "faults")
    table = new_table(*columns)
    for seat in found["seating"]:
        add_row(table, *(seat.get(column) for column in columns))
    print_table(table)
    print(f"{url}/matches/{number}/")


def _print_outcomes(line: bytes, number: int) -> None:
    """Print the result of each day, trick, round and gift from a record."""
    try:
        record = read(line)
        verify_record(record)
    except RecordError:
        print(typed(f"The record is not valid. `twelfth-night verify {number}` shows the reason."))
        return
    for outcome in outcomes(record):
        print(outcome)


def verify(
    match_id: Annotated[str, typer.Argument(help="The match's number.", metavar="ID")],
    commitment: Annotated[
        str,
        typer.Option(
            help="The commitment that you noted before the match, 64 hex digits.",
            show_default=False,
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Replay a finished match, and verify its commitment, deal, moves and scores.

    The commitment is the SHA-256 of the deal seed. The league published it before the first move.
    If you noted it then, give it with --commitment. Otherwise the command uses the
    commitment that the league shows now.

    To verify records in a file, use `python -m engine verify FILE`.

    Exit status 1: a check failed.
    """
    number = _match_number(match_id)
    url = chosen_league()[0]
    with client_for(url) as client:
        line = client.send(calls.record(number))
        found = client.send(calls.match(number))
    checks = check_match(line, found, commitment.lower())
    held = all(check.holds for check in checks)
    if as_json:
        found_checks = [check._asdict() for check in checks]
        print_json({"match": number, "holds": held, "checks": found_checks})
    else:
        for check in checks:
            print(f"{'ok  ' if check.holds else 'FAIL'} {check.subject}: {check.detail}")
    if not held:
        raise typer.Exit(REFUSED)


def _match_number(text: str) -> int:
    """Return the number of a match.

    Raises:
        ImpossibleError: the text is not a number, perhaps because it is a file.
    """
    if text.isdecimal() and int(text):
        return int(text)
    remedy = "To verify the records in a file, use `python -m engine verify FILE`."
    raise ImpossibleError(f"{text} is not the number of a match. {remedy}")
