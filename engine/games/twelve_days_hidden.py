"""The hidden cards of ``twelve-days``: what a seat can tell of them, and states that fit it.

A seat sees every play. It also knows the cards that it gave: they lie in other hands until they
are played or come back round the table, and never in the deck. Call the other seats 0 (the left
neighbour, who gets the seat's cards) to m - 1 (the right neighbour, who gives to the seat). A card
given today is with seat 0; each day it can have moved on by one seat; so a card given k days ago
is with one of seats 0 to k, unless a play since may have been it. Once k reaches m - 1 all that
remains known is that it is in some hand. The same is known of all cards in hands when the discards
become the new deck, since the discards are public; and a card that seat j drew from the new deck
k days ago is with one of seats j to j + k, or gone.
"""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from itertools import chain
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

from engine.deals import fast_shuffle
from engine.games.game import Observation
from engine.games.twelve_days_moves import PLAY_ID

if TYPE_CHECKING:
    from engine.games.twelve_days import TwelveDays

    _State = TypeVar("_State", bound=TwelveDays)

_MOST_DEALS = 1000


class HandsKnown:
    """What a seat can tell of the other hands, kept up through the events that it sees.

    Attributes:
        hidden: the cards in other hands and the deck together.
        passing: ``passing[k]`` is the rank of a card that is with one of the seats 0 to k.
        held: further cards that are in some other hand.
        drawn: first and last seat that can hold each card drawn by others since the discards
            became the deck; None while that has not happened.
    """

    def __init__(self, others: int, hidden: Counter[int]) -> None:
        self.hidden = hidden
        self.passing: list[int | None] = [None] * (others - 1)
        self.held: Counter[int] = Counter()
        self.drawn: list[tuple[int, int]] | None = None

    def give(self, given: int, received: int) -> None:
        """The seat gave a card to seat 0 and got one from seat m - 1, all others gave as well."""
        self.hidden[given] += 1
        self.hidden[received] -= 1
        if self.held[received]:
            self.held[received] -= 1
        if self.passing[-1] is not None:
            self.held[self.passing[-1]] += 1
        self.passing = [given, *self.passing[:-1]]
        if self.drawn is not None:
            farthest = len(self.passing)
            self.drawn = [(first, min(last + 1, farthest)) for first, last in self.drawn]

    def play(self, other: int, rank: int) -> None:
        """Seat ``other`` showed a card: it may be any known one that could have got there."""
        self.hidden[rank] -= 1
        for k in range(other, len(self.passing)):
            if self.passing[k] == rank:
                self.passing[k] = None
                return
        if self.held[rank]:
            self.held[rank] -= 1

    def draw(self, rank: int) -> None:
        """The seat drew a card."""
        self.hidden[rank] -= 1

    def draw_unseen(self, other: int) -> None:
        """Seat ``other`` drew a card."""
        if self.drawn is not None:
            self.drawn.append((other, other))

    def reshuffle(self, discards: Counter[int]) -> None:
        """The deck was empty, so what is hidden is in hands; now the discards are the deck."""
        self.held = self.hidden - Counter(self.passed())
        self.hidden = self.hidden + discards
        self.drawn = []

    def passed(self) -> list[int]:
        """Return the ranks in `passing`."""
        return [rank for rank in self.passing if rank is not None]

    def could_be(self, hands: Sequence[Sequence[int]]) -> bool:
        """Return whether cards of the new deck are only where they can have been drawn to."""
        if self.drawn is None:
            return True
        in_hands = Counter(chain.from_iterable(hands))
        new = in_hands - self.held - Counter(self.passed())
        return _can_place(new, [Counter(hand) for hand in hands], Counter(self.drawn))


