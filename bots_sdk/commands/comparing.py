"""``ab``: is the new version better than the old one?"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from bots_sdk.arena.contestants import contestant
from bots_sdk.arena.figures import times
from bots_sdk.arena.pool import Pool
from bots_sdk.arena.swaps import NEW, OLD, SwapBlock, SwapTest, blocks_in_order, gain
from bots_sdk.arena.worker import Setup
from bots_sdk.commands.faults import Report
from bots_sdk.commands.shared import OK, REFUSED, STOPPED, ImpossibleError, Json, print_json
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
from engine.rating import sprt
from engine.rating.sprt import Decision

_VERSIONS = {NEW: "new", OLD: "old"}
_GAUGE = 21


@dataclass(slots=True)
class _Run:
    """A test in play.

    Attributes:
        test: what is played.
        steps: of the test, one a block.
        differences: of the blocks.
        differing: blocks that went another way when the versions exchanged seats.
        seconds: by version, of the moves of each match.
        faults: by version and kind.
        forfeits: by version.
    """

    test: SwapTest
    steps: list[sprt.PathPoint] = field(default_factory=list)
    differences: list[float] = field(default_factory=list)
    differing: int = 0
    seconds: dict[int, list[tuple[float, ...]]] = field(default_factory=lambda: {NEW: [], OLD: []})
    faults: dict[int, dict[str, int]] = field(default_factory=lambda: {NEW: {}, OLD: {}})
    forfeits: dict[int, int] = field(default_factory=lambda: {NEW: 0, OLD: 0})

    def add(self, block: SwapBlock) -> float:
        """Take a block; return its difference."""
        self.differences.append(block.difference)
        self.differing += not block.alike
        for match in block.matches:
            for version in (NEW, OLD):
                self.seconds[version].append(match.seconds[version])
                seat = match.fixture.seating.index(version)
                self.forfeits[version] += seat in match.forfeited
            for fault in match.faults:
                if fault.bot in self.faults:
                    kinds = self.faults[fault.bot]
                    kinds[fault.kind] = kinds.get(fault.kind, 0) + 1
        return block.difference

    @property
    def verdict(self) -> Decision:
        """What the test came to, or undecided where it was stopped."""
        last = self.steps[-1].decision if self.steps else None
        return last or Decision.UNDECIDED

    def line(self) -> Text:
        """Return how it stands: blocks, the log-likelihood ratio and a gauge of it, Elo."""
        if not self.steps:
            return Text("playing the first block")
        plan, last = self.test.plan, self.steps[-1]
        at = (last.llr - plan.lower) / (plan.upper - plan.lower)
        mark = min(_GAUGE - 1, max(0, round(at * (_GAUGE - 1))))
        gauge = "".join("|" if place == mark else "-" for place in range(_GAUGE))
        line = Text(f"{last.blocks} blocks  LLR {last.llr:+.2f}  ")
        line.append(f"not better {plan.lower:+.2f} [")
        line.append(gauge, "green" if last.llr > 0 else "yellow")
        line.append(f"] {plan.upper:+.2f} better  {_elo(self)}")
        return line


def ab(
    old: Annotated[str, typer.Argument(help="The old version's Python file.")],
    new: Annotated[str, typer.Argument(help="The new one's.")],
    against: Against = ["house"],  # noqa: B006 - typer copies it
    max_blocks: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="After so many it is undecided.")
    ] = 3000,
    game: Game = None,
    rules: RulesName = "",
    seats: Seats = 0,
    jobs: Jobs = 0,
    seed: SeedText = "",
    faults: Faults = Path("faults"),
    as_json: Json = False,
) -> None:
    """Test whether a new version of a bot is better than the old one.

    In a block both play one deal twice and exchange seats. It ends as soon as the blocks speak
    for no gain or for one of 20 Elo, each wrong in 5 % of cases.

    Exit status 0: better; 1: not better, no difference in behaviour, or undecided.
    """
    table = table_of(game, rules, seats)
    text, seed_bytes = seed_of(seed)
    plan = sprt.Plan(
        seats=table.seats,
        max_blocks=max_blocks,
        min_blocks=min(max_blocks, sprt.Plan(table.seats).min_blocks),
    )
    test = SwapTest(
        table=table,
        new=contestant(new),
        old=contestant(old),
        field=opponents(against),
        plan=plan,
        seed=seed_bytes,
    )
    if test.new == test.old:
        raise ImpossibleError(f"{old} and {new} are one file; keep the old version as another.")
    jobs = jobs_of(jobs, 2 * max_blocks)
    if not as_json:
        print(f"Is {test.new.name} better than {test.old.name}?")
        print(
            f"{table.game} {table.rules}, {table.seats} seats, {jobs} matches at once, "
            f"--seed {text}"
        )
    run = _Run(test)
    reports = {
        version: Report(who, table, text, faults, as_json=as_json)
        for version, who in ((NEW, test.new), (OLD, test.old))
    }
    stopped = False
    with _live(run, as_json=as_json) as say:
        try:
            with Pool(Setup(table, test.contestants), jobs) as pool:
                blocks = blocks_in_order(pool.play(test.fixtures()))
                for step in sprt.llr_path(plan, _differences(run, blocks, reports, say)):
                    run.steps.append(step)
        except KeyboardInterrupt:
            stopped = True
    if as_json:
        print_json(_told(run, text, reports, stopped=stopped))
    else:
        _show(run, reports, stopped=stopped)
    raise typer.Exit(STOPPED if stopped else OK if run.verdict is Decision.BETTER else REFUSED)


def _differences(
    run: _Run,
    blocks: Iterator[SwapBlock],
    reports: dict[int, Report],
    say: Callable[[str], None],
) -> Iterator[float]:
    for block in blocks:
        for match in block.matches:
            for fault in match.faults:
                if fault.bot in reports:
                    reports[fault.bot].take(match, fault, say)
        yield run.add(block)


@contextmanager
def _live(run: _Run, *, as_json: bool) -> Iterator[Callable[[str], None]]:
    """Show how the test stands while it runs; give what says something above that."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    if as_json or not console.is_terminal:
        yield lambda line: None if as_json else print(line, file=sys.stderr)
        return
    with Live(console=console, get_renderable=run.line, transient=True, refresh_per_second=4):
        yield lambda line: console.print(line, markup=False)


