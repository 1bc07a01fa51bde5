"""The referee: plays a match between players, keeps their clocks, and writes the record.

A player is any callable from observation to move text. If a player answers late, illegally or not
at all, the match goes on: the referee makes the seeded fallback move instead and records a fault.
After three faults it makes all further moves of that player without a call
(docs/reference/records.md, faults).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from engine.deals import seeded_shuffle
from engine.errors import (
    IllegalMoveError,
    MatchInterruptedError,
    PlayerFaultError,
    no_text,
    quote,
)
from engine.faults import late
from engine.games import catalogue
from engine.games.game import Observation, State
from engine.record import Fault, Record, fallback, record_of

Player = Callable[[Observation], str]

FAULTS_TO_FORFEIT = 3


def forfeits(faults: int) -> bool:
    """Return whether a seat with this number of faults forfeits the match."""
    return faults >= FAULTS_TO_FORFEIT


@dataclass(frozen=True, slots=True)
class TimeControl:
    """Thinking time of a seat.

    Attributes:
        move_seconds: time for each move; unused time is lost.
        bank_seconds: time for the whole match, used when a move takes longer than its own time.
    """

    move_seconds: float
    bank_seconds: float = 0.0


class MatchClock:
    """The clocks of one match; the caller supplies the time.

    A player that can be interrupted waits for `allowance` seconds, then raises `TimeoutError`.
    """

    def __init__(self, control: TimeControl, seats: int, now: Callable[[], float]) -> None:
        """Set up full banks.

        Args:
            control: thinking time of each seat.
            seats: number of seats.
            now: returns seconds that never run backwards, like ``time.monotonic``.
        """
        self._control = control
        self._banks = [control.bank_seconds] * seats
        self.now = now

    def allowance(self, seat: int) -> float:
        """Return the seconds that a seat has for its next move, its bank included."""
        return self._control.move_seconds + self._banks[seat]

    def bank(self, seat: int) -> float:
        """Return the seconds that are left in a seat's bank."""
        return self._banks[seat]

    def charge(self, seat: int, seconds: float) -> bool:
        """Take the time of a move off a seat's bank; return whether the move was in time."""
        self._banks[seat] -= max(0.0, seconds - self._control.move_seconds)
        in_time = self._banks[seat] >= 0
        self._banks[seat] = max(0.0, self._banks[seat])
        return in_time


class Answer(NamedTuple):
    """A player's answer.

    Attributes:
        action: chosen action id; -1 with a fault.
        fault: kind of the fault, or None.
        reason: what the player did wrong, in one line; empty without a fault.
    """

    action: int
    fault: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class FaultReport:
    """A fault, with the details that the bot's author needs.

    Attributes:
        fault: the fault as in the record.
        reason: what the player did wrong, in one line.
        observation: input at the fault, ready for a test.
    """

    fault: Fault
    reason: str
    observation: Observation


@dataclass(frozen=True, slots=True)
class Outcome:
    """A match played to its end.

    Attributes:
        record: record of the match.
        forfeited: seats with three faults or more, ascending.
        fault_reports: all faults except those of kind ``forfeit``.
    """

    record: Record
    forfeited: tuple[int, ...]
    fault_reports: tuple[FaultReport, ...]


@dataclass(slots=True)
class _Table:
    """A match in play, with its moves and faults so far."""

    state: State
    deal_seed: bytes
    players: Sequence[Player]
    clock: MatchClock | None
    moves: list[tuple[int, str]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    fault_reports: list[FaultReport] = field(default_factory=list)

    def forfeited(self, seat: int) -> bool:
        return forfeits(sum(fault.seat == seat for fault in self.faults))


def play(
    game: str,
    rules: str,
    deal_seed: bytes,
    players: Sequence[Player],
    *,
    names: Sequence[str] | None = None,
    clock: MatchClock | None = None,
) -> Outcome:
    """Play a match to its end.

    Args:
        game: slug of the game.
        rules: name of the preset.
        deal_seed: 32 bytes.
        players: one per seat; the referee calls a player only if it has a choice.
        names: names of the players, for the record.
        clock: keeps time; without a clock, players have no time limit.

    Raises:
        UnknownRulesError: there is no such game or preset, or it does not allow that many players.
        MatchInterruptedError: a player raised it; no player is at fault, and there is no result.
    """
    if names is not None and len(names) != len(players):
        raise ValueError(f"{len(names)} names for {len(players)} players")
    state = catalogue.start(game, rules, len(players), seeded_shuffle(deal_seed))
    table = _Table(state, deal_seed, players, clock)
    while state.actors:
        actions = {}
        for seat in state.actors:
            actions[seat] = _decide(table, seat)
            table.moves.append((seat, state.moves.texts[actions[seat]]))
        state.step_unchecked(actions)
    record = record_of(state, deal_seed, table.moves, faults=table.faults, players=names)
    forfeited = tuple(seat for seat in range(len(players)) if table.forfeited(seat))
    return Outcome(record, forfeited, tuple(table.fault_reports))


def _decide(table: _Table, seat: int) -> int:
    """Return the action of a seat: forced, chosen, or the fallback, which records a fault."""
    legal = table.state.legal(seat)
    if len(legal) == 1:
        return legal[0]
    ply = len(table.moves)
    if table.forfeited(seat):
        table.faults.append(Fault(ply, seat, "forfeit"))
        return fallback(table.deal_seed, ply, legal)
    answer = ask(table.state, seat, table.players[seat], table.clock)
    if answer.fault is None:
        return answer.action
    fault = Fault(ply, seat, answer.fault)
    table.faults.append(fault)
    table.fault_reports.append(FaultReport(fault, answer.reason, table.state.observe(seat)))
    return fallback(table.deal_seed, ply, legal)


def ask(state: State, seat: int, player: Player, clock: MatchClock | None = None) -> Answer:
    """Call the player of a seat that has a choice, and charge its clock if there is one.

    Raises:
        MatchInterruptedError: the player raised it; no player is at fault.
    """
    answer: object = None
    fault, reason, action = None, "", -1
    observation = state.observe(seat)
    began, allowed = (clock.now(), clock.allowance(seat)) if clock else (0.0, 0.0)
    try:
        answer = player(observation)
    except MatchInterruptedError:
        raise
    except TimeoutError as error:
        fault, reason = "timeout", _reason("it gave up:", error)
    except (Exception, SystemExit) as error:
        fault, reason = "crash", _reason("it raised", error)
    took = clock.now() - began if clock else 0.0
    if clock and not clock.charge(seat, took):
        fault, reason = "timeout", late(took, allowed)
    elif fault is None and not isinstance(answer, str):
        fault, reason = "illegal", no_text(answer)
    elif fault is None and isinstance(answer, str):
        try:
            action = state.parse(seat, str.__str__(answer))  # a subclass may override __str__
        except IllegalMoveError as error:
            fault, reason = "illegal", str(error)
    return Answer(action, fault, reason)


def _reason(did: str, error: BaseException) -> str:
    """Return an error in one line, for the author of the bot that raised it."""
    return str(error) if isinstance(error, PlayerFaultError) else f"{did} {quote(error, 200)}"
