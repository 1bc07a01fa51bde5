"""The presets of ``partridge``: published editions and variants by name."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.games.game import Rules


@dataclass(frozen=True, slots=True)
class PartridgeRules(Rules):
    """A preset of ``partridge``.

    Attributes:
        rounds: number of rounds.
        starting_gifts: gifts of each seat at the start.
        cards: cards dealt to each seat, by the number of seats, where that is not 12.
    """

    rounds: int
    starting_gifts: int
    cards: Mapping[int, int]

    def hand_size(self, seats: int) -> int:
        """Return the number of cards dealt to each seat."""
        return self.cards.get(seats, 12)

    def max_moves(self, seats: int) -> int:
        """Return a number of moves that one seat of a match never exceeds.

        A seat moves once a trick, and a trick takes a card from its winner for good. So a round
        ends at the latest when each seat has one card left and one of them wins.
        """
        return self.rounds * (seats * (self.hand_size(seats) - 1) + 1)


PRESETS: Mapping[str, PartridgeRules] = {
    rules.name: rules
    for rules in (
        PartridgeRules("eagle", 2, 8, rounds=12, starting_gifts=0, cards={7: 11, 8: 9}),
        PartridgeRules("eagle-short", 2, 8, rounds=3, starting_gifts=1, cards={7: 11, 8: 9}),
        PartridgeRules("mathpickle", 2, 6, rounds=12, starting_gifts=0, cards={}),
        PartridgeRules("mathpickle-short", 2, 6, rounds=6, starting_gifts=0, cards={}),
    )
}
