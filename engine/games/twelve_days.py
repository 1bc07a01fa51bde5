"""The game ``twelve-days``: 12 Days and The 12 Days of Christmas by Ernest and Selinker.

Each day every seat gives a card to its left neighbour, plays one, and draws one. The lowest rank
that only one seat played wins the day cards at stake. Spec: ``twelve-days``.

A hand is a list of counts by rank and a bit mask of the ranks it holds, the key to the tables of
legal moves.
"""

from collections.abc import Mapping
from operator import itemgetter
from random import Random
from typing import Any, ClassVar, Self

from engine.deals import Shuffle, fast_shuffle
from engine.games import events
from engine.games.events import Event
from engine.games.game import MoveTable, Observation, State
from engine.games.twelve_days_hidden import deal_hidden, gives_today
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
from engine.games.twelve_days_past import Day, Past, days_of, past_of
from engine.games.twelve_days_presets import PRESETS, TwelveDaysRules

GIVE, PLAY, AWARD, OVER = "give", "play", "award", "over"

_EVERYONE = [tuple(range(seats)) for seats in range(MOST_SEATS + 1)]
_IN_SEAT_ORDER = {seats: itemgetter(*range(seats)) for seats in range(3, MOST_SEATS + 1)}
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
    presets: ClassVar[Mapping[str, TwelveDaysRules]] = PRESETS

    rules: TwelveDaysRules
    day: int
    points: list[int]

    @classmethod
    def start(
        cls, rules: str, seats: int, shuffle: Shuffle, report: list[Event] | None = None
    ) -> Self:
        preset = cls.presets[cls.preset(rules).name]
        preset.check_seats(seats)
        deck = list(preset.deck())
        shuffle(0, deck)
        days = preset.days
        hands = [deck[seat * days : (seat + 1) * days] for seat in range(seats)]
        state = cls(preset, hands, deck[seats * days :], shuffle)
        if report is not None:
            report += [state._match_started(), *state._hands_dealt(), state._day_started()]
        return state

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
        self._decide_together(GIVE)

    # -- The rules, in the order of a day ---------------------------------------------------

    def _decide_together(self, phase: str) -> None:
        """Let all seats choose at once; the choices take effect with the last of them."""
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

    def step_unchecked(self, actions: Mapping[int, int], report: list[Event] | None = None) -> None:
        if len(actions) < len(self.actors):
            self.chosen = {**self.chosen, **actions}
            self.actors = tuple([seat for seat in self.actors if seat not in actions])
            return
        if self.chosen:
            actions = {**self.chosen, **actions}
        if self.phase == GIVE:
            self._give(_IN_SEAT_ORDER[self.seats](actions), report)
            self._decide_together(PLAY)
        elif self.phase == PLAY:
            ranks = [action - PLAY_ID for action in _IN_SEAT_ORDER[self.seats](actions)]
            self._play(tuple(ranks), report)
        else:
            [winner] = self.actors
            if report is not None:
                to = actions[winner] - AWARD_ID
                report.append(events.PotAwarded(self.day, winner, to, *self._stake()))
            self._end_day(winner, actions[winner] - AWARD_ID, report)

    def _give(self, ranks: tuple[int, ...], report: list[Event] | None) -> None:
        """Move each seat's card to the hand of its left neighbour."""
        if report is not None:
            report += map(events.CardGiven, range(self.seats), [*range(1, self.seats), 0], ranks)
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

    def _play(self, ranks: tuple[int, ...], report: list[Event] | None) -> None:
        """Find the lowest rank that exactly one seat played; if there is none, the pot carries."""
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
            if report is not None:
                report += self._showdown(None, None)
            self._end_day(None, None, report)
            return
        lowest = (unique & -unique).bit_length() - 1
        winner = ranks.index(lowest)
        must_award = lowest == 0 and self.rules.claus == "award"
        if report is not None:
            report += self._showdown(winner, None if must_award else winner)
        if must_award:
            self.phase = AWARD
            self.actors = (winner,)
        else:
            self._end_day(winner, winner, report)

    def _end_day(self, winner: int | None, to: int | None, report: list[Event] | None) -> None:
        """Move the pot ``to`` a seat and the plays to the discards; let each seat draw."""
        day, first = self.day, self.first_in_pot
        if to is not None:
            self.points[to] += (first + day) * (day + 1 - first) // 2  # the sum of first to day
            self.first_in_pot = day + 1
        self.discards += self.plays
        draws = self._draw(report)
        self.past = (self.past, day, first, self.plays, winner, to, self.gives, draws)
        if day == self.rules.days:
            self._end_match(report)
        else:
            self.day = day + 1
            self._decide_together(GIVE)
            if report is not None:
                report.append(self._day_started())

    def _draw(self, report: list[Event] | None) -> tuple[int, ...]:
        """Let each seat draw, from seat 0 up; shuffle the discards when a draw finds no deck."""
        top = self.top
        self.top = end = top + self.seats
        cards = self.deck[top:end]
        left = len(cards)
        if left < self.seats:
            self.deck = sorted(self.discards)
            self.shuffle(self.shuffles, self.deck)
            self.shuffles += 1
            self.discards = []
            self.top = self.seats - left
            cards += self.deck[: self.top]
        masks = self.masks
        for seat, hand in enumerate(self.hands):
            card = cards[seat]
            hand[card] += 1
            masks[seat] |= BIT[card]
        if report is not None:
            draws: list[Event] = [*map(events.CardDrawn, range(self.seats), cards)]
            if left < self.seats:
                draws.insert(left, events.DiscardsReshuffled(len(self.deck)))
            report += draws
        return tuple(cards)

    def _end_match(self, report: list[Event] | None) -> None:
        """End the match with the score of the hands."""
        self.phase, self.actors = OVER, ()
        if report is not None:
            report += self._hands_shown()
        self.score_hands(report)
        if report is not None:
            report += [*events.hands_counted(report, self.seats), self._match_over()]

    def score_hands(self, report: list[Event] | None = None) -> None:
        """Score each rank for the seats that hold its most cards, each in full if they tie."""
        points = self.points
        for rank, counts in enumerate(zip(*self.hands, strict=True)):
            most = max(counts)
            if rank and most:
                if report is not None:
                    holders = tuple([s for s, count in enumerate(counts) if count == most])
                    report.append(events.RankScored(rank, holders, most, rank))
                if counts.count(most) == 1:
                    points[counts.index(most)] += rank
                    continue
                for seat, count in enumerate(counts):
                    if count == most:
                        points[seat] += rank

    @property
    def scores(self) -> tuple[int, ...] | None:
        return tuple(self.points) if self.phase == OVER else None

    # -- Events -----------------------------------------------------------------------------

    def _stake(self) -> tuple[tuple[int, ...], int]:
        """Return the day cards at stake and the sum of their points."""
        pot = tuple(range(self.first_in_pot, self.day + 1))
        return pot, sum(pot)

    def _day_started(self) -> Event:
        return events.DayStarted(self.day, *self._stake())

    def _showdown(self, winner: int | None, to: int | None) -> list[Event]:
        """Return the events of today's plays and their result."""
        plays, stake = self.plays, self._stake()
        cancelled = tuple(sorted([rank for rank in plays if plays.count(rank) > 1]))
        if winner is not None:
            result: Event = events.DayWon(self.day, winner, plays[winner], cancelled, *stake, to)
        elif self.day < self.rules.days:
            result = events.DayCarried(self.day, cancelled, *stake)
        else:
            result = events.PotLost(self.day, cancelled, *stake)
        return [*map(events.CardPlayed, range(self.seats), plays), result]

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

    # -- Observations -----------------------------------------------------------------------

    @property
    def history(self) -> list[Day]:
        """The finished days, first to last, hidden cards included."""
        return days_of(self.past)

    def observe(self, seat: int) -> Observation:
        phase = self.phase
        hand = self.hand(seat)
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
        return {
            **self._public(seat),
            "seat": seat,
            "hand": hand,
            "legal_moves": self.legal_texts(seat),
            "given": given,
            "received": received,
            "played": played,
        }

    def hand(self, seat: int) -> list[int]:
        return cards_in(self.hands[seat])

    def _public(self, seat: int | None = None) -> dict[str, Any]:
        """Return what all may see; if a seat is given, with the finished days as it sees them."""
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
            "history": [day.seen_by_all() if seat is None else day.seen_by(seat) for day in days],
            "scores": None if scores is None else list(scores),
        }

    @classmethod
    def sample(cls, observation: Observation, rng: Random) -> Self:
        seat, phase = observation["seat"], observation["phase"]
        rules = cls.presets[observation["rules"]]
        hands, deck = deal_hidden(observation, rules.deck(), rng)
        state = cls(rules, hands, deck, fast_shuffle(rng.random))
        state.past = past_of(observation)
        state.day = observation["day"]
        pot = observation["pot"]
        state.first_in_pot = pot[0] if pot else state.day + 1
        state.discards = list(observation["discards"])
        state.points = [sum(cards) for cards in observation["day_cards"]]
        if phase == OVER:
            state.phase, state.actors = phase, ()
            state.points = list(observation["scores"])
            return state
        if phase == GIVE:
            choice, first_id = observation["given"], 0
        else:
            choice, first_id = observation["played"], PLAY_ID
            state.gives = gives_today(observation, hands, rng)
            state._decide_together(PLAY)
        if phase == AWARD:
            state.plays = tuple(observation["plays"])
            state.phase, state.actors = phase, (state.plays.index(0),)
        elif choice is not None:
            state.step_unchecked({seat: first_id + choice})
        return state
