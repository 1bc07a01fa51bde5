"""``match``: a match of a league, with the reasons of its results."""

from typing import Annotated

import typer

from bots_sdk import calls
from bots_sdk.arena.replay import outcomes
from bots_sdk.commands.leagues import chosen_league, client_for
from bots_sdk.commands.output import Json, add_row, new_table, print_json, print_table
from bots_sdk.invoking import typed
from engine.errors import RecordError
from engine.record import read, verify


def match(
    number: Annotated[int, typer.Argument(min=1, help="The match's number.", metavar="MATCH")],
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
        faults = f"{seat['faults']}, forfeited" if seat["forfeited"] else seat["faults"]
        add_row(table, *(seat.get(column) for column in columns[:-1]), faults)
    print_table(table)
    print(f"{url}/matches/{number}/")


def _print_outcomes(line: bytes, number: int) -> None:
    """Print the result of each day, trick, round and gift from a record."""
    try:
        record = read(line)
        verify(record)
    except RecordError:
        print(typed(f"The record is not valid. `twelfth-night verify {number}` shows the reason."))
        return
    for outcome in outcomes(record):
        print(outcome)
