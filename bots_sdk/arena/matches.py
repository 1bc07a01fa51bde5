"""One match of the arena: its fixture, the play, and the faults and times of its bots."""

import io
import random
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

from bots_sdk.arena.contestants import Contestant, PlayerFactory
from bots_sdk.bot import Choose, MatchInfo, match_info
from bots_sdk.bot_errors import BotFileError
from bots_sdk.choosing import traceback_of
from bots_sdk.sandbox.errors import BotTimeoutError
from engine.errors import MatchInterruptedError
from engine.games.game import Observation
from engine.rating.results import MatchResult, rated_places
from engine.record import Record
from engine.referee import TimeControl, play

Result = TypeVar("Result")

CLOCK = TimeControl(move_seconds=1.0, bank_seconds=30.0)
"""The default time control of ladders."""

LADDER_RULES = {"twelve-days": "calliope", "partridge": "eagle-short"}
"""The preset of a new league's ladder, by game; these ladders have 4 seats."""

_MAX_SECONDS = CLOCK.move_seconds + CLOCK.bank_seconds
_CAN_RING = hasattr(signal, "setitimer")
_MAX_PRINTED_LETTERS = 20_000
_MAX_TRACEBACK_LETTERS = 20_000


@dataclass(frozen=True, slots=True)
class MatchType:
    """A game, a preset and a number of seats.

    Attributes:
        game: the slug of the game.
        rules: the name of the preset.
        seats: the number of seats.
    """

    game: str
    rules: str
    seats: int


@dataclass(frozen=True, slots=True)
class Fixture:
    """A match before it is played.

    Attributes:
        number: the number of the match in its run, from 1.
        block: the number of its block, from 0.
        deal_seed: the deal seed, 32 bytes.
        bots: the contestant of each bot id; a contestant may have several ids.
        seating: the bot id at each seat.
    """

    number: int
    block: int
    deal_seed: bytes
    bots: tuple[int, ...]
    seating: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FaultReport:
    """A fault of a bot, with all that its author needs to repeat it.

    Attributes:
        bot: the bot's id at the table.
        seat: the bot's seat.
        ply: the ply of the move that the referee played for the bot.
        kind: ``crash``, ``illegal`` or ``timeout``.
        reason: the reason in one line.
        traceback: the traceback of the bot's exception; empty without one.
        observation: the bot's input.
        printed: the end of the output of all bots in the match until the fault.
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
class PlayedMatch:
    """A finished match.

    Attributes:
        fixture: the match as planned.
        record: the record of the match.
        forfeited: the seats that forfeited, after three faults each.
        faults: the faults of all bots before their forfeits.
        seconds: the time of each move, by bot id.
        changed: the files beside the bots that have changed since the process first read them.
    """

    fixture: Fixture
    record: Record
    forfeited: tuple[int, ...]
    faults: tuple[FaultReport, ...]
    seconds: tuple[tuple[float, ...], ...]
    changed: tuple[str, ...] = ()

    @property
    def result(self) -> MatchResult:
        """The rated result, in which a seat that forfeited is last."""
        return MatchResult(self.fixture.seating, rated_places(self.record.places, self.forfeited))


def info_for(table: MatchType, seat: int) -> MatchInfo:
    """Return the argument of a bot's ``start`` in the arena."""
    return match_info(table.game, table.rules, table.seats, seat, CLOCK)


def players_of(contestants: Sequence[Contestant]) -> PlayerFactory:
    """Return what creates the players of contestants, whose files it loads in limited time.

    Raises:
        BotFileError: a file is not a bot, or its code does not end.
    """
    try:
        return in_time(lambda: PlayerFactory(contestants))
    except (TimeoutError, RuntimeError) as error:
        files = ", ".join(str(each.path) for each in contestants if each.path)
        raise BotFileError(f"{files} can't be loaded: {error}.") from None


