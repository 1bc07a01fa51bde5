"""The game ``twelve-days``: 12 Days and The 12 Days of Christmas by Ernest and Selinker.

Each day every seat gives a card to its left neighbour, plays one, and draws one. The lowest rank
that only one seat played wins the day cards at stake. Spec: ``twelve-days``.

A hand is a list of counts by rank and a bit mask of the ranks it holds; the mask looks up what is
legal.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from random import Random
from typing import Any, ClassVar, NamedTuple, Self

from engine.deals import Shuffle
from engine.games.game import MoveTable, Observation, Rules, State
from engine.games.twelve_days_hidden import state_behind
from engine.games.twelve_days_moves import (
    AWARD_ID,
    BIT,
    GIVES,
    MOST_SEATS,
    MOVES,
    PLAY_ID,
    PLAYS,
    RANKS,
    cards_in,
)

GIVE, PLAY, AWARD, OVER = "give", "play", "award", "over"

_EVERYONE = [tuple(range(seats)) for seats in range(MOST_SEATS + 1)]
_IN_SEAT_ORDER = {seats: itemgetter(*range(seats)) for seats in range(3, MOST_SEATS + 1)}


@dataclass(frozen=True, slots=True)
class TwelveDaysRules(Rules):
    """A preset of ``twelve-days``.

    Attributes:
        claus: what a seat that wins with rank 0 does with the pot: ``award`` it to another seat,
            or ``keep`` it; ``none`` if the deck has no rank 0.
        days: how many are played; also the highest rank and the number of cards in a hand.
        decks: how many gift decks are shuffled together.
    """

    claus: str
    days: int
    decks: int

    @cache  # noqa: B019 - presets are few and live for ever
    def deck(self) -> tuple[int, ...]:
        """Return the gift deck, ascending: per deck ``r`` cards of rank ``r`` and two Clauses."""
        clauses = [] if self.claus == "none" else [0, 0]
        one = clauses + [rank for rank in range(1, self.days + 1) for _ in range(rank)]
        return tuple(sorted(one * self.decks))


class Day(NamedTuple):
    """A finished day; the gives and draws of seats that a sampled state can't know are None."""

    day: int
    pot: tuple[int, ...]
    plays: tuple[int, ...]
    winner: int | None
    to: int | None
    gives: tuple[int | None, ...]
    draws: tuple[int | None, ...]


_Ranks = tuple[int, ...]
_Known = tuple[int | None, ...]
Past = tuple["Past", int, int, _Ranks, int | None, int | None, _Known, _Known] | None
"""Finished days, the last outermost, so that copies share what is past.

The days before, then what a `Day` is made of, but its first day card in place of its pot: a plain
tuple, which costs a playout a seventh of what a `Day` does.
"""
_NO_CHOICES: Mapping[int, int] = {}


