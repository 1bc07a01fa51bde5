"""``try``: a bot against a field, on all cores."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from bots_sdk.arena.contestants import contestant
from bots_sdk.arena.errors import ArenaError
from bots_sdk.arena.figures import Share
from bots_sdk.arena.pool import Pool
from bots_sdk.arena.trials import Results, Summary, Trial
from bots_sdk.arena.worker import Setup
from bots_sdk.commands import faults as fault_reports
from bots_sdk.commands.replaying import replay_match
from bots_sdk.commands.shared import (
    REFUSED,
    STOPPED,
    ImpossibleError,
    Json,
    add_row,
    new_table,
    print_json,
    print_table,
)
from bots_sdk.commands.tables import (
    Against,
    Faults,
    Game,
    Jobs,
    RulesName,
    Seats,
    SeedText,
    jobs_of,
    opponents,
    seed_of,
    table_of,
)

_ORDINALS = ("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th")


def try_bot(
    bot: Annotated[str, typer.Argument(help="The bot's Python file.", metavar="FILE")],
    against: Against = ["house"],  # noqa: B006 - typer copies it
    matches: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="How many, rounded up to whole blocks.")
    ] = 400,
    game: Game = None,
    rules: RulesName = "",
    seats: Seats = 0,
    jobs: Jobs = 0,
    seed: SeedText = "",
    replay: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="[N]",
            help="Step through match N of the seed instead; default: the first.",
            show_default=False,
        ),
    ] = 0,
    show_all: Annotated[bool, typer.Option("--all", help="With --replay: all steps at once.")] = (
        False
    ),
    faults: Faults = Path("faults"),
    as_json: Json = False,
) -> None:
    """Play a bot here against others, and see where it stands.

    A block is one deal, played once in each seat. Elo and shares have 95 % error bars.
    Exit status 1: the bot made faults.
    """
    table = table_of(game, rules, seats)
    text, seed_bytes = seed_of(seed)
    blocks = -(-matches // table.seats)
    trial = Trial(table, contestant(bot), opponents(against), blocks, seed_bytes)
    if replay:
        replay_match(trial, replay, text, show_all=show_all, as_json=as_json)
        return
    if show_all:
        raise ImpossibleError("--all goes with --replay.")
    jobs = jobs_of(jobs, trial.matches)
    if not as_json:
        field = ", ".join(each.name for each in trial.field)
        print(f"{trial.bot.name} against {field}")
        print(
            f"{table.game} {table.rules}, {table.seats} seats: {trial.matches} matches in "
            f"{blocks} blocks, {jobs} at once, --seed {text}"
        )
    results = Results(trial)
    report = fault_reports.Report(trial.bot, table, text, faults, as_json=as_json)
    error: ArenaError | None = None
    stopped = False
    with _progress(trial.matches, as_json=as_json) as (advance, say):
        try:
            with Pool(Setup(table, trial.contestants), jobs) as pool:
                for played in pool.play(trial.fixtures()):
                    for fault in results.add(played):
                        report.take(played, fault, say)
                    advance()
        except KeyboardInterrupt:
            stopped = True
        except ArenaError as failed:
            error = failed
    summary = results.summary()
    if as_json:
        print_json(_told(trial, text, summary, report.saved, stopped=stopped))
    elif summary.matches or not error:
        _show(trial, summary, stopped=stopped)
        report.show_end(summary.faults, summary.forfeits)
    if error:
        raise error
    if stopped:
        raise typer.Exit(STOPPED)
    if summary.faults:
        raise typer.Exit(REFUSED)


@contextmanager
def _progress(total: int, *, as_json: bool) -> Iterator[tuple[Any, Any]]:
    """Give what counts a match, and what says something above the bar."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    if as_json or not console.is_terminal:
        yield (lambda: None), (lambda line: None if as_json else print(line, file=sys.stderr))
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("matches"), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, refresh_per_second=4) as bar:
        task = bar.add_task("", total=total)
        yield (
            (lambda: bar.advance(task)),
            (lambda line: console.print(line, markup=False)),
        )


