"""Counts the cards that it has seen, and works out its chances from those that it has not.

Where a rule of thumb says "a 3 wins now and then", this bot knows how many 1s, 2s and 3s are still
about. There is no luck in it, so the same observation always gets the same answer: a fault seen
once can be seen again, and a move asked for twice is answered alike.
"""

from collections import Counter
from collections.abc import Callable
from math import comb
from typing import Any

Observation = dict[str, Any]
Rating = Callable[[list[int]], float]
"""How good a move is, from its numbers: a card or seat, or the cards that it plays."""


def choose(observation: Observation) -> str:
    """Return the legal move that promises most."""
    rate = RATINGS[observation["phase"]](observation)
    moves: list[str] = observation["legal_moves"]
    return max(moves, key=lambda move: rate([int(part) for part in move.split()[1:]]))


# -- twelve-days -------------------------------------------------------------------------------

EAGER = 0.85
"""How eager others are to play a rank, in parts of how eager they are for the rank below it."""
LATER = 0.7
"""A low card kept back wins a later pot, but not for sure: what part of its chance remains."""
MOST = 0.4
"""What part of today's majorities lasts to the end: hands still change."""
HARM = 1.0
"""What it costs us when the neighbour wins with our card, in parts of the pot."""


def rate_give(observation: Observation) -> Rating:
    """Return how good it is to give a card: the less it is worth here and there, the better."""
    worth, wins, stake = card_values(observation)
    return lambda numbers: -worth[numbers[0]] - HARM * wins[numbers[0]] * stake


def rate_play(observation: Observation) -> Rating:
    """Return how good it is to play a card: what it may win today, less what it is worth later."""
    worth, wins, stake = card_values(observation)
    return lambda numbers: wins[numbers[0]] * stake - worth[numbers[0]]


def rate_award(observation: Observation) -> Rating:
    """Return how good it is to award the pot to a seat: it helps the poorest least to win."""
    points = [sum(cards) for cards in observation["day_cards"]]
    return lambda numbers: -points[numbers[0]]


def card_values(observation: Observation) -> tuple[list[float], list[float], int]:
    """Return by rank what a card is worth in hand and its chance to win, and what is at stake."""
    held: Counter[int]
    rules, held = observation["rules"], Counter(observation["hand"])
    others = observation["seats"] - 1
    days = 8 if "eight-nights" in rules else 12
    decks = 2 if rules.endswith("eight-players") else 1
    in_deck = [2 if days == 12 else 0, *range(1, days + 1)]  # two Clauses, one 1, two 2s...
    unseen = [decks * count - held[rank] for rank, count in enumerate(in_deck)]
    for card in observation["discards"]:
        unseen[card] -= 1
    # Each unseen card is as likely in one place as in another.
    share = len(observation["hand"]) / sum(unseen)
    wins = win_chances(unseen, share, others)
    if "cheapass" not in rules:
        wins[0] = 0.0  # a Claus must award what it wins to someone else
    # The pots still to come grow to `days`; this is their average, and 0 on the last day.
    later = (observation["day"] + 1 + days) / 2 if observation["day"] < days else 0
    worth = []
    for rank, chance in enumerate(wins):
        # What a card is worth is what is lost without it: the fifth 12 is no use where four do.
        with_it = majority_chance(held[rank], unseen[rank], share, others)
        without = majority_chance(held[rank] - 1, unseen[rank], share, others)
        worth.append(LATER * chance * later + MOST * rank * (with_it - without))
    return worth, wins, sum(observation["pot"])


def win_chances(unseen: list[int], share: float, others: int) -> list[float]:
    """Return by rank the chance that a card played now wins.

    Args:
        unseen: cards by rank.
        share: what part of them a hand holds.
        others: how many play against it.
    """
    plays = [(1 - (1 - share) ** count) * EAGER**rank for rank, count in enumerate(unseen)]
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
    """Return the chance that none of the others holds more of a rank than we have."""
    if have <= 0:
        return 0.0
    at_most = sum(
        comb(left, k) * share**k * (1 - share) ** (left - k) for k in range(min(have, left) + 1)
    )
    return at_most**others


