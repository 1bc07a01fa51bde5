"""``try``: blocks of a bot against opponents, on all cores."""

import shlex
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from bots_sdk.arena.contestants import QUICK, contestant
from bots_sdk.arena.errors import ArenaError
from bots_sdk.arena.figures import MIN_BLOCKS, Share
from bots_sdk.arena.matches import Fixture
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
    LadderRules,
    RulesName,
    Seats,
    SeedText,
    declared_by,
    note_changed,
    note_undeclared,
    process_count,
)
from bots_sdk.commands.next_steps import after_faults, after_trial
from bots_sdk.commands.output import (
    Json,
    add_row,
    new_table,
    print_json,
    print_table,
)
from bots_sdk.commands.progress import progress, time_left
from bots_sdk.commands.replaying import BareReplay, replay_match
from bots_sdk.explanations import ELO
from engine.games.titles import counted

CLASS = BareReplay
"""The class of the command."""

FIRST_VERDICT_SECONDS = 6.0
"""How long a trial without ``--blocks`` plays. With its start and end, it takes 10 s."""
_MAX_QUICK_BLOCKS = 100
_ORDINALS = ("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th")


def try_bot(
    bot: Annotated[str, typer.Argument(help="The bot's file, .py or .wasm.", metavar="FILE")],
    against: Against = [QUICK],  # noqa: B006 - typer copies it
    blocks: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=250_000,
            help="The number of blocks. Default: as many as fit into "
            f"{FIRST_VERDICT_SECONDS:.0f} s, but at least 1 and at most {_MAX_QUICK_BLOCKS}.",
            show_default=False,
        ),
    ] = None,
    game: Game = None,
    rules: RulesName = "",
    seats: Seats = None,
    ladder: LadderRules = "",
    jobs: Jobs = None,
    seed: SeedText = "",
    replay: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="[N]",
            help="Play only match N of the run, and show it step by step. Without N: match 1.",
            show_default=False,
        ),
    ] = None,
    show_all: Annotated[
        bool, typer.Option("--all", help="With --replay: print all steps at once.")
    ] = False,
    faults: Faults = Path("faults"),
    as_json: Json = False,
) -> None:
    """Play a bot against opponents on your machine, and print its win share and Elo.

    The win share is the share of opponents that the bot beats. A tie is half a win. Elo is the
    scale of chess ratings: +100 Elo is a win share of 64 %.

    A block is a set of matches at one table. It has as many matches as the table has seats, so each
    bot sits once in each seat. All matches of a block have the same deal.

    The ranges in brackets are 95 % error bars: the true value is probably within them. To make them
    narrower, play more blocks with --blocks.

    Exit status 1: the bot made faults.
    """
    began = time.monotonic()
    setup = HomeSetup.from_options(
        [bot], game=game, rules=rules, seats=seats, ladder=ladder, against=against, seed=seed
    )
    seats = setup.table.seats
    trial = Trial(
        setup.table, contestant(bot), setup.field, blocks or _MAX_QUICK_BLOCKS, setup.seed
    )
    if replay is not None:
        replay_match(trial, replay, setup.seed_text, show_all=show_all, as_json=as_json)
        return
    if show_all:
        raise ImpossibleError("--all needs --replay.")
    jobs = process_count(jobs, trial.matches)
    if not as_json:
        note_undeclared([bot], setup)
        field = ", ".join(each.name for each in trial.field)
        count = f"{counted(trial.matches, 'match')} in {counted(blocks or 0, 'block')}"
        if not blocks:
            count = (
                f"blocks of {seats} matches, until {FIRST_VERDICT_SECONDS:.0f} s have passed or "
                f"{_MAX_QUICK_BLOCKS} blocks are played"
            )
        print(f"{trial.bot.name} against {field}")
        print(f"{setup.title}: {count}; {counted(jobs, 'match')} in parallel")
        print(f"To play the same deals again: --seed {setup.seed_text}", flush=True)
    results = TrialResults(trial)
    fault_printer = FaultPrinter(trial.bot, setup, faults, as_json=as_json)
    pool = Pool(WorkerSetup(setup.table, trial.contestants), jobs)
    error: ArenaError | None = None
    stopped = False

    def slow() -> str:
        took = time.monotonic() - began
        if results.played or took < FIRST_VERDICT_SECONDS:
            return ""
        return f" after {took:.0f} s. A bot is slow, or its `choose` does not return"

    def line() -> str:
        done = len(results.played)
        if blocks:
            return (
                f"{done} of {trial.matches} matches{time_left(done, trial.matches, began)}{slow()}"
            )
        if time.monotonic() - began > FIRST_VERDICT_SECONDS and done < seats:
            reason = slow() or f"; so far {first_figures(results)}"
            return f"{done} of {seats} matches of the first block{reason}"
        return f"{counted(done, 'match')} in {time.monotonic() - began:.0f} s"

    with progress(line, quiet=as_json) as print_line:
        fixtures = trial.fixtures()
        if not blocks:
            fixtures = in_time(fixtures, seats, began + FIRST_VERDICT_SECONDS)
        try:
            with pool:
                for played in pool.play(fixtures):
                    for fault in results.add(played):
                        fault_printer.take(played, fault, print_line)
        except KeyboardInterrupt:
            stopped = True
        except ArenaError as failed:
            error = failed
    note_changed(pool.changed)
    summary = results.summary()
    if as_json:
        print_json(_as_json(trial, setup, summary, fault_printer.saved, stopped=stopped))
    elif summary.matches or not error:
        _show(trial, summary, stopped=stopped)
        if summary.matches:
            fault_printer.show_end(summary.faults, summary.forfeits)
            fault_printer.show_test()
        if stopped or error:
            pass
        elif summary.faults:
            may_play_other = (
                summary.forfeits == summary.matches
                and not declared_by(bot)
                and not fault_printer.is_without_text
            )
            after_faults(bot, setup.table.game, may_play_other=may_play_other)
        else:
            words = _command(bot, game, rules, seats if setup.table.seats != 4 else 0, ladder)
            after_trial(words, setup.table.game, summary, against)
    if error:
        raise error
    if stopped:
        raise typer.Exit(STOPPED)
    if summary.faults:
        raise typer.Exit(REFUSED)


