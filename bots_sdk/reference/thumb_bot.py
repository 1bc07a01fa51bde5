"""Plays by rules of thumb: what a person picks up in the first evening with each game.

It looks at its own hand and at what is at stake, and at nothing that was played before. There is
no luck in it, so the same observation always gets the same answer: a fault seen once can be seen
again, and a move asked for twice is answered alike.
"""

from collections import Counter
from typing import Any

Observation = dict[str, Any]


def choose(observation: Observation) -> str:
    """Return one of the legal moves."""
    phases = {"give": _give, "play": _play, "award": _award, "lead": _lead, "follow": _follow}
    return phases[observation["phase"]](observation)


# -- twelve-days -------------------------------------------------------------------------------


def _give(observation: Observation) -> str:
    """Give the highest card of which there is no second: high cards score only in numbers."""
    held: Counter[int] = Counter(observation["hand"])
    moves: list[str] = observation["legal_moves"]
    return max(moves, key=lambda move: (-held[_rank(move)], _rank(move)))


def _play(observation: Observation) -> str:
    """Play low when much is at stake, else a card that is no loss."""
    held: Counter[int] = Counter(observation["hand"])
    moves: list[str] = observation["legal_moves"]
    if sum(observation["pot"]) >= 8:
        # A Claus has to award what it wins, where that is the rule: anything else comes first.
        keeps = "cheapass" in observation["rules"]
        return min(moves, key=lambda move: (_rank(move) == 0 and not keeps, _rank(move)))
    return max(moves, key=lambda move: (-held[_rank(move)], _rank(move)))


def _award(observation: Observation) -> str:
    """Award the pot to the seat with the fewest points so far: it helps that one least to win."""
    points = [sum(cards) for cards in observation["day_cards"]]
    moves: list[str] = observation["legal_moves"]
    return min(moves, key=lambda move: points[_rank(move)])


def _rank(move: str) -> int:
    return int(move.split()[1])


# -- partridge ---------------------------------------------------------------------------------


def _lead(observation: Observation) -> str:
    """Lead as many cards as can be, the highest of these: low ones win tricks later."""
    moves: list[str] = observation["legal_moves"]
    return max(moves, key=lambda move: (len(_cards(move)), _cards(move)))


def _follow(observation: Observation) -> str:
    """Get rid of most, but of the last cards only if they win: else they come back."""
    moves: list[str] = observation["legal_moves"]
    hand = observation["hand"]
    lows = [action["cards"][-1] for action in observation["trick"] if action["cards"]]
    last_to_act = len(observation["trick"]) == observation["seats"] - 1

    def worth(move: str) -> tuple[bool, int, list[int]]:
        cards = _cards(move)
        all_of_them = len(cards) == len(hand)
        wins = bool(cards) and last_to_act and cards[-1] <= min(lows)
        return (wins or not all_of_them, len(cards), cards)

    return max(moves, key=worth)


def _cards(move: str) -> list[int]:
    return [int(part) for part in move.split()[1:]]
