"""NAME: a bot for twelve-days.

Each day, every seat gives a card to its left neighbour, then plays a card. The lowest rank that
only one seat played wins the pot, the day cards at stake. The two cards of rank 0 are called Claus:
a seat that wins with a Claus must give the pot to another seat. At the end, each rank scores for
the seats that hold the most cards of it.

Rules: `twelfth-night rules twelve-days`. What a bot sees: `twelfth-night rules observations`.
"""

from typing import Any

# If you define this function, it is called once before the first move:
#
# def start(info):
#     info["seats"], info["seat"], info["move_seconds"], info["bank_seconds"]


def choose(observation: dict[str, Any]) -> str:
    """Return one of observation["legal_moves"], which are texts like "give 7".

    Some other fields of an observation:
        phase: "give", "play" or "award"
        hand: your cards, ascending
        pot: the day cards at stake today
        day_cards: the day cards of each seat so far
        history: the past days, each with "plays" (one for each seat) and "winner"
    """
    moves: list[str] = observation["legal_moves"]
    hand: list[int] = observation["hand"]
    if observation["phase"] == "give":
        # A rank scores only if you hold the most cards of it. So give a rank of which you have few.
        return min(moves, key=lambda move: hand.count(number(move)))
    if observation["phase"] == "play":
        # If much is at stake, play the lowest card. Otherwise play the highest, and keep low cards.
        much = sum(observation["pot"]) > 8
        return moves[0] if much else moves[-1]
    # "award": you won with a Claus, so you must give the pot to another seat. This bot chooses the
    # seat with the fewest points.
    points = [sum(cards) for cards in observation["day_cards"]]
    return min(moves, key=lambda move: points[number(move)])


def number(move: str) -> int:
    """Return the number in a move: the rank of a card, or a seat."""
    return int(move.split()[1])
