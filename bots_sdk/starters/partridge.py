"""NAME: a bot for partridge.

In a *trick* each seat acts once. The leader plays a single card, a set (cards of one rank) or a
straight (cards in a row). Each other seat passes, or plays cards of the same kind. Its set or
straight may have more or fewer cards than the leader's. But its lowest card may not be higher than
the leader's lowest card. The seat with the lowest card of all wins the trick and leads the next
one. A seat that wins a trick with its last cards wins the round. A seat that plays its last cards
without winning the trick takes them back.

Rules: `twelfth-night rules partridge`. What a bot sees: `twelfth-night rules observations`.
"""

from typing import Any

GAMES = ["partridge"]  # the league checks the bot for these games only

BOLD = 0
"""The bot plays its last cards only if at most this number of seats act after it in the trick."""

# If you define this function, it is called once before the first move:
#
# def start(info):
#     info["seats"], info["seat"]
#     info["move_seconds"]: time for each move; info["bank_seconds"]: more time, once for the match


def choose(observation: dict[str, Any]) -> str:
    """Return one of observation["legal_moves"], which are texts like "play 7 6 5" or "pass".

    Some other fields of an observation:
        phase: "lead" or "follow"
        hand: your cards, ascending
        hand_sizes, gifts: one number for each seat
        trick: the plays of this trick, each with "seat" and "cards" (no cards: a pass)
        lead_low: the lowest card led
        discards: the cards that are out of this round
    """
    moves: list[str] = observation["legal_moves"]
    hand: list[int] = observation["hand"]
    if observation["phase"] == "lead":
        # Lead as many cards as possible, and high ones: the low cards win tricks later.
        return max(moves, key=lambda move: (len(cards(move)), cards(move)))
    # If you play your last cards and don't win the trick, you take them back. So play them only if
    # one of them is the lowest card, and few seats act after you.
    lowest = min(play["cards"][-1] for play in observation["trick"] if play["cards"])
    after = observation["seats"] - 1 - len(observation["trick"])

    def is_safe(move: str) -> bool:
        wins = "play" in move and cards(move)[-1] <= lowest
        return len(cards(move)) < len(hand) or (wins and after <= BOLD)

    safe = [move for move in moves if is_safe(move)]
    return max(safe, key=lambda move: len(cards(move)))


def cards(move: str) -> list[int]:
    """Return the cards of a move, the highest first; none for a pass."""
    return [int(part) for part in move.split()[1:]]


# Three ideas that make the bot stronger. Each replaces the line with "-" by the line with "+".
# Against three random bots in the preset eagle-short (the short game), the bot has a win share of
# 68 %; with idea 1 alone, it has 86 %; with 2, 79 %; with 3, 75 %; with all three, 94 %.
# `twelfth-night ab OLD NEW` compares two files.
#
# 1. Be bold: play your last cards even if many seats act after you.
#    -BOLD = 0
#    +BOLD = 7
#
# 2. If two plays have equally many cards, play the higher ones.
#    -    return max(safe, key=lambda move: len(cards(move)))
#    +    return max(safe, key=lambda move: (len(cards(move)), cards(move)))
#
# 3. Lead high cards even if they are fewer: one rank higher is worth half a card.
#    -        return max(moves, key=lambda move: (len(cards(move)), cards(move)))
#    +        return max(moves, key=lambda move: len(cards(move)) + cards(move)[-1] / 2)
