"""Computes again what each move of a WebAssembly bot in a played match cost.

The record has everything that the bot saw, and fuel is the same on every machine. So anyone with
the module can prove that a timeout in a record was one, and that the other moves were in time.
"""

from typing import NamedTuple

from bots_sdk.bot import MatchInfo
from bots_sdk.wasm.bot import ModulePlayer
from bots_sdk.wasm.machine import Machine, OutOfFuelError, Program
from engine.deals import seeded_shuffle
from engine.errors import PlayerFaultError, RecordError
from engine.games import catalogue
from engine.record import Record
from engine.referee import Answer, TimeControl, ask


class MoveFuel(NamedTuple):
    """What a decision of a bot cost.

    Attributes:
        ply: the ply of the move.
        fuel: the units of fuel.
        fault: the kind of the fault; None without one.
    """

    ply: int
    fuel: int
    fault: str | None


def fuel_of_moves(record: Record, seat: int, module: bytes, clock: TimeControl) -> list[MoveFuel]:
    """Return the fuel of each decision that a bot made in a match.

    Args:
        record: the record of the match.
        seat: the bot's seat.
        module: the bot's module.
        clock: the time control of the match.

    Raises:
        RecordError: the module plays another move than the record has, or makes another fault.
        ModuleRefusedError: the module is not a bot.
    """
    faults = {fault.ply: fault.kind for fault in record.faults if fault.seat == seat}
    info: MatchInfo = {
        "game": record.game,
        "rules": record.rules,
        "seats": record.seats,
        "seat": seat,
        "move_seconds": clock.move_seconds,
        "bank_seconds": clock.bank_seconds,
    }
    machine = Machine(Program(module), lambda _: None)
    player: ModulePlayer | None = None
    unfit: Exception | None = None
    try:
        player = ModulePlayer(machine, info)
    except PlayerFaultError as error:
        unfit = error
    state = catalogue.start(
        record.game, record.rules, record.seats, seeded_shuffle(record.deal_seed)
    )
    found = []
    ply = 0
    while state.actors:
        actions = {}
        for actor in state.actors:
            _, move = record.moves[ply]
            actions[actor] = state.parse(actor, move)
            if actor == seat and len(state.legal(seat)) > 1 and faults.get(ply) != "forfeit":
                kind = "timeout" if isinstance(unfit, OutOfFuelError) else "crash"
                answer = Answer(-1, kind, str(unfit))
                fuel = 0
                if player is not None:
                    answer = ask(state, seat, player)
                    fuel = machine.fuel_used
                _compare(answer, actions[seat], faults.get(ply), ply)
                found.append(MoveFuel(ply, fuel, answer.fault))
            ply += 1
        state.step_unchecked(actions)
    return found


def _compare(answer: Answer, action: int, fault: str | None, ply: int) -> None:
    if answer.fault != fault:
        raise RecordError(
            f"the fault in the record is {fault or 'none'}, but that of the module is "
            f"{answer.fault or 'none'}"
            f"{': ' + answer.reason if answer.reason else ''}",
            ply,
        )
    if fault is None and answer.action != action:
        raise RecordError("the module plays another move", ply)
