"""One match of the arena: who sits where on which deal, and all that is noted of it."""

import io
import random
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

from bots_sdk.arena.contestants import Bench
from bots_sdk.bot import Choose, MatchInfo, match_info
from bots_sdk.thinking import traceback_of
from engine.errors import MatchInterruptedError
from engine.games.game import Observation
from engine.rating.blocks import MatchResult, rated_places
from engine.record import Record
from engine.referee import TimeControl, play

Result = TypeVar("Result")

CLOCK = TimeControl(move_seconds=1.0, bank_seconds=30.0)
"""What the league gives a bot on its ladders, unless they say otherwise."""

_MAX_SECONDS = CLOCK.move_seconds + CLOCK.bank_seconds
_CAN_RING = hasattr(signal, "setitimer")
_MAX_PRINTED = 20_000
_MAX_TRACEBACK = 20_000


@dataclass(frozen=True, slots=True)
class Table:
    """What is played, and by how many.

    Attributes:
        game: slug of the game.
        rules: name of the preset.
        seats: how many.
    """

    game: str
    rules: str
    seats: int


@dataclass(frozen=True, slots=True)
class Fixture:
    """A match to be played.

    Attributes:
        number: of the match in its run, from 1.
        block: that it is part of, from 0.
        deal_seed: 32 bytes.
        bots: by bot id, which contestant it is; one may sit there more than once.
        seating: bot ids by seat.
    """

    number: int
    block: int
    deal_seed: bytes
    bots: tuple[int, ...]
    seating: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FaultSeen:
    """A fault of a bot, as its author needs it.

    Attributes:
        bot: its id at the table.
        seat: where it sat.
        ply: of the move that the referee made in its stead.
        kind: ``crash``, ``illegal`` or ``timeout``.
        reason: in one line.
        traceback: of what it raised, if it did.
        observation: what it was asked.
        printed: the last of what was printed in the match until then.
    """

    bot: int
    seat: int
    ply: int
    kind: str
    reason: str
    traceback: str
    observation: Observation
    printed: str


@dataclass(frozen=True, slots=True)
class Played:
    """A match that was played.

    Attributes:
        fixture: what was to be played.
        record: of the match.
        forfeited: seats that had three faults.
        faults: of any bot, but for what followed from a forfeit.
        seconds: by bot id, how long each of its moves took.
    """

    fixture: Fixture
    record: Record
    forfeited: tuple[int, ...]
    faults: tuple[FaultSeen, ...]
    seconds: tuple[tuple[float, ...], ...]

    @property
    def result(self) -> MatchResult:
        """What counts of it: who forfeited is last."""
        return MatchResult(self.fixture.seating, rated_places(self.record.places, self.forfeited))


def info_for(table: Table, seat: int) -> MatchInfo:
    """Return the information that a bot's ``start`` receives."""
    return match_info(
        game=table.game, rules=table.rules, seats=table.seats, seat=seat, control=CLOCK
    )


def play_fixture(bench: Bench, table: Table, fixture: Fixture, names: Sequence[str]) -> Played:
    """Play a match; what bots print is kept from the terminal.

    Python's shared luck is seeded anew by the deal, so that a bot that uses it does the same again.

    Args:
        bench: has the contestants.
        table: what is played.
        fixture: who sits where, on which deal.
        names: of the contestants.
    """
    random.seed(fixture.deal_seed)  # not by seats: versions that are alike do the same
    printed = _Tail()
    with redirect_stdout(printed), redirect_stderr(printed):
        seen: Counter[str] = Counter()
        players: dict[int, _Watched] = {}
        for bot, index in enumerate(fixture.bots):
            seat = fixture.seating.index(bot)
            players[bot] = _Watched(
                bench, index, info_for(table, seat), seen[names[index]], printed
            )
            seen[names[index]] += 1
        outcome = play(
            table.game,
            table.rules,
            fixture.deal_seed,
            [players[bot] for bot in fixture.seating],
            names=[names[fixture.bots[bot]] for bot in fixture.seating],
        )
    faults = []
    for incident in outcome.incidents:
        fault = incident.fault
        bot = fixture.seating[fault.seat]
        raised = players[bot].raised.pop(0) if fault.kind != "illegal" else ("", "")
        faults.append(
            FaultSeen(
                bot=bot,
                seat=fault.seat,
                ply=fault.ply,
                kind=fault.kind,
                reason=incident.reason,
                traceback=raised[0],
                observation=incident.observation,
                printed=raised[1] or printed.text(),
            )
        )
    seconds = tuple(tuple(players[bot].seconds) for bot in range(len(fixture.bots)))
    return Played(fixture, outcome.record, outcome.forfeited, tuple(faults), seconds)


