"""``ab``: a statistical test whether a new version of a bot is better than the old one."""

import math
import shlex
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from bots_sdk import verdicts
from bots_sdk.arena.contestants import QUICK, contestant
from bots_sdk.arena.figures import times
from bots_sdk.arena.pool import Pool
from bots_sdk.arena.swaps import NEW, OLD, SwapBlock, SwapTest, blocks_in_order
from bots_sdk.arena.worker import WorkerSetup
from bots_sdk.commands.errors import OK, REFUSED, STOPPED, ImpossibleError
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
    note_changed,
    note_undeclared,
    process_count,
)
from bots_sdk.commands.output import Json, print_json
from bots_sdk.commands.progress import progress
from bots_sdk.durations import about
from bots_sdk.explanations import ELO
from bots_sdk.invoking import typed
from engine.games.titles import counted
from engine.rating import sprt
from engine.rating.sprt import Decision

_VERSIONS = {NEW: "new", OLD: "old"}
_GAUGE = 21
_FIRST_WORDS_SECONDS = 8.0
"""After this time the test prints in plain words how it stands; then after twice the time, and so
on.

A block may take 2 s to end, so the first words come within about 10 s."""


@dataclass(slots=True)
class _Run:
    """A running test.

    Attributes:
        test: the comparison.
        steps: the state of the statistical test after each block.
        results: the result of each block.
        seconds: the times of the moves in each match, by version.
        faults: the number of faults, by version and kind.
        forfeits: the number of forfeits, by version.
    """

    test: SwapTest
    steps: list[sprt.PathPoint] = field(default_factory=list)
    results: list[sprt.SwapResult] = field(default_factory=list)
    seconds: dict[int, list[tuple[float, ...]]] = field(default_factory=lambda: {NEW: [], OLD: []})
    faults: dict[int, dict[str, int]] = field(default_factory=lambda: {NEW: {}, OLD: {}})
    forfeits: dict[int, int] = field(default_factory=lambda: {NEW: 0, OLD: 0})

    def add(self, block: SwapBlock) -> sprt.SwapResult:
        """Add a block, and return its result."""
        self.results.append(block.result)
        for match in block.matches:
            for version in (NEW, OLD):
                self.seconds[version].append(match.seconds[version])
                seat = match.fixture.seating.index(version)
                self.forfeits[version] += seat in match.forfeited
            for fault in match.faults:
                if fault.bot in self.faults:
                    kinds = self.faults[fault.bot]
                    kinds[fault.kind] = kinds.get(fault.kind, 0) + 1
        return block.result

    @property
    def with_other_moves(self) -> int:
        """The number of blocks whose two matches have different moves."""
        return sum(not result.same_moves for result in self.results)

    @property
    def verdict(self) -> Decision:
        """The verdict of the test; undecided if it was stopped."""
        last = self.steps[-1].decision if self.steps else None
        return last or Decision.UNDECIDED

    def words(self, seconds: float) -> str:
        """Return in plain words how the test stands after so many seconds, and how long it takes.

        The estimate assumes that the evidence continues to grow as it did so far.
        """
        plan, last = self.test.plan, self.steps[-1]
        found = sprt.estimate(plan, self.results)
        if not self.with_other_moves:
            stands = "Both versions made the same moves so far"
        else:
            stands = verdicts.looks(self.test.new.name, found) or "No clear difference so far"
        blocks = float(plan.guard_blocks)
        if last.differing:
            blocks = min(blocks, last.blocks * plan.min_differing / last.differing)
        bound = plan.upper if last.llr > 0 else plan.lower
        by_evidence = last.blocks * bound / last.llr if last.llr else math.inf
        needed = min(max(blocks, by_evidence), plan.max_blocks)
        left = seconds * max(needed - last.blocks, 1) / last.blocks
        count = counted(last.blocks, "swap block")
        return f"{stands}, after {count}. The test takes {about(left)} more."

    def line(self) -> Text:
        """Return the status line: swap blocks, a gauge of the evidence, and the gain."""
        if not self.steps:
            return Text("playing the first swap block")
        plan, last = self.test.plan, self.steps[-1]
        at = (last.llr - plan.lower) / (plan.upper - plan.lower)
        mark = min(_GAUGE - 1, max(0, round(at * (_GAUGE - 1))))
        gauge = "".join("|" if place == mark else "-" for place in range(_GAUGE))
        line = Text(f"{counted(last.blocks, 'swap block')}  not better [")
        line.append(gauge, "green" if last.llr > 0 else "yellow")
        line.append(f"] better  {_elo(self)}")
        return line