def in_time(fixtures: Iterator[Fixture], seats: int, until: float) -> Iterator[Fixture]:
    """Yield whole blocks of fixtures while another block probably ends in time; at least one.

    Args:
        fixtures: the fixtures, block by block; as they are taken, matches are played.
        seats: the number of matches in a block.
        until: the end, by `time.monotonic`.
    """
    began = time.monotonic()
    for blocks, fixture in enumerate(fixtures):
        finished = blocks // seats
        if finished and blocks % seats == 0:
            now = time.monotonic()
            if now + (now - began) / finished > until:
                return
        yield fixture


def first_figures(results: TrialResults) -> str:
    """Return what the matches of an unfinished block show: places and times of moves."""
    places = ", ".join(_ORDINALS[place - 1] for place in results.own_places())
    return f"your bot finished {places}; it takes {_ms(results.own_times().mean)} a move"


def _command(bot: str, game: str | None, rules: str, seats: int, ladder: str) -> str:
    """Return the arguments of a command that plays the same file by the same rules."""
    options = {"--game": game, "--rules": rules, "--seats": seats, "--ladder": ladder}
    words = [bot]
    for option, value in options.items():
        words += [option, str(value)] if value else []
    return shlex.join(words)


def _show(trial: Trial, summary: TrialSummary, *, stopped: bool) -> None:
    if stopped:
        print(f"Stopped after {summary.matches} of {trial.matches} matches.")
    if summary.share is None:
        remedy = " Let the command run longer." if stopped else ""
        print(f"No block is finished, so there are no results.{remedy}")
        return
    left_out = summary.matches - summary.blocks * trial.table.seats
    if left_out:
        print(
            f"{left_out} of {summary.matches} matches don't count, because their blocks are "
            "not finished."
        )
    print()
    if summary.forfeits == summary.matches:
        print("verdict      none: the bot forfeited all matches, so the referee made most moves")
    else:
        print(f"verdict      {verdict(summary.share)}")
    print(f"win share    {percent(summary.share)} of the opponents beaten; a tie is half a win")
    print(f"Elo          {spelled_elo(summary.share)}, compared with the opponents; {ELO}")
    places_in_all = sum(summary.places)
    places = "   ".join(
        f"{name} {100 * count / places_in_all:.0f} %"
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
        f"move times   {_ms(took.mean)} on average; 99 % take at most {_ms(took.p99)}; the "
        f"longest {_ms(took.longest)}"
    )
    if took.out_of_time:
        print(
            f"             at the league, the bot would be too slow in "
            f"{counted(took.out_of_time, 'match')}"
        )
    elif took.slow:
        print(
            f"             {took.slow} of {took.moves} moves took over 1 s, so they used the bank "
            "(extra time)"
        )
    for name, count in summary.others_faults.items():
        print(f"faults       {count} by the opponent {name}, so it played below its strength")


def verdict(found: Share) -> str:
    """Return what a share shows about the bot, in words."""
    count = counted(found.blocks, "block")
    if found.is_flat:
        return f"none yet: the win share was the same in all {count}, so there is no error bar"
    if found.low is None or found.high is None:
        return f"none yet: {count} can't show a difference"
    if found.low > 0.5:
        return f"stronger than these opponents, after {count}"
    if found.high < 0.5:
        return f"weaker than these opponents, after {count}"
    return f"not clear after {count}: the error bar (in brackets) includes 50 %"


def percent(found: Share) -> str:
    """Return a share in percent with its interval."""
    if found.low is None or found.high is None:
        return f"{100 * found.mean:.1f} %"
    return f"{100 * found.mean:.1f} % ({100 * found.low:.1f} to {100 * found.high:.1f})"


def spelled_elo(found: Share) -> str:
    """Return a share as a difference in Elo, with its interval."""
    mean, low, high = found.elo
    text = ("all won" if found.mean == 1 else "all lost") if mean is None else f"{mean:+.0f}"
    if found.low is None:
        why = (
            "no error bar yet: all blocks have the same win share"
            if found.is_flat
            else f"an error bar needs {MIN_BLOCKS} blocks"
        )
        return f"{text} ({why})"
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
        "win_share": summary.share and summary.share.as_json(),
        "places": list(summary.places),
        "bots": [
            {
                "bot": line.contestant.name,
                "matches": line.matches,
                "mean_place": line.place,
                "mean_score": line.score,
                "share_against": line.share and line.share.as_json(),
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