class _Watched:
    """A bot as a player whose time is taken and whose exceptions are kept."""

    def __init__(
        self, bench: Bench, index: int, info: MatchInfo, copy: int, printed: "_Tail"
    ) -> None:
        self.seconds: list[float] = []
        self.raised: list[tuple[str, str]] = []
        self._printed = printed
        self._limited = bench.from_file(index)
        self._choose: Choose | None = None
        self._unfit: tuple[Exception, str] | None = None
        try:
            self._choose = self._watched(lambda: bench.player(index, info, copy))
        except Exception as error:  # as at the league, each of its moves is a fault then
            self._unfit = error, traceback_of(error)

    def __call__(self, observation: Observation) -> str:
        choose = self._choose
        if choose is None:
            assert self._unfit is not None
            error, told = self._unfit
            self.raised.append((told, self._printed.text()))
            raise error
        began = perf_counter()
        try:
            return self._watched(lambda: choose(observation))
        except Exception as error:
            self.raised.append((traceback_of(error)[-_MAX_TRACEBACK:], self._printed.text()))
            raise
        finally:
            self.seconds.append(perf_counter() - began)

    def _watched(self, work: Callable[[], Result]) -> Result:
        return in_time(work) if self._limited else work()


def in_time(work: Callable[[], Result]) -> Result:
    """Return what somebody's code gives, if that takes no longer than any clock would allow.

    Raises:
        Exception: it raised this; something worse than that is told by a RuntimeError.
        TimeoutError: it took longer.
    """
    try:
        _set_alarm(_MAX_SECONDS)
        try:
            return work()
        finally:
            _set_alarm(0)
    except _TooLateError:
        raise TimeoutError(
            f"no answer after {_MAX_SECONDS:g} s, all that move and bank give"
        ) from None
    except BaseException as error:
        if isinstance(error, Exception) and not isinstance(error, MatchInterruptedError):
            raise
        raise RuntimeError(f"it raised {type(error).__name__}: {error}") from error


class _TooLateError(BaseException):
    """Gets through a bot's own ``except Exception``."""


def limit_time() -> None:
    """Have the alarm end a bot's move that takes too long, where there are such alarms."""
    if _CAN_RING:
        signal.signal(signal.SIGALRM, _ring)


def _ring(number: int, frame: object) -> None:
    raise _TooLateError


def _set_alarm(seconds: float) -> None:
    if _CAN_RING and signal.getsignal(signal.SIGALRM) is _ring:
        signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)  # again, if the bot takes no notice


class _Tail(io.TextIOBase):
    """Takes what bots print and keeps the end of it."""

    def __init__(self) -> None:
        self._kept: list[str] = []
        self._size = 0

    def write(self, text: str) -> int:
        """Take a text."""
        self._kept.append(text[-_MAX_PRINTED:])
        self._size += len(text)
        if self._size > 4 * _MAX_PRINTED:
            self._kept = [self.text()]
            self._size = len(self._kept[0])
        return len(text)

    def text(self) -> str:
        """Return the end of what was printed."""
        return "".join(self._kept)[-_MAX_PRINTED:]
