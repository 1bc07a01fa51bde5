"""Measure the speed of random playouts, through the interface that bots use."""

import time
from collections.abc import Callable
from itertools import count
from random import Random
from typing import NamedTuple

from engine.deals import SEED_BYTES, Shuffle, seeded_shuffle
from engine.games import catalogue
from engine.playouts import NewMatch, play


class Speed(NamedTuple):
    """Speed of playouts in whole matches and in moves (forced moves included) per second."""

    matches_per_second: float
    moves_per_second: float


def plain_loop() -> float:
    """Return the seconds that ten million passes of an empty loop take, to compare machines."""
    began = time.perf_counter()
    for _ in range(10**7):
        pass
    return time.perf_counter() - began


def playouts(game: str, rules: str, seats: int, seconds: float, now: Callable[[], float]) -> Speed:
    """Play at least one match, and further matches until the seconds are over.

    Args:
        game: slug of the game.
        rules: name of the preset.
        seats: number of seats.
        seconds: minimum time to play.
        now: returns seconds that never run backwards, like ``time.perf_counter``.

    Raises:
        UnknownRulesError: there is no such game or preset, or it does not allow that many seats.
    """
    random = Random(0).random
    matches = moves = 0
    began = now()
    for number in count():
        moves += play_out(
            game, rules, seats, seeded_shuffle(number.to_bytes(SEED_BYTES, "big")), random
        )
        matches += 1
        if now() - began >= seconds:
            break
    took = now() - began
    return Speed(matches / took, moves / took)


def play_out(
    game: str, rules: str, seats: int, shuffle: Shuffle, random: Callable[[], float]
) -> int:
    """Play one match at random and return the number of its moves."""
    state = catalogue.start(game, rules, seats, shuffle)
    legal, step = state.legal, state.step_unchecked
    moves = 0
    while state.actors:
        actions = {}
        for seat in state.actors:
            ids = legal(seat)
            actions[seat] = ids[int(random() * len(ids))]
        step(actions)
        moves += len(actions)
    return moves


_PER_CALL = 1000
"""Matches of one call of the kernel: a call takes about as long as one match."""


def kernel_playouts(
    game: str, rules: str, seats: int, seconds: float, now: Callable[[], float]
) -> Speed:
    """Measure the compiled kernel as `playouts` measures the engine.

    Raises:
        UnknownRulesError: there is no such game or preset, or it does not allow that many seats.
        ValueError: the kernel is not installed.
    """
    match = NewMatch(game, rules, seats)
    matches = moves = 0
    began = now()
    for number in count():
        moves += play(match, _PER_CALL, seed=number, in_kernel=True).moves
        matches += _PER_CALL
        if now() - began >= seconds:
            break
    took = now() - began
    return Speed(matches / took, moves / took)
