"""The hidden cards of ``twelve-days``: what a seat can tell of them, and a deal that fits it.

A seat sees every play. It also knows the cards that it gave: they lie in other hands until they
are played or come back round the table, and never in the deck. Call the other seats 0 (the left
neighbour, who gets the seat's cards) to m - 1 (the right neighbour, who gives to the seat). A card
given today is with seat 0; each day it can have moved on by one seat; so a card given k days ago
is with one of seats 0 to k, unless a play since may have been it. Once k reaches m - 1 all that
remains known is that it is in some hand. The same is known of all cards in hands when the discards
become the new deck, since the discards are public.
"""

from collections import Counter
from itertools import chain
from random import Random

from engine.games.game import Observation


class HandsKnown:
    """Lower bounds on what the other seats hold, kept up through the events that a seat sees.

    Attributes:
        hidden: the cards in other hands and the deck together.
        passing: ``passing[k]`` is the rank of a card that is with one of the seats 0 to k.
        held: further cards that are in some other hand.
    """

    def __init__(self, others: int, hidden: Counter[int]) -> None:
        self.hidden = hidden
        self.passing: list[int | None] = [None] * (others - 1)
        self.held: Counter[int] = Counter()

    def give(self, given: int, received: int) -> None:
        """The seat gave a card to seat 0 and got one from seat m - 1, all others gave as well."""
        self.hidden[given] += 1
        self.hidden[received] -= 1
        if self.held[received]:
            self.held[received] -= 1
        if self.passing[-1] is not None:
            self.held[self.passing[-1]] += 1
        self.passing = [given, *self.passing[:-1]]

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

    def reshuffle(self, discards: Counter[int]) -> None:
        """The deck was empty, so what is hidden is in hands; now the discards are the deck."""
        self.held = self.hidden - Counter(self.passed())
        self.hidden = self.hidden + discards

    def passed(self) -> list[int]:
        """Return the ranks in `passing`."""
        return [rank for rank in self.passing if rank is not None]


def known_hands(observation: Observation, full_deck: tuple[int, ...]) -> HandsKnown:
    """Return what a seat can tell of the other hands, from all that its observation tells."""
    seat, seats = observation["seat"], observation["seats"]
    own: Counter[int] = Counter(observation["hand"])
    if observation["phase"] == "give" and observation["given"] is not None:
        own[observation["given"]] += 1
    elif observation["phase"] in ("play", "award"):
        own[observation["given"]] += 1
        own[observation["received"]] -= 1
        if observation["played"] is not None:
            own[observation["played"]] += 1
    for day in observation["history"]:
        own.update([day["given"], day["plays"][seat]])
        own.subtract([day["received"], day["drawn"]])
    known = HandsKnown(seats - 1, Counter(full_deck) - own)
    deck = len(full_deck) - seats * sum(own.values())
    discards: Counter[int] = Counter()
    for day in observation["history"]:
        known.give(day["given"], day["received"])
        _show_plays(known, seat, day["plays"])
        discards.update(day["plays"])
        for drawer in range(seats):
            if not deck:
                known.reshuffle(discards)
                deck, discards = sum(discards.values()), Counter()
            deck -= 1
            if drawer == seat:
                known.draw(day["drawn"])
    if observation["phase"] in ("play", "award"):
        known.give(observation["given"], observation["received"])
    if observation["phase"] == "award":
        _show_plays(known, seat, observation["plays"])
    return known


def _show_plays(known: HandsKnown, seat: int, plays: list[int]) -> None:
    for other in range(len(plays) - 1):
        known.play(other, plays[(seat + 1 + other) % len(plays)])


def deal_hidden(
    observation: Observation, full_deck: tuple[int, ...], rng: Random
) -> tuple[list[list[int]], list[int]]:
    """Deal the unseen cards to the other hands and the deck, as a seat must think possible.

    Every way to lay the single unseen cards, told apart, in the single unseen places is equally
    likely, among those in which each card that `known_hands` places lies where it must. (A play
    that may have been a known card counts as that card.)

    Args:
        observation: of the seat.
        full_deck: all gift cards of the match.
        rng: source of the luck.

    Returns:
        The hand of every seat, its own with any card that it has chosen but not parted with, and
        the deck with the card on top first.
    """
    seat, seats = observation["seat"], observation["seats"]
    phase = observation["phase"]
    known = known_hands(observation, full_deck)
    own = list(observation["hand"])
    choice = {"give": observation["given"], "play": observation["played"]}.get(phase)
    if choice is not None:
        own.append(choice)
    size = len(own)

    # Each known card fits in all places of the ones before it and more, so to choose among the
    # free places for one after the other leaves the same number of ways to go on.
    hands: list[list[int]] = [[] for _ in range(seats - 1)]
    reach = [(rank, k) for k, rank in enumerate(known.passing) if rank is not None]
    anywhere = [(rank, seats - 2) for rank in known.held.elements()]
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
    return [*hands[seats - 1 - seat :], own, *hands[: seats - 1 - seat]], rest
