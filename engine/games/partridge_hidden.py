"""The hidden cards of ``partridge``: which hands are public, and which cards are unseen."""

from collections import Counter
from collections.abc import Mapping

from engine.games.game import Observation
from engine.games.partridge_moves import RANKS


def known_hands(observation: Observation) -> dict[int, Counter[int]]:
    """Return the hands that are public: of the seats that took cards back in this round."""
    hands: dict[int, Counter[int]] = {}
    for trick in observation["history"]:
        for action in trick["actions"]:
            seat = action["seat"]
            if seat in trick["returned"]:
                hands[seat] = Counter(action["cards"])
            elif seat in hands:
                hands[seat].subtract(action["cards"])
    for action in observation["trick"]:
        if action["seat"] in hands:
            hands[action["seat"]].subtract(action["cards"])
    return hands


def unseen_cards(observation: Observation, hands: Mapping[int, Counter[int]]) -> list[int]:
    """Return the cards of the round that are in none of these hands and not played, ascending."""
    unseen = Counter({rank: rank for rank in range(1, RANKS + 1)})
    unseen.subtract(observation["discards"])
    for action in observation["trick"]:
        unseen.subtract(action["cards"])
    for hand in hands.values():
        unseen.subtract(hand)
    return list(unseen.elements())
