"""Habits: how often each seat of a match makes each kind of move, counted from the record.

A count needs no replay. In ``twelve-days`` a move names its kind, and the plays of a day stand
together. In ``partridge`` each seat acts once in a trick, so every n-th move of n seats is a lead.
Moves that the referee made for a seat are not counted as its own.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from engine.games.partridge import Partridge
from engine.games.twelve_days import TwelveDays

Move = tuple[int, str]
Tally = dict[str, tuple[int, int]]
"""By habit: how often a seat did it, and how often it could."""


def names(game: str, rules: str) -> Mapping[str, str]:
    """Return the habits of a preset in the order of pages: by name, the words after "it".

    Raises:
        KeyError: there is no such game or preset.
    """
    if game == Partridge.game:
        return _OF_PARTRIDGE
    low, high, top = _thirds(rules)
    return {
        habit: text.format(low=low, high=high, top=top) for habit, text in _OF_TWELVE_DAYS.items()
    }


_OF_TWELVE_DAYS = {
    "gives-low": "gives a low card, up to {low}",
    "gives-high": "gives a high card, {high} to {top}",
    "plays-low": "plays a low card, up to {low}",
    "plays-high": "plays a high card, {high} to {top}",
    "cancelled": "plays a card that another seat plays too",
    "wins-days": "wins the day",
}
_OF_PARTRIDGE = {
    "leads-single": "leads a single card",
    "leads-set": "leads a set",
    "leads-straight": "leads a straight",
    "wins-leads": "wins the trick that it leads",
    "passes": "passes when another seat leads",
    "wins-follows": "wins a trick that another seat leads",
}


def count(
    game: str, rules: str, seats: int, moves: Sequence[Move], faults: Collection[int] = ()
) -> list[Tally]:
    """Return the habits of each seat of a finished match whose record verifies.

    Args:
        game: of the match.
        rules: of the match.
        seats: their number.
        moves: seat and canonical text of every move.
        faults: plies of the moves that the referee made.
    """
    if game == Partridge.game:
        return _count_tricks(seats, moves, faults)
    return _count_days(*_thirds(rules)[:2], seats, moves, faults)


def _thirds(rules: str) -> tuple[int, int, int]:
    """Return the highest low rank, the lowest high rank and the highest rank of a preset."""
    top = TwelveDays.presets[rules].days
    return top // 3, top - top // 3 + 1, top


def _count_days(
    low: int, high: int, seats: int, moves: Sequence[Move], faults: Collection[int]
) -> list[Tally]:
    did, gives, plays = Counter[tuple[int, str]](), [0] * seats, [0] * seats
    day: list[tuple[int, int, int]] = []
    for ply, (seat, text) in enumerate(moves):
        if text.startswith("give") and ply not in faults:
            rank = int(text[5:])
            gives[seat] += 1
            did[seat, "gives-low"] += rank <= low
            did[seat, "gives-high"] += rank >= high
        elif text.startswith("play"):
            day.append((ply, seat, int(text[5:])))
        if len(day) < seats:
            continue
        ranks = [rank for _, _, rank in day]
        lowest = min((rank for rank in ranks if ranks.count(rank) == 1), default=None)
        for at, player, rank in day:
            if at not in faults:
                plays[player] += 1
                did[player, "plays-low"] += rank <= low
                did[player, "plays-high"] += rank >= high
                did[player, "cancelled"] += ranks.count(rank) > 1
                did[player, "wins-days"] += rank == lowest
        day = []
    return [
        {
            habit: (did[seat, habit], (gives if habit.startswith("gives") else plays)[seat])
            for habit in _OF_TWELVE_DAYS
        }
        for seat in range(seats)
    ]


def _count_tricks(seats: int, moves: Sequence[Move], faults: Collection[int]) -> list[Tally]:
    did, leads, follows = Counter[tuple[int, str]](), [0] * seats, [0] * seats
    for begins in range(0, len(moves), seats):
        won_by, lowest = begins, 99
        for ply in range(begins, begins + seats):
            seat, text = moves[ply]
            if text == "pass":
                if ply not in faults:
                    follows[seat] += 1
                    did[seat, "passes"] += 1
                continue
            # The lowest card wins; of equal ones, the one that was played last.
            if (low := int(text[text.rindex(" ") :])) <= lowest:
                won_by, lowest = ply, low
            if ply in faults:
                continue
            if ply > begins:
                follows[seat] += 1
            else:
                leads[seat] += 1
                did[seat, _kind(text)] += 1
        if won_by not in faults:
            did[moves[won_by][0], "wins-leads" if won_by == begins else "wins-follows"] += 1
    return [
        {
            habit: (did[seat, habit], (leads if "lead" in habit else follows)[seat])
            for habit in _OF_PARTRIDGE
        }
        for seat in range(seats)
    ]


def _kind(text: str) -> str:
    _, *cards = text.split()
    if len(cards) == 1:
        return "leads-single"
    return "leads-set" if cards[0] == cards[1] else "leads-straight"
