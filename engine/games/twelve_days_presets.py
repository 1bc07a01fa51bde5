"""The presets of ``twelve-days``: published editions and variants by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from engine.games.game import Rules


@dataclass(frozen=True, slots=True)
class TwelveDaysRules(Rules):
    """A preset of ``twelve-days``.

    Attributes:
        claus: the rule for a seat that wins with rank 0: ``award`` the pot to another seat, or
            ``keep`` it; ``none`` if the deck has no rank 0.
        days: number of days; also the highest rank and the number of cards in a hand.
        decks: number of gift decks shuffled together.
    """

    claus: str
    days: int
    decks: int

    @cache  # noqa: B019 - presets are few and live for ever
    def deck(self) -> tuple[int, ...]:
        """Return the gift deck, ascending: per deck ``r`` cards of rank ``r``, two Claus cards."""
        clauses = [] if self.claus == "none" else [0, 0]
        one = clauses + [rank for rank in range(1, self.days + 1) for _ in range(rank)]
        return tuple(sorted(one * self.decks))

    def max_moves(self, seats: int) -> int:
        """Return a number of moves that one seat of a match never exceeds.

        On each day a seat gives a card, plays a card, and may award a pot.
        """
        return 3 * self.days


PRESETS: Mapping[str, TwelveDaysRules] = {
    rules.name: rules
    for rules in (
        TwelveDaysRules("calliope", 3, 5, claus="award", days=12, decks=1),
        TwelveDaysRules("cheapass", 3, 5, claus="keep", days=12, decks=1),
        TwelveDaysRules("eight-nights", 3, 4, claus="none", days=8, decks=1),
        TwelveDaysRules("eight-players", 3, 8, claus="award", days=12, decks=2),
        TwelveDaysRules("cheapass-eight-players", 3, 8, claus="keep", days=12, decks=2),
        TwelveDaysRules("eight-nights-eight-players", 3, 8, claus="none", days=8, decks=2),
    )
}
