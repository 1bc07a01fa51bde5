"""Computes again what each move of a WebAssembly bot in a played match cost.

The record has everything that the bot saw, and fuel is the same on every machine. So anyone with
the module can prove that a timeout in a record was one, and that the other moves were in time.
"""

from collections.abc import Iterator
from typing import NamedTuple

from bots_sdk.bot import match_info
from bots_sdk.wasm.bot import ModulePlayer
from bots_sdk.wasm.machine import Machine, OutOfFuelError, Program
from engine.errors import PlayerFaultError, RecordError, quote
from engine.games.game import State
from engine.record import Record
from engine.referee import FAULTS_TO_FORFEIT, Answer, TimeControl, ask, forfeits


class MoveFuel(NamedTuple):
    """What a decision of a bot cost.

    Attributes:
        ply: the ply of the move.
        move: the move in the record; after a fault it is the referee's.
        fuel: the units of fuel.
        bank_seconds: the seconds that are left in the bank after the move.
        fault: the kind of the fault; None without one.
        restarted: whether the bot's process started again before this decision.
    """

    ply: int
    move: str
    fuel: int
    bank_seconds: float
    fault: str | None
    restarted: bool = False


def fuel_of_moves(record: Record, seat: int, module: bytes, clock: TimeControl) -> list[MoveFuel]:
    """Return the fuel of each decision that a bot made in a match.

    Args:
        record: the record of the match; `engine.record.verify` accepts it.
        seat: the bot's seat.
        module: the bot's module.
        clock: the time control of the match.

    Raises:
        RecordError: the module plays another move than the record has, or makes another fault.
        ModuleRefusedError: the module is not a bot.
    """
    return list(decisions_again(record, seat, Program(module), clock))


def decisions_again(
    record: Record, seat: int, program: Program, clock: TimeControl, *, restart: int = 0
) -> Iterator[MoveFuel]:
    """Yield the fuel of each decision, as soon as the module has made it again.

    Args:
        record: see `fuel_of_moves`.
        seat: the bot's seat.
        program: the compiled module.
        clock: the time control of the match.
        restart: the number of the decision, from 1, before which the bot's process starts again,
            with a full bank and empty memory, as the league does if a process is lost at a table
            with remote bots. With 0 it never starts again.

    Raises:
        RecordError: as in `fuel_of_moves`.
    """
    faults = {fault.ply: fault.kind for fault in record.faults if fault.seat == seat}
    bot = _Bot(program, record, seat, clock)
    state = record.start()
    ply = made = decisions = 0
    while state.actors:
        actions = {}
        for actor in state.actors:
            _, move = record.moves[ply]
            actions[actor] = state.moves.ids[move]
            if actor == seat and len(state.legal(seat)) > 1:
                fault = faults.get(ply)
                _check_forfeit(fault, made, ply)
                if fault != "forfeit":
                    decisions += 1
                    if decisions == restart:
                        bot = _Bot(program, record, seat, clock)
                    _compare(bot.answer(state), state, actions[seat], fault, ply)
                    made += fault is not None
                    spent = MoveFuel(ply, move, bot.fuel, bot.bank_seconds, fault)
                    yield spent._replace(restarted=decisions == restart)
            ply += 1
        state.step_unchecked(actions)


class _Bot:
    """A module in a seat of a match that is computed again.

    Attributes:
        fuel: the fuel of the last decision.
        bank_seconds: the seconds that are left in the bank.
    """

    def __init__(self, program: Program, record: Record, seat: int, clock: TimeControl) -> None:
        self._seat = seat
        self._machine = Machine(program, lambda _: None)
        self._player: ModulePlayer | None = None
        self._unfit = Answer(-1, None, "")
        self.fuel = 0
        self.bank_seconds = clock.bank_seconds
        info = match_info(record.game, record.rules, record.seats, seat, clock)
        try:
            self._player = ModulePlayer(self._machine, info)
        except PlayerFaultError as error:  # each of its moves is a fault then
            kind = "timeout" if isinstance(error, OutOfFuelError) else "crash"
            self._unfit = Answer(-1, kind, str(error))

    def answer(self, state: State) -> Answer:
        if self._player is None:
            return self._unfit
        answer = ask(state, self._seat, self._player)
        self.fuel, self.bank_seconds = self._machine.fuel_used, self._player.bank_seconds
        return answer


def _check_forfeit(fault: str | None, made: int, ply: int) -> None:
    """Raise unless a seat forfeits exactly after its third fault."""
    if forfeits(made) != (fault == "forfeit"):
        raise RecordError(
            f"the fault in the record is {fault or 'none'}, but the seat has made {made} faults "
            f"before, and a seat forfeits after {FAULTS_TO_FORFEIT}",
            ply,
        )


def _compare(answer: Answer, state: State, action: int, fault: str | None, ply: int) -> None:
    if answer.fault != fault:
        raise RecordError(
            f"the fault in the record is {fault or 'none'}, but that of the module is "
            f"{answer.fault or 'none'}"
            f"{': ' + answer.reason if answer.reason else ''}",
            ply,
        )
    if fault is None and answer.action != action:
        texts = state.moves.texts
        raise RecordError(
            f"the module plays another move, {quote(texts[answer.action])}; the record has "
            f"{quote(texts[action])}",
            ply,
        )
