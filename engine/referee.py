"""The referee: plays a match between players, keeps their clocks, and writes the record.

A player is any callable from observation to move text. One that answers late, illegally or not at
all does not stop the match: the referee plays the seeded fallback in its stead and notes a fault,
and after three faults plays on for it without asking (spec "Blocks", a bot's own failure).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from engine.deals import seeded_shuffle
from engine.errors import (
    IllegalMoveError,
    MatchInterruptedError,
    PlayerFaultError,
    quote,
)
from engine.games import catalogue
from engine.games.game import Observation, State
from engine.record import Fault, Record, fallback

Player = Callable[[Observation], str]

FAULTS_TO_FORFEIT = 3


@dataclass(frozen=True, slots=True)
class TimeControl:
    """How long a seat may think.

    Attributes:
        move_seconds: for each move, not saved up.
        bank_seconds: for the whole match, used where a move takes longer.
    """

    move_seconds: float
    bank_seconds: float = 0.0


class MatchClock:
    """The clocks of one match; where time comes from is the caller's.

    A player that can be interrupted asks `allowance` how long it has, and raises `TimeoutError`.
    """

    def __init__(self, control: TimeControl, seats: int, now: Callable[[], float]) -> None:
        """Set up full banks.

        Args:
            control: how long each seat may think.
            seats: how many.
            now: seconds that never run backwards, as ``time.monotonic`` gives.
        """
        self._control = control
        self._banks = [control.bank_seconds] * seats
        self.now = now

    def allowance(self, seat: int) -> float:
        """Return how many seconds a seat has for its next move, its bank included."""
        return self._control.move_seconds + self._banks[seat]

    def charge(self, seat: int, seconds: float) -> bool:
        """Take the time of a move off a seat's bank; return whether it was in time."""
        self._banks[seat] -= max(0.0, seconds - self._control.move_seconds)
        in_time = self._banks[seat] >= 0
        self._banks[seat] = max(0.0, self._banks[seat])
        return in_time


class Answer(NamedTuple):
    """What a player answered.

    Attributes:
        action: that it chose; -1 with a fault.
        fault: its kind, or None.
        reason: of the fault: what the player did, in one line.
    """

    action: int
    fault: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Incident:
    """A fault as its bot's author needs it.

    Attributes:
        fault: as in the record.
        reason: what the player did, in one line.
        observation: what it was asked, ready to become a test.
    """

    fault: Fault
    reason: str
    observation: Observation


@dataclass(frozen=True, slots=True)
class Outcome:
    """A match played to its end.

    Attributes:
        record: of the match.
        forfeited: the seats that had three faults, ascending.
        incidents: each fault that was not merely the consequence of a forfeit.
    """

    record: Record
    forfeited: tuple[int, ...]
    incidents: tuple[Incident, ...]


@dataclass(slots=True)
class _Table:
    """A match in play and what the referee has noted of it."""

    state: State
    deal_seed: bytes
    players: Sequence[Player]
    clock: MatchClock | None
    moves: list[tuple[int, str]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    incidents: list[Incident] = field(default_factory=list)

    def forfeited(self, seat: int) -> bool:
        return sum(fault.seat == seat for fault in self.faults) >= FAULTS_TO_FORFEIT


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
        players: one a seat. It is not asked where it has no choice.
        names: of the players, for the record.
        clock: keeps time; without one, players have as long as they like.

    Raises:
        UnknownRulesError: no such game or preset, or it does not take that many players.
        MatchInterruptedError: a player raised it: nobody's fault, and nothing was decided.
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
    record = Record(
        game=game,
        rules=rules,
        seats=len(players),
        deal_seed=deal_seed,
        moves=tuple(table.moves),
        scores=state.scores or (),
        places=state.places or (),
        faults=tuple(table.faults),
        players=None if names is None else tuple(names),
    )
    forfeited = tuple(seat for seat in range(len(players)) if table.forfeited(seat))
    return Outcome(record, forfeited, tuple(table.incidents))


def _decide(table: _Table, seat: int) -> int:
    """Return the action of a seat: forced, its own, or the fallback with a fault noted."""
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
    table.incidents.append(Incident(fault, answer.reason, table.state.observe(seat)))
    return fallback(table.deal_seed, ply, legal)


def ask(state: State, seat: int, player: Player, clock: MatchClock | None = None) -> Answer:
    """Ask the player of a seat that has a choice, on its clock if there is one.

    Raises:
        MatchInterruptedError: the player raised it: nobody's fault.
    """
    answer: object = None
    fault, reason, action = None, "", -1
    observation = state.observe(seat)
    began = clock.now() if clock else 0.0
    try:
        answer = player(observation)
    except MatchInterruptedError:
        raise
    except TimeoutError as error:
        fault, reason = "timeout", _told("gave up:", error)
    except (Exception, SystemExit) as error:
        fault, reason = "crash", _told("raised", error)
    took = clock.now() - began if clock else 0.0
    if clock and not clock.charge(seat, took):
        fault, reason = "timeout", f"answered after {took:.3f} s, out of time"
    elif fault is None and not isinstance(answer, str):
        fault, reason = "illegal", f"a move is a text, not {quote(answer)}"
    elif fault is None and isinstance(answer, str):
        try:
            action = state.parse(seat, str.__str__(answer))  # whatever its class makes of it
        except IllegalMoveError as error:
            fault, reason = "illegal", str(error)
    return Answer(action, fault, reason)


def _told(did: str, error: BaseException) -> str:
    """Return what an error says to the author of the bot that raised it."""
    return str(error) if isinstance(error, PlayerFaultError) else f"{did} {quote(error, 200)}"
