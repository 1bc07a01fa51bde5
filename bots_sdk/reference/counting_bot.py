"""Counts the cards in its observation, and computes its chances from the unseen ones.

Instead of a rule such as "a 3 wins now and then", this bot counts how many 1s, 2s and 3s are
unseen, and where they can be. It keeps nothing between two moves: the observation's history has all
cards that it has seen. A random seed from the observation decides between moves of about the same
value; otherwise two of these bots at a table would make the same moves, to the harm of both.
"""

import json
from collections import Counter
from collections.abc import Callable
from math import comb
from random import Random
from typing import Any

Observation = dict[str, Any]
Rating = Callable[[list[int]], float]
"""Returns the value of a move from its numbers: a card, a seat, or the played cards."""

WHIM = {"twelve-days": 1.5, "partridge": 0.2}
"""The largest random change of a move's value, by game."""


def choose(observation: Observation, luck: str = "") -> str:
    """Return the legal move with the highest value; ``luck`` is a part of the random seed."""
    rng = Random(luck + json.dumps(observation, sort_keys=True))
    whim = WHIM[observation["game"]]
    rate = {"give": rate_card, "play": rate_card, "award": rate_seat}.get(
        observation["phase"], rate_combination
    )(observation)
    moves: list[str] = observation["legal_moves"]
    return max(moves, key=lambda move: rate(numbers(move)) + whim * rng.random())


def numbers(move: str) -> list[int]:
    """Return the numbers in a move's text."""
    return [int(part) for part in move.split()[1:]]


# -- twelve-days -------------------------------------------------------------------------------

EAGER = 0.85
"""The chance that others play a rank, relative to the rank below it."""
LATER = 0.7
"""The part of a low card's chance to win that remains for later pots."""
MOST = 0.4
"""The part of today's majorities that lasts to the end, as hands still change."""


def rate_seat(observation: Observation) -> Rating:
    """Return the value of each seat for the award: the poorest seat is least likely to win."""
    return lambda seat: -sum(observation["day_cards"][seat[0]])


def rate_card(observation: Observation) -> Rating:
    """Return the value of playing or giving a card: its effect today minus its later value.

    If you give a card away, it may win today's pot for the neighbour.
    """
    days = 8 if "eight-nights" in observation["rules"] else 12
    held: Counter[int] = Counter(observation["hand"])
    others = observation["seats"] - 1
    unseen, shares = cards_out(observation, days)
    wins = win_chances(unseen, shares, others)
    if "cheapass" not in observation["rules"]:
        wins[0] = 0.0  # a Claus must award the pot to another seat
    today = sum(observation["pot"]) * (-1 if observation["phase"] == "give" else 1)
    # The pots still to come grow to `days`; this is their average, and 0 on the last day.
    later = (observation["day"] + 1 + days) / 2 if observation["day"] < days else 0

    def rate(card: list[int]) -> float:
        [rank] = card
        # A fifth 12 is useless if four 12s are enough for the majority: the difference counts.
        most, without = (
            majority_chance(count, unseen[rank], shares[rank], others)
            for count in (held[rank], held[rank] - 1)
        )
        return wins[rank] * (today - LATER * later) - MOST * rank * (most - without)

    return rate


def cards_out(observation: Observation, days: int) -> tuple[list[int], list[float]]:
    """Return by rank how many cards are unseen, and the chance that one is in a given other hand.

    At first an unseen card may be in the deck. Once the discards have become the deck, all other
    unseen cards are in hands.
    """
    seat, seats = observation["seat"], observation["seats"]
    decks = 2 if observation["rules"].endswith("eight-players") else 1
    own: Counter[int] = Counter(observation["hand"])
    full = Counter({rank: decks * rank for rank in range(1, days + 1)})
    full[0] = 2 * decks if days == 12 else 0  # the Claus cards
    unseen = full - own - Counter(observation["discards"])
    in_deck, discards, left = unseen, Counter[int](), full.total() - seats * days
    for day in observation["history"]:
        discards.update(day["plays"])
        if left < seats:  # too few for all to draw: those seats from `left` on draw of the new deck
            in_deck, discards, new = discards, Counter(), seat >= left
            left += in_deck.total()
        else:
            new = in_deck is not unseen
        left -= seats
        if new:
            in_deck -= Counter([day["drawn"]])
    in_deck &= unseen
    chance = observation["deck"] / max(1, in_deck.total())
    ranks = range(days + 1)
    in_hands = [unseen[rank] - chance * in_deck[rank] for rank in ranks]
    return [unseen[rank] for rank in ranks], [
        in_hands[rank] / unseen[rank] / (seats - 1) if unseen[rank] else 0.0 for rank in ranks
    ]


