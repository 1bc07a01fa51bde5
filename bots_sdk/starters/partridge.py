"""NAME: a bot for partridge.

The leader plays a single, a set or a straight; each other seat passes or plays the same kind with
a lowest card no higher than the lowest card led. The lowest card wins the trick and leads the
next; whoever wins with its last cards wins the round. Others that empty their hands take those
cards back.
"""

from typing import Any

# Called once before the first move, if it is there:
#
# def start(info):
#     info["seats"], info["seat"], info["move_seconds"], info["bank_seconds"]


def choose(observation: dict[str, Any]) -> str:
    """Return one of observation["legal_moves"], which are texts like "play 7 6 5" or "pass".

    Of what else an observation holds, this is a part:
        phase: what is decided: "lead" or "follow"
        hand: this seat's cards, ascending
        hand_sizes, gifts: by seat
        trick: what was played in this trick, each with "seat" and "cards" (empty: a pass)
        lead_low: the lowest card led
        discards: the cards that are out of this round
    """
    moves: list[str] = observation["legal_moves"]
    hand: list[int] = observation["hand"]
    if observation["phase"] == "lead":
        # As many cards as can be, and of these the highest: low ones win tricks later.
        return max(moves, key=lambda move: (len(cards(move)), cards(move)))
    # All of the hand comes back unless it wins the trick, so that only with the lowest card.
    lows = [action["cards"][-1] for action in observation["trick"] if action["cards"]]
    safe = [move for move in moves if len(cards(move)) < len(hand) or cards(move)[-1] <= min(lows)]
    return max(safe or moves, key=lambda move: len(cards(move)))


def cards(move: str) -> list[int]:
    """Return the cards of a move, the highest first; none for a pass."""
    return [int(part) for part in move.split()[1:]]