def _elo(run: _Run) -> str:
    elo, width = gain(run.test.plan, run.differences)
    return f"{elo:+.0f} Elo" if width is None else f"{elo:+.0f} Elo (± {width:.0f})"


def _show(run: _Run, reports: dict[int, Report], *, stopped: bool) -> None:
    if not run.steps:
        print("Stopped before the first block was over.")
        return
    last, plan = run.steps[-1], run.test.plan
    print()
    print(f"{'stopped, ' if stopped else ''}{run.verdict}")
    print(
        f"LLR {last.llr:+.2f} after {last.blocks} blocks of two matches "
        f"(better above {plan.upper:+.2f}, not better below {plan.lower:+.2f}); about {_elo(run)}"
    )
    if run.differing == 0:
        print("The versions made the same moves throughout.")
    elif run.verdict is Decision.NO_DIFFERENCE:
        print(f"Their moves differed in {run.differing} blocks, but no places did.")
    elif run.verdict is Decision.UNDECIDED and not stopped:
        print("--max-blocks lets it go on for longer.")
    for version, name in _VERSIONS.items():
        took = times(run.seconds[version])
        print(
            f"{name}: {1000 * took.mean:.3g} ms a move, 99 of 100 at most {1000 * took.p99:.3g} ms"
        )
        if run.faults[version]:
            reports[version].show_end(run.faults[version], run.forfeits[version])


def _told(run: _Run, text: str, reports: dict[int, Report], *, stopped: bool) -> dict[str, Any]:
    """Return the test as JSON data."""
    test = run.test
    elo, width = gain(test.plan, run.differences) if run.differences else (None, None)
    return {
        "new": test.new.name,
        "old": test.old.name,
        "field": [each.name for each in test.field],
        **asdict(test.table),
        "seed": text,
        "stopped": stopped,
        "verdict": None if stopped else str(run.verdict),
        "blocks": len(run.steps),
        "blocks_that_differed": run.differing,
        "llr": [round(step.llr, 4) for step in run.steps],
        "bounds": [test.plan.lower, test.plan.upper],
        "elo": elo,
        "elo_error": width,
        "versions": {
            name: {
                "seconds_a_move": asdict(times(run.seconds[version])),
                "faults": run.faults[version],
                "forfeits": run.forfeits[version],
                "saved": reports[version].saved,
            }
            for version, name in _VERSIONS.items()
        },
    }