def play_fixture(
    factory: PlayerFactory, table: MatchType, fixture: Fixture, names: Sequence[str]
) -> PlayedMatch:
    """Play a match; the output of bots does not reach the terminal.

    The deal seeds Python's shared random generator, so that a bot that uses it repeats its moves.

    Args:
        factory: creates the players.
        table: the game, the preset and the number of seats.
        fixture: the match.
        names: the names of the contestants.
    """
    random.seed(fixture.deal_seed)  # without the seating: equal versions make equal moves
    printed = _OutputTail()
    with redirect_stdout(printed), redirect_stderr(printed):
        seen: Counter[str] = Counter()
        players: dict[int, _TimedPlayer] = {}
        for bot, index in enumerate(fixture.bots):
            seat = fixture.seating.index(bot)
            players[bot] = _TimedPlayer(
                factory, index, info_for(table, seat), seen[names[index]], printed
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
    for report in outcome.fault_reports:
        fault = report.fault
        bot = fixture.seating[fault.seat]
        raised = players[bot].raised.pop(0) if fault.kind != "illegal" else ("", "")
        faults.append(
            FaultReport(
                bot=bot,
                seat=fault.seat,
                ply=fault.ply,
                kind=fault.kind,
                reason=report.reason,
                traceback=raised[0],
                observation=report.observation,
                printed=raised[1] or printed.text(),
            )
        )
    seconds = tuple(tuple(players[bot].seconds) for bot in range(len(fixture.bots)))
    return PlayedMatch(fixture, outcome.record, outcome.forfeited, tuple(faults), seconds)


class _TimedPlayer:
    """A bot as a player of the referee, with the times of its moves and its exceptions."""

    def __init__(
        self, factory: PlayerFactory, index: int, info: MatchInfo, copy: int, printed: "_OutputTail"
    ) -> None:
        self.seconds: list[float] = []
        self.raised: list[tuple[str, str]] = []
        self._printed = printed
        self._limited = factory.may_hang(index)
        self._choose: Choose | None = None
        self._unfit: tuple[Exception, str] | None = None
        try:
            self._choose = self._captured(lambda: factory.player(index, info, copy))
        except Exception as error:  # each of the bot's moves is a fault then, as at the league
            self._unfit = error, traceback_of(error)

    def __call__(self, observation: Observation) -> str:
        choose = self._choose
        if choose is None:
            assert self._unfit is not None
            error, traceback = self._unfit
            self.raised.append((traceback, self._printed.text()))
            raise error
        began = perf_counter()
        try:
            return self._captured(lambda: choose(observation))
        except Exception as error:
            self.raised.append(
                (traceback_of(error)[-_MAX_TRACEBACK_LETTERS:], self._printed.text())
            )
            raise
        finally:
            took = perf_counter() - began
            # The clock of a WebAssembly bot counts its fuel, as at the league.
            self.seconds.append(getattr(choose, "charged_seconds", took))

    def _captured(self, work: Callable[[], Result]) -> Result:
        return in_time(work) if self._limited else work()


def in_time(work: Callable[[], Result]) -> Result:
    """Return the result of a bot's code, within the time of one move and the whole bank.

    Raises:
        Exception: the code raised it; a RuntimeError stands for a BaseException.
        BotTimeoutError: the code took longer.
        KeyboardInterrupt: Ctrl-C was pressed, and `limit_time` was called before.
    """
    try:
        _set_alarm(_MAX_SECONDS)
        try:
            return work()
        finally:
            _set_alarm(0)
    except _TooLateError:
        raise BotTimeoutError(
            f"it did not answer within {_MAX_SECONDS:g} s, the time of one move and the whole bank"
        ) from None
    except _StoppedError:
        raise
    except BaseException as error:
        if isinstance(error, Exception) and not isinstance(error, MatchInterruptedError):
            raise
        raise RuntimeError(f"the bot raised {type(error).__name__}: {error}") from error


class _TooLateError(BaseException):
    """Ends a bot's move; a bot's own ``except Exception`` does not catch it."""


class _StoppedError(KeyboardInterrupt):
    """Ctrl-C during a bot's move, unlike a KeyboardInterrupt that the bot raises."""


def limit_time() -> None:
    """Let signals end a bot's move: Ctrl-C, and an alarm if it takes too long.

    Some systems have no alarm. A process that ignores Ctrl-C continues to do so.
    """
    if _CAN_RING:
        signal.signal(signal.SIGALRM, _ring)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop)


def _ring(number: int, frame: object) -> None:
    raise _TooLateError


def _stop(number: int, frame: object) -> None:
    raise _StoppedError


def _set_alarm(seconds: float) -> None:
    if _CAN_RING and signal.getsignal(signal.SIGALRM) is _ring:
        signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)  # each second, if the bot catches it


class _OutputTail(io.TextIOBase):
    """A text stream that keeps the end of the output."""

    def __init__(self) -> None:
        self._kept: list[str] = []
        self._size = 0

    def write(self, text: str) -> int:
        """Add a text."""
        self._kept.append(text[-_MAX_PRINTED_LETTERS:])
        self._size += len(text)
        if self._size > 4 * _MAX_PRINTED_LETTERS:
            self._kept = [self.text()]
            self._size = len(self._kept[0])
        return len(text)

    def text(self) -> str:
        """Return the end of the output."""
        return "".join(self._kept)[-_MAX_PRINTED_LETTERS:]