def ab(
    old: Annotated[str, typer.Argument(help="The old version's file, .py or .wasm.")],
    new: Annotated[str, typer.Argument(help="The new version's file, .py or .wasm.")],
    against: Against = [QUICK],  # noqa: B006 - typer copies it
    max_blocks: Annotated[
        int,
        typer.Option(
            min=1,
            max=1_000_000,
            help="Stop after this number of swap blocks (pairs of matches), even if undecided.",
        ),
    ] = 3000,
    game: Game = None,
    rules: RulesName = "",
    seats: Seats = None,
    ladder: LadderRules = "",
    jobs: Jobs = None,
    seed: SeedText = "",
    faults: Faults = Path("faults"),
    as_json: Json = False,
) -> None:
    """Test whether a new version of a bot is better than the old one.

    The versions play swap blocks (pairs of matches). In a swap block both versions play one deal
    twice. For the second match they exchange their seats.

    The test compares two claims: “the new version is 20 Elo better” and “both are equally strong”.
    It ends when the results clearly fit one claim better. If the results are not clear after
    --max-blocks swap blocks, the verdict is “undecided”. A weaker version gets the verdict “not
    better”.

    Elo is the scale of chess ratings. A version that is 20 Elo better has a win share of 53 %. The
    win share is the share of opponents that the bot beats. A tie is half a win.

    A verdict needs 16 swap blocks in which the results differ, or 300 in all. A small edit changes
    nothing in most swap blocks, so fewer would prove little. If no move differs in 300 swap blocks,
    the verdict is “no difference in behaviour”.

    A verdict can be wrong. We simulated 17 kinds of edits. Of 100 versions that are as strong as
    the old version, at most 7 got “better”. Of 100 versions that are 20 Elo better, at least 95 got
    “better”.

    Exit status 0: better; 1: not better, no difference in behaviour, or undecided.
    """
    setup = HomeSetup.from_options(
        [old, new], game=game, rules=rules, seats=seats, ladder=ladder, against=against, seed=seed
    )
    seats = setup.table.seats
    plan = sprt.Plan(seats=seats, max_blocks=max_blocks)
    test = SwapTest(
        table=setup.table,
        new=contestant(new),
        old=contestant(old),
        field=setup.field,
        plan=plan,
        seed=setup.seed,
    )
    if test.new == test.old:
        raise ImpossibleError(
            f"{old} and {new} are the same file. Keep the old version in another file."
        )
    jobs = process_count(jobs, 2 * max_blocks)
    if not as_json:
        note_undeclared([old, new], setup)
        print(f"Is {test.new.name} better than {test.old.name}?")
        print(f"{setup.title}; {counted(jobs, 'match')} in parallel")
        print(f"To play the same deals again: --seed {setup.seed_text}")
        print(
            "Both versions play swap blocks (pairs of matches) until the result is clear. "
            f"{verdicts.SWAP_BLOCK}",
            flush=True,
        )
    run = _Run(test)
    printers = {
        version: FaultPrinter(bot, setup, faults, as_json=as_json)
        for version, bot in ((NEW, test.new), (OLD, test.old))
    }
    stopped = False
    began = time.monotonic()
    pool = Pool(WorkerSetup(setup.table, test.contestants), jobs)

    with progress(run.line, quiet=as_json) as print_line:
        try:
            with pool:
                blocks = blocks_in_order(pool.play(test.fixtures()))
                words_after = _FIRST_WORDS_SECONDS
                for step in sprt.llr_path(plan, _results(run, blocks, printers, print_line)):
                    run.steps.append(step)
                    seconds = time.monotonic() - began
                    if seconds >= words_after and step.decision is None:
                        print_line(run.words(seconds))
                        words_after = 2 * seconds
        except KeyboardInterrupt:
            stopped = True
    note_changed(pool.changed)
    if as_json:
        print_json(_as_json(run, setup, printers, stopped=stopped))
    else:
        _show(run, printers, stopped=stopped)
    raise typer.Exit(STOPPED if stopped else OK if run.verdict is Decision.BETTER else REFUSED)


def _results(
    run: _Run,
    blocks: Iterator[SwapBlock],
    printers: dict[int, FaultPrinter],
    print_line: Callable[[str], None],
) -> Iterator[sprt.SwapResult]:
    for block in blocks:
        for match in block.matches:
            for fault in match.faults:
                if fault.bot in printers:
                    printers[fault.bot].take(match, fault, print_line)
        yield run.add(block)


def _elo(run: _Run) -> str:
    found = sprt.estimate(run.test.plan, run.results)
    if found is None:
        return "unknown after one swap block"
    return f"about {found.elo:+.0f} Elo ({found.low:+.0f} to {found.high:+.0f})"


