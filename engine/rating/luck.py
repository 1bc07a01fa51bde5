"""Luck with the cards: what a seat's cards were worth, against the mean of all deals.

Where each match has its own deal, some of a bot's results are luck with its cards. This module
computes this luck from a record alone, and performance subtracts it (control variates; R. Y.
Rubinstein, R. Marcus, "Efficiency of multivariate control variates in Monte Carlo simulation",
1985). Ratings do not use it.

The **features** of a seat count cards by rank, each less its expectation before it came:

- `twelve-days`: the cards dealt to the seat, the cards it drew, and the same two for its giver, the
  neighbour whose cards it may receive. A card of the first deck has rank r with the share of r in
  the whole deck. A card drawn after a new shuffle has it with the share of r in the discards, which
  are known before that shuffle.
- `partridge`: the cards dealt to the seat, all rounds together.

So each feature has expectation zero whatever the bots do, and so has any sum of features with fixed
coefficients. Coefficients that fit badly make the correction useless, never unfair. They are frozen
in `luck_coefficients`.
"""

from collections.abc import Sequence

from engine.deals import seeded_shuffle
from engine.games.partridge_moves import RANKS
from engine.games.partridge_presets import PRESETS as PARTRIDGE
from engine.games.twelve_days_presets import PRESETS as TWELVE_DAYS
from engine.rating.luck_coefficients import COEFFICIENTS, UNIT
from engine.record import Record

_PARTRIDGE_DECK = [rank for rank in range(1, RANKS + 1) for _ in range(rank)]


def luck(record: Record) -> tuple[float, ...] | None:
    """Return the luck of each seat in win share, or None if it is not measured here.

    In a match of two equally strong bots, the seat's luck less the opponent's is how much of the
    pair result its cards explain. The expectation is zero.

    Args:
        record: one that `engine.record.verify` accepts.
    """
    coefficients = COEFFICIENTS.get((record.game, record.rules, record.seats))
    if coefficients is None:
        return None
    return tuple(
        sum(map(float.__mul__, map(float, coefficients), of_seat)) * UNIT
        for of_seat in features(record)
    )


def features(record: Record) -> list[list[float]]:
    """Return the features of each seat, in the order of this module's description, by rank.

    Args:
        record: one that `engine.record.verify` accepts.

    Raises:
        ValueError: the record does not have a play of each seat for each day.
    """
    if record.game == "partridge":
        return _dealt_in_partridge(record)
    return _cards_of_twelve_days(record)


def _dealt_in_partridge(record: Record) -> list[list[float]]:
    preset = PARTRIDGE[record.rules]
    size = preset.hand_size(record.seats)
    shuffle = seeded_shuffle(record.deal_seed)
    ranks = RANKS + 1
    expected = [preset.rounds * size * share for share in _shares(_PARTRIDGE_DECK, ranks)]
    found = [[-mean for mean in expected] for _ in range(record.seats)]
    for round_ in range(preset.rounds):
        deck = _PARTRIDGE_DECK[:]
        shuffle(round_, deck)
        for seat, counts in enumerate(found):
            for rank in deck[size * seat : size * (seat + 1)]:
                counts[rank] += 1
    return found


def _cards_of_twelve_days(record: Record) -> list[list[float]]:
    preset = TWELVE_DAYS[record.rules]
    seats, days = record.seats, preset.days
    ranks = days + 1
    deck = list(preset.deck())
    shares = _shares(deck, ranks)
    shuffle = seeded_shuffle(record.deal_seed)
    shuffle(0, deck)
    dealt = [[-days * share for share in shares] for _ in range(seats)]
    drawn = [[0.0] * ranks for _ in range(seats)]
    for seat, counts in enumerate(dealt):
        for rank in deck[seat * days : (seat + 1) * days]:
            counts[rank] += 1
    plays = [int(text[5:]) for _, text in record.moves if text.startswith("play ")]
    if len(plays) != seats * days:
        raise ValueError(f"the record has {len(plays)} plays, not {seats * days}")
    discards: list[int] = []
    shuffles, top = 1, seats * days
    for day in range(days):
        discards += plays[day * seats : (day + 1) * seats]
        for counts in drawn:
            if top == len(deck):
                deck = sorted(discards)
                shares = _shares(deck, ranks)
                shuffle(shuffles, deck)
                discards, top, shuffles = [], 0, shuffles + 1
            for rank, share in enumerate(shares):
                counts[rank] -= share
            counts[deck[top]] += 1
            top += 1
    return [dealt[seat] + drawn[seat] + dealt[seat - 1] + drawn[seat - 1] for seat in range(seats)]


def _shares(deck: Sequence[int], ranks: int) -> list[float]:
    """Return the share of each rank in a deck."""
    return [deck.count(rank) / len(deck) for rank in range(ranks)]
