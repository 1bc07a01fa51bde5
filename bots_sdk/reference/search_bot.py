"""Simulates many possible matches for each move, and takes the move with the best mean score.

The hidden cards are unknown, but `sample` deals them in a possible way. From there a simple, fast
policy plays on after each move. The policy makes the same mistakes after every move, so the means
still separate good moves from bad ones. (This method is called determinized, or perfect
information, Monte-Carlo.)

The bot runs a fixed number of playouts, and the observation alone determines the random seed. So
the same observation gets the same answer on any machine, and a fault can be repeated. If the bot
has a clock, it stops after a quarter of the time that is left for a move. An answer that reaches
this limit may differ.
"""

import json
from functools import cache
from math import inf
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any

from engine.games.catalogue import view_from
from engine.games.game import State
from engine.games.partridge import Partridge
from engine.games.partridge_moves import LOW, PASS, SIZE
from engine.games.twelve_days import TwelveDays
from engine.games.twelve_days_moves import AWARD_ID, RANKS

if TYPE_CHECKING:
    from bots_sdk.bot import MatchInfo

Observation = dict[str, Any]

PLAYOUTS = 400
"""Playouts for each decision, for all moves together; about 50 ms."""
SHARE = 0.25
"""The part of the time that is left for a move, bank included, that a search may take."""


class OwnClock:
    """The bot's own account of its clock: what is left for the next move.

    Attributes:
        left: seconds for the next move, the bank included.
    """

    def __init__(self, move_seconds: float, bank_seconds: float) -> None:
        self._move_seconds = move_seconds
        self.left = move_seconds + bank_seconds

    def note(self, seconds: float) -> None:
        """Note the time of a move; the time beyond the move's own comes from the bank."""
        self.left -= max(0.0, seconds - self._move_seconds)


_clock: OwnClock | None = None


def start(info: "MatchInfo") -> None:
    """Set the clock at the start of a match."""
    global _clock
    _clock = OwnClock(info["move_seconds"], info["bank_seconds"])


def choose(
    observation: Observation,
    luck: str = "",
    *,
    playouts: int | None = None,
    seconds: float | None = None,
) -> str:
    """Return the legal move with the best mean score in playouts.

    Args:
        observation: the observation.
        luck: a part of the random seed.
        playouts: about how many playouts, by default `PLAYOUTS`.
        seconds: the time limit, by default `SHARE` of the time that `start` gave. If it is too
            short to try each move once, the best of the tried moves is played.
    """
    if seconds is not None or _clock is None:
        return search(observation, luck, playouts or PLAYOUTS, inf if seconds is None else seconds)
    began = monotonic()
    move = search(observation, luck, playouts or PLAYOUTS, SHARE * _clock.left)
    _clock.note(monotonic() - began)
    return move


def search(observation: Observation, luck: str, playouts: int, seconds: float) -> str:
    """Return the best move that a number of playouts and a time limit in seconds find."""
    # Sorted keys: equal observations may have different orders.
    rng = Random(luck + json.dumps(observation, sort_keys=True))
    view, seat = view_from(observation), observation["seat"]
    # Half of the moves drop out after each round, so most playouts compare the best moves
    # (Karnin, Koren and Somekh 2013, "sequential halving").
    left: list[str] = observation["legal_moves"]
    totals = dict.fromkeys(left, 0.0)
    rounds = (len(left) - 1).bit_length()
    began = monotonic()
    has_compared = False
    for number in range(1, rounds + 1):
        for _ in range(max(1, playouts // rounds // len(left))):
            deal, seed = view.sample(rng), rng.random()
            gains: dict[str, float] = {}
            for move in left:
                if gains and monotonic() - began > seconds:
                    break
                # The same cards and random seed for each move: only the move differs.
                gains[move] = play_on(deal.copy(), seat, move, Random(seed))
            if len(gains) < len(left) and has_compared:
                return max(left, key=totals.__getitem__)
            if len(gains) < len(left):  # better than nothing: the best of the tried moves
                return max(gains, key=gains.__getitem__)
            has_compared = True
            for move, gain in gains.items():
                totals[move] += gain
            if monotonic() - began > seconds * number / rounds:
                break
        left = sorted(left, key=totals.__getitem__, reverse=True)[: (len(left) + 1) // 2]
    return left[0]


def play_on(state: State, seat: int, move: str, rng: Random) -> float:
    """Return a seat's score minus the mean score after a move: points, or gifts."""
    action = state.parse(seat, move)
    if isinstance(state, Partridge):
        won, before = len(state.rounds_won), state.gifts[:]
        state.step_unchecked({seat: action})
        while len(state.rounds_won) == won:  # later rounds do not depend on this one
            state.step_unchecked({state.actors[0]: combination(state, rng)})
        gained = [now - then for now, then in zip(state.gifts, before, strict=True)]
        return gained[seat] - sum(gained) / state.seats
    assert isinstance(state, TwelveDays)
    state.step_unchecked({**everyone(state, rng), seat: action})
    while state.actors:
        state.step_unchecked(everyone(state, rng))
    return state.points[seat] - sum(state.points) / state.seats


VARIANTS = 16
"""The number of variants of the policy; each decision uses a random one."""

# -- The policy for twelve-days ----------------------------------------------------------------

WINS = [0.8, 0.85, 0.7, 0.55, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02]
"""The estimated chance that a card wins, by rank."""
LATER, MOST, HARM = 0.7, 0.08, 0.6
"""Factor of that chance on a later day; value of a card for the majority of its rank; cost of a
neighbour's win with the card, as a part of the pot."""
TASTE = 2.0
"""Standard deviation of the values between variants, in points."""


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
    """Return the value of each give and each play, by variant, then by action id."""
    rng = Random(stake)
    wins = [0.0 if award else WINS[0], *WINS[1:]]  # a pot that must be awarded is worth nothing
    later = LATER * (day + 1 + days) / 2 if day < days else 0
    worth = [later * wins[rank] + MOST * rank for rank in range(RANKS)]
    gives = [-HARM * stake * wins[rank] - worth[rank] for rank in range(RANKS)]
    plays = [stake * wins[rank] - worth[rank] for rank in range(RANKS)]
    return [[value + rng.gauss(0, TASTE) for value in gives + plays] for _ in range(VARIANTS)]


# -- The policy for partridge ------------------------------------------------------------------


def combinations() -> list[list[float]]:
    """Return the value of each combination: more cards are better, higher cards too."""
    rng = Random(1)
    worth = [2 * size + low / 6 if size else 0.0 for size, low in zip(SIZE, LOW, strict=True)]
    return [[value + rng.gauss(0, 0.7) for value in worth] for _ in range(VARIANTS)]


COMBINATIONS = combinations()
"""The values by variant, then by action id."""


def combination(state: Partridge, rng: Random) -> int:
    """Return a choice for the seat whose turn it is."""
    [seat] = state.actors
    value = COMBINATIONS[int(rng.random() * VARIANTS)]
    best = max(state.legal(seat), key=value.__getitem__)
    comes_back = SIZE[best] == state.sizes[seat] and LOW[best] > state.best_low
    return PASS if comes_back else best
