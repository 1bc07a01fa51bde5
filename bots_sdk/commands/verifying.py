"""``verify``: the checks of a finished match, and the proof of a WebAssembly bot's fuel."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bots_sdk import calls
from bots_sdk.answers import Match
from bots_sdk.client import Client
from bots_sdk.commands.errors import REFUSED, ImpossibleError
from bots_sdk.commands.leagues import chosen_league, client_for
from bots_sdk.commands.output import Json, print_json
from bots_sdk.commands.proving import Clock, Proof, clock_of, module_of, prove, seat_of
from bots_sdk.commands.records import match_number, of_file
from bots_sdk.errors import ProblemError
from bots_sdk.verifying import Check, check_match, check_record, is_replayed
from engine.record import read
from engine.referee import TimeControl

_NOT_COMPUTED = (
    "not proven: the record is not of a finished match. Download it again after the end of the "
    "match, or correct it"
)


def verify(
    what: Annotated[
        str,
        typer.Argument(
            metavar="MATCH or FILE",
            help="The number of a match at the league; with --module also a file of records.",
            show_default=False,
        ),
    ],
    commitment: Annotated[
        str,
        typer.Option(
            help="The commitment that you noted before the match, 64 hex digits.",
            show_default=False,
        ),
    ] = "",
    module: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.wasm",
            help="The WebAssembly bot that played. Computes the fuel of its moves again.",
            show_default=False,
        ),
    ] = None,
    seat: Annotated[
        int | None,
        typer.Option(
            help="With --module: the bot's seat; default: the seat with the file's name.",
            show_default=False,
        ),
    ] = None,
    clock: Annotated[
        str,
        typer.Option(
            metavar="MOVE+BANK",
            help="With --module and a file: the clock of the match, which a record does not have. "
            "Give the seconds of a move and of the bank, such as 1+30. Default: 1+30, as on most "
            "ladders and in `try`.",
            show_default=False,
        ),
    ] = "",
    line: Annotated[
        int | None,
        typer.Option(
            min=1, help="The line of the record in the file; default: 1.", show_default=False
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Replay a finished match, and verify its deal, its moves and its scores.

    The commitment is the SHA-256 of the deal seed. The league published it before the first move.
    If you noted it then, give it with --commitment. Otherwise the command uses the
    commitment that the league shows now.

    With --module, the command also lets a WebAssembly bot choose its moves again. The bot must make
    the same moves and the same faults. The clock of such a bot counts its instructions (fuel), so
    this proves that each timeout in the record really happened.

    To verify all records in a file, use `python -m engine verify FILE`.

    Exit status 1: a check failed.
    """
    number = match_number(what) or 0
    is_match = number > 0
    _check_options(what, is_match=is_match, module=module, seat=seat, clock=clock, line=line)
    bot = module_of(module) if module else None
    used_clock = clock_of(clock)
    match: Match | None = None
    table = "unknown"
    if is_match:
        with client_for(chosen_league()[0]) as client:
            data = client.send(calls.record(number))
            match = client.send(calls.match(number))
            checks = check_match(data, match, commitment.lower(), partial(_name_now, client))
            if bot:
                table = _table(client, match)
        record = read(data) if is_replayed(checks) else None
    else:
        record = of_file(what, line or 1)
        checks = check_record(record, commitment.lower())
    proof: Proof | None = None
    if bot and record and is_replayed(checks):
        if match:
            control = TimeControl(float(match["move_seconds"]), float(match["bank_seconds"]))
            used_clock = Clock(control, "match")
        proven = seat_of(record, bot.path, seat)
        proof = prove(record, proven, bot, used_clock, table=table, quiet=as_json)
        checks.append(proof.check(bot.path, _version(match, proof.seat)))
    elif bot:
        checks.append(Check("fuel", False, _NOT_COMPUTED))
    holds = all(check.holds for check in checks)
    if as_json:
        which = {"match": number} if is_match else {"file": what, "line": line or 1}
        fuel = {"fuel": proof and proof.as_json()} if bot else {}
        found_checks = [check._asdict() for check in checks]
        print_json({**which, "holds": holds, "checks": found_checks, **fuel})
    else:
        for check in checks:
            if proof and check is checks[-1]:
                proof.show()
            print(f"{'ok  ' if check.holds else 'FAIL'} {check.subject}: {check.detail}")
    if not holds:
        raise typer.Exit(REFUSED)


def _check_options(
    what: str,
    *,
    is_match: bool,
    module: Path | None,
    seat: int | None,
    clock: str,
    line: int | None,
) -> None:
    """Refuse options that would have no effect.

    Raises:
        ImpossibleError: there is one, or a file is given without a module.
    """
    if not module and (seat is not None or clock):
        option = "--clock" if seat is None else "--seat"
        raise ImpossibleError(f"{option} needs --module with the .wasm file of the bot.")
    if is_match and clock:
        raise ImpossibleError(
            f"The league has set the clock of match {what}: leave out --clock {clock}."
        )
    if is_match and line is not None:
        raise ImpossibleError(f"{what} is a match of the league: leave out --line {line}.")
    if not is_match and not module:
        raise ImpossibleError(
            f"{what} is not the number of a match. To verify the records in a file, use `python -m "
            "engine verify FILE`. To prove the fuel of a WebAssembly bot, add --module BOT.wasm."
        )


def _name_now(client: Client, name: str) -> str:
    """Return the current name of a bot; the same name if the league has no such bot."""
    try:
        return client.send(calls.bot(name))["name"]
    except ProblemError:
        return name


def _table(client: Client, match: Match) -> str:
    """Return whether remote bots or people were at a table: ``live``, ``hosted`` or ``unknown``."""
    kinds: set[str] = set()
    for name in {each["bot"] for each in match["seating"]}:
        try:
            kinds.add(client.send(calls.bot(name))["kind"] if name else "player")
        except ProblemError:
            kinds.add("unknown")
    if kinds & {"remote", "player"}:
        return "live"
    return "unknown" if "unknown" in kinds else "hosted"


def _version(match: Match | None, seat: int) -> int | None:
    """Return the version of the bot that played in a seat; None if it is unknown."""
    seating = match["seating"] if match else []
    return next((each["version"] for each in seating if each["seat"] == seat), None)
