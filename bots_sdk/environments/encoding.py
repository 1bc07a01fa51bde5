"""An observation as numbers from 0 to 1, and its legal actions as a mask, in plain Python.

The numbers come from the observation alone, so they contain only what the seat may know. Seats are
in clockwise order: the observer's own seat first, then its left neighbour.
"""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any

from engine.deals import seeded_shuffle
from engine.games import catalogue
from engine.games.game import Observation
from engine.games.partridge_hidden import known_hands

_DAYS = 12
_RANKS = 13
_MAX_IN_HAND = 13
_MAX_OF_A_RANK = 24
_MAX_CARDS = 160
_MAX_GIFTS = 20
"""All gifts: one for each round, and one for each seat at the start of a short match."""


def mask(observation: Observation) -> list[int]:
    """Return a 1 for each legal action, by action id; all 0 if the seat has no decision."""
    moves = catalogue.find(observation["game"]).moves
    found = [0] * len(moves)
    for text in observation["legal_moves"]:
        found[moves.ids[text]] = 1
    return found


def move_of(observation: Observation, action: int) -> str:
    """Return an action id as the text of a move."""
    return catalogue.find(observation["game"]).moves.texts[action]


@cache
def size(game: str, rules: str, seats: int) -> int:
    """Return the number of numbers in an observation.

    Raises:
        UnknownRulesError: no such preset or number of seats exists.
    """
    state = catalogue.start(game, rules, seats, seeded_shuffle(bytes(32)))
    return len(features(state.observe(0)))


def features(observation: Observation) -> list[float]:
    """Return an observation as numbers; a match type always has the same number of them."""
    encode = _twelve_days if observation["game"] == "twelve-days" else _partridge
    return [float(number) for number in encode(observation)]


def _twelve_days(seen: dict[str, Any]) -> Iterable[float]:
    """Yield the numbers of ``twelve-days``.

    Phase 3, day 12, pot 12, hand 13, own given, received and played 13 each, plays 13 a seat, day
    cards 12 a seat, discards 13, deck 1, and for each of 12 days: plays, winner and receiver of the
    pot, a number a seat each, then own given, received and drawn.
    """
    seats = _from_own(seen)
    yield from _one_hot(("give", "play", "award"), seen["phase"])
    yield from _one_hot(range(1, _DAYS + 1), seen["day"])
    yield from _bits(seen["pot"])
    yield from _counts(seen["hand"], range(_RANKS), _MAX_IN_HAND)
    for key in ("given", "received", "played"):
        yield from _one_hot(range(_RANKS), seen[key])
    for seat in seats:
        yield from _one_hot(range(_RANKS), seen["plays"][seat] if seen["plays"] else None)
    for seat in seats:
        yield from _bits(seen["day_cards"][seat])
    yield from _counts(seen["discards"], range(_RANKS), _MAX_OF_A_RANK)
    yield seen["deck"] / _MAX_CARDS
    for day in range(_DAYS):
        past = seen["history"][day] if day < len(seen["history"]) else None
        for seat in seats:
            yield _rank(past["plays"][seat]) if past else 0.0
        yield from _one_hot(seats, past and past["winner"])
        yield from _one_hot(seats, past and past["to"])
        for key in ("given", "received", "drawn"):
            yield _rank(past[key]) if past else 0.0


def _partridge(seen: dict[str, Any]) -> Iterable[float]:
    """Yield the numbers of ``partridge``.

    Phase 2, round and rounds, hand 12, kind of what was led 3, its low 12, discards 12; then for
    each seat: hand size, gifts, rounds won, whether it leads, whether it has acted in this trick,
    the cards that it played in it 12, those of the round's earlier tricks that it has not taken
    back 12, whether its hand is known, and that 12.
    """
    ranks = range(1, _DAYS + 1)
    yield from _one_hot(("lead", "follow"), seen["phase"])
    yield seen["round"] / _DAYS
    yield seen["rounds"] / _DAYS
    yield from _counts(seen["hand"], ranks, _DAYS)
    led = seen["trick"][0]["cards"] if seen["trick"] else []
    kind = None if not led else "single" if len(led) == 1 else "set" if led[0] == led[1] else "run"
    yield from _one_hot(("single", "set", "run"), kind)
    yield from _one_hot(ranks, seen["lead_low"])
    yield from _counts(seen["discards"], ranks, _DAYS)
    acted = {action["seat"]: action["cards"] for action in seen["trick"]}
    gone: dict[int, Counter[int]] = {seat: Counter() for seat in range(seen["seats"])}
    for trick in seen["history"]:
        for action in trick["actions"]:
            if action["seat"] not in trick["returned"]:
                gone[action["seat"]].update(action["cards"])
    known = known_hands(seen)
    for seat in _from_own(seen):
        yield seen["hand_sizes"][seat] / _DAYS
        yield seen["gifts"][seat] / _MAX_GIFTS
        yield seen["rounds_won"].count(seat) / _DAYS
        yield seat == seen["leader"]
        yield seat in acted
        yield from _counts(acted.get(seat, ()), ranks, _DAYS)
        yield from _counts(gone[seat].elements(), ranks, _DAYS)
        yield seat in known
        yield from _counts(known[seat].elements() if seat in known else (), ranks, _DAYS)


def _from_own(seen: dict[str, Any]) -> list[int]:
    return [(seen["seat"] + step) % seen["seats"] for step in range(seen["seats"])]


def _one_hot(values: Iterable[object], value: object) -> list[float]:
    return [float(each == value and value is not None) for each in values]


def _bits(days: list[int]) -> list[float]:
    return [float(day in days) for day in range(1, _DAYS + 1)]


def _counts(cards: Iterable[int], ranks: range, most: int) -> list[float]:
    counted = Counter(cards)
    return [counted[rank] / most for rank in ranks]


def _rank(rank: int | None) -> float:
    return 0.0 if rank is None else (rank + 1) / _RANKS