def _show(run: _Run, printers: dict[int, FaultPrinter], *, stopped: bool) -> None:
    if not run.steps:
        print("Stopped before the end of the first swap block.")
        return
    print()
    print(f"verdict      {'stopped, ' if stopped else ''}{run.verdict}")
    print(f"             {_in_words(run, stopped=stopped)}")
    print(f"gain         {_elo(run)}; {ELO}")
    for version, name in _VERSIONS.items():
        took = times(run.seconds[version])
        print(
            f"{name + ' version':<12} {1000 * took.mean:.3g} ms per move on average; 99 % of its "
            f"moves take at most {1000 * took.p99:.3g} ms"
        )
        if run.faults[version]:
            printers[version].show_end(run.faults[version], run.forfeits[version])
    for printer in printers.values():
        printer.show_test()
    _show_statistics(run)
    faulty = [
        bot.name
        for version, bot in ((NEW, run.test.new), (OLD, run.test.old))
        if run.faults[version] and bot.path is not None
    ]
    for name in faulty:
        words = f"twelfth-night check {shlex.quote(name)}"
        print(typed(f"\nNext: `{words}` shows why {name} makes faults. They change its results."))
    if not faulty and run.verdict is Decision.BETTER and run.test.new.path is not None:
        words = f"twelfth-night upload {run.test.new.name} --bot NAME"
        print(typed(f"\nNext: `{words}` uploads it as a version of your bot NAME."))


def _in_words(run: _Run, *, stopped: bool) -> str:
    """Return what a verdict means, in a sentence or two for people who know no statistics."""
    old, new = run.test.old.name, run.test.new.name
    if run.verdict is not Decision.UNDECIDED:
        return verdicts.meaning(run.verdict, new, old, len(run.steps), run.test.plan)
    # A longer test of a version that forfeits would only count its forfeits.
    is_longer_useful = not stopped and not any(run.forfeits.values())
    more = " To let the test run longer, raise --max-blocks." if is_longer_useful else ""
    verb = "is" if len(run.steps) == 1 else "are"
    return (
        f"{counted(len(run.steps), 'swap block')} {verb} too few to decide whether {new} is "
        f"stronger than {old}. {_lacks(run)}{more}"
    )


def _lacks(run: _Run) -> str:
    """Return why an undecided test has no verdict, even if its results look clear."""
    last, plan, new = run.steps[-1], run.test.plan, run.test.new.name
    if last.differing < plan.min_differing and last.blocks < plan.guard_blocks:
        return (
            f"{verdicts.rule(plan)} So far the results differ in {last.differing} of "
            f"{counted(last.blocks, 'swap block')}."
        )
    found = verdicts.looks(new, sprt.estimate(plan, run.results))
    if found is not None:
        return f"{found}, but the evidence is too small for a verdict."
    return f"The results fit both claims: “{plan.elo1:.0f} Elo better” and “equally strong”."


def _show_statistics(run: _Run) -> None:
    """Print the numbers of the statistical test, with their meaning."""
    last, plan = run.steps[-1], run.test.plan
    print()
    print("The test in numbers:")
    print(
        f"- {counted(last.blocks, 'swap block')}. The results of the versions differed in "
        f"{counted(last.differing, 'swap block')}, and their moves in {run.with_other_moves}."
    )
    if (found := sprt.estimate(plan, run.results)) is not None:
        print(
            f"- Likelihood of superiority {100 * found.superiority:.1f} %: {verdicts.LIKELIHOOD}."
        )
    print(
        f"- Evidence {last.llr:+.2f} (for statisticians: the log-likelihood ratio, LLR). "
        f"{verdicts.bounds(plan)}"
    )
    print(f"- {verdicts.rule(plan)} {verdicts.SMALL_EDITS}")


def _as_json(
    run: _Run, setup: HomeSetup, printers: dict[int, FaultPrinter], *, stopped: bool
) -> dict[str, Any]:
    """Return the test as JSON data."""
    test = run.test
    found = sprt.estimate(test.plan, run.results)
    return {
        "new": test.new.name,
        "old": test.old.name,
        "field": [each.name for each in test.field],
        **asdict(test.table),
        "seed": setup.seed_text,
        "stopped": stopped,
        "verdict": None if stopped else str(run.verdict),
        "blocks": len(run.steps),
        "blocks_with_different_results": run.steps[-1].differing if run.steps else 0,
        "blocks_with_different_moves": run.with_other_moves,
        "llr": [round(step.llr, 4) for step in run.steps],
        "bounds": [test.plan.lower, test.plan.upper],
        "elo": found and found.elo,
        "elo_low": found and found.low,
        "elo_high": found and found.high,
        "superiority": found and found.superiority,
        "versions": {
            name: {
                "seconds_a_move": asdict(times(run.seconds[version])),
                "faults": run.faults[version],
                "forfeits": run.forfeits[version],
                "saved": printers[version].saved,
            }
            for version, name in _VERSIONS.items()
        },
    }
