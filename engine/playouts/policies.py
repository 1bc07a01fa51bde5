"""How the seats of a playout choose their moves: at random, or by a table of values."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random

from engine.games.catalogue import find
from engine.games.partridge import Partridge
from engine.games.partridge_moves import LOW, SIZE
from engine.games.twelve_days import TwelveDays
from engine.games.twelve_days_moves import RANKS

VARIANTS = 16
"""The number of variants of a table; each decision draws one of them."""
DAYS = 12
HELD = 4
"""The rows of a table for cards that a seat holds once, twice, three times, and more often."""
CARD_MOVES = 2 * RANKS
"""The gives and the plays of ``twelve-days``, by action id."""
MAX_VALUE = 1_000_000


@dataclass(frozen=True, slots=True)
class Uniform:
    """A policy: each legal move is equally likely."""


UNIFORM = Uniform()


@dataclass(frozen=True, slots=True, eq=False)
class TwelveDaysTable:
    """A policy for ``twelve-days``: the legal give or play with the highest value, lower ids first.

    The value of a move is ``stake * at_stake[move] + on_day[day - 1][move] + held[h - 1][move]
    + taste[v][move]``, for the points at stake, the number h of cards of this rank in the seat's
    hand (at most `HELD`), and a random variant v. A seat that must award the pot gives it to the
    seat with the fewest points. Values are integers of at most `MAX_VALUE`, in a unit of your
    choice.

    Attributes:
        at_stake: by action id, `CARD_MOVES` numbers.
        on_day: by day, then by action id; `DAYS` rows.
        held: by the number of cards held, then by action id; `HELD` rows.
        taste: by variant, then by action id; `VARIANTS` rows.
    """

    at_stake: Sequence[int]
    on_day: Sequence[Sequence[int]]
    held: Sequence[Sequence[int]]
    taste: Sequence[Sequence[int]]
    words: Sequence[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Raise `ValueError` if a row has another length or a value is out of range."""
        rows = [self.at_stake]
        for part, count in ((self.on_day, DAYS), (self.held, HELD), (self.taste, VARIANTS)):
            if len(part) != count:
                raise ValueError(f"a table needs {count} rows here, not {len(part)}")
            rows += part
        object.__setattr__(self, "words", _flat(rows, len(rows), CARD_MOVES))
        _check(self.words, len(rows), CARD_MOVES)


@dataclass(frozen=True, slots=True, eq=False)
class PartridgeTable:
    """A policy for ``partridge``: the legal move with the highest value, lower ids first.

    If the move takes the seat's last cards and another seat is ahead in the trick, the seat passes,
    because it would take the cards back. Values are integers of at most `MAX_VALUE`.

    Attributes:
        worth: by variant, then by action id; `VARIANTS` rows, one of which each decision draws.
    """

    worth: Sequence[Sequence[int]]
    words: Sequence[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Raise `ValueError` if a row has another length or a value is out of range."""
        rows = (VARIANTS, len(Partridge.moves))
        object.__setattr__(self, "words", _flat(self.worth, *rows))
        _check(self.words, *rows)


PolicyTable = TwelveDaysTable | PartridgeTable
Policy = Uniform | PolicyTable


def check_game(policy: Policy, game: str) -> None:
    """Raise `ValueError` if a table is for the other game."""
    wanted = TwelveDaysTable if game == TwelveDays.game else PartridgeTable
    if not isinstance(policy, Uniform | wanted):
        raise ValueError(f"a policy for {game} is UNIFORM or a {wanted.__name__}, not {policy!r}")


def _flat(rows: Sequence[Sequence[int]], count: int, length: int) -> list[int]:
    if len(rows) != count or any(len(row) != length for row in rows):
        raise ValueError(f"a table needs {count} rows of {length} numbers")
    return [number for row in rows for number in row]


def _check(words: Sequence[int], rows: int, length: int) -> None:
    if len(words) != rows * length:
        raise ValueError(f"a table needs {rows} rows of {length} numbers")
    for number in words:
        if type(number) is not int or abs(number) > MAX_VALUE:
            raise ValueError(f"values are integers from -{MAX_VALUE} to {MAX_VALUE}: {number!r}")


# -- Rules of thumb ----------------------------------------------------------------------------

_SCALE = 1000
"""A point, or a gift, in units of the tables below."""
# Found by hill climbing: a policy that plays by them beats its predecessors.
_WINS = [0.8, 1.0, 0.95, 0.95, 0.9, 0.7, 0.4, 0.4, 0.2, 0.14, 0.09, 0.07, 0.07]
"""The value of a card for winning the pot, by rank, as a part of the pot."""
_LATER, _HARM = 0.7, 0.6
"""Factor of that value on a later day; cost of a neighbour's win with the card, as a part of the
pot."""
_MOST = [0.02, 0.07, 0.12, 0.1]
"""The value of a card for the majority of its rank, in points for each point of the rank: of the
only such card in the hand, of one of two, of one of three, and of one of more."""
_TASTE = 2.0
"""Standard deviation of the values between variants, in points: with less the policy plays better,
but a search that relies on it plays worse, as it meets too few kinds of play."""


def rule_of_thumb(game: str, rules: str) -> PolicyTable:
    """Return a table by which a playout resembles a match between sensible players.

    Args:
        game: the slug of the game.
        rules: the name of the preset.

    Raises:
        UnknownRulesError: there is no such game or preset.
    """
    if find(game) is Partridge:
        Partridge.preset(rules)
        return _combinations()
    preset = TwelveDays.presets[TwelveDays.preset(rules).name]
    return _cards(preset.days, preset.claus == "award")


@cache
def _cards(days: int, must_award: bool) -> TwelveDaysTable:
    """Return the table of ``twelve-days``: low cards win pots, high cards majorities."""
    rng = Random(1)
    # A pot that the seat must award is worth nothing to it.
    wins = [0.0 if must_award else _WINS[0], *_WINS[1:]]
    on_day = []
    for day in range(1, DAYS + 1):
        later = _LATER * (day + 1 + days) / 2 if day < days else 0
        kept = [_scaled(-later * win) for win in wins]
        on_day.append(kept + kept)
    held = [[_scaled(-most * rank) for rank in range(RANKS)] * 2 for most in _MOST]
    return TwelveDaysTable(
        at_stake=[_scaled(-_HARM * win) for win in wins] + [_scaled(win) for win in wins],
        on_day=on_day,
        held=held,
        taste=[[_scaled(rng.gauss(0, _TASTE)) for _ in range(CARD_MOVES)] for _ in range(VARIANTS)],
    )


@cache
def _combinations() -> PartridgeTable:
    """Return the table of ``partridge``: more cards are better, higher cards too."""
    rng = Random(1)
    worth = [2 * size + 0.4 * low if size else 0.0 for size, low in zip(SIZE, LOW, strict=True)]
    return PartridgeTable(
        [[_scaled(value + rng.gauss(0, 0.7)) for value in worth] for _ in range(VARIANTS)]
    )


def _scaled(value: float) -> int:
    return round(_SCALE * value)
