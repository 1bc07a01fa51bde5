"""``check``: run a bot in the league's sandbox here, and print what would fail at the league."""

import sys
import textwrap
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.text import Text

from bots_sdk.bot_files import read_file
from bots_sdk.checking.findings import CheckResult, Finding
from bots_sdk.checking.loading import MAY_IMPORT
from bots_sdk.checking.runtimes import Runtime, sandbox, unconfined
from bots_sdk.checking.suite import Suite
from bots_sdk.commands.errors import REFUSED, STOPPED, ImpossibleError
from bots_sdk.commands.home import Faults
from bots_sdk.commands.output import Json, print_json
from bots_sdk.commands.progress import PrintLine, progress, time_left
from bots_sdk.commands.versions import archive_remedy, with_name
from bots_sdk.durations import about
from bots_sdk.refusals import SourceRefusedError
from bots_sdk.sandbox.declarations import declared_games
from bots_sdk.sandbox.errors import SandboxBrokenError, SandboxUnavailableError
from bots_sdk.sandbox.sources import Source, read_source
from engine.faults import fault_noun
from engine.games.titles import counted

_STYLES = {
    CheckResult.OK: ("ok   ", "green"),
    CheckResult.NOTE: ("note ", "cyan"),
    CheckResult.WARNING: ("warn ", "yellow"),
    CheckResult.WRONG: ("WRONG", "bold red"),
}
_PLACES = (
    "without a sandbox",
    "in the league's sandbox: tier 1, the stronger of the two kinds of sandbox",
    "in the league's sandbox: tier 2, the kind of sandbox that needs no Linux namespaces",
)
"""Where the bot runs, by the tier of the sandbox."""
_COLUMN = 36
"""One more than the longest subject, such as "twelve-days, same observation twice"."""
_FIRST_MATCHES, _FIRST_VERDICT_SECONDS = 5, 5.0
"""The first verdict comes after this number of matches; after this time one match is enough."""


def check(
    bot: Annotated[Path, typer.Argument(help="The bot's .py or .wasm file, or its zip archive.")],
    game: Annotated[
        Literal["twelve-days", "partridge"] | None,
        typer.Option(
            help="Check only this game; default: all games that the bot plays.", show_default=False
        ),
    ] = None,
    tier: Annotated[
        int,
        typer.Option(
            min=0,
            max=2,
            help="The tier (kind) of the sandbox. 1 is the stronger one. 2 is weaker, but works "
            "without Linux namespaces. 0, the default, takes the strongest that works here.",
            show_default=False,
        ),
    ] = 0,
    without: Annotated[
        bool,
        typer.Option(
            "--unconfined",
            help="Use no sandbox. The bot can then do all that you can do on this computer.",
        ),
    ] = False,
    faults: Faults = Path("faults"),
    as_json: Json = False,
) -> None:
    """Run a bot on your machine in the league's sandbox, and print what would fail at the league.

    The check plays every preset and number of seats. It also tests three situations: the bot starts
    again in the middle of a match, it gets the same observation (its input) twice, and it has to go
    on after a timeout, when the referee has moved for it. It measures time, memory, imports and
    output.

    An uploaded bot may import most of the standard library, NumPy, `engine`, and the parts of
    `bots_sdk` that need only these. The command lists imports that fail.

    Exit status 1: something would fail at the league.
    """
    source, games = _source(bot)
    if tier and without:
        raise ImpossibleError("--unconfined uses no sandbox, so leave out --tier.")
    runtime = unconfined() if without else _sandbox(tier)
    findings: list[Finding] = []
    stopped = False
    if not as_json:
        print(f"{bot} {_PLACES[runtime.tier]}\n", flush=True)
    console = Console(highlight=False, soft_wrap=True)
    now = _Now()
    suite = Suite(bot, source, runtime, [game] if game else games, faults, now.note)
    with progress(lambda: now.text, quiet=as_json, results=console) as print_line:
        try:
            now.begin(suite, print_line)
            for found in suite.run():
                finding = _with_name(found, source, bot)
                findings.append(finding)
                if not as_json:
                    _show(console, finding)
        except KeyboardInterrupt:
            stopped = True
        except SandboxBrokenError as error:
            raise ImpossibleError(
                f"The sandbox failed, not the bot: {error}. Run the command again, or add "
                "--unconfined to check without a sandbox."
            ) from None
    wrong = [finding for finding in findings if finding.result is CheckResult.WRONG]
    if as_json:
        print_json(
            {
                "bot": str(bot),
                "tier": runtime.tier or None,
                "stopped": stopped,
                "good": not wrong and not stopped,
                "findings": [asdict(finding) for finding in findings],
                "seconds_a_move": asdict(suite.times),
            }
        )
    else:
        _print_summary(findings, runtime, stopped=stopped)
        if not wrong and not stopped and bot.suffix != ".wasm":
            print(f"{MAY_IMPORT}.")
    if stopped:
        raise typer.Exit(STOPPED)
    if wrong:
        raise typer.Exit(REFUSED)


