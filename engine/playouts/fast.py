"""Playouts by the compiled kernel; `engine.playouts.plain` returns the same numbers, slower."""

from collections.abc import Sequence

from engine.games.twelve_days import TwelveDays
from engine.playouts.policies import Policy, Uniform
from engine.playouts.positions import Position, game_and_seats, words
from engine.playouts.results import Played, Sums
from engine.playouts.wasm import Kernel, kernel, signed

_MAX_SEATS = 8


def play(position: Position, playouts: int, policy: Policy, seed: int, this_round: bool) -> Played:
    """Play a position on and return the totals; see `engine.playouts.play`."""
    _, seats = game_and_seats(position)
    machine = kernel()
    _load(machine, position, (), policy)
    _run(machine, "play", playouts, policy, seed, this_round)
    moves, *sums = machine.results(1 + 3 * _MAX_SEATS)
    scores, halves, firsts = (
        tuple(sums[first:][:seats]) for first in range(0, len(sums), _MAX_SEATS)
    )
    return Played(moves, scores, halves, firsts)


def evaluate(
    position: Position,
    _seat: int,
    actions: Sequence[int],
    playouts: int,
    policy: Policy,
    seed: int,
    this_round: bool,
) -> list[Sums]:
    """Play a position on after each of a seat's actions; see `engine.playouts.evaluate`."""
    machine = kernel()
    _load(machine, position, actions, policy)
    _run(machine, "evaluate", playouts, policy, seed, this_round)
    each = len(Sums._fields)
    sums = machine.results(each * len(actions))
    return [Sums(*sums[first : first + each]) for first in range(0, len(sums), each)]


def _load(machine: Kernel, position: Position, actions: Sequence[int], policy: Policy) -> None:
    game, _ = game_and_seats(position)
    if not isinstance(policy, Uniform):
        machine.give_table(policy, int(game != TwelveDays.game))
    machine.give(words(position, actions))
    if machine.call("load"):
        raise ValueError(f"this is not a position of {game} that a match can reach")


def _run(
    machine: Kernel, name: str, playouts: int, policy: Policy, seed: int, this_round: bool
) -> None:
    is_table = not isinstance(policy, Uniform)
    if machine.call(name, playouts, int(is_table), int(this_round), signed(seed)):
        raise ValueError("the hidden cards of this observation can't be dealt")