def known_hands(observation: Observation, full_deck: tuple[int, ...]) -> HandsKnown:
    """Return what a seat can tell of the other hands, from all that its observation tells."""
    seat, seats = observation["seat"], observation["seats"]
    phase, history = observation["phase"], observation["history"]
    own = Counter(own_hand(observation))
    if any(None in (day["given"], day["received"], day["drawn"]) for day in history):
        return _known_today(observation, Counter(full_deck) - own)
    if phase in ("play", "award"):
        own.update([observation["given"]])
        own.subtract([observation["received"]])
    if phase == "award":
        own.update([observation["played"]])
    for day in history:
        own.update([day["given"], day["plays"][seat]])
        own.subtract([day["received"], day["drawn"]])
    known = HandsKnown(seats - 1, Counter(full_deck) - own)
    deck = len(full_deck) - seats * own.total()
    discards: Counter[int] = Counter()
    for day in history:
        known.give(day["given"], day["received"])
        _show_plays(known, seat, day["plays"])
        discards.update(day["plays"])
        for drawer in range(seats):
            if not deck:
                known.reshuffle(discards)
                deck, discards = discards.total(), Counter()
            deck -= 1
            if drawer == seat:
                known.draw(day["drawn"])
            else:
                known.draw_unseen((drawer - seat - 1) % seats)
    if phase in ("play", "award"):
        known.give(observation["given"], observation["received"])
    if phase == "award":
        _show_plays(known, seat, observation["plays"])
    return known


def _known_today(observation: Observation, unseen: Counter[int]) -> HandsKnown:
    """Return what can be told without days gone by: of a seat other than a sample's own."""
    unseen.subtract(observation["discards"])
    unseen.subtract(observation["plays"] or [])
    known = HandsKnown(observation["seats"] - 1, +unseen)
    left = (observation["seat"] + 1) % observation["seats"]
    if observation["given"] is not None and observation["phase"] in ("play", "award"):
        gone = observation["plays"] and observation["plays"][left] == observation["given"]
        known.passing[0] = None if gone else observation["given"]
    return known


def _show_plays(known: HandsKnown, seat: int, plays: list[int]) -> None:
    for other in range(len(plays) - 1):
        known.play(other, plays[(seat + 1 + other) % len(plays)])


def own_hand(observation: Observation) -> list[int]:
    """Return the seat's hand with any card that it has chosen but not parted with."""
    choice = {"give": observation["given"], "play": observation["played"]}.get(observation["phase"])
    return [*observation["hand"], *([] if choice is None else [choice])]


# -- Dealing what is not known ----------------------------------------------------------------


def deal_hidden(
    observation: Observation, full_deck: tuple[int, ...], rng: Random
) -> tuple[list[list[int]], list[int]]:
    """Deal the unseen cards to the other hands and the deck, as a seat must think possible.

    Every way to lay the single unseen cards, told apart, in the single unseen places is equally
    likely, among those in which each card that `known_hands` places lies where it must, and none
    from a new deck lies where it can't have been drawn to. (A play that may have been a known
    card counts as that card.)

    Args:
        observation: of the seat.
        full_deck: all gift cards of the match.
        rng: source of the luck.

    Returns:
        The hand of every seat, its own with any card that it has chosen but not parted with, and
        the deck with the card on top first.
    """
    seat, seats = observation["seat"], observation["seats"]
    known = known_hands(observation, full_deck)
    own = own_hand(observation)
    for _ in range(_MOST_DEALS):
        hands, deck = _deal(known, len(own), rng)
        if known.could_be(hands):
            break
    return [*hands[seats - 1 - seat :], own, *hands[: seats - 1 - seat]], deck


def _deal(known: HandsKnown, size: int, rng: Random) -> tuple[list[list[int]], list[int]]:
    """Lay the known cards where they can be and all others anywhere; return hands and deck."""
    # Each known card fits in all places of the ones before it and more, so to choose among the
    # free places for one after the other leaves the same number of ways to go on.
    others = len(known.passing) + 1
    hands: list[list[int]] = [[] for _ in range(others)]
    reach = [(rank, k) for k, rank in enumerate(known.passing) if rank is not None]
    anywhere = [(rank, others - 1) for rank in known.held.elements()]
    for rank, last in chain(reach, anywhere):
        place = rng.randrange(sum(size - len(hand) for hand in hands[: last + 1]))
        for hand in hands:
            place -= size - len(hand)
            if place < 0:
                hand.append(rank)
                break
    rest = list((known.hidden - known.held - Counter(known.passed())).elements())
    rng.shuffle(rest)
    for hand in hands:
        while len(hand) < size:
            hand.append(rest.pop())
    return hands, rest


