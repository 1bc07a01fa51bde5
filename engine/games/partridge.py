"""The game ``partridge``: 12 Days of Christmas by Gordon Hamilton.

Seats shed their cards trick by trick. The leader plays a single, a set or a straight. Each other
seat acts once: it answers in kind, at or below the leader's lowest card, or passes. The lowest
card wins the trick. A seat that wins a trick with its last cards wins the round and a gift.
Spec: ``partridge``.

`partridge_moves` defines hands, masks and action ids, `partridge_presets` the presets, and
`partridge_hidden` what a seat can conclude about hidden cards.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, ClassVar, NamedTuple, Self

from engine.deals import Shuffle, fast_shuffle
from engine.games import events
from engine.games.events import Event
from engine.games.game import MoveTable, Observation, State
from engine.games.partridge_hidden import known_hands, unseen_cards
from engine.games.partridge_moves import (
    ACTION,
    AS_HAND,
    CARDS,
    DECK,
    LOW,
    MOVES,
    NO_LOW,
    PASS,
    SIZE,
    answers,
    cards_in,
    combination,
    hand_of,
    leads,
    ranks_held,
)
from engine.games.partridge_presets import PRESETS, PartridgeRules

LEAD, FOLLOW, OVER = "lead", "follow", "over"

_MOST_SEATS = 8
_ALONE = [(seat,) for seat in range(_MOST_SEATS)]


class Trick(NamedTuple):
    """A finished trick: action ids in order of play; seats that took cards back, ascending."""

    leader: int
    actions: tuple[int, ...]
    winner: int
    returned: tuple[int, ...]


_Past = tuple["_Past", int, list[int], int, list[int]] | None
"""The finished tricks of a round, the last outermost, so that copies share them.