def win_chances(unseen: list[int], shares: list[float], others: int) -> list[float]:
    """Return by rank the chance that a card wins today against a number of opponents."""
    plays = [
        (1 - (1 - share) ** count) * EAGER**rank
        for rank, (count, share) in enumerate(zip(unseen, shares, strict=True))
    ]
    total = sum(plays)
    lower = pairs = 0.0  # the chances that another plays lower, and that two meet there
    wins = []
    for play in plays:
        this = play / total
        higher = max(0.0, 1 - lower - this)
        # All others play higher; or two meet on a lower rank, and the rest play higher.
        wins.append(higher**others + comb(others, 2) * pairs * higher ** (others - 2))
        lower += this
        pairs += this * this
    return wins


def majority_chance(have: int, left: int, share: float, others: int) -> float:
    """Return the chance that no opponent holds more cards of a rank than this seat."""
    if have <= 0:
        return 0.0
    most = range(min(have, left) + 1)
    return sum(comb(left, k) * share**k * (1 - share) ** (left - k) for k in most) ** others


# -- partridge ---------------------------------------------------------------------------------

CARD = 0.3
"""The value of playing a card: the seat with the most cards at the end pays a gift."""
HIGH = 0.1
"""The additional value for each step of rank: high cards are worse, as low cards win tricks."""
TRICK = 0.4
"""The value of a trick: the winner leads and so chooses the kind."""
STRAIGHT = 0.6
"""The cost of a card that can join a straight, relative to a card that can't."""
OUT = 5.0
"""The value of playing the last cards, and the cost of taking them back."""


def rate_combination(observation: Observation) -> Rating:
    """Return the value of playing some cards, from their chance to win and the remaining hand."""
    seat, seats, trick = observation["seat"], observation["seats"], observation["trick"]
    held: Counter[int] = Counter(observation["hand"])
    lowest = min((action["cards"][-1] for action in trick if action["cards"]), default=12)
    hands = hands_out(observation)
    to_act = [hands[(seat + k) % seats] for k in range(1, seats - len(trick))]
    before = plays_left(held)

    def rate(cards: list[int]) -> float:
        if not cards:
            return 0.0
        wins = 1.0 if cards[-1] <= lowest else 0.0  # ties go to the last who plays
        for hand in to_act:
            wins *= 1 - answer_chance(cards, hand)
        rest = held - Counter(cards)
        if not rest:
            return OUT * (2 * wins - 1)
        shed = before - plays_left(rest) + CARD * len(cards) + HIGH * sum(cards) / len(cards)
        return shed + TRICK * wins

    return rate


def hands_out(observation: Observation) -> list[tuple[Counter[int], float]]:
    """Return for each seat the cards that it may hold, and the chance for each of them.

    A seat that took its cards back holds exactly these, without those that it has played since.
    """
    known: dict[int, Counter[int]] = {observation["seat"]: Counter(observation["hand"])}
    now = {"actions": observation["trick"], "returned": []}
    for trick in [*observation["history"], now]:
        for action in trick["actions"]:
            if action["seat"] in trick["returned"]:
                known[action["seat"]] = Counter(action["cards"])
            elif action["seat"] in known and action["seat"] != observation["seat"]:
                known[action["seat"]] -= Counter(action["cards"])
    unseen = Counter({rank: rank for rank in range(1, 13)}) - Counter(observation["discards"])
    for cards in [action["cards"] for action in observation["trick"]] + list(known.values()):
        unseen -= Counter(cards)
    return [
        (known[seat], 1.0) if seat in known else (unseen, size / max(1, unseen.total()))
        for seat, size in enumerate(observation["hand_sizes"])
    ]


def answer_chance(cards: list[int], hand: tuple[Counter[int], float]) -> float:
    """Return the approximate chance that a hand can beat or equal a play."""
    may_hold, share = hand
    none = [(1 - share) ** may_hold[rank] for rank in range(14)]
    nothing = 1.0
    for rank in range(1, cards[-1] + 1):
        if len(cards) == 1:
            nothing *= none[rank]
        elif cards[0] != cards[-1]:  # a straight: it takes this rank and the next
            nothing *= 1 - (1 - none[rank]) * (1 - none[rank + 1])
        elif (count := may_hold[rank]) > 1:  # a set: it takes two
            nothing *= none[rank] + count * share * (1 - share) ** (count - 1)
    return 1 - nothing


def plays_left(held: Counter[int]) -> float:
    """Return about how many plays a hand needs; low cards count half, as they fit anywhere."""
    plays = 0.0
    for rank, count in held.items():
        in_straight = count == 1 and (held[rank - 1] or held[rank + 1])
        plays += (0.5 + rank / 12) * (STRAIGHT if in_straight else 1)
    return plays
