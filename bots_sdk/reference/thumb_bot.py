"""Plays by rules of thumb that a person learns in the first evening with each game.

The bot uses only its own hand and the stake, not the history. It makes no random moves, so the
same observation always gets the same answer, and a fault can be repeated.
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
    """Give the highest single card: high cards score only with others of their rank."""
    held: Counter[int] = Counter(observation["hand"])
    moves: list[str] = observation["legal_moves"]
    return max(moves, key=lambda move: (-held[_rank(move)], _rank(move)))


def _play(observation: Observation) -> str:
    """Play low if much is at stake, otherwise a card that is no loss."""
    held: Counter[int] = Counter(observation["hand"])
    moves: list[str] = observation["legal_moves"]
    if sum(observation["pot"]) >= 8:
        # In most presets a Claus must award the pot that it wins, so any other card is better.
        keeps = "cheapass" in observation["rules"]
        return min(moves, key=lambda move: (_rank(move) == 0 and not keeps, _rank(move)))
    return max(moves, key=lambda move: (-held[_rank(move)], _rank(move)))


def _award(observation: Observation) -> str:
    """Award the pot to the seat with the fewest points: that seat is least likely to win."""
    points = [sum(cards) for cards in observation["day_cards"]]
    moves: list[str] = observation["legal_moves"]
    return min(moves, key=lambda move: points[_rank(move)])


def _rank(move: str) -> int:
    return int(move.split()[1])


# -- partridge ---------------------------------------------------------------------------------


def _lead(observation: Observation) -> str:
    """Lead as many cards as possible, the highest of these: low cards win tricks later."""
    moves: list[str] = observation["legal_moves"]
    return max(moves, key=lambda move: (len(_cards(move)), _cards(move)))


def _follow(observation: Observation) -> str:
    """Play most cards, but the last cards only if they win: otherwise they come back."""
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
