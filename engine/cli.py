"""The command line of the engine: ``python -m engine``.

Results go to standard output as soon as they are ready, reasons to standard error in one line
each. Exit status: 0 done, 1 a record was refused, 2 the command can't be done, 130 stopped by
Ctrl-C, 141 the reader of the output is gone.
"""

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import BinaryIO, NoReturn

from engine import bench, show
from engine.deals import derive, parse_seed, seeded_shuffle
from engine.errors import RecordError, UnknownRulesError, quote
from engine.games import catalogue
from engine.playouts import is_fast
from engine.progress import Progress
from engine.record import Record, read, read_lines, record_of, replay, verify, write

_FILE = "file of records, one per line; - for standard input"

OK, REFUSED, IMPOSSIBLE, STOPPED, UNREAD = 0, 1, 2, 130, 141

_MAX_STRANGE = 10
"""`verify` skips the rest of a file if no line up to this one resembles a record."""

Policy = Callable[[tuple[int, ...]], int]


class ImpossibleError(Exception):
    """The command can't be done; the message is the reason, in one line."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ImpossibleError(f"{message}; {self.prog} --help shows the arguments")


def main(arguments: Sequence[str]) -> int:
    """Run one command and return the exit status."""
    _open_closed_streams()
    try:
        options = _parser().parse_args(arguments)
        status: int = options.run(options)
        sys.stdout.flush()
        return status
    except (ImpossibleError, UnknownRulesError) as error:
        print(f"engine: {_one_line(str(error))}", file=sys.stderr)
        return IMPOSSIBLE
    except OSError as error:
        unread = isinstance(error, BrokenPipeError)
        if not unread:
            print(f"engine: can't write: {error.strerror}", file=sys.stderr)
        # Nothing can take the buffered output; keep the interpreter from writing it at exit.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        if unread:
            os.dup2(nowhere, sys.stderr.fileno())
        return UNREAD if unread else IMPOSSIBLE
    except KeyboardInterrupt:
        print("engine: stopped", file=sys.stderr)
        return STOPPED


def _open_closed_streams() -> None:
    """Replace each standard stream that is closed at the start by an empty one."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="ascii"))  # noqa: SIM115


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m engine",
        description="Play, check and show matches of twelve-days and partridge.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(name: str, run: Callable[[argparse.Namespace], int], text: str) -> _Parser:
        made: _Parser = commands.add_parser(name, help=text, description=text)
        made.set_defaults(run=run)
        return made

    made = command(
        "simulate",
        _simulate,
        "Play matches of simple bots, and print one record per line: the deal and all moves of a "
        "match.",
    )
    made.add_argument(
        "--game", required=True, type=_game, help=f"one of {', '.join(catalogue.GAMES)}"
    )
    made.add_argument(
        "--rules", required=True, help="name of the preset, for example calliope or eagle"
    )
    made.add_argument("--seats", required=True, type=_count, help="number of seats")
    made.add_argument("--matches", required=True, type=_count, help="number of matches")
    made.add_argument("--seed", required=True, type=_seed, help="64 hex digits")
    made.add_argument(
        "--policy",
        choices=("random", "first", "last"),
        default="random",
        help="which legal move every seat plays; the seed decides the random moves "
        "(default: random)",
    )

    made = command("verify", _verify, "Replay records and check every move, fault and score.")
    made.add_argument("files", nargs="+", metavar="FILE", help=_FILE)

    made = command("observe", _observe, "Print the observation of a seat before a move, as JSON.")
    made.add_argument("file", metavar="FILE", help=_FILE)
    made.add_argument(
        "--line", default=1, type=_count, help="line of the record, from 1 (default: 1)"
    )
    made.add_argument(
        "--ply",
        required=True,
        type=_count,
        help="number of the move, from 0. To see the end of the match, give the total number of "
        "moves.",
    )
    made.add_argument("--seat", required=True, type=_count, help="seat, from 0")

    made = command("show", _show, "Print matches as text, one line per day or trick.")
    made.epilog = (
        "In twelve-days, gives, plays and draws list one card for each seat, from seat 0; 5* is "
        "the card that won the day. In partridge, 0: 6 | 1: pass means that seat 0 led a 6 and "
        "seat 1 passed. 5* is the play that won the trick. 10+ is a play that lost the trick, and "
        "its seat took the cards back."
    )
    made.add_argument("file", metavar="FILE", help=_FILE)
    made.add_argument(
        "--line", type=_count, help="line of the record, from 1 (default: all records)"
    )

    made = command(
        "bench",
        _bench,
        "Measure how many matches with random moves the engine plays in a second. Shuffling the "
        "cards is part of the time. Each line has the game, the preset, the seats, and the matches "
        "and the moves in a second. Lines that end in `fast` measure the compiled kernel, which "
        "`python -m pip install numpy wasmtime` adds.",
    )
    made.add_argument(
        "--seconds", type=_seconds, default=1.0, help="time for each preset (default: %(default)s)"
    )
    return parser