def _show(trial: Trial, summary: Summary, *, stopped: bool) -> None:
    if stopped:
        print(f"Stopped after {summary.matches} of {trial.matches} matches.")
    if summary.share is None:
        print("No block is complete, so there is nothing to count.")
        return
    left_out = summary.matches - summary.blocks * trial.table.seats
    if left_out:
        print(f"Of {summary.matches} matches {left_out} in unfinished blocks don't count below.")
    print()
    print(f"win share    {percent(summary.share)}")
    print(f"Elo          {spelled_elo(summary.share)} against the field")
    counted = sum(summary.places)
    places = "   ".join(
        f"{name} {100 * count / counted:.0f} %"
        for name, count in zip(_ORDINALS, summary.places, strict=False)
    )
    print(f"places       {places}")
    print()
    rows = new_table("bot", "matches", "place", "score", "* wins", "Elo of * against it")
    for number, line in enumerate(summary.lines):
        if not line.matches:
            continue
        add_row(
            rows,
            f"{'  ' if number else '* '}{line.contestant.name}",
            line.matches,
            f"{line.place:.2f}",
            f"{line.score:.2f}",
            line.share and f"{100 * line.share.mean:.1f} %",
            line.share and spelled_elo(line.share),
        )
    print_table(rows)
    took = summary.times
    print()
    print(
        f"time a move  mean {_ms(took.mean)}, 99 of 100 at most {_ms(took.p99)}, "
        f"longest {_ms(took.most)}"
    )
    if took.out_of_time:
        print(f"             out of time at the league in {took.out_of_time} matches")
    elif took.slow:
        print(f"             {took.slow} of {took.moves} moves over 1 s, on the match's bank")
    for name, count in summary.others_faults.items():
        print(f"faults       {count} of {name}, an opponent: it plays worse than it could")


def percent(found: Share) -> str:
    """Return a share with its interval."""
    if found.low is None or found.high is None:
        return f"{100 * found.mean:.1f} %"
    return f"{100 * found.mean:.1f} % ({100 * found.low:.1f} to {100 * found.high:.1f})"


def spelled_elo(found: Share) -> str:
    """Return a share as a difference in Elo, with its interval."""
    mean, low, high = found.elo
    if found.low is None:
        return "?" if mean is None else f"{mean:+.0f}, one block: no error bar"
    told = ("all won" if found.mean == 1 else "all lost") if mean is None else f"{mean:+.0f}"
    if low is None:
        return f"{told} (below {high:+.0f})" if high is not None else f"{told} (or anything)"
    return f"{told} (above {low:+.0f})" if high is None else f"{told} ({low:+.0f} to {high:+.0f})"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def _told(
    trial: Trial, text: str, summary: Summary, saved: Sequence[str], *, stopped: bool
) -> dict[str, Any]:
    """Return a summary as JSON data."""
    return {
        "bot": trial.bot.name,
        "field": [each.name for each in trial.field],
        **asdict(trial.table),
        "seed": text,
        "stopped": stopped,
        "matches": summary.matches,
        "blocks": summary.blocks,
        "win_share": told_share(summary.share),
        "places": list(summary.places),
        "bots": [
            {
                "bot": line.contestant.name,
                "matches": line.matches,
                "mean_place": line.place,
                "mean_score": line.score,
                "share_against": told_share(line.share),
            }
            for line in summary.lines
            if line.matches
        ],
        "seconds_a_move": asdict(summary.times),
        "faults": summary.faults,
        "forfeits": summary.forfeits,
        "faults_of_others": summary.others_faults,
        "saved": list(saved),
    }


def told_share(found: Share | None) -> dict[str, Any] | None:
    """Return a share as JSON data; null stands for no bound."""
    if found is None:
        return None
    return {
        "mean": found.mean,
        "interval": [found.low, found.high],
        "blocks": found.blocks,
        "elo": found.elo[0],
        "elo_interval": list(found.elo[1:]),
    }