class TwelveDays(State):
    """A match of ``twelve-days``; see `State`.

    Attributes:
        day: the day being played, from 1.
        points: per seat, the sum of the day cards received; once over, of the whole score.
    """

    __slots__ = (
        "chosen",
        "day",
        "deck",
        "discards",
        "first_in_pot",
        "gives",
        "hands",
        "masks",
        "past",
        "plays",
        "points",
        "shuffle",
        "shuffles",
        "top",
    )

    game: ClassVar[str] = "twelve-days"
    moves: ClassVar[MoveTable] = MOVES
    presets: ClassVar[Mapping[str, TwelveDaysRules]] = {
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

    rules: TwelveDaysRules
    day: int
    points: list[int]

    @classmethod
    def start(cls, rules: str, seats: int, shuffle: Shuffle) -> Self:
        preset = cls.presets[cls.preset(rules).name]
        preset.check_seats(seats)
        deck = list(preset.deck())
        shuffle(0, deck)
        days = preset.days
        hands = [deck[seat * days : (seat + 1) * days] for seat in range(seats)]
        return cls(preset, hands, deck[seats * days :], shuffle)

    def __init__(
        self, rules: TwelveDaysRules, hands: list[list[int]], deck: list[int], shuffle: Shuffle
    ) -> None:
        self.rules = rules
        self.seats = len(hands)
        self.hands = [[0] * RANKS for _ in hands]
        self.masks = [0] * self.seats
        for seat, (hand, cards) in enumerate(zip(self.hands, hands, strict=True)):
            for card in cards:
                hand[card] += 1
            self.masks[seat] = sum([BIT[card] for card in set(cards)])
        self.deck = deck  # never changed in place, so that copies can share it
        self.top = 0
        self.discards: list[int] = []
        self.shuffle = shuffle
        self.shuffles = 1
        self.points = [0] * self.seats
        self.past: Past = None
        self.first_in_pot = 1
        self.gives: tuple[int | None, ...] = ()
        self.plays: tuple[int, ...] = ()
        self.day = 1
        self.decide_together(GIVE)

    # -- The rules, in the order of a day ---------------------------------------------------

    def decide_together(self, phase: str) -> None:
        """All seats choose at once: what each has chosen takes effect with the last of them."""
        self.phase = phase
        self.actors = _EVERYONE[self.seats]
        self.chosen = _NO_CHOICES

    def legal(self, seat: int) -> tuple[int, ...]:
        if seat not in self.actors:
            return ()
        if self.phase == GIVE:
            return GIVES[self.masks[seat]]
        if self.phase == PLAY:
            return PLAYS[self.masks[seat]]
        return tuple([AWARD_ID + other for other in range(self.seats) if other != seat])

    def step_unchecked(self, actions: Mapping[int, int]) -> None:
        if len(actions) < len(self.actors):
            self.chosen = {**self.chosen, **actions}
            self.actors = tuple([seat for seat in self.actors if seat not in actions])
            return
        if self.chosen:
            actions = {**self.chosen, **actions}
        if self.phase == GIVE:
            self._give(_IN_SEAT_ORDER[self.seats](actions))
            self.decide_together(PLAY)
        elif self.phase == PLAY:
            chosen = _IN_SEAT_ORDER[self.seats](actions)
            self._play(tuple([action - PLAY_ID for action in chosen]))
        else:
            [winner] = self.actors
            self._end_day(winner, actions[winner] - AWARD_ID)

    def _give(self, ranks: tuple[int, ...]) -> None:
        """Each seat's card moves to the hand of its left neighbour."""
        masks = self.masks
        received = ranks[-1]
        for seat, hand in enumerate(self.hands):
            given = ranks[seat]
            if given != received:
                left = hand[given] - 1
                hand[given] = left
                hand[received] += 1
                mask = masks[seat] | BIT[received]
                masks[seat] = mask if left else mask ^ BIT[given]
            received = given
        self.gives = ranks

    def _play(self, ranks: tuple[int, ...]) -> None:
        """The lowest rank that exactly one seat played wins the pot; without one it carries."""
        masks = self.masks
        seen = tied = 0
        for seat, hand in enumerate(self.hands):
            rank = ranks[seat]
            bit = BIT[rank]
            left = hand[rank] - 1
            hand[rank] = left
            if not left:
                masks[seat] ^= bit
            tied |= seen & bit
            seen |= bit
        self.plays = ranks
        unique = seen & ~tied
        if not unique:
            self._end_day(None, None)
            return
        lowest = (unique & -unique).bit_length() - 1
        winner = ranks.index(lowest)
        if lowest == 0 and self.rules.claus == "award":
            self.phase = AWARD
            self.actors = (winner,)
        else:
            self._end_day(winner, winner)

    def _end_day(self, winner: int | None, to: int | None) -> None:
        """The pot goes ``to`` a seat, the plays to the discards, and each seat draws."""
        day, first = self.day, self.first_in_pot
        if to is not None:
            self.points[to] += (first + day) * (day + 1 - first) // 2  # the sum of first to day
            self.first_in_pot = day + 1
        self.discards += self.plays
        draws = self._draw()
        self.past = (self.past, day, first, self.plays, winner, to, self.gives, draws)
        if day == self.rules.days:
            self._end_match()
        else:
            self.day = day + 1
            self.decide_together(GIVE)

    def _draw(self) -> tuple[int, ...]:
        """Each seat from 0 up draws; a draw that finds no deck makes one of the discards first."""
        top = self.top
        self.top = end = top + self.seats
        cards = self.deck[top:end]
        if len(cards) < self.seats:
            self.deck = sorted(self.discards)
            self.shuffle(self.shuffles, self.deck)
            self.shuffles += 1
            self.discards = []
            self.top = self.seats - len(cards)
            cards += self.deck[: self.top]
        masks = self.masks
        for seat, hand in enumerate(self.hands):
            card = cards[seat]
            hand[card] += 1
            masks[seat] |= BIT[card]
        return tuple(cards)

    def _end_match(self) -> None:
        """Whoever holds the most cards of a rank scores it, each in full where they tie."""
        self.phase = OVER
        self.actors = ()
        points = self.points
        for rank, counts in enumerate(zip(*self.hands, strict=True)):
            most = max(counts)
            if rank and most:
                if counts.count(most) == 1:
                    points[counts.index(most)] += rank
                    continue
                for seat, count in enumerate(counts):
                    if count == most:
                        points[seat] += rank

    @property
    def scores(self) -> tuple[int, ...] | None:
        return tuple(self.points) if self.phase == OVER else None

    # -- Copies -----------------------------------------------------------------------------

    def copy(self) -> Self:
        twin = self.__class__.__new__(self.__class__)
        twin.rules = self.rules
        twin.seats = self.seats
        twin.phase = self.phase
        twin.actors = self.actors
        twin.day = self.day
        twin.points = self.points[:]
        twin.hands = [hand[:] for hand in self.hands]
        twin.masks = self.masks[:]
        twin.deck = self.deck
        twin.top = self.top
        twin.discards = self.discards[:]
        twin.shuffle = self.shuffle
        twin.shuffles = self.shuffles
        twin.past = self.past
        twin.first_in_pot = self.first_in_pot
        twin.gives = self.gives
        twin.plays = self.plays
        twin.chosen = self.chosen
        return twin

    # -- What seats and spectators may see --------------------------------------------------

    @property
    def history(self) -> list[Day]:
        """The finished days, first to last, hidden cards included."""
        days = []
        rest = self.past
        while rest:
            rest, day, first, plays, winner, to, gives, draws = rest
            pot = tuple(range(first, day + 1))
            days.append(Day(day, pot, plays, winner, to, gives, draws))
        return days[::-1]

    def observe(self, seat: int) -> Observation:
        phase = self.phase
        hand = cards_in(self.hands[seat])
        given = received = played = None
        if phase == GIVE:
            given = self.chosen.get(seat)
            if given is not None:
                hand.remove(given)
        elif phase != OVER:
            given, received = self.gives[seat], self.gives[seat - 1]
            if phase == AWARD:
                played = self.plays[seat]
            elif seat in self.chosen:
                played = self.chosen[seat] - PLAY_ID
                hand.remove(played)
        public = self._public()
        return {
            **public,
            "seat": seat,
            "hand": hand,
            "legal_moves": self.legal_texts(seat),
            "given": given,
            "received": received,
            "played": played,
            "history": [
                {
                    **entry,
                    "given": day.gives[seat],
                    "received": day.gives[seat - 1],
                    "drawn": day.draws[seat],
                }
                for entry, day in zip(public["history"], self.history, strict=True)
            ],
        }

    def spectate(self) -> dict[str, Any]:
        hands = [cards_in(hand) for hand in self.hands] if self.is_over else None
        return {**self._public(), "hands": hands}

    def _public(self) -> dict[str, Any]:
        """Return what everybody at the table and around it knows."""
        days = self.history
        day_cards: list[list[int]] = [[] for _ in range(self.seats)]
        for day in days:
            if day.to is not None:
                day_cards[day.to] += day.pot
        scores = self.scores
        return {
            "game": self.game,
            "rules": self.rules.name,
            "seats": self.seats,
            "phase": self.phase,
            "day": self.day,
            "pot": list(range(self.first_in_pot, self.day + 1)),
            "plays": list(self.plays) if self.phase == AWARD else None,
            "day_cards": day_cards,
            "deck": len(self.deck) - self.top,
            "discards": sorted(self.discards),
            "history": [
                {
                    "day": day.day,
                    "pot": list(day.pot),
                    "plays": list(day.plays),
                    "winner": day.winner,
                    "to": day.to,
                }
                for day in days
            ],
            "scores": None if scores is None else list(scores),
        }

    @classmethod
    def sample(cls, observation: Observation, rng: Random) -> Self:
        return state_behind(cls, observation, rng)
