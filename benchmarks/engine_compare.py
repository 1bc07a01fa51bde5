"""How fast the engine is beside OpenSpiel and RLCard: random playouts through Python, in one run.

It installs pinned versions of the others into a temporary virtual environment. Each measurement is
a separate process, one at a time, in rounds (A B C, A B C, ...), so that other work on the machine
slows all of them alike. The table shows medians.

Exit status: 0 done, 1 our own engine could not be measured, 2 wrong arguments, 3 none of the
others could be measured, 130 stopped by Ctrl-C.
"""

import argparse
import json
import math
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, NoReturn

from engine.bench import plain_loop

OK, OWN_FAILED, WRONG_ARGUMENTS, NONE_MEASURED, STOPPED = 0, 1, 2, 3, 130

HERE = Path(__file__).resolve().parent
OURS = "twelfth-night"

PINNED = {
    "open_spiel": ("open_spiel==2.0.2", "numpy==2.4.6"),
    "rlcard": ("rlcard==1.2.0", "numpy==2.4.6"),
}
OWN_GAMES = (("twelve-days", "calliope", 4), ("partridge", "eagle", 4))
OTHERS_GAMES = (
    ("open_spiel", "hearts"),
    ("open_spiel", "spades"),
    ("open_spiel", "goofspiel(players=4)"),
    ("open_spiel", "hearts (C++ rollouts)"),
    ("open_spiel", "spades (C++ rollouts)"),
    ("rlcard", "uno"),
    ("rlcard", "uno (bare game)"),
    ("rlcard", "bridge"),
    ("rlcard", "bridge (bare game)"),
)

INSTALL_SECONDS = 600
START_SECONDS = 60
"""Seconds that a measuring process may need in addition to the measured ones."""


class FailedError(Exception):
    """A command failed; the message is one line with the reason."""


class Subject(NamedTuple):
    """What is measured, and the command that measures it once."""

    library: str
    game: str
    command: tuple[str, ...]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(WRONG_ARGUMENTS, f"{self.prog}: {' '.join(message.split())} (see --help)\n")


def main(arguments: Sequence[str]) -> int:
    options = parser().parse_args(arguments)
    # Stopped by `kill`, too, it leaves nothing behind.
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    scratch = Path(tempfile.mkdtemp(prefix="engine-compare-"))
    try:
        python, versions = install(scratch / "venv")
        if not versions:
            note("none of the other libraries could be installed")
            return NONE_MEASURED
        return compare(python, versions, options)
    except FailedError as error:
        note(str(error))
        return OWN_FAILED
    except KeyboardInterrupt:
        note("stopped")
        return STOPPED
    finally:
        if options.keep:
            note(f"kept {scratch}")
        else:
            shutil.rmtree(scratch, ignore_errors=True)


def parser() -> argparse.ArgumentParser:
    made = _Parser(
        prog="engine_compare",
        description="Measure random playouts of our engine, OpenSpiel and RLCard side by side.",
    )
    made.add_argument(
        "--seconds",
        type=a_time,
        default=1.0,
        help="for each game in each round (default: %(default)s)",
    )
    made.add_argument(
        "--rounds", type=a_count, default=5, help="to take medians of (default: %(default)s)"
    )
    made.add_argument("--json", action="store_true", help="print a JSON object, not tables")
    made.add_argument("--keep", action="store_true", help="keep the virtual environment")
    return made


def a_time(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,9})?", text, re.ASCII) or not float(text):
        raise argparse.ArgumentTypeError(f"not seconds above 0 and below 1000: {text[:40]!r}")
    return float(text)


def a_count(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,3}", text, re.ASCII) or not int(text):
        raise argparse.ArgumentTypeError(f"not a whole number from 1 to 999: {text[:40]!r}")
    return int(text)


def note(line: str) -> None:
    print(f"engine_compare: {line}", file=sys.stderr, flush=True)


# -- Installing ------------------------------------------------------------------------------


def install(venv: Path) -> tuple[str, dict[str, str]]:
    """Return the interpreter of a new environment, and the versions that could be installed."""
    python = str(venv / ("Scripts" if os.name == "nt" else "bin") / "python")
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input")
    try:
        run((sys.executable, "-m", "venv", str(venv)), INSTALL_SECONDS)
    except FailedError as error:
        note(f"no virtual environment: {error}")
        return python, {}
    versions = {}
    for library, pins in PINNED.items():
        note(f"installing {pins[0]}")
        try:
            # Without a wheel for this Python, OpenSpiel would compile for a quarter of an hour.
            run((*pip, "--only-binary=open_spiel,numpy", *pins), INSTALL_SECONDS)
            versions[library] = pins[0].partition("==")[2]
        except FailedError as error:
            note(f"going on without {library}: {error}")
    return python, versions


