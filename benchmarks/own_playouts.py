"""Random playouts and copies of a game of the engine, measured once; for `engine_compare.py`.

Usage: python own_playouts.py GAME RULES SEATS SECONDS [kernel]

With ``kernel``, the compiled kernel plays. Prints one JSON object in the shape that
`others_playouts.py` prints.
"""

import json
import sys
from random import Random
from time import perf_counter
from timeit import Timer

from engine.bench import play_out, playouts
from engine.deals import SEED_BYTES, seeded_shuffle
from engine.games import catalogue
from engine.games.game import State
from engine.playouts import NewMatch, play

MIDDLES = 10
COPIES = 2000
PLAYOUTS = 500
"""Matches of one call of the kernel."""


def main(game: str, rules: str, seats: int, seconds: float) -> None:
    play_out(game, rules, seats, seeded_shuffle(bytes(SEED_BYTES)), Random(0).random)  # warm tables
    speed = playouts(game, rules, seats, seconds, perf_counter)
    states = [middle(game, rules, seats, number) for number in range(MIDDLES)]
    copying = sum(Timer(state.copy).timeit(COPIES) for state in states)
    result = {
        "seats": seats,
        "moves_per_second": speed.moves_per_second,
        "matches_per_second": speed.matches_per_second,
        "copy_microseconds": copying / (MIDDLES * COPIES) * 1e6,
    }
    print(json.dumps(result))


def in_kernel(game: str, rules: str, seats: int, seconds: float) -> None:
    """Measure playouts of the kernel; it has no copies."""
    match = NewMatch(game, rules, seats)
    play(match, 1, in_kernel=True)
    calls = moves = 0
    began = perf_counter()
    while perf_counter() - began < seconds:
        moves += play(match, PLAYOUTS, seed=calls, in_kernel=True).moves
        calls += 1
    took = perf_counter() - began
    result = {
        "seats": seats,
        "moves_per_second": moves / took,
        "matches_per_second": calls * PLAYOUTS / took,
        "copy_microseconds": None,
    }
    print(json.dumps(result))


def middle(game: str, rules: str, seats: int, number: int) -> State:
    """Return the state halfway through a random match."""
    rng = Random(number)
    state = catalogue.start(game, rules, seats, seeded_shuffle(number.to_bytes(SEED_BYTES, "big")))
    states = []
    while state.actors:
        states.append(state.copy())
        state.step_unchecked({seat: rng.choice(state.legal(seat)) for seat in state.actors})
    return states[len(states) // 2]


if __name__ == "__main__":
    measured = in_kernel if sys.argv[5:] == ["kernel"] else main
    measured(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
