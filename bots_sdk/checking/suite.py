"""A check of one bot: matches of every match type, and the failures that happen at a league.

The opponents are random bots, which lead to unusual situations soonest. The deals come from fixed
seeds, so a second check plays the same deals.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bots_sdk.arena.figures import Times, times
from bots_sdk.arena.matches import CLOCK, MatchType, info_for
from bots_sdk.checking.failures import FAILURES, Failure
from bots_sdk.checking.findings import CheckResult, Finding, size_text
from bots_sdk.checking.loading import (
    MAX_EVIDENCE_LETTERS,
    SLOWER,
    of_imports,
    of_loading,
    of_source,
)
from bots_sdk.checking.players import CheckedBot, RepeatedBot, RunningBot
from bots_sdk.checking.runtimes import Runtime
from bots_sdk.fault_files import FaultFiles
from bots_sdk.invoking import typed
from bots_sdk.reference import make_player
from bots_sdk.sandbox.errors import BotCrashError, BotTimeoutError
from bots_sdk.sandbox.sources import Source
from engine.deals import derive
from engine.faults import fault_noun
from engine.games.catalogue import GAMES
from engine.games.titles import counted
from engine.referee import FAULTS_TO_FORFEIT, FaultReport, MatchClock, TimeControl, play

_UNHURRIED = TimeControl(move_seconds=60.0)
_MUCH_MEMORY = 0.8

Progress = Callable[[str, int, int], None]
"""Receives the match in play, the number of finished matches, and the number of all matches."""


@dataclass(frozen=True, slots=True)
class CheckedMatch:
    """A match of the check.

    Attributes:
        table: the game, the preset and the number of seats.
        seat: the bot's seat.
        player: the bot, whose process has ended.
        fault_reports: the bot's faults.
    """

    table: MatchType
    seat: int
    player: CheckedBot
    fault_reports: tuple[FaultReport, ...]

    @property
    def where(self) -> str:
        """The match type and the seat, as a part of a sentence."""
        return f"{self.table.game} {self.table.rules}, {self.table.seats} seats, seat {self.seat}"

    def reasons(self) -> Iterator[tuple[FaultReport, str]]:
        """Yield the bot's faults, each with its reason."""
        raised = iter(self.player.reasons)
        for report in self.fault_reports:
            own = None if report.fault.kind == "illegal" else next(raised, None)
            yield report, own or report.reason


