"""Records for commands: of a match at the league, or of a line in a file."""

from pathlib import Path

from bots_sdk import calls
from bots_sdk.commands.errors import ImpossibleError
from bots_sdk.commands.leagues import chosen_league, client_for
from engine.errors import RecordError, quote
from engine.games.titles import counted
from engine.record import Record, read, read_lines

_MAX_DIGITS = 18
"""The most digits of a match's number; Python reads no text of several thousand digits."""


def match_number(word: str) -> int | None:
    """Return a word as the number of a match; None if it is another word, such as a file's name.

    Raises:
        ImpossibleError: the number is 0, or too large for a match.
    """
    if not word.isdecimal():
        return None
    if len(word) > _MAX_DIGITS:
        raise ImpossibleError(
            f"{quote(word, 20)} is too large for the number of a match: it has {len(word)} digits."
        )
    if not int(word):
        raise ImpossibleError(f"{word} is not the number of a match; they begin at 1.")
    return int(word)


def of_league(number: int) -> Record:
    """Return the record of a match at the league.

    Raises:
        ImpossibleError: the league returns something else.
    """
    with client_for(chosen_league()[0]) as client:
        return _read(client.send(calls.record(number)), f"the record of match {number}")


def of_file(name: str, wanted: int) -> Record:
    """Return the record in a line of a file.

    Args:
        name: the path of the file.
        wanted: the number of the line, from 1.

    Raises:
        ImpossibleError: there is no such file or line, or the line is not a record.
    """
    try:
        with Path(name).open("rb") as file:
            count = 0
            for count, line in read_lines(file):
                if count == wanted:
                    return _read(line, f"line {wanted} of {quote(name, 200)}")
    except OSError as error:
        raise ImpossibleError(
            f"Can't read {quote(name, 200)}: {error.strerror}. Give a file of records, or the "
            "number of a match."
        ) from None
    if not count:
        raise ImpossibleError(f"{quote(name, 200)} is empty. Give a file with a record.")
    raise ImpossibleError(
        f"{quote(name, 200)} has {counted(count, 'line')}, so no line {wanted}. Choose another "
        "--line."
    )


def names_of(record: Record) -> tuple[str, ...]:
    """Return the names of the players by seat; "seat 0" and so on if the record has none.

    A name may be any text. Characters that a terminal may take for a command are replaced.
    """
    if record.players is None:
        return tuple(f"seat {seat}" for seat in range(record.seats))
    return tuple(
        "".join(letter if letter.isprintable() else "\ufffd" for letter in name)
        for name in record.players
    )


def _read(line: bytes, name: str) -> Record:
    try:
        return read(line)
    except RecordError as error:
        raise ImpossibleError(
            f"There is no record in {name}: {error}. A record is one JSON object on one line. You "
            "can download it from the league's page of a match."
        ) from None