def _can_place(
    new: Counter[int], hands: Sequence[Counter[int]], draws: Counter[tuple[int, int]]
) -> bool:
    """Return whether so many new cards of each rank in hands can be as many different draws.

    A flow from draws through cards in hands to ranks (Edmonds and Karp 1972); units that can go
    straight are sent first, and hardly ever need more.

    Args:
        new: how many cards of each rank in the hands came from the new deck.
        hands: by seat, the cards in each.
        draws: how many cards can be with which seats, first to last.
    """
    room: dict[Any, dict[Any, int]] = {"draws": {}, "new": {}}
    for rank, count in new.items():
        room[rank] = {"new": count}
        for seat, hand in enumerate(hands):
            if hand[rank]:
                room.setdefault((seat, "hand", rank), {})[rank] = hand[rank]
    for (first, last), count in draws.items():
        room["draws"][first, last] = count
        room[first, last] = {
            (seat, "hand", rank): count
            for seat in range(first, last + 1)
            for rank in new
            if hands[seat][rank]
        }
    wanted = new.total()
    while wanted and (path := _free_path(room)):
        for a, b in path:
            room[a][b] -= 1
            room[b][a] = room[b].get(a, 0) + 1
        wanted -= 1
    return not wanted


def _free_path(room: dict[Any, dict[Any, int]]) -> list[tuple[Any, Any]]:
    """Return the steps of a shortest way from "draws" to "new" that has room, if there is one."""
    came_from: dict[Any, Any] = {"draws": None}
    queue = deque(["draws"])
    while queue:
        a = queue.popleft()
        for b, free in room[a].items():
            if free and b not in came_from:
                came_from[b] = a
                if b == "new":
                    return list(_steps_to(b, came_from))
                queue.append(b)
    return []


def _steps_to(b: Any, came_from: dict[Any, Any]) -> Iterator[tuple[Any, Any]]:
    while came_from[b] is not None:
        yield came_from[b], b
        b = came_from[b]


# -- A state around it ------------------------------------------------------------------------


def state_behind(game: type["_State"], observation: Observation, rng: Random) -> "_State":
    """Return a state of which a seat sees this observation; see `State.sample`."""
    seat, phase = observation["seat"], observation["phase"]
    rules = game.presets[observation["rules"]]
    hands, deck = deal_hidden(observation, rules.deck(), rng)
    state = game(rules, hands, deck, fast_shuffle(rng.random))

    def known(own: int | None, from_right: int | None) -> tuple[int | None, ...]:
        ranks: list[int | None] = [None] * state.seats
        ranks[seat], ranks[seat - 1] = own, from_right
        return tuple(ranks)

    for day in observation["history"]:
        state.past = (
            state.past,
            day["day"],
            day["pot"][0],
            tuple(day["plays"]),
            day["winner"],
            day["to"],
            known(day["given"], day["received"]),
            tuple(day["drawn"] if s == seat else None for s in range(state.seats)),
        )
    state.day = observation["day"]
    pot = observation["pot"]
    state.first_in_pot = pot[0] if pot else state.day + 1
    state.discards = list(observation["discards"])
    state.points = [sum(cards) for cards in observation["day_cards"]]
    if phase == "over":
        state.phase, state.actors = phase, ()
        state.points = list(observation["scores"])
        return state
    if phase == "give":
        choice, first_id = observation["given"], 0
    else:
        choice, first_id = observation["played"], PLAY_ID
        state.gives = _gives_today(observation, hands, rng)
        state.decide_together("play")
    if phase == "award":
        state.plays = tuple(observation["plays"])
        state.phase, state.actors = phase, (state.plays.index(0),)
    elif choice is not None:
        state.step_unchecked({seat: first_id + choice})
    return state


def _gives_today(
    observation: Observation, hands: list[list[int]], rng: Random
) -> tuple[int | None, ...]:
    """Return what each seat gave today: where it is not known, a card its left neighbour got."""
    seat, seats = observation["seat"], observation["seats"]
    plays = observation["plays"]
    gives: list[int | None] = []
    for giver in range(seats):
        left = (giver + 1) % seats
        if giver == seat:
            gives.append(observation["given"])
        elif left == seat:
            gives.append(observation["received"])
        else:
            gives.append(rng.choice(hands[left] + ([plays[left]] if plays else [])))
    return tuple(gives)