@dataclass(slots=True)
class Suite:
    """A check of one bot.

    Attributes:
        path: the path of the bot's file or archive.
        source: the content of the file or archive.
        runtime: the place in which the bot runs.
        games: the games to check; empty for all games that the bot plays.
        faults: the directory for the observations of faults.
        progress: receives the progress.
        matches: the finished matches without imitated failures.
    """

    path: Path
    source: Source
    runtime: Runtime
    games: Sequence[str]
    faults: Path
    progress: Progress
    matches: list[CheckedMatch] = field(default_factory=list)
    _files: FaultFiles = field(init=False)
    _done: int = 0
    _total: int = 0

    def __post_init__(self) -> None:
        self._files = FaultFiles(self.faults, self.path)

    def run(self) -> Iterator[Finding]:
        """Yield the findings one by one; stop early if the bot plays no game.

        Raises:
            SandboxBrokenError: the sandbox failed, not the bot.
        """
        yield of_source(self.source)
        info = self._info(_match_types(next(iter(GAMES)))[0])
        yield from of_imports(self.path, self.source, self.runtime, info)
        loaded = of_loading(self.source, self.runtime, info)
        yield loaded
        if loaded.result is CheckResult.WRONG:
            return
        games = list(self.games or GAMES)
        tables = {game: _match_types(game) for game in games}
        failures = 2 * len(FAILURES)
        self._total = sum(map(len, tables.values())) + failures * len(games)
        known = []
        for game in games:
            first = self._play(tables[game][0], CheckedBot)
            unknown = len(first.player.seconds) == len(first.fault_reports) == FAULTS_TO_FORFEIT
            if unknown and not self.games:
                yield self._unknown(game, first)
                self._total -= len(tables[game]) - 1 + failures
            else:
                known.append(game)
                self.matches.append(first)
        if not known:
            yield Finding(
                "games",
                CheckResult.WRONG,
                "every move of the bot was a fault, in every game",
                typed(
                    "Read the reasons above. `twelfth-night new` writes a first bot to start from."
                ),
            )
            return
        for game in known:
            yield self._all_match_types(game, tables[game])
            for failure in FAILURES:
                yield self._with_failure(game, failure)
        yield self._time()
        yield self._memory()
        yield self._prints()

    @property
    def times(self) -> Times:
        """The times of the moves in matches without imitated failures."""
        return times(each.player.seconds for each in self.matches)

    # -- Matches -----------------------------------------------------------------------------

    def _all_match_types(self, game: str, tables: Sequence[MatchType]) -> Finding:
        for number, table in enumerate(tables[1:], start=1):
            self.matches.append(self._play(table, CheckedBot, number))
        played = [each for each in self.matches if each.table.game == game]
        moves = sum(len(each.player.seconds) for each in played)
        text = (
            f"{counted(len(played), 'match')}, every preset and number of seats, "
            f"{counted(moves, 'move')}, no faults"
        )
        return self._judge(game, played, text, "Fix this before the other findings.")

    def _with_failure(self, game: str, failure: Failure) -> Finding:
        tables = _match_types(game)
        largest = max(tables, key=lambda table: table.seats)
        played = [
            self._play(table, failure.player, 100 + at)
            for at, table in enumerate((tables[0], largest))
        ]
        subject = f"{game}, {failure.name}"
        known = {reason for match in self.matches for _, reason in match.reasons()}
        reasons = {reason for match in played for _, reason in match.reasons()}
        if reasons and reasons <= known:
            return Finding(subject, CheckResult.NOTE, "no new faults: see those above")
        found = self._judge(subject, played, failure.passed, failure.remedy)
        changed = sum(
            each.player.changed for each in played if isinstance(each.player, RepeatedBot)
        )
        if changed and found.result is CheckResult.OK:
            text = (
                f"{failure.passed}; the second answer was another move {changed} times. This is "
                "allowed: the first answer counts"
            )
            return Finding(found.subject, CheckResult.NOTE, text)
        return found

    def _play(
        self, table: MatchType, player_type: type[CheckedBot], number: int = 0
    ) -> CheckedMatch:
        """Play a match; its number determines the deal and the bot's seat."""
        self.progress(f"{table.game} {table.rules}, {table.seats} seats", self._done, self._total)
        self._done += 1
        seat = number % table.seats
        control = CLOCK if player_type is CheckedBot else _UNHURRIED
        clock = _Clock(control, table.seats, time.monotonic)

        def start() -> RunningBot:
            info = self._info(table, seat)
            return self.runtime.start(self.source, info, lambda: clock.allowance(seat))

        with player_type(start) as player:
            if self.source.is_module:
                clock.paid_by_fuel = {seat: player}
            with suppress(BotCrashError, BotTimeoutError):
                player.ready()  # a failure is a fault of its first move
            players: list[Any] = [
                make_player("house-random", luck=f"random-{other}") for other in range(table.seats)
            ]
            players[seat] = player
            seed = derive(bytes(32), f"check/{table.rules}/{table.seats}/{number}")
            outcome = play(table.game, table.rules, seed, players, clock=clock)
        return CheckedMatch(table, seat, player, outcome.fault_reports)

    def _judge(
        self, subject: str, played: Sequence[CheckedMatch], passed: str, remedy: str
    ) -> Finding:
        """Return the finding for some matches: their faults, or that they have passed."""
        faults = [(match, *fault) for match in played for fault in match.reasons()]
        if not faults:
            return Finding(subject, CheckResult.OK, passed)
        match, report, reason = faults[0]
        kinds = {fault_noun(each.fault.kind, 2) for _, each, _ in faults}
        matches = len({id(each) for each, _, _ in faults})
        saved = self._files.save(
            {
                "table": f"{match.table.rules}, {match.table.seats} seats",
                "ply": report.fault.ply,
                "kind": report.fault.kind,
                "reason": reason,
                "info": self._info(match.table, match.seat),
                "observation": report.observation,
            },
            f"{match.table.rules}-{match.table.seats}-ply{report.fault.ply}",
        )
        lines = [
            f"faults in {matches} of {counted(len(played), 'match')}: {', '.join(sorted(kinds))}",
            f"first fault: {match.where}, move {report.fault.ply}: {reason}",
            saved.note,
        ]
        others = sorted({each for _, _, each in faults} - {reason})
        lines += [f"also: {each}" for each in others[:3]]
        return Finding(
            subject,
            CheckResult.WRONG,
            "\n".join(lines),
            f"{_REMEDIES[report.fault.kind]} {remedy}",
            _last_traceback(match.player.printed),
        )

    def _unknown(self, game: str, first: CheckedMatch) -> Finding:
        found = self._judge(game, [first], "", "")
        return Finding(
            game,
            CheckResult.NOTE,
            f"the bot does not seem to play {game}: {found.text}",
            f"Do not enter it on a ladder of {game}. To check {game} anyway, use `--game {game}`.",
            found.evidence,
        )

    # -- Over all matches --------------------------------------------------------------------

    def _time(self) -> Finding:
        took = self.times
        slower_by = 1 if self.source.is_module else SLOWER  # fuel is the same on every machine
        text = (
            f"on average {1000 * took.mean:.3g} ms per move; 99 % of moves take at most "
            f"{1000 * took.p99:.3g} ms; the longest {1000 * took.longest:.3g} ms"
        )
        slower = times(
            [each * slower_by for each in match.player.seconds] for match in self.matches
        ).out_of_time
        clock = f"with {CLOCK.move_seconds:g} s per move and a bank of {CLOCK.bank_seconds:g} s"
        longest = max(sum(match.player.seconds) for match in self.matches)
        limit = self.runtime.cpu_seconds
        if took.out_of_time:
            text += f"; the bot ran out of time in {counted(took.out_of_time, 'match')}, {clock}"
            return Finding("time", CheckResult.WRONG, text, _REMEDIES["timeout"])
        if limit is not None and longest * slower_by > limit:
            text += (
                f"; {longest:.0f} s in one match. A machine {SLOWER} times slower would exceed the "
                f"limit of {limit} s of CPU time"
            )
            return Finding("time", CheckResult.WARNING, text, "Compute less.")
        if slower:
            text += f"; a machine {SLOWER} times slower would run out of time, {clock}"
            return Finding("time", CheckResult.WARNING, text, "Limit the time of each move.")
        if took.slow:
            text += f"; {took.slow} moves used the bank, {clock}"
            return Finding("time", CheckResult.NOTE, text)
        return Finding("time", CheckResult.OK, text)

    def _memory(self) -> Finding:
        limit_at = self.runtime.memory_bytes
        known = [
            (
                match.player.memory / limit_at(self.source, match.table.seats),
                match.player.memory,
                match.table,
            )
            for match in self.matches
            if limit_at is not None and match.player.memory is not None
        ]
        if not known or limit_at is None:
            return Finding("memory", CheckResult.NOTE, "not measured: this needs the sandbox")
        part, memory, table = max(known, key=lambda each: each[:2])
        limit = size_text(limit_at(self.source, table.seats))
        text = f"{size_text(memory)} of {limit} with {table.seats} seats; this includes Python"
        if part > _MUCH_MEMORY:
            remedy = "Use less memory: above the limit, the bot's moves are faults."
            return Finding("memory", CheckResult.WARNING, text, remedy)
        return Finding("memory", CheckResult.OK, text)

    def _prints(self) -> Finding:
        most = max(len(match.player.printed.encode()) for match in self.matches)
        if not most:
            return Finding("output", CheckResult.OK, "the bot prints nothing")
        text = f"up to {size_text(most)} in a match; only the bot's owner sees it"
        if most > self.runtime.log_bytes // 2:
            text += f"; the league keeps the first {size_text(self.runtime.log_bytes)}"
            return Finding("output", CheckResult.WARNING, text, "Print less.")
        return Finding("output", CheckResult.OK, text)

    # -- Shared ------------------------------------------------------------------------------

    def _info(self, table: MatchType, seat: int = 0) -> dict[str, Any]:
        return dict(info_for(table, seat))


