"""An observation as few small integers: the encoding of `batched`, in plain Python.

A bot that was trained with `batched` calls `features` at the league and gets the same numbers. They
leave out most of the history; `encoding` has it. Seats are in clockwise order, the observer first.
"""

from collections import Counter
from collections.abc import Iterable

from engine.games.game import Observation
from engine.games.partridge_moves import ACTION, FIRST_SET, FIRST_STRAIGHT

_RANKS = 13


def features(observation: Observation) -> list[int]:
    """Return an observation as integers from 0 to 255.

    ``twelve-days``, 33 numbers and 2 a seat: phase (0 give, 1 play, 2 award), day, first day card
    of the pot, points at stake, cards in the deck, hand by rank (13), discards by rank (13), own
    given and received card + 1 (0 for none); for each seat: points, and its latest play + 1.

    ``partridge``, 30 numbers and 5 a seat: whether a seat has led, round, rounds, kind that was led
    (1 single, 2 set, 3 straight), lead low, leader (0 is the observer), hand by rank (12), discards
    by rank (12); for each seat: hand size, gifts, whether it has acted in this trick, and the
    lowest card and the number of cards that it played.

    Raises:
        ValueError: the match is over.
    """
    if observation["phase"] == "over":
        raise ValueError("a finished match has no features; nothing is left to decide")
    encode = _twelve_days if observation["game"] == "twelve-days" else _partridge
    return encode(observation)


def _twelve_days(seen: Observation) -> list[int]:
    latest = seen["plays"] or (seen["history"][-1]["plays"] if seen["history"] else None)
    of_today = seen["phase"] != "give"
    chosen = {"give": seen["given"], "play": seen["played"]}.get(seen["phase"])
    hand = [*seen["hand"], *([] if chosen is None else [chosen])]
    numbers = [
        ("give", "play", "award").index(seen["phase"]),
        seen["day"],
        seen["pot"][0],
        sum(seen["pot"]),
        seen["deck"],
        *_counts(hand, range(_RANKS)),
        *_counts(seen["discards"], range(_RANKS)),
        seen["given"] + 1 if of_today else 0,
        seen["received"] + 1 if of_today else 0,
    ]
    for seat in _from_own(seen):
        numbers += [sum(seen["day_cards"][seat]), latest[seat] + 1 if latest else 0]
    return numbers


def _partridge(seen: Observation) -> list[int]:
    played = {action["seat"]: action["cards"] for action in seen["trick"]}
    led = ACTION[tuple(seen["trick"][0]["cards"])] if seen["trick"] else 0
    numbers = [
        int(bool(led)),
        seen["round"],
        seen["rounds"],
        (led > 0) + (led >= FIRST_SET) + (led >= FIRST_STRAIGHT),
        seen["lead_low"] or 0,
        (seen["leader"] - seen["seat"]) % seen["seats"],
        *_counts(seen["hand"], range(1, _RANKS)),
        *_counts(seen["discards"], range(1, _RANKS)),
    ]
    for seat in _from_own(seen):
        cards = played.get(seat, ())
        numbers += [seen["hand_sizes"][seat], seen["gifts"][seat], int(seat in played)]
        numbers += [min(cards, default=0), len(cards)]
    return numbers


def _from_own(seen: Observation) -> list[int]:
    return [(seen["seat"] + step) % seen["seats"] for step in range(seen["seats"])]


def _counts(cards: Iterable[int], ranks: range) -> list[int]:
    counted = Counter(cards)
    return [counted[rank] for rank in ranks]
