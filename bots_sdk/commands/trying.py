"""``try``: blocks of a bot against opponents, on all cores."""

from collections.abc import Sequence
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
from bots_sdk.arena.trials import Trial, TrialResults, TrialSummary
from bots_sdk.arena.worker import WorkerSetup
from bots_sdk.commands.errors import REFUSED, STOPPED, ImpossibleError
from bots_sdk.commands.faults import FaultPrinter
from bots_sdk.commands.home import (
    Against,
    Faults,
    Game,
    HomeSetup,
    Jobs,
    RulesName,
    Seats,
    SeedText,
    live_display,
    process_count,
)
from bots_sdk.commands.output import Json, add_row, new_table, print_json, print_table
from bots_sdk.commands.replaying import replay_match

_ORDINALS = ("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th")


def try_bot(
    bot: Annotated[str, typer.Argument(help="The bot's Python file.", metavar="FILE")],
    against: Against = ["house"],  # noqa: B006 - typer copies it
    matches: Annotated[
        int,
        typer.Option(
            min=1, max=1_000_000, help="The number of matches, rounded up to whole blocks."
        ),
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
            help="Play only match N of the run, and show it step by step. Without N: match 1.",
            show_default=False,
        ),
    ] = 0,
    show_all: Annotated[
        bool, typer.Option("--all", help="With --replay: print all steps at once.")
    ] = False,
    faults: Faults = Path("faults"),
    as_json: Json = False,
) -> None:
    """Play a bot against opponents on your machine, and print its win share and Elo.

    The bots play blocks. In a block, every bot plays the same deal once from every seat.
    The ranges in brackets are 95 % error bars: the true value is probably within them.

    Exit status 1: the bot made faults.
    """
    setup = HomeSetup.from_options(game, rules, seats, against, seed)
    blocks = -(-matches // setup.table.seats)
    trial = Trial(setup.table, contestant(bot), setup.field, blocks, setup.seed)
    if replay:
        replay_match(trial, replay, setup.seed_text, show_all=show_all, as_json=as_json)
        return
    if show_all:
        raise ImpossibleError("--all needs --replay.")
    jobs = process_count(jobs, trial.matches)
    if not as_json:
        field = ", ".join(each.name for each in trial.field)
        print(f"{trial.bot.name} against {field}")
        print(
            f"{setup.title}: {trial.matches} matches in {blocks} blocks, {jobs} in parallel, "
            f"--seed {setup.seed_text}"
        )
    results = TrialResults(trial)
    fault_printer = FaultPrinter(trial.bot, setup, faults, as_json=as_json)
    error: ArenaError | None = None
    stopped = False
    with live_display(_progress_bar, as_json=as_json) as (print_line, progress):
        task = progress.add_task("", total=trial.matches) if progress else None
        try:
            with Pool(WorkerSetup(setup.table, trial.contestants), jobs) as pool:
                for played in pool.play(trial.fixtures()):
                    for fault in results.add(played):
                        fault_printer.take(played, fault, print_line)
                    if progress is not None and task is not None:
                        progress.advance(task)
        except KeyboardInterrupt:
            stopped = True
        except ArenaError as failed:
            error = failed
    summary = results.summary()
    if as_json:
        print_json(_as_json(trial, setup, summary, fault_printer.saved, stopped=stopped))
    elif summary.matches or not error:
        _show(trial, summary, stopped=stopped)
        fault_printer.show_end(summary.faults, summary.forfeits)
    if error:
        raise error
    if stopped:
        raise typer.Exit(STOPPED)
    if summary.faults:
        raise typer.Exit(REFUSED)


def _progress_bar(console: Console) -> Progress:
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("matches"), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True, refresh_per_second=4)


def _show(trial: Trial, summary: TrialSummary, *, stopped: bool) -> None:
    if stopped:
        print(f"Stopped after {summary.matches} of {trial.matches} matches.")
    if summary.share is None:
        print("No block is complete, so there are no results.")
        return
    left_out = summary.matches - summary.blocks * trial.table.seats
    if left_out:
        print(
            f"{left_out} of {summary.matches} matches don't count, because their blocks are "
            "not finished."
        )
    print()
    print(f"win share    {percent(summary.share)}")
    print(f"Elo          {spelled_elo(summary.share)} compared with the opponents")
    counted = sum(summary.places)
    places = "   ".join(
        f"{name} {100 * count / counted:.0f} %"
        for name, count in zip(_ORDINALS, summary.places, strict=False)
    )
    print(f"places       {places}")
    print()
    rows = new_table(
        "bot", "matches", "mean place", "mean score", "your win share", "your Elo lead"
    )
    for line in summary.contestants:
        if not line.matches:
            continue
        add_row(
            rows,
            line.contestant.name,
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
        f"move times   {_ms(took.mean)} on average; 99 % of the moves take at most "
        f"{_ms(took.p99)}; the longest {_ms(took.longest)}"
    )
    if took.out_of_time:
        print(
            f"             at the league, the bot would run out of time in "
            f"{took.out_of_time} matches"
        )
    elif took.slow:
        print(
            f"             {took.slow} of {took.moves} moves took over 1 s, so they used "
            "the bank (extra time)"
        )
    for name, count in summary.others_faults.items():
        print(
            f"faults       {count} by the opponent {name}, which therefore played below its "
            "strength"
        )


def percent(found: Share) -> str:
    """Return a share in percent with its interval."""
    if found.low is None or found.high is None:
        return f"{100 * found.mean:.1f} %"
    return f"{100 * found.mean:.1f} % ({100 * found.low:.1f} to {100 * found.high:.1f})"


def spelled_elo(found: Share) -> str:
    """Return a share as a difference in Elo, with its interval."""
    mean, low, high = found.elo
    if found.low is None:
        return (
            "?" if mean is None else f"{mean:+.0f} (no error bar, because there is only one block)"
        )
    text = ("all won" if found.mean == 1 else "all lost") if mean is None else f"{mean:+.0f}"
    if low is None:
        return f"{text} (below {high:+.0f})" if high is not None else f"{text} (no bounds)"
    return f"{text} (above {low:+.0f})" if high is None else f"{text} ({low:+.0f} to {high:+.0f})"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def _as_json(
    trial: Trial, setup: HomeSetup, summary: TrialSummary, saved: Sequence[str], *, stopped: bool
) -> dict[str, Any]:
    """Return a summary as JSON data."""
    return {
        "bot": trial.bot.name,
        "field": [each.name for each in trial.field],
        **asdict(trial.table),
        "seed": setup.seed_text,
        "stopped": stopped,
        "matches": summary.matches,
        "blocks": summary.blocks,
        "win_share": share_as_json(summary.share),
        "places": list(summary.places),
        "bots": [
            {
                "bot": line.contestant.name,
                "matches": line.matches,
                "mean_place": line.place,
                "mean_score": line.score,
                "share_against": share_as_json(line.share),
            }
            for line in summary.contestants
            if line.matches
        ],
        "seconds_a_move": asdict(summary.times),
        "faults": summary.faults,
        "forfeits": summary.forfeits,
        "faults_of_others": summary.others_faults,
        "saved": list(saved),
    }


def share_as_json(found: Share | None) -> dict[str, Any] | None:
    """Return a share as JSON data; null stands for an infinite Elo difference."""
    if found is None:
        return None
    return {
        "mean": found.mean,
        "interval": [found.low, found.high],
        "blocks": found.blocks,
        "elo": found.elo[0],
        "elo_interval": list(found.elo[1:]),
    }
