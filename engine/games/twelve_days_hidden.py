"""The hidden cards of ``twelve-days``: where they can be for one seat, and deals that fit.

A seat sees every play, and the cards that it gave. A given card lies in another hand, never in the
deck, until a seat plays it or it comes back round the table. Number the other seats from 0 (the
left neighbour, which receives the seat's cards) to m - 1 (the right neighbour, which gives to the
seat). A card given today is with seat 0, and each day it can move on by one seat. So a card given
k days ago is with one of the seats 0 to k, unless a play since then may have been that card. Once
k reaches m - 1, it is in some other hand. The same holds for all cards in hands when the discards
become the new deck, because the discards are public. A card that seat j drew from the new deck k
days ago is with one of the seats j to j + k, or was played.
"""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from itertools import chain
from random import Random
from typing import Any

from engine.games.game import Observation

_MOST_DEALS = 1000


class HandsKnown:
    """The facts about other hands that a seat can derive; its methods take what the seat sees.

    Attributes:
        hidden: the cards in other hands and the deck together.
        passing: ``passing[k]`` is the rank of a card that is with one of the seats 0 to k.
        held: further cards that are in some other hand.
        drawn: first and last seat that can hold each card drawn by others since the discards
            became the deck; None before the first reshuffle.
    """

    def __init__(self, others: int, hidden: Counter[int]) -> None:
        self.hidden = hidden
        self.passing: list[int | None] = [None] * (others - 1)
        self.held: Counter[int] = Counter()
        self.drawn: list[tuple[int, int]] | None = None

    def give(self, given: int, received: int) -> None:
        """Record that all seats gave: this one to seat 0, and seat m - 1 to this one."""
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
        """Record a play of seat ``other``: it may be any known card that can have reached it."""
        self.hidden[rank] -= 1
        for k in range(other, len(self.passing)):
            if self.passing[k] == rank:
                self.passing[k] = None
                return
        if self.held[rank]:
            self.held[rank] -= 1

    def draw(self, rank: int) -> None:
        """Record a draw of the seat."""
        self.hidden[rank] -= 1

    def draw_unseen(self, other: int) -> None:
        """Record a draw of seat ``other``."""
        if self.drawn is not None:
            self.drawn.append((other, other))

    def reshuffle(self, discards: Counter[int]) -> None:
        """Record that the discards became the deck; all cards hidden before are in hands."""
        self.held = self.hidden - Counter(self.passed())
        self.hidden = self.hidden + discards
        self.drawn = []

    def passed(self) -> list[int]:
        """Return the ranks in `passing`."""
        return [rank for rank in self.passing if rank is not None]

    def placed(self) -> list[tuple[int, int]]:
        """Return the cards with a known place: rank, and the last seat that can hold it."""
        last = len(self.passing)
        reach = [(rank, k) for k, rank in enumerate(self.passing) if rank is not None]
        return reach + [(rank, last) for rank in self.held.elements()]

    def rest(self) -> list[int]:
        """Return the cards that can be in every other hand and in the deck."""
        return list((self.hidden - self.held - Counter(self.passed())).elements())

    def could_be(self, hands: Sequence[Sequence[int]]) -> bool:
        """Return whether draws can have brought each card of the new deck to its hand."""
        if self.drawn is None:
            return True
        in_hands = Counter(chain.from_iterable(hands))
        new = in_hands - self.held - Counter(self.passed())
        return _can_place(new, [Counter(hand) for hand in hands], Counter(self.drawn))


def known_hands(observation: Observation, full_deck: tuple[int, ...]) -> HandsKnown:
    """Return the facts about other hands that a seat can derive from its observation."""
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
    """Return the facts without finished days, for the other seats of a sampled state."""
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
    """Return the seat's hand, with the card that it has chosen but not parted with."""
    choice = {"give": observation["given"], "play": observation["played"]}.get(observation["phase"])
    return [*observation["hand"], *([] if choice is None else [choice])]


# -- Deals of the hidden cards ----------------------------------------------------------------


def deal_hidden(
    observation: Observation, full_deck: tuple[int, ...], rng: Random
) -> tuple[list[list[int]], list[int]]:
    """Deal the unseen cards to the other hands and the deck, in a way that fits an observation.

    Each arrangement of the single unseen cards in the single unseen places is equally likely, if
    it meets two conditions: each card that `known_hands` places lies there, and draws can have
    brought each card of a new deck to its hand. (A play that may have been a known card counts as
    that card.)

    Args:
        observation: observation of the seat.
        full_deck: all gift cards of the match.
        rng: source of random numbers.

    Returns:
        The hand of every seat, as `own_hand` for the observing seat, and the deck with the card on
        top first.
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
    # Each known card fits all places of the cards before it, and more. So whichever free place
    # one card takes, the next has the same number of free places.
    others = len(known.passing) + 1
    hands: list[list[int]] = [[] for _ in range(others)]
    for rank, last in known.placed():
        place = rng.randrange(sum(size - len(hand) for hand in hands[: last + 1]))
        for hand in hands:
            place -= size - len(hand)
            if place < 0:
                hand.append(rank)
                break
    rest = known.rest()
    rng.shuffle(rest)
    for hand in hands:
        while len(hand) < size:
            hand.append(rest.pop())
    return hands, rest


def _can_place(
    new: Counter[int], hands: Sequence[Counter[int]], draws: Counter[tuple[int, int]]
) -> bool:
    """Return whether different draws can explain all new cards in the hands.

    This is a maximum flow from draws through cards in hands to ranks, by shortest paths (Edmonds
    and Karp 1972).

    Args:
        new: number of cards in the hands, by rank, that came from the new deck.
        hands: cards of each seat.
        draws: number of drawn cards, by the first and last seat that can hold them.
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
    """Return the steps of a shortest path with room from "draws" to "new"; empty without one."""
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


def gives_today(
    observation: Observation, hands: list[list[int]], rng: Random
) -> tuple[int | None, ...]:
    """Return what each seat gave today; if unknown, a random card of its left neighbour."""
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
