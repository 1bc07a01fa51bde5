"""Tries each move in many matches as they could be, and takes the one that did best.

Nobody knows the hidden cards, but `sample` deals them as they could lie; then each move is played
on from there by a policy too simple to be good and quick enough to be asked a million times. Its
mistakes are the same after every move, so the means still tell the moves apart. (This is called
determinized, or perfect information, Monte-Carlo.)

The work is a number of playouts, and the luck comes from the observation alone, so the same
observation gets the same answer on any machine, however busy, and a fault can be seen again. Where
a clock runs, a limit in seconds can be set beside it; an answer that it cuts short may differ.
"""

import json
from functools import cache
from math import inf
from random import Random
from time import monotonic
from typing import Any

from engine.games.catalogue import view_from
from engine.games.game import State
from engine.games.partridge import Partridge
from engine.games.partridge_moves import LOW, PASS, SIZE
from engine.games.twelve_days import TwelveDays
from engine.games.twelve_days_moves import AWARD_ID, RANKS

Observation = dict[str, Any]

PLAYOUTS = 400
"""For each decision, all its moves together; about 50 ms."""


def choose(
    observation: Observation, luck: str = "", *, playouts: int | None = None, seconds: float = inf
) -> str:
    """Return the legal move with the best mean score in playouts.

    Args:
        observation: what the seat may know.
        luck: another one deals other cards.
        playouts: about how many, `PLAYOUTS` if not told; each move gets at least one.
        seconds: after which to stop, if that comes first.
    """
    # Sorted keys, since two ways to the same observation may order them differently.
    rng = Random(luck + json.dumps(observation, sort_keys=True))
    view, seat = view_from(observation), observation["seat"]
    # Half of the moves drop out after each round, so that most playouts go to telling the best
    # from the second best (Karnin, Koren and Somekh 2013, "sequential halving").
    left: list[str] = observation["legal_moves"]
    totals = dict.fromkeys(left, 0.0)
    rounds = (len(left) - 1).bit_length()
    began = monotonic()
    for number in range(1, rounds + 1):
        for _ in range(max(1, (playouts or PLAYOUTS) // rounds // len(left))):
            deal, seed = view.sample(rng), rng.random()
            for move in left:
                # Same cards and same luck for each, so that what differs is due to the move.
                totals[move] += play_on(deal.copy(), seat, move, Random(seed))
            if monotonic() - began > seconds * number / rounds:
                break
        left = sorted(left, key=totals.__getitem__, reverse=True)[: (len(left) + 1) // 2]
    return left[0]


def play_on(state: State, seat: int, move: str, rng: Random) -> float:
    """Return how far a seat ends above the mean if it makes this move: points, or gifts."""
    action = state.parse(seat, move)
    if isinstance(state, Partridge):
        won, before = len(state.rounds_won), state.gifts[:]
        state.step_unchecked({seat: action})
        while len(state.rounds_won) == won:  # the rounds after this one are anybody's
            state.step_unchecked({state.actors[0]: combination(state, rng)})
        gained = [now - then for now, then in zip(state.gifts, before, strict=True)]
        return gained[seat] - sum(gained) / state.seats
    assert isinstance(state, TwelveDays)
    state.step_unchecked({**everyone(state, rng), seat: action})
    while state.actors:
        state.step_unchecked(everyone(state, rng))
    return state.points[seat] - sum(state.points) / state.seats


VARIANTS = 16
"""The policy's tastes differ from decision to decision by chance, or all would do the same."""

# -- The policy for twelve-days ----------------------------------------------------------------

WINS = [0.8, 0.85, 0.7, 0.55, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02]
"""How likely a card wins, by rank: a guess."""
LATER, MOST, HARM = 0.7, 0.08, 0.6
"""What is left of that chance on a later day; what a card adds to the chance to hold the most of
its rank; what it costs when the neighbour wins with it, in parts of the pot."""
TASTE = 2.0
"""Points by which values vary."""


def everyone(state: TwelveDays, rng: Random) -> dict[int, int]:
    """Return a choice for each seat that must decide."""
    if state.phase == "award":
        [winner] = state.actors
        poorest = min(state.legal(winner), key=lambda action: state.points[action - AWARD_ID])
        return {winner: poorest}
    stake = sum(range(state.first_in_pot, state.day + 1))
    tastes = values(state.day, state.rules.days, stake, state.rules.claus == "award")
    return {
        seat: max(state.legal(seat), key=tastes[int(rng.random() * VARIANTS)].__getitem__)
        for seat in state.actors
    }


@cache
def values(day: int, days: int, stake: int, award: bool) -> list[list[float]]:
    """Return what each give and each play is worth: by variant of taste, then by action id."""
    rng = Random(stake)
    wins = [0.0 if award else WINS[0], *WINS[1:]]  # who must award the pot has nothing of it
    later = LATER * (day + 1 + days) / 2 if day < days else 0
    worth = [later * wins[rank] + MOST * rank for rank in range(RANKS)]
    gives = [-HARM * stake * wins[rank] - worth[rank] for rank in range(RANKS)]
    plays = [stake * wins[rank] - worth[rank] for rank in range(RANKS)]
    return [[value + rng.gauss(0, TASTE) for value in gives + plays] for _ in range(VARIANTS)]


# -- The policy for partridge ------------------------------------------------------------------


def combinations() -> list[list[float]]:
    """Return what each combination is worth: many cards are good, high ones are hard to lose."""
    rng = Random(1)
    worth = [2 * size + low / 6 if size else 0.0 for size, low in zip(SIZE, LOW, strict=True)]
    return [[value + rng.gauss(0, 0.7) for value in worth] for _ in range(VARIANTS)]


COMBINATIONS = combinations()
"""By variant of taste, then by action id."""


def combination(state: Partridge, rng: Random) -> int:
    """Return a choice for the seat whose turn it is."""
    [seat] = state.actors
    value = COMBINATIONS[int(rng.random() * VARIANTS)]
    best = max(state.legal(seat), key=value.__getitem__)
    comes_back = SIZE[best] == state.sizes[seat] and LOW[best] > state.best_low
    return PASS if comes_back else best