The earlier tricks, then the parts of a `Trick` in order of play: cheap to keep in a playout.
"""


class Partridge(State):
    """A match of ``partridge``; see `State`.

    Attributes:
        round: the round being played, from 1.
        leader: the seat that leads this trick.
        gifts: per seat.
        rounds_won: the winner of each finished round.
    """

    __slots__ = (
        "best",
        "best_low",
        "discards",
        "gifts",
        "hands",
        "lead",
        "leader",
        "masks",
        "past",
        "round",
        "rounds_won",
        "shuffle",
        "sizes",
        "trick",
    )

    game: ClassVar[str] = "partridge"
    moves: ClassVar[MoveTable] = MOVES
    presets: ClassVar[Mapping[str, PartridgeRules]] = PRESETS

    rules: PartridgeRules
    round: int
    leader: int
    gifts: list[int]
    rounds_won: tuple[int, ...]

    @classmethod
    def start(
        cls, rules: str, seats: int, shuffle: Shuffle, report: list[Event] | None = None
    ) -> Self:
        preset = cls.presets[cls.preset(rules).name]
        preset.check_seats(seats)
        state = cls(preset, seats, shuffle)
        if report is not None:
            report.append(state._match_started())
            gifts = [seat for seat, count in enumerate(state.gifts) for _ in range(count)]
            report += [events.GiftMoved(None, seat, None) for seat in gifts]
        state._deal(report)
        return state

    def __init__(self, rules: PartridgeRules, seats: int, shuffle: Shuffle) -> None:
        self.rules = rules
        self.seats = seats
        self.shuffle = shuffle
        self.gifts = [rules.starting_gifts] * seats
        self.round = 1
        self.rounds_won = ()
        self.best = 0  # seat 0 leads the first trick, as if it had won one

    # -- The rules, in the order of a round -------------------------------------------------

    def _deal(self, report: list[Event] | None) -> None:
        """Begin a round: shuffle and deal all cards; the rest stays out of the round, unseen."""
        deck = DECK[:]
        self.shuffle(self.round - 1, deck)
        size = self.rules.hand_size(self.seats)
        self.hands = [sum(deck[size * seat : size * (seat + 1)]) for seat in range(self.seats)]
        self.masks = [ranks_held(hand) for hand in self.hands]
        self.sizes = [size] * self.seats
        self.discards = 0
        self.past: _Past = None
        self._begin_trick()
        if report is not None:
            report += [events.RoundDealt(self.round, self.leader), *self._hands_dealt()]

    def _begin_trick(self) -> None:
        """Give the lead to the winner of the last trick or round."""
        self.phase = LEAD
        self.leader = self.best
        self.actors = _ALONE[self.best]
        self.lead = PASS
        self.best_low = NO_LOW
        self.trick: list[int] = []

    def legal(self, seat: int) -> tuple[int, ...]:
        if seat not in self.actors:
            return ()
        if self.phase == LEAD:
            return leads(self.hands[seat], self.masks[seat])
        return answers(self.lead, self.hands[seat], self.masks[seat])

    def step_unchecked(self, actions: Mapping[int, int], report: list[Event] | None = None) -> None:
        [seat] = self.actors
        action = actions[seat]
        self.trick.append(action)
        if report is not None:
            report.append(self._acted(seat, action))
        if action:
            self.hands[seat] = hand = self.hands[seat] - AS_HAND[action]
            self.masks[seat] = ranks_held(hand)
            self.sizes[seat] -= SIZE[action]
            low = LOW[action]
            if self.phase == LEAD:
                self.lead = action
                self.phase = FOLLOW
            if low <= self.best_low:  # the last play wins a tie
                self.best = seat
                self.best_low = low
        following = seat + 1 if seat + 1 < self.seats else 0  # cheaper than a remainder
        if following == self.leader:
            self._end_trick(report)
        else:
            self.actors = _ALONE[following]

    def _end_trick(self, report: list[Event] | None) -> None:
        """Return the last cards of seats that did not win; discard all other cards."""
        winner, sizes = self.best, self.sizes
        if report is not None:
            report.append(events.TrickWon(winner, self.best_low, self._tied(winner)))
        returned = []
        seat = self.leader
        for action in self.trick:
            if sizes[seat] or seat == winner:
                self.discards += AS_HAND[action]
            else:
                self.hands[seat] = AS_HAND[action]
                self.masks[seat] = ranks_held(AS_HAND[action])
                sizes[seat] = SIZE[action]
                returned.append(seat)
                if report is not None:
                    report.append(events.CardsReturned(seat, CARDS[action]))
            seat = seat + 1 if seat + 1 < self.seats else 0
        self.past = (self.past, self.leader, self.trick, winner, returned)
        if sizes[winner]:
            self._begin_trick()
        else:
            self._end_round(winner, report)

    def _end_round(self, winner: int, report: list[Event] | None) -> None:
        """Move a gift from the pool, and one from each seat with the most cards, to the winner."""
        sizes, gifts = self.sizes, self.gifts
        most = max(sizes)
        if report is not None:
            report += [events.RoundWon(self.round, winner), events.GiftMoved(None, winner, None)]
        gifts[winner] += 1
        for seat, size in enumerate(sizes):
            if size == most and gifts[seat]:
                gifts[seat] -= 1
                gifts[winner] += 1
                if report is not None:
                    report.append(events.GiftMoved(seat, winner, size))
            elif size == most and report is not None:
                report.append(events.GiftMissing(seat, winner, size))
        self.rounds_won += (winner,)
        if self.round < self.rules.rounds:
            self.round += 1
            self._deal(report)
        else:
            self._begin_trick()
            self.phase = OVER
            self.actors = ()
            if report is not None:
                report += [*self._hands_shown(), self._match_over()]

    def _acted(self, seat: int, action: int) -> Event:
        """Return the event of a move in the current phase."""
        if action == PASS:
            return events.SeatPassed(seat, len(self.legal(seat)) == 1)
        cards, low = CARDS[action], LOW[action]
        if self.phase == LEAD:
            return events.CardsLed(seat, cards, combination(action), low)
        return events.CardsFollowed(seat, cards, low)

    def _tied(self, winner: int) -> tuple[int, ...]:
        """Return the other seats that played the winner's lowest card, in order of play."""
        seats = [(self.leader + i) % self.seats for i in range(self.seats)]
        played = zip(seats, self.trick, strict=True)
        return tuple(s for s, act in played if LOW[act] == self.best_low and s != winner)

    @property
    def scores(self) -> tuple[int, ...] | None:
        return tuple(self.gifts) if self.phase == OVER else None

    # -- Copies -----------------------------------------------------------------------------

    def copy(self) -> Self:
        twin = self.__class__.__new__(self.__class__)
        twin.rules = self.rules
        twin.seats = self.seats
        twin.phase = self.phase
        twin.actors = self.actors
        twin.round = self.round
        twin.leader = self.leader
        twin.gifts = self.gifts[:]
        twin.rounds_won = self.rounds_won
        twin.hands = self.hands[:]
        twin.masks = self.masks[:]
        twin.sizes = self.sizes[:]
        twin.discards = self.discards
        twin.past = self.past
        twin.trick = self.trick[:]
        twin.lead = self.lead
        twin.best = self.best
        twin.best_low = self.best_low
        twin.shuffle = self.shuffle
        return twin

    # -- Observations ------------------------------------------------------------------------

    @property
    def history(self) -> list[Trick]:
        """The finished tricks of this round, first to last."""
        tricks = []
        rest = self.past
        while rest:
            rest, leader, actions, winner, returned = rest
            tricks.append(Trick(leader, tuple(actions), winner, tuple(sorted(returned))))
        return tricks[::-1]

    def observe(self, seat: int) -> Observation:
        return {
            **self._public(),
            "seat": seat,
            "hand": self.hand(seat),
            "legal_moves": self.legal_texts(seat),
        }

    def hand(self, seat: int) -> list[int]:
        return cards_in(self.hands[seat])

    def _public(self) -> dict[str, Any]:
        scores = self.scores
        return {
            "game": self.game,
            "rules": self.rules.name,
            "seats": self.seats,
            "phase": self.phase,
            "round": self.round,
            "rounds": self.rules.rounds,
            "gifts": list(self.gifts),
            "hand_sizes": list(self.sizes),
            "leader": self.leader,
            "trick": self._actions(self.leader, self.trick),
            "lead_low": LOW[self.lead] if self.phase == FOLLOW else None,
            "discards": cards_in(self.discards),
            "history": [
                {
                    "leader": trick.leader,
                    "actions": self._actions(trick.leader, trick.actions),
                    "winner": trick.winner,
                    "returned": list(trick.returned),
                }
                for trick in self.history
            ],
            "rounds_won": list(self.rounds_won),
            "scores": None if scores is None else list(scores),
        }

    def _actions(self, leader: int, actions: Sequence[int]) -> list[dict[str, Any]]:
        return [
            {"seat": (leader + i) % self.seats, "cards": list(CARDS[action])}
            for i, action in enumerate(actions)
        ]

    # -- States that fit an observation -----------------------------------------------------

    @classmethod
    def sample(cls, observation: Observation, rng: Random) -> Self:
        """Return a full state that fits an observation; see `State.sample`.

        A seat that took cards back holds exactly those cards, less its plays since. Each single
        other unseen card is equally likely in each unseen place, out of the round included.
        """
        seat, trick = observation["seat"], observation["trick"]
        hands = known_hands(observation)
        hands[seat] = Counter(observation["hand"])
        pool = unseen_cards(observation, hands)
        rng.shuffle(pool)
        state = cls(
            cls.presets[observation["rules"]], observation["seats"], fast_shuffle(rng.random)
        )
        state.gifts = list(observation["gifts"])
        state.round = observation["round"]
        state.rounds_won = tuple(observation["rounds_won"])
        state.sizes = list(observation["hand_sizes"])
        state.hands = []
        for other, size in enumerate(state.sizes):
            cards = hands[other].elements() if other in hands else [pool.pop() for _ in range(size)]
            state.hands.append(hand_of(cards))
        state.masks = [ranks_held(hand) for hand in state.hands]
        state.discards = hand_of(observation["discards"])
        state.past = None
        for past in observation["history"]:
            actions = [ACTION[tuple(action["cards"])] for action in past["actions"]]
            state.past = (
                state.past,
                past["leader"],
                actions,
                past["winner"],
                list(past["returned"]),
            )
        state.best = observation["leader"]
        state._begin_trick()
        if observation["phase"] == OVER:
            state.phase, state.actors = OVER, ()
        for action in trick:  # put the cards on the table back into the hands and play them again
            move = ACTION[tuple(action["cards"])]
            state.hands[action["seat"]] += AS_HAND[move]
            state.sizes[action["seat"]] += SIZE[move]
            state.step_unchecked({action["seat"]: move})
        return state