class _Clock(MatchClock):
    """The clock of a checked match; the fuel of a WebAssembly bot counts in place of the time."""

    paid_by_fuel: Mapping[int, CheckedBot] = MappingProxyType({})

    def charge(self, seat: int, seconds: float) -> bool:
        """Take the time of a move off a seat's bank; return whether the move was in time."""
        if (player := self.paid_by_fuel.get(seat)) is not None:
            seconds = player.seconds[-1] if player.seconds else 0.0  # none if its turn was skipped
        return super().charge(seat, seconds)


_REMEDIES = {
    "crash": "Fix the line that the message names.",
    "illegal": "Return one of observation['legal_moves'], as a text.",
    "timeout": "Compute less, or stop when the time is up.",
}


def _match_types(game: str) -> list[MatchType]:
    """Return all match types of a game, the default preset with 4 seats first."""
    tables = [
        MatchType(game, preset.name, seats)
        for preset in GAMES[game].presets.values()
        for seats in range(preset.min_seats, preset.max_seats + 1)
    ]
    return sorted(tables, key=lambda table: table != MatchType(game, tables[0].rules, 4))


def _last_traceback(printed: str) -> str:
    at = printed.rfind("Traceback (most recent call last)")
    return printed[at:][-MAX_EVIDENCE_LETTERS:] if at >= 0 else ""
