"""NAME: a bot for twelve-days that searches.

After each legal move, the bot plays many possible matches, and takes the move with the best mean
result. In twelve-days a match goes to the end, in partridge to the end of the round. The hidden
cards are unknown: `sample` deals them in a possible way. After the first move all seats move at
random.

`bots_sdk/reference/search_bot.py` is a stronger bot of this kind. It plays on by rules of thumb
instead of at random, and it soon drops moves that look bad.
"""

import json
from random import Random
from time import monotonic
from typing import Any

from engine.games.catalogue import view_from
from engine.games.game import State
from engine.games.partridge import Partridge

GAMES = ["twelve-days"]  # the league checks the bot for these games only
PLAYOUTS = 100
"""Matches that the bot plays for a decision, for all moves together."""
SECONDS = 0.5
"""The time limit of a decision. A ladder gives 1 s for a move, and 30 s more for a match."""


def choose(observation: dict[str, Any]) -> str:
    """Return the legal move with the best mean result."""
    moves: list[str] = observation["legal_moves"]
    totals = dict.fromkeys(moves, 0.0)
    # The same observation gives the same random numbers. So you can repeat each fault.
    rng = Random(json.dumps(observation, sort_keys=True))
    view, end = view_from(observation), monotonic() + SECONDS
    for _ in range(max(1, PLAYOUTS // len(moves))):
        deal = view.sample(rng)
        for move in moves:
            totals[move] += result(deal.copy(), observation["seat"], move, rng)
        if monotonic() > end:
            break
    return max(moves, key=totals.__getitem__)


def result(state: State, seat: int, move: str, rng: Random) -> float:
    """Return how far a seat is ahead of the mean, after a move and random moves.

    The unit is points in twelve-days, and gifts in partridge.
    """
    actions = {other: rng.choice(state.legal(other)) for other in state.actors}
    rounds = rounds_won(state)
    state.step({**actions, seat: state.parse(seat, move)})
    while state.actors and rounds_won(state) == rounds:  # later rounds do not depend on this one
        state.step({other: rng.choice(state.legal(other)) for other in state.actors})
    scores = state.gifts if isinstance(state, Partridge) else state.scores
    assert scores is not None  # the match is over
    return scores[seat] - sum(scores) / len(scores)


def rounds_won(state: State) -> int:
    """Return the number of finished rounds; always 0 in twelve-days."""
    return len(state.rounds_won) if isinstance(state, Partridge) else 0