def run(command: Sequence[str], seconds: float) -> str:
    """Return what a command prints.

    Raises:
        FailedError: it failed or took longer; the message is its last word on standard error.
    """
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
            # One core for each: numpy starts no threads.
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
    except subprocess.TimeoutExpired:
        raise FailedError(f"it took more than {seconds:g} seconds") from None
    except OSError as error:
        raise FailedError(f"it does not start: {error.strerror}") from None
    if done.returncode:
        lines = [" ".join(line.split()) for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR:")] or lines
        raise FailedError(
            errors[-1].removeprefix("ERROR: ") if errors else f"exit status {done.returncode}"
        )
    return done.stdout


# -- Measuring -------------------------------------------------------------------------------


def compare(python: str, versions: dict[str, str], options: argparse.Namespace) -> int:
    subjects = all_subjects(python, versions, options.seconds)
    before = plain_loop()
    rounds: dict[Subject, list[dict[str, Any]]] = {subject: [] for subject in subjects}
    for number in range(options.rounds):
        note(f"round {number + 1} of {options.rounds}")
        for subject in list(rounds):
            try:
                rounds[subject].append(measure(subject, options.seconds))
            except FailedError as error:
                if subject.library == OURS:
                    raise FailedError(f"{OURS} {subject.game}: {error}") from None
                note(f"going on without {subject.library} {subject.game}: {error}")
                del rounds[subject]
    after = plain_loop()
    results = [summary(subject, measured) for subject, measured in rounds.items()]
    if all(result["library"] == OURS for result in results):
        note("none of the other libraries could be measured")
        return NONE_MEASURED
    report = {
        "date": date.today().isoformat(),
        "python": platform.python_version(),
        "versions": versions,
        "seconds": options.seconds,
        "rounds": options.rounds,
        "plain_loop_seconds": {"before": before, "after": after},
        "results": results,
    }
    print(json.dumps(report, indent=2) if options.json else tables(report))
    return OK


def all_subjects(python: str, versions: dict[str, str], seconds: float) -> list[Subject]:
    """Return what is to be measured, in the order of a round."""
    subjects = []
    for game, rules, seats in OWN_GAMES:
        own = (sys.executable, str(HERE / "own_playouts.py"))
        command = (*own, game, rules, str(seats), str(seconds))
        subjects.append(Subject(OURS, f"{game} {rules}", command))
        subjects.append(Subject(OURS, f"{game} {rules} (kernel)", (*command, "kernel")))
    for library, game in OTHERS_GAMES:
        if library in versions:
            # Isolated (-I), or the caller's PYTHONPATH would decide what is measured.
            other = (python, "-I", str(HERE / "others_playouts.py"))
            subjects.append(Subject(library, game, (*other, library, game, str(seconds))))
    return subjects


def measure(subject: Subject, seconds: float) -> dict[str, Any]:
    printed = run(subject.command, seconds + START_SECONDS)
    try:
        # Only the last line is the result: a library may print lines on import.
        measured: dict[str, Any] = json.loads(printed.splitlines()[-1])
    except (IndexError, ValueError):
        raise FailedError("it printed no result") from None
    return measured


def summary(subject: Subject, measured: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the medians of all rounds, and the range of the moves a second."""

    def middle(key: str) -> float | None:
        values = [one[key] for one in measured]
        return None if None in values else median(values)

    moves = [one["moves_per_second"] for one in measured]
    return {
        "library": subject.library,
        "game": subject.game,
        "seats": measured[0]["seats"],
        "moves_per_second": middle("moves_per_second"),
        "moves_per_second_range": [min(moves), max(moves)],
        "matches_per_second": middle("matches_per_second"),
        "copy_microseconds": middle("copy_microseconds"),
    }


# -- Telling ---------------------------------------------------------------------------------


def tables(report: dict[str, Any]) -> str:
    results = report["results"]
    own = [
        result
        for result in results
        if result["library"] == OURS and not result["game"].endswith("(kernel)")
    ]
    heads = ["library", "game", "seats", "moves/s", "matches/s"]
    heads += [f"{result['game'].split()[0]} / it" for result in own]
    speeds = [
        [
            *(result["library"], result["game"], str(result["seats"])),
            *(f"{round(result[key]):,}" for key in ("moves_per_second", "matches_per_second")),
            *(ratio(one["moves_per_second"] / result["moves_per_second"]) for one in own),
        ]
        for result in results
    ]
    copies = [
        [result["library"], result["game"], f"{result['copy_microseconds']:.2f}"]
        for result in results
        if result["copy_microseconds"] is not None
    ]
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    loop = report["plain_loop_seconds"]
    lines = [
        f"{report['date']}, Python {report['python']}, {versions}",
        f"rounds: {report['rounds']} of {report['seconds']:g} s for each game, medians shown",
        f"plain loop of 10**7 passes: {loop['before']:.3f} s before, {loop['after']:.3f} s after",
        "",
        *aligned([heads, *speeds], left=2),
        "",
        *aligned([["library", "game", "copy, µs"], *copies], left=2),
    ]
    return "\n".join(lines)


def ratio(value: float) -> str:
    """Return a ratio with at least two digits that count."""
    return f"{value:.{max(0, 1 - math.floor(math.log10(value)))}f}"


def aligned(rows: Sequence[Sequence[str]], left: int) -> list[str]:
    """Return rows as lines, columns under each other, the first ``left`` of them to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if index < left else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