# -- partridge ---------------------------------------------------------------------------------

CARD = 0.3
"""What it is worth to be rid of a card: who has the most at the end pays a gift."""
HIGH = 0.1
"""How much better it is to be rid of a high one than of a low one, a step: low ones win tricks."""
TRICK = 0.4
"""What a trick is worth, as the winner leads and so chooses the kind."""
OUT = 5.0
"""What it is worth to be out of cards, and what it costs to have to take the last ones back."""


def rate_combination(observation: Observation) -> Rating:
    """Return how good it is to play some cards: how surely they win, and what hand they leave."""
    hand, me, seats = observation["hand"], observation["seat"], observation["seats"]
    trick, unseen = observation["trick"], unseen_cards(observation)
    lowest = min((action["cards"][-1] for action in trick if action["cards"]), default=12)
    shares = [size / sum(unseen) for size in observation["hand_sizes"]]
    to_act = [shares[(me + k) % seats] for k in range(1, seats - len(trick))]
    before = plays_left(hand)

    def rate(cards: list[int]) -> float:
        if not cards:
            return 0.0
        # Ties go to the last who plays, so the lowest so far is low enough.
        wins = holds(cards, to_act, unseen) if cards[-1] <= lowest else 0.0
        rest = hand.copy()
        for card in cards:
            rest.remove(card)
        if not rest:
            return OUT * (2 * wins - 1)
        shed = before - plays_left(rest) + CARD * len(cards) + HIGH * sum(cards) / len(cards)
        return shed + TRICK * wins

    return rate


def unseen_cards(observation: Observation) -> list[int]:
    """Return by rank how many cards are in other hands, or out of the round."""
    unseen = list(range(13))
    for card in observation["hand"] + observation["discards"]:
        unseen[card] -= 1
    for action in observation["trick"]:
        for card in action["cards"]:
            unseen[card] -= 1
    return unseen


def holds(cards: list[int], shares: list[float], unseen: list[int]) -> float:
    """Return the chance that nobody still to act has an answer at or below the lowest card.

    Args:
        cards: descending.
        shares: for each seat to act, what part of the unseen cards it holds.
        unseen: by rank.
    """
    low, chance = cards[-1], 1.0
    for share in shares:
        none = [(1 - share) ** count for count in unseen]
        for rank in range(1, low + 1):
            if len(cards) == 1:
                chance *= none[rank]
            elif cards[0] != low:  # a straight: it takes this rank and the next
                chance *= 1 - (1 - none[rank]) * (1 - none[rank + 1])
            elif unseen[rank] > 1:  # a set: it takes two
                chance *= none[rank] + unseen[rank] * share * (1 - share) ** (unseen[rank] - 1)
    return chance


def plays_left(hand: list[int]) -> float:
    """Return about how many plays a hand takes, low ones counting half as they fit anywhere."""
    held = [0] * 14  # by rank; the empty ones at both ends bound straights
    for card in hand:
        held[card] += 1
    plays = 0.0
    while count := max(held):
        low, end = longest_run(held)
        if end - low > max(2, count):
            for rank in range(low, end):
                held[rank] -= 1
        else:
            low = held.index(count)
            held[low] = 0
        plays += 0.5 + low / 12
    return plays


def longest_run(held: list[int]) -> tuple[int, int]:
    """Return the first rank of the longest straight, and the one after its last."""
    best = (0, 0)
    low = 0
    for rank, count in enumerate(held):
        if not count:
            if rank - low > best[1] - best[0]:
                best = (low, rank)
            low = rank + 1
    return best


RATINGS = {
    "give": rate_give,
    "play": rate_play,
    "award": rate_award,
    "lead": rate_combination,
    "follow": rate_combination,
}
