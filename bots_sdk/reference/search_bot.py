"""Tries each move in many matches as they could be, and takes the one that did best.

Nobody knows the hidden cards, but `sample` deals them as they could lie; then each move is played
on from there by a policy too simple to be good and quick enough to be asked a million times. Its
mistakes are the same after every move, so the means still tell the moves apart. (This is called
determinized, or perfect information, Monte-Carlo.)

The work is a number of playouts and not a time, and the luck comes from the observation alone, so
the same observation gets the same answer on any machine, however busy, and a fault can be seen
again.
"""

import json
from functools import cache
from random import Random
from typing import Any

from engine.games.catalogue import view_from
from engine.games.game import State
from engine.games.partridge import Partridge
from engine.games.partridge_moves import LOW, SIZE
from engine.games.twelve_days import TwelveDays
from engine.games.twelve_days_moves import AWARD_ID, PLAY_ID, RANKS

Observation = dict[str, Any]

PLAYOUTS = 240
"""For each decision, all its moves together; about 20 ms."""


def choose(observation: Observation, luck: str = "") -> str:
    """Return the legal move with the best mean score in playouts; another ``luck`` deals others."""
    # Sorted keys, since two ways to the same observation may order them differently.
    rng = Random(luck + json.dumps(observation, sort_keys=True))
    view, seat = view_from(observation), observation["seat"]
    # Half of the moves drop out after each round, so that most playouts go to telling the best
    # from the second best (Karnin, Koren and Somekh 2013, "sequential halving").
    left: list[str] = observation["legal_moves"]
    totals = dict.fromkeys(left, 0.0)
    rounds = (len(left) - 1).bit_length()
    for _ in range(rounds):
        for _ in range(max(1, PLAYOUTS // rounds // len(left))):
            deal, seed = view.sample(rng), rng.random()
            for move in left:
                # Same cards and same luck for each, so that what differs is due to the move.
                totals[move] += play_on(deal.copy(), seat, move, Random(seed))
        left = sorted(left, key=totals.__getitem__, reverse=True)[: (len(left) + 1) // 2]
    return left[0]


def play_on(state: State, seat: int, move: str, rng: Random) -> float:
    """Return how far a seat ends above the mean if it makes this move: points, or gifts."""
    action = state.parse(seat, move)
    if isinstance(state, Partridge):
        won, before = len(state.rounds_won), sum(state.gifts)
        mine = state.gifts[seat]
        state.step_unchecked({seat: action})
        while len(state.rounds_won) == won:  # the rounds after this one are anybody's
            state.step_unchecked({state.actors[0]: combination(state, rng)})
        return state.gifts[seat] - mine - (sum(state.gifts) - before) / state.seats
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
LATER, MOST, HARM = 0.7, 0.04, 0.6
"""What is left of that chance on a later day; what a card adds to the chance to hold the most of
its rank, for each one held; what it costs when the neighbour wins with it, in parts of the pot."""
TASTE = 0.5
"""Points by which values vary."""


def everyone(state: TwelveDays, rng: Random) -> dict[int, int]:
    """Return a choice for each seat that must decide."""
    if state.phase == "award":
        [winner] = state.actors
        poorest = min(state.legal(winner), key=lambda action: state.points[action - AWARD_ID])
        return {winner: poorest}
    giving = state.phase == "give"
    first_id = 0 if giving else PLAY_ID
    stake = sum(range(state.first_in_pot, state.day + 1))
    tables = values(giving, state.day, state.rules.days, stake, state.rules.claus == "award")
    choices = {}
    for seat in state.actors:
        hand, value = state.hands[seat], tables[int(rng.random() * VARIANTS)]
        best = -1000.0
        for action in state.legal(seat):
            rank = action - first_id
            if value[rank][hand[rank]] > best:
                best = value[rank][hand[rank]]
                choices[seat] = action
    return choices


@cache
def values(giving: bool, day: int, days: int, stake: int, award: bool) -> list[list[list[float]]]:
    """Return what to give or play a card is worth, by variant, rank and number held."""
    rng = Random(stake)
    later = LATER * (day + 1 + days) / 2 if day < days else 0
    tables = []
    for _ in range(VARIANTS):
        table = []
        for rank in range(RANKS):
            wins = 0.0 if award and not rank else WINS[rank]
            now = wins * stake * (-HARM if giving else 1) + rng.gauss(0, TASTE)
            table.append([now - later * wins - MOST * rank * min(n, 4) for n in range(27)])
        tables.append(table)
    return tables


# -- The policy for partridge ------------------------------------------------------------------

_rng = Random(1)
COMBINATIONS = [
    [
        2 * size + low / 6 + _rng.gauss(0, 0.7) if size else 0.0
        for size, low in zip(SIZE, LOW, strict=True)
    ]
    for _ in range(VARIANTS)
]
"""What each action is worth, by variant: many cards are good, and high ones are hard to lose."""


def combination(state: Partridge, rng: Random) -> int:
    """Return a choice for the seat whose turn it is."""
    value = COMBINATIONS[int(rng.random() * VARIANTS)]
    return max(state.legal(state.actors[0]), key=value.__getitem__)