def _source(path: Path) -> tuple[Source, list[str]]:
    """Return the bot's files, and the games that it declares."""
    try:
        source = read_source(read_file(path))
        return source, list(declared_games(source))
    except SourceRefusedError as error:
        raise ImpossibleError(f"The league would refuse {path}: {error}.") from None


def _with_name(finding: Finding, source: Source, bot: Path) -> Finding:
    """Return a finding that names the bot's file.

    If the bot did not find a file that is beside it, the remedy is an archive.
    """
    if source.files:
        return finding
    return replace(
        finding,
        text=_named(finding.text, source, bot),
        remedy=" ".join(filter(None, (finding.remedy, archive_remedy(finding.text, bot)))),
        evidence=_named(finding.evidence, source, bot),
    )


def _named(text: str, source: Source, bot: Path) -> str:
    """Return a text that names the bot's file; the sandbox calls a single file bot.py."""
    return text if source.files else with_name(text, bot)


def _sandbox(tier: int) -> Runtime:
    try:
        return sandbox(tier)
    except SandboxUnavailableError as error:
        raise ImpossibleError(
            f"No sandbox works here: {error}. --unconfined runs the check without a sandbox; the "
            "bot can then do all that you can do on this computer."
        ) from None


@dataclass(slots=True)
class _Now:
    """The match in play, for the progress line, and a first verdict after a few matches."""

    text: str = ""
    _suite: Suite | None = None
    _print_line: PrintLine | None = None
    _began: float = 0.0

    def begin(self, suite: Suite, print_line: PrintLine) -> None:
        """Begin a check, whose first verdict is printed like this."""
        self._suite, self._print_line, self._began = suite, print_line, time.monotonic()

    def note(self, match: str, done: int, total: int) -> None:
        """Note a match with the number of finished matches before it, and of all matches."""
        self.text = f"{done} of {total} matches: {match}{time_left(done, total, self._began)}"
        seconds = time.monotonic() - self._began
        if self._suite is None or self._print_line is None or not done:
            return
        if done < _FIRST_MATCHES and seconds < _FIRST_VERDICT_SECONDS:
            return
        faults = [fault for each in self._suite.matches for fault in each.reasons()]
        plays = "plays without a fault so far"
        if faults:
            report, reason = faults[0]
            reason = _named(reason, self._suite.source, self._suite.path)
            count = counted(len(faults), "fault")
            kind = fault_noun(report.fault.kind)
            plays = f"made {count} so far. The first fault ({kind}): {reason[:100]}"
        left = about(seconds * (total - done) / done)
        matches = f"{total - done} more {'match' if total - done == 1 else 'matches'}"
        self._print_line(f"The bot {plays}. The check plays {matches}, in {left}.")
        self._print_line = None


def _show(console: Console, finding: Finding) -> None:
    """Print a finding; in a terminal its lines wrap under its text."""
    word, style = _STYLES[finding.result]
    indent = len(word) + 1 + _COLUMN + 1
    width = max(40, console.width - indent - 1) if console.is_terminal else sys.maxsize
    lines = [part for line in finding.text.splitlines() for part in textwrap.wrap(line, width)]
    first, *rest = lines or [""]
    console.print(Text(word, style), Text(f"{finding.subject:{_COLUMN}} {first}"))
    for line in rest:
        console.print(Text(f"{'':{indent}}{line}"))
    for line in textwrap.wrap(finding.remedy.strip(), width):
        console.print(Text(f"{'':{indent}}{line}", "bold"))
    if finding.evidence:
        console.print(Text(textwrap.indent(finding.evidence.rstrip(), " " * 8), "dim"))


def _print_summary(findings: list[Finding], runtime: Runtime, *, stopped: bool) -> None:
    counts = {result: sum(each.result is result for each in findings) for result in CheckResult}
    print()
    if stopped:
        print("Stopped before the end.")
        return
    wrong, warnings = counts[CheckResult.WRONG], counts[CheckResult.WARNING]
    if wrong:
        print(f"{counted(wrong, 'test')} failed: the bot is not ready to upload.")
    else:
        print("The bot is ready to upload.")
    if warnings:
        print(f"{warnings} warning{'s' if warnings > 1 else ''}.")
    if not runtime.tier:
        print("It ran without a sandbox, so it may still fail in the league's sandbox.")
