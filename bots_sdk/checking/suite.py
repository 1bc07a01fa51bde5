"""Goes through all that can happen to a bot at the league: every table, and what goes wrong there.

Opponents are random bots, which bring about odd situations soonest. Deals come from fixed seeds,
so that a second check sees the same.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bots_sdk.arena.figures import Times, times
from bots_sdk.arena.matches import CLOCK, Table, info_for
from bots_sdk.checking.findings import Finding, Verdict, bytes_told
from bots_sdk.checking.loading import MAX_EVIDENCE, SLOWER, of_imports, of_loading, of_source
from bots_sdk.checking.places import Place
from bots_sdk.checking.players import AskedTwice, Bot, PassedOver, Plain, Restarted
from bots_sdk.reference import make_player
from bots_sdk.sandbox.errors import BotCrashError, BotTimeoutError
from bots_sdk.sandbox.sources import Source
from bots_sdk.thinking import FaultFiles
from engine.deals import derive
from engine.games.catalogue import GAMES
from engine.referee import FAULTS_TO_FORFEIT, Incident, MatchClock, TimeControl, play

_UNHURRIED = TimeControl(move_seconds=60.0)
_MUCH_MEMORY = 0.8

Progress = Callable[[str, int, int], None]
"""Is told what is played, how many matches are done, and how many there are."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A match of the check.

    Attributes:
        table: what was played.
        seat: of the bot.
        player: the bot, ended.
        incidents: its faults.
    """

    table: Table
    seat: int
    player: Plain
    incidents: tuple[Incident, ...]

    @property
    def where(self) -> str:
        """The table and the seat, in words."""
        return f"{self.table.game} {self.table.rules}, {self.table.seats} seats, seat {self.seat}"

    def reasons(self) -> Iterator[tuple[Incident, str]]:
        """Yield its faults, each with why."""
        raised = iter(self.player.reasons)
        for incident in self.incidents:
            own = None if incident.fault.kind == "illegal" else next(raised, None)
            yield incident, own or incident.reason


@dataclass(slots=True)
class Suite:
    """A check of one bot.

    Attributes:
        path: of its file or archive.
        source: what is in it.
        place: where it is run.
        games: that are checked; empty for those that it knows.
        faults: the directory where observations of faults are saved.
        progress: is told how far it is.
    """

    path: Path
    source: Source
    place: Place
    games: Sequence[str]
    faults: Path
    progress: Progress
    matches: list[Seen] = field(default_factory=list)
    _files: FaultFiles = field(init=False)
    _done: int = 0
    _total: int = 0

    def __post_init__(self) -> None:
        self._files = FaultFiles(self.faults, self.path)

    def run(self) -> Iterator[Finding]:
        """Yield what is found, as it is found; ends early where there is no use in going on.

        Raises:
            SandboxBrokenError: the sandbox failed, not the bot.
        """
        yield of_source(self.source)
        yield from of_imports(self.path, self.source, self.place)
        info = self._info(_tables(next(iter(GAMES)))[0])
        loaded = of_loading(self.source, self.place, info)
        yield loaded
        if loaded.verdict is Verdict.WRONG:
            return
        games = list(self.games or GAMES)
        tables = {game: _tables(game) for game in games}
        self._total = sum(map(len, tables.values())) + 6 * len(games)
        known = []
        for game in games:
            first = self._play(tables[game][0], Plain)
            unknown = len(first.player.seconds) == len(first.incidents) == FAULTS_TO_FORFEIT
            if unknown and not self.games:
                yield self._unknown(game, first)
                self._total -= len(tables[game]) - 1 + 6
            else:
                known.append(game)
                self.matches.append(first)
        if not known:
            yield Finding(
                "games",
                Verdict.WRONG,
                "It made nothing but faults in each game.",
                "Look at the reasons above; `twelfth-night new` writes a bot to begin with.",
            )
            return
        for game in known:
            yield self._conformance(game, tables[game])
            for way, what, told, remedy in _CHAOS:
                yield self._chaos(game, way, what, told, remedy)
        yield self._time()
        yield self._memory()
        yield self._prints()

    @property
    def times(self) -> Times:
        """How long its moves took in matches that went as planned."""
        return times(each.player.seconds for each in self.matches)

    # -- Matches -----------------------------------------------------------------------------

    def _conformance(self, game: str, tables: Sequence[Table]) -> Finding:
        for number, table in enumerate(tables[1:], start=1):
            self.matches.append(self._play(table, Plain, number))
        played = [each for each in self.matches if each.table.game == game]
        asked = sum(len(each.player.seconds) for each in played)
        told = f"{len(played)} tables, every preset and number of seats, {asked} moves"
        return self._judge(game, played, f"{told} without a fault", "Mend that first.")

    def _chaos(self, game: str, way: type[Plain], what: str, told: str, remedy: str) -> Finding:
        tables = _tables(game)
        most = max(tables, key=lambda table: table.seats)
        played = [self._play(table, way, 100 + at) for at, table in enumerate((tables[0], most))]
        known = {why for seen in self.matches for _, why in seen.reasons()}
        reasons = {why for seen in played for _, why in seen.reasons()}
        if reasons and reasons <= known:
            return Finding(f"{game}, {what}", Verdict.NOTE, "the faults above, and no others")
        found = self._judge(f"{game}, {what}", played, told, remedy)
        changed = sum(each.player.changed for each in played if isinstance(each.player, AskedTwice))
        if changed and found.verdict is Verdict.OK:
            told = (
                f"{told}; {changed} second answers differed. That is allowed: the first one that "
                "arrives counts"
            )
            return Finding(found.what, Verdict.NOTE, told)
        return found

    def _play(self, table: Table, way: type[Plain], number: int = 0) -> Seen:
        """Play a match; a seat of another number for each."""
        self.progress(f"{table.game} {table.rules}, {table.seats} seats", self._done, self._total)
        self._done += 1
        seat = number % table.seats
        control = CLOCK if way is Plain else _UNHURRIED
        clock = MatchClock(control, table.seats, time.monotonic)

        def start() -> Bot:
            info = self._info(table, seat)
            return self.place.start(self.source, info, lambda: clock.allowance(seat))

        with way(start) as player:
            with suppress(BotCrashError, BotTimeoutError):
                player.ready()  # if not, it is told with its first move
            players: list[Any] = [
                make_player("house-random", luck=f"random-{other}") for other in range(table.seats)
            ]
            players[seat] = player
            seed = derive(bytes(32), f"check/{table.rules}/{table.seats}/{number}")
            outcome = play(table.game, table.rules, seed, players, clock=clock)
        return Seen(table, seat, player, outcome.incidents)

    def _judge(self, what: str, played: Sequence[Seen], told: str, remedy: str) -> Finding:
        """Return what is to be said of some matches: their faults, if there are any."""
        faults = [(seen, *fault) for seen in played for fault in seen.reasons()]
        if not faults:
            return Finding(what, Verdict.OK, told)
        seen, incident, reason = faults[0]
        kinds = {each.fault.kind for _, each, _ in faults}
        matches = len({id(each) for each, _, _ in faults})
        kept = self._files.save(
            {
                "table": f"{seen.table.rules}, {seen.table.seats} seats",
                "ply": incident.fault.ply,
                "kind": incident.fault.kind,
                "reason": reason,
                "info": self._info(seen.table, seen.seat),
                "observation": incident.observation,
            },
            f"{seen.table.rules}-{seen.table.seats}-ply{incident.fault.ply}",
        )
        lines = [
            f"faults ({', '.join(sorted(kinds))}) in {matches} of {len(played)} matches; the "
            f"first, at {seen.where}, ply {incident.fault.ply}: {reason}; {kept.told}"
        ]
        others = sorted({each for _, _, each in faults} - {reason})
        lines += [f"also: {each}" for each in others[:3]]
        return Finding(
            what,
            Verdict.WRONG,
            "\n".join(lines),
            f"{_REMEDY[incident.fault.kind]} {remedy}",
            _last_traceback(seen.player.printed),
        )

    def _unknown(self, game: str, first: Seen) -> Finding:
        found = self._judge(game, [first], "", "")
        return Finding(
            game,
            Verdict.NOTE,
            f"It does not seem to know {game}: {found.told}",
            f"Enter it on no ladder of {game}; `--game {game}` insists.",
            found.evidence,
        )

    # -- Over all matches --------------------------------------------------------------------

    def _time(self) -> Finding:
        took = self.times
        told = (
            f"mean {1000 * took.mean:.3g} ms a move, 99 of 100 at most {1000 * took.p99:.3g} ms, "
            f"longest {1000 * took.most:.3g} ms"
        )
        slower = times(
            [each * SLOWER for each in seen.player.seconds] for seen in self.matches
        ).out_of_time
        clock = f"{CLOCK.move_seconds:g} s a move and {CLOCK.bank_seconds:g} s more for a match"
        longest = max(sum(seen.player.seconds) for seen in self.matches)
        limit = self.place.cpu_seconds
        if took.out_of_time:
            told += f"; out of time in {took.out_of_time} matches, at {clock}"
            return Finding("time", Verdict.WRONG, told, "Think less, or look at the time.")
        if limit is not None and longest * SLOWER > limit:
            told += f"; {longest:.0f} s in one match, and {limit} s of CPU time end it"
            return Finding("time", Verdict.WARNING, told, "Think less.")
        if slower:
            told += f"; {SLOWER} times slower it would be out of time, at {clock}"
            return Finding("time", Verdict.WARNING, told, "Stop thinking by the clock.")
        if took.slow:
            told += f"; {took.slow} moves drew on the bank, at {clock}"
            return Finding("time", Verdict.NOTE, told)
        return Finding("time", Verdict.OK, told)

    def _memory(self) -> Finding:
        known = [seen.player.memory for seen in self.matches if seen.player.memory is not None]
        limit = self.place.memory_bytes
        if not known or limit is None:
            told = "not measured: that needs the sandbox"
            return Finding("memory", Verdict.NOTE, told)
        told = f"{bytes_told(max(known))} of {bytes_told(limit)}, what Python takes included"
        if max(known) > _MUCH_MEMORY * limit:
            remedy = "Keep less: a little more, and its moves are faults."
            return Finding("memory", Verdict.WARNING, told, remedy)
        return Finding("memory", Verdict.OK, told)

    def _prints(self) -> Finding:
        most = max(len(seen.player.printed.encode()) for seen in self.matches)
        if not most:
            return Finding("printing", Verdict.OK, "nothing")
        told = f"{bytes_told(most)} in a match, which its owner alone sees"
        if most > self.place.log_bytes // 2:
            told += f"; {bytes_told(self.place.log_bytes)} are kept, what comes later is lost"
            return Finding("printing", Verdict.WARNING, told, "Print less.")
        return Finding("printing", Verdict.OK, told)

    # -- Shared ------------------------------------------------------------------------------

    def _info(self, table: Table, seat: int = 0) -> dict[str, Any]:
        return dict(info_for(table, seat))


_REMEDY = {
    "crash": "See the line that is named.",
    "illegal": "Return one of observation['legal_moves'], as a text.",
    "timeout": "Think less, or look at the time.",
}

_CHAOS = (
    (
        Restarted,
        "restarted",
        "killed in mid-match and started anew, it plays on",
        "A bot that dies or is too late starts anew in mid-match: take what you remember from "
        "observation['history'].",
    ),
    (
        AskedTwice,
        "asked twice",
        "the same observation again gets a move as well",
        "After a lost connection the same observation comes again: don't count on each being new.",
    ),
    (
        PassedOver,
        "passed over",
        "moves that the referee made in its stead don't confuse it",
        "Out of time, it has a move made for it that it isn't told of: go by the observation, not "
        "by what you would have played.",
    ),
)


def _tables(game: str) -> list[Table]:
    """Return all tables of a game, what most play first."""
    tables = [
        Table(game, preset.name, seats)
        for preset in GAMES[game].presets.values()
        for seats in range(preset.min_seats, preset.max_seats + 1)
    ]
    return sorted(tables, key=lambda table: table != Table(game, tables[0].rules, 4))


def _last_traceback(printed: str) -> str:
    at = printed.rfind("Traceback (most recent call last)")
    return printed[at:][-MAX_EVIDENCE:] if at >= 0 else ""
