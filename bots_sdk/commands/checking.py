"""``check``: would a bot do at the league, in its sandbox?"""

import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.status import Status
from rich.text import Text

from bots_sdk.checking.findings import Finding, Verdict
from bots_sdk.checking.places import Place, sandbox, unconfined
from bots_sdk.checking.suite import Progress, Suite
from bots_sdk.commands.shared import REFUSED, STOPPED, ImpossibleError, Json, print_json
from bots_sdk.commands.tables import Faults
from bots_sdk.sandbox.errors import (
    SandboxBrokenError,
    SandboxUnavailableError,
    SourceRefusedError,
)
from bots_sdk.sandbox.sources import Source, read_source

_STYLES = {
    Verdict.OK: ("ok   ", "green"),
    Verdict.NOTE: ("note ", "cyan"),
    Verdict.WARNING: ("mind ", "yellow"),
    Verdict.WRONG: ("WRONG", "bold red"),
}
_COLUMN = 26


def check(
    bot: Annotated[
        Path, typer.Argument(help="The bot's Python file, or an archive as it is uploaded.")
    ],
    game: Annotated[
        Literal["twelve-days", "partridge"] | None,
        typer.Option(help="That it is to know; default: those that it does.", show_default=False),
    ] = None,
    tier: Annotated[
        int,
        typer.Option(
            min=0, max=2, help="Of the sandbox; default: the strongest.", show_default=False
        ),
    ] = 0,
    without: Annotated[
        bool,
        typer.Option("--unconfined", help="Without a sandbox: the bot may do all that you may."),
    ] = False,
    faults: Faults = Path("faults"),
    as_json: Json = False,
) -> None:
    """Run a bot as the league would, in its sandbox, and say what would go wrong.

    Every preset and number of seats; restarts, repeated and lost questions; time, memory, imports.
    Exit status 1: something would go wrong.
    """
    source = _source(bot)
    if tier and without:
        raise ImpossibleError("--tier is of a sandbox, and --unconfined is without one.")
    place = unconfined() if without else _sandbox(tier)
    findings: list[Finding] = []
    stopped = False
    if not as_json:
        where = f"in the league's sandbox, tier {place.tier}" if place.tier else "without a sandbox"
        print(f"{bot}, {where}\n")
    with _watching(quiet=as_json) as (progress, show):
        suite = Suite(bot, source, place, [game] if game else [], faults, progress)
        try:
            for finding in suite.run():
                findings.append(finding)
                show(finding)
        except KeyboardInterrupt:
            stopped = True
        except SandboxBrokenError as error:
            raise ImpossibleError(f"The sandbox failed, not the bot: {error}.") from None
    wrong = [finding for finding in findings if finding.verdict is Verdict.WRONG]
    if as_json:
        print_json(
            {
                "bot": str(bot),
                "tier": place.tier or None,
                "stopped": stopped,
                "good": not wrong and not stopped,
                "findings": [asdict(finding) for finding in findings],
                "seconds_a_move": asdict(suite.times),
            }
        )
    else:
        _close(findings, place, stopped=stopped)
    if stopped:
        raise typer.Exit(STOPPED)
    if wrong:
        raise typer.Exit(REFUSED)


def _source(path: Path) -> Source:
    if path.is_dir():
        raise ImpossibleError(
            f"{path} is a directory; name the bot's file, or an archive: "
            f"`cd {path}; zip -r bot.zip .` with a bot.py at its top."
        )
    try:
        return read_source(path.read_bytes())
    except FileNotFoundError:
        raise ImpossibleError(
            f"There is no file {path}; `twelfth-night new {path.stem}` writes a bot."
        ) from None
    except OSError as error:
        raise ImpossibleError(f"{path} can't be read: {error.strerror}.") from None
    except SourceRefusedError as error:
        raise ImpossibleError(f"{path} would be refused: {error}.") from None


def _sandbox(tier: int) -> Place:
    try:
        return sandbox(tier)
    except SandboxUnavailableError as error:
        raise ImpossibleError(
            f"No sandbox can be set up here: {error}. --unconfined does the rest of the check "
            "without one; the bot may then do all that you may."
        ) from None


@contextmanager
def _watching(*, quiet: bool) -> Iterator[tuple[Progress, Callable[[Finding], None]]]:
    """Give what shows how far a check is, and what shows a finding."""
    console = Console(highlight=False, soft_wrap=True)
    if quiet:
        yield (lambda what, done, total: None), (lambda finding: None)
        return
    if not (console.is_terminal and sys.stderr.isatty()):
        yield (lambda what, done, total: None), (lambda finding: _show(console, finding))
        return
    with Status("", console=console) as status:
        yield (
            (lambda what, done, total: status.update(f"{done} of {total} matches: {what}")),
            (lambda finding: _show(console, finding)),
        )


def _show(console: Console, finding: Finding) -> None:
    word, style = _STYLES[finding.verdict]
    first, *rest = finding.told.splitlines() or [""]
    console.print(Text(word, style), Text(f"{finding.what:{_COLUMN}} {first}"))
    for line in rest:
        console.print(Text(f"{'':{len(word) + 1 + _COLUMN}} {line}"))
    if finding.remedy:
        console.print(Text(f"{'':{len(word) + 1 + _COLUMN}} {finding.remedy.strip()}", "bold"))
    if finding.evidence:
        console.print(Text(textwrap.indent(finding.evidence.rstrip(), " " * 8), "dim"))


def _close(findings: list[Finding], place: Place, *, stopped: bool) -> None:
    """Print the sum of it."""
    counts = {verdict: sum(each.verdict is verdict for each in findings) for verdict in Verdict}
    print()
    if stopped:
        print("Stopped before the end.")
        return
    wrong, minded = counts[Verdict.WRONG], counts[Verdict.WARNING]
    if wrong:
        print(f"{wrong} thing{'s' if wrong > 1 else ''} would go wrong at the league.")
    else:
        print("It would do at the league.")
    if minded:
        print(f"{minded} thing{'s' if minded > 1 else ''} to mind.")
    if not place.tier:
        print("Whether it does in the sandbox is not known: it ran without one.")