# -- Arguments -------------------------------------------------------------------------------


def _game(text: str) -> str:
    try:
        return catalogue.find(text).game
    except UnknownRulesError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _count(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"not a whole number of 0 or more: {quote(text)}")
    return int(text)


def _seconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,9})?", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"not a number of seconds: {quote(text)}")
    return float(text)


def _seed(text: str) -> bytes:
    try:
        return parse_seed(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _open(stack: ExitStack, name: str) -> BinaryIO:
    if name == "-":
        return sys.stdin.buffer
    try:
        return stack.enter_context(Path(name).open("rb"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise _unreadable(name, reason) from None


def _unreadable(name: str, reason: str | None) -> ImpossibleError:
    return ImpossibleError(
        f"can't read {quote(name, 200)}: {reason}; give a file of records, or - for standard input"
    )


def _one_line(text: str) -> str:
    """Return a text in one line, with unprintable characters as escapes."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


# -- Commands --------------------------------------------------------------------------------


def _simulate(options: argparse.Namespace) -> int:
    catalogue.find(options.game).preset(options.rules).check_seats(options.seats)
    with Progress("matches", options.matches) as progress:
        for number in range(options.matches):
            deal_seed = derive(options.seed, f"deal/{number}")
            policy = _policy(options.policy, derive(options.seed, f"policy/{number}"))
            record = simulate(
                options.game, options.rules, options.seats, deal_seed, policy, options.policy
            )
            print(write(record))
            progress.advance()
    return OK


def _policy(name: str, seed: bytes) -> Policy:
    if name == "first":
        return lambda legal: legal[0]
    if name == "last":
        return lambda legal: legal[-1]
    random = Random(seed).random
    return lambda legal: legal[int(random() * len(legal))]


def simulate(
    game: str, rules: str, seats: int, deal_seed: bytes, policy: Policy, name: str
) -> Record:
    """Play a match in which every seat follows one policy, and return its record.

    Args:
        game: slug of the game.
        rules: name of the preset.
        seats: number of seats.
        deal_seed: 32 bytes.
        policy: picks one of the legal action ids.
        name: name of the policy, recorded as the name of every player.
    """
    state = catalogue.start(game, rules, seats, seeded_shuffle(deal_seed))
    texts = state.moves.texts
    moves = []
    while state.actors:
        actions = {seat: policy(state.legal(seat)) for seat in state.actors}
        moves += [(seat, texts[action]) for seat, action in actions.items()]
        state.step_unchecked(actions)
    return record_of(state, deal_seed, moves, players=(name,) * seats)


def _verify(options: argparse.Namespace) -> int:
    ok = refused = 0
    with Progress("records") as progress:
        for name in options.files:
            prefix = f"{_one_line(name)}, " if len(options.files) > 1 else ""
            resembles = False
            for number, line in _lines(name):
                resembles = resembles or _resembles_record(line)
                try:
                    verify(read(line))
                    ok += 1
                except RecordError as error:
                    refused += 1
                    progress.complain(f"{prefix}line {number}: {_one_line(str(error))}")
                progress.advance()
                if number == _MAX_STRANGE and not resembles:
                    progress.complain(
                        f"{prefix}the first {number} lines are not records, so the rest of the "
                        "file is skipped; a record is one JSON object on one line"
                    )
                    break
    print(f"{ok} ok, {refused} refused")
    return REFUSED if refused else OK


def _resembles_record(line: bytes) -> bool:
    """Return whether a line may be a record, perhaps a damaged one."""
    return line.lstrip().startswith(b"{") and b'"moves"' in line


def _lines(name: str) -> Iterator[tuple[int, bytes]]:
    """Yield the numbered lines of a file, or of standard input for ``-``."""
    with ExitStack() as stack:
        lines = read_lines(_open(stack, name))
        while True:
            try:
                line = next(lines, None)
            except OSError as error:
                raise _unreadable(name, error.strerror) from None
            if line is None:
                return
            yield line


def _record_at(name: str, wanted: int) -> Record:
    """Return the record on a line of a file, verified."""
    number = 0
    for number, line in _lines(name):
        if number == wanted:
            try:
                record = read(line)
                verify(record)
            except RecordError as error:
                raise _RefusedError(f"{name}, line {number}: {error}") from None
            return record
    raise ImpossibleError(_no_such_line(wanted, name, number))


def _no_such_line(wanted: int, name: str, lines: int) -> str:
    plural = "" if lines == 1 else "s"
    return f"there is no line {wanted} in {quote(name, 200)}, which has {lines} line{plural}"


def _observe(options: argparse.Namespace) -> int:
    try:
        record = _record_at(options.file, options.line)
    except _RefusedError as error:
        print(_one_line(str(error)), file=sys.stderr)
        return IMPOSSIBLE
    if options.seat >= record.seats:
        raise ImpossibleError(
            f"there is no seat {options.seat}; the match has the seats 0 to {record.seats - 1}"
        )
    try:
        state = replay(record, options.ply)
    except ValueError as error:
        raise ImpossibleError(str(error)) from None
    print(json.dumps(state.observe(options.seat)))
    return OK


class _RefusedError(Exception):
    """The record to observe does not verify."""


def _show(options: argparse.Namespace) -> int:
    status, shown, number = OK, 0, 0
    for number, line in _lines(options.file):
        if options.line not in (None, number):
            continue
        if shown:
            print("\n" + "-" * 72 + "\n")
        shown += 1
        try:
            for row in show.render(read(line)):
                print(row)
        except RecordError as error:
            print(_one_line(f"{options.file}, line {number}: {error}"), file=sys.stderr)
            status = REFUSED
        if options.line == number:
            break
    if options.line is not None and not shown:
        raise ImpossibleError(_no_such_line(options.line, options.file, number))
    return status


def _bench(options: argparse.Namespace) -> int:
    print(
        "# speed of this machine: an empty Python loop of 10**7 passes takes "
        f"{bench.plain_loop():.3f} s",
        file=sys.stderr,
    )
    for game, state_class in catalogue.GAMES.items():
        for rules, preset in state_class.presets.items():
            seats = min(4, preset.max_seats)
            speed = bench.playouts(game, rules, seats, options.seconds, time.perf_counter)
            _print_speed(f"{game} {rules} {seats}", speed)
            if not is_fast():
                continue
            bench.kernel_playouts(game, rules, seats, 0, time.perf_counter)  # compiles the kernel
            speed = bench.kernel_playouts(game, rules, seats, options.seconds, time.perf_counter)
            _print_speed(f"{game} {rules} {seats}", speed, " fast")
    return OK


def _print_speed(match: str, speed: bench.Speed, ending: str = "") -> None:
    numbers = f"{speed.matches_per_second:.0f} {speed.moves_per_second:.0f}"
    print(f"{match} {numbers}{ending}", flush=True)
