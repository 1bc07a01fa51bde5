"""The moves of ``partridge``: action ids, hands as integers, and tables of legal moves.

A **hand** is one integer with four bits per rank that count its cards, so that one subtraction
takes a combination out. A **mask** has a bit for each rank held; rank ``r`` is bit ``r - 1``.
"""

from bisect import bisect_left
from collections.abc import Iterable
from functools import partial

from engine.games.game import Memo, MoveTable

RANKS = 12
"""Ranks are 1 to 12; the deck holds ``r`` cards of rank ``r``."""

# -- Moves and their action ids --------------------------------------------------------------

PASS = 0
CARDS: list[tuple[int, ...]] = [
    (),
    *[(rank,) for rank in range(1, RANKS + 1)],
    *[(rank,) * count for rank in range(1, RANKS + 1) for count in range(2, rank + 1)],
    *[
        tuple(range(top, low - 1, -1))
        for low in range(1, RANKS + 1)
        for top in range(low + 1, RANKS + 1)
    ],
]
"""The cards of each action, descending. A pass comes first, then singles, sets and straights;
within each kind, order is by lowest card, then by length."""
ACTION = {cards: action for action, cards in enumerate(CARDS)}
FIRST_SET = ACTION[2, 2]
FIRST_STRAIGHT = ACTION[2, 1]

NO_LOW = RANKS + 1
_BITS = 4
UNIT = [0] + [1 << _BITS * i for i in range(RANKS)]
"""One card of each rank, as a hand; ascending, so that they shuffle in the order of the ranks."""
DECK = [UNIT[rank] for rank in range(1, RANKS + 1) for _ in range(rank)]
AS_HAND = [sum(UNIT[card] for card in cards) for cards in CARDS]
SIZE = [len(cards) for cards in CARDS]
LOW = [min(cards, default=NO_LOW) for cards in CARDS]
MOVES = MoveTable(["pass"] + ["play " + " ".join(map(str, cards)) for cards in CARDS[1:]])

# -- Tables of legal moves ---------------------------------------------------------------------

_PART_RANKS = 4
_PART_BITS = _BITS * _PART_RANKS
_PART = (1 << _PART_BITS) - 1


def _ranks_of_part(part: int, first: int) -> int:
    """Return the mask of the ranks in part of a hand, whose lowest rank is ``first``."""
    return sum(1 << first + i - 1 for i in range(_PART_RANKS) if part >> _BITS * i & 15)


def _sets_of_part(part: int, first: int) -> tuple[int, ...]:
    """Return the ids of the sets in part of a hand, whose lowest rank is ``first``."""
    held = [(first + i, part >> _BITS * i & 15) for i in range(_PART_RANKS)]
    return tuple(ACTION[(rank,) * count] for rank, most in held for count in range(2, most + 1))


_RANKS_1, _RANKS_5, _RANKS_9 = [Memo(partial(_ranks_of_part, first=rank)) for rank in (1, 5, 9)]
_SETS_1, _SETS_5, _SETS_9 = [Memo(partial(_sets_of_part, first=rank)) for rank in (1, 5, 9)]


def ranks_held(hand: int) -> int:
    """Return the mask of the ranks in a hand: rank ``r`` is bit ``r - 1``."""
    return (
        _RANKS_1[hand & _PART]
        | _RANKS_5[hand >> _PART_BITS & _PART]
        | _RANKS_9[hand >> 2 * _PART_BITS]
    )


def _sets(hand: int) -> tuple[int, ...]:
    """Return the ids of the sets in a hand."""
    return (
        _SETS_1[hand & _PART]
        + _SETS_5[hand >> _PART_BITS & _PART]
        + _SETS_9[hand >> 2 * _PART_BITS]
    )


def _straights_in(mask: int) -> tuple[int, ...]:
    """Return the ids of the straights in a mask of ranks."""
    ids = []
    for low in range(1, RANKS):
        top = low
        while mask >> low - 1 & 1 and mask >> top & 1:
            top += 1
            ids.append(ACTION[tuple(range(top, low - 1, -1))])
    return tuple(ids)


_STRAIGHTS = Memo(_straights_in)
_STRAIGHTS_END = [FIRST_STRAIGHT + sum(RANKS - r for r in range(1, k + 1)) for k in range(RANKS)]
"""For each rank, the first id after the straights whose lowest card is at most that rank."""
_SINGLES: list[tuple[int, ...]] = [()]
for _rank in range(1, RANKS + 1):
    _SINGLES += [(*ids, _rank) for ids in _SINGLES]
_ONLY_PASS = (PASS,)
_PASS_OR_SINGLES = [_ONLY_PASS + ids for ids in _SINGLES]
_MASK_UP_TO = [(1 << rank) - 1 for rank in range(RANKS + 1)]
_HAND_UP_TO = [(1 << _BITS * rank) - 1 for rank in range(RANKS + 1)]


def leads(hand: int, mask: int) -> tuple[int, ...]:
    """Return the ids of all legal leads, ascending.

    Args:
        hand: the leader's hand.
        mask: the ranks of that hand.
    """
    return _SINGLES[mask] + _sets(hand) + _STRAIGHTS[mask]


def answers(lead: int, hand: int, mask: int) -> tuple[int, ...]:
    """Return the ids of all legal answers to a lead, ascending.

    They are a pass, and every play of the lead's kind whose lowest card is at most the lead low.

    Args:
        lead: action id of the lead.
        hand: hand of the seat that follows.
        mask: the ranks of that hand.
    """
    low = LOW[lead]
    if lead < FIRST_SET:
        return _PASS_OR_SINGLES[mask & _MASK_UP_TO[low]]
    if lead < FIRST_STRAIGHT:
        return _ONLY_PASS + _sets(hand & _HAND_UP_TO[low])
    straights = _STRAIGHTS[mask]
    return _ONLY_PASS + straights[: bisect_left(straights, _STRAIGHTS_END[low])]


def combination(action: int) -> str:
    """Return the kind of a play: ``single``, ``set`` or ``straight``."""
    if action < FIRST_SET:
        return "single"
    return "set" if action < FIRST_STRAIGHT else "straight"


def cards_in(hand: int) -> list[int]:
    """Return the ranks in a hand, ascending, each as often as it is held."""
    return [rank for rank in range(1, RANKS + 1) for _ in range(hand // UNIT[rank] & 15)]


def hand_of(cards: Iterable[int]) -> int:
    """Return the hand of some ranks."""
    return sum(UNIT[card] for card in cards)
