"""Simulates many possible matches for each move, and takes the move with the best mean score.

`engine.playouts.evaluate` deals the hidden cards in a possible way, and plays on by rules of thumb
after each move. The rules of thumb make the same mistakes after every move, so the means still
separate good moves from bad ones. (This method is called determinized, or perfect information,
Monte-Carlo.)

The bot runs a fixed number of playouts: five times as many if the compiled kernel plays them, in a
fifth of the time, since new bots wait for its matches. The observation alone determines the random
seed. So the same observation gets the same answer on any machine with the kernel, and a fault can
be repeated. If the bot has a clock, it stops after a quarter of the time that is left for a move.
An answer that reaches this limit may differ.
"""

import json
from collections.abc import Sequence
from math import inf
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any

from engine.playouts import Evaluation, evaluate, is_fast, rule_of_thumb

if TYPE_CHECKING:
    from bots_sdk.bot import MatchInfo

Observation = dict[str, Any]

PLAYOUTS = 400
"""Playouts for each decision, for all moves together; about 50 ms by the engine."""
FAST_PLAYOUTS = 2_000
"""Playouts for each decision if the kernel plays; about 10 ms."""
_DEALS_OF_A_CALL = 200
"""Deals of one call of the kernel, so that the bot can look at its clock between two calls."""
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
        playouts: about how many playouts, by default `PLAYOUTS` or `FAST_PLAYOUTS`.
        seconds: the time limit, by default `SHARE` of the time that `start` gave. If it is too
            short to try each move once, the best of the tried moves is played.
    """
    playouts = playouts or (FAST_PLAYOUTS if is_fast() else PLAYOUTS)
    if seconds is not None or _clock is None:
        return search(observation, luck, playouts, inf if seconds is None else seconds)
    began = monotonic()
    move = search(observation, luck, playouts, SHARE * _clock.left)
    _clock.note(monotonic() - began)
    return move


def search(observation: Observation, luck: str, playouts: int, seconds: float) -> str:
    """Return the best move that a number of playouts and a time limit in seconds find."""
    # Sorted keys: equal observations may have different orders.
    rng = Random(luck + json.dumps(observation, sort_keys=True))
    end = monotonic() + seconds
    left: list[str] = observation["legal_moves"]
    if len(left) == 1:
        return left[0]
    tried = first_results(observation, left, rng.getrandbits(64), end)
    totals = {each.move: value(each) for each in tried}
    if len(totals) < len(left):  # better than nothing: the best of the tried moves
        return max(totals, key=totals.__getitem__)
    # Half of the moves drop out after each round, so most playouts compare the best moves
    # (Karnin, Koren and Somekh 2013, "sequential halving").
    rounds = (len(left) - 1).bit_length()
    spent = seconds - (end - monotonic()) if end < inf else 0.0
    a_playout = spent / len(left)
    for number in range(rounds):
        deals = max(1, playouts // rounds // len(left)) - (number == 0)
        until = end - seconds * (rounds - 1 - number) / rounds if end < inf else inf
        while deals > 0:
            now = min(deals, _DEALS_OF_A_CALL if is_fast() else 1)
            began = monotonic()
            if began + a_playout * len(left) >= until:
                break
            for each in results(observation, left, now, rng.getrandbits(64)):
                totals[each.move] += now * value(each)
            a_playout = max((monotonic() - began) / len(left), 0.0)
            deals -= now
        left = sorted(left, key=totals.__getitem__, reverse=True)[: (len(left) + 1) // 2]
    return left[0]


def first_results(
    observation: Observation, moves: list[str], seed: int, end: float
) -> list[Evaluation]:
    """Return a result of each move; on a slow machine only of those tried until the end."""
    if is_fast():
        return results(observation, moves, 1, seed)
    found: list[Evaluation] = []
    for move in moves:
        if found and monotonic() > end:
            break
        found += results(observation, [move], 1, seed)
    return found


def results(
    observation: Observation, moves: Sequence[str], deals: int, seed: int
) -> list[Evaluation]:
    """Return the results of moves, each played out once for each deal of the hidden cards."""
    policy = rule_of_thumb(observation["game"], observation["rules"])
    # A round of partridge does not depend on those before it.
    return evaluate(observation, deals, policy, seed, moves=moves, this_round=True)


def value(found: Evaluation) -> float:
    """Return how good a move is: the lead over the mean of the other seats, in points or gifts."""
    return found.lead
