"""What every game is: the questions that referee, API, bots and replays ask of a match.

Inside, a move is a small integer, its **action id**, numbered so that ascending ids are the
canonical order of ``legal_moves``; outside, it is a text. A `MoveTable` is the way between.
A `State` knows everything about a match and is for the referee and for search; a `View` is what
one seat may know, and everything that leaves for a seat is made from it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, Self, TypeVar

from engine.deals import Shuffle
from engine.errors import IllegalMoveError, UnknownRulesError, listed, quote

Observation = dict[str, Any]
"""A JSON object as laid down in the spec, "What a seat may see: the observation"."""

_LONGEST_MOVE_TEXT = 1 << 16


@dataclass(frozen=True, slots=True)
class Rules:
    """A preset: a published edition or variant by name, with the numbers of seats it takes."""

    name: str
    min_seats: int
    max_seats: int

    def check_seats(self, seats: int) -> None:
        """Raise `UnknownRulesError` unless this preset is for that many seats."""
        if not self.min_seats <= seats <= self.max_seats:
            raise UnknownRulesError(
                f"{self.name} takes {self.min_seats} to {self.max_seats} seats, not {quote(seats)}"
            )


class MoveTable:
    """All moves of a game as texts; the position of a text is its action id."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = tuple(texts)
        self.ids = {text: action for action, text in enumerate(texts)}

    def __len__(self) -> int:
        return len(self.texts)

    def parse(self, text: str) -> int:
        """Return the action id of a move that a person or program wrote.

        Cards may come in any order and any run of spaces may stand between the parts.

        Raises:
            ValueError: no move of this game reads so.
        """
        action = self.ids.get(text)
        if action is None and len(text) <= _LONGEST_MOVE_TEXT:
            action = self.ids.get(_canonical(text))
        if action is None:
            raise ValueError(f"{quote(text)} is not a move; moves look like {self.texts[-1]!r}")
        return action


def _canonical(text: str) -> str:
    verb, *cards = [part for part in text.split(" ") if part] or [""]
    if not all(card.isascii() and card.isdigit() for card in cards):
        return ""
    return " ".join([verb, *sorted(cards, key=lambda card: (len(card), card), reverse=True)])


class State(ABC):
    """A match in play, all of it, hidden cards included: the replay of its log so far.

    Attributes:
        rules: the preset.
        seats: how many; seat ``s`` has the left neighbour ``(s + 1) % seats``.
        phase: what is being decided, by its name in the spec; ``over`` at the end.
        actors: the seats that must decide now, ascending; empty when the match is over.
    """

    __slots__ = ("actors", "phase", "rules", "seats")

    game: ClassVar[str]
    moves: ClassVar[MoveTable]
    presets: ClassVar[Mapping[str, Rules]]

    rules: Rules
    seats: int
    phase: str
    actors: tuple[int, ...]

    @classmethod
    def preset(cls, name: str) -> Rules:
        """Return the preset of this game with that name, or raise `UnknownRulesError`."""
        if name not in cls.presets:
            raise UnknownRulesError(
                f"{cls.game} has no preset {quote(name)}; it has {listed(list(cls.presets))}"
            )
        return cls.presets[name]

    @classmethod
    @abstractmethod
    def start(cls, rules: str, seats: int, shuffle: Shuffle) -> Self:
        """Deal a new match.

        Raises:
            UnknownRulesError: there is no such preset, or it does not take that many seats.
        """

    @abstractmethod
    def legal(self, seat: int) -> tuple[int, ...]:
        """Return the ids of what a seat may do now, ascending; empty if it has no decision."""

    @abstractmethod
    def step_unchecked(self, actions: Mapping[int, int]) -> None:
        """Do as `step` does, without looking whether the actions are legal: for playouts."""

    @abstractmethod
    def copy(self) -> Self:
        """Return an independent twin, in about a microsecond (finished history is shared)."""

    @abstractmethod
    def observe(self, seat: int) -> Observation:
        """Return the observation of a seat: fresh JSON data that the caller may keep or change."""

    @abstractmethod
    def spectate(self) -> dict[str, Any]:
        """Return what the public knows, as JSON data: an observation without anyone's secrets.

        Hands show when the match is over, and are null before.
        """

    @property
    @abstractmethod
    def scores(self) -> tuple[int, ...] | None:
        """Final points per seat, or None while the match is not over."""

    @classmethod
    @abstractmethod
    def sample(cls, observation: Observation, rng: Random) -> Self:
        """Return a state to play out, drawn from those a seat with this observation can't rule out.

        Hands and deck are dealt; so are, from ``rng`` too, the shuffles still to come. What the
        other seats did in secret on days gone by is not made up: it is null in their observations.
        In a finished match nothing is left to play, and the other hands need not fit the scores.
        """

    def step(self, actions: Mapping[int, int]) -> None:
        """Make the moves of one or more of the `actors`.

        Where several decide at once, their moves take effect when the last of them is in;
        until then nobody else can tell that one has chosen.

        Args:
            actions: action id by seat.

        Raises:
            IllegalMoveError: a seat has nothing to decide or may not do that. Nothing is changed.
        """
        for seat, action in actions.items():
            if action not in self.legal(seat):
                raise self._illegal(seat, self._spell(action))
        if actions:
            self.step_unchecked(actions)

    def parse(self, seat: int, text: str) -> int:
        """Return the action id of a legal move of a seat, from text as `MoveTable.parse` takes it.

        Raises:
            IllegalMoveError: it is no move at all, or not one that this seat may make now.
        """
        try:
            action = self.moves.parse(text)
        except ValueError:
            raise self._illegal(seat, text) from None
        if action not in self.legal(seat):
            raise self._illegal(seat, self.moves.texts[action])
        return action

    def legal_texts(self, seat: int) -> list[str]:
        """Return what a seat may do now as canonical texts in canonical order."""
        texts = self.moves.texts
        return [texts[action] for action in self.legal(seat)]

    def view(self, seat: int) -> "View":
        """Return what a seat may know."""
        return View(type(self), self.observe(seat))

    @property
    def is_over(self) -> bool:
        """Whether the match has ended."""
        return not self.actors

    @property
    def places(self) -> tuple[int, ...] | None:
        """The place of each seat, 1 the best and ties shared, or None before the end."""
        scores = self.scores
        return None if scores is None else places(scores)

    def _illegal(self, seat: int, move: str) -> IllegalMoveError:
        return IllegalMoveError(seat, self.phase, move, self.legal_texts(seat))

    def _spell(self, action: int) -> str:
        known = type(action) is int and 0 <= action < len(self.moves)
        return self.moves.texts[action] if known else f"action {quote(action)}"


class View:
    """What one seat may know of a match: its observation, and states that could lie behind it."""

    __slots__ = ("_game", "_observation")

    def __init__(self, game: type[State], observation: Observation) -> None:
        self._game = game
        self._observation = observation

    def observation(self) -> Observation:
        """Return the observation: JSON data, all that a bot needs, and the caller's to change."""
        fresh: Observation = _fresh(self._observation)
        return fresh

    def sample(self, rng: Random) -> State:
        """Return a full state in which this seat would see just what it sees; see `State.sample`.

        It is made from the observation alone, so it can't tell what the seat doesn't know.
        """
        return self._game.sample(self._observation, rng)


_Value = TypeVar("_Value")


class Memo(dict[int, _Value]):
    """A table whose entries are computed at their first use and kept; its keys must be few."""

    def __init__(self, compute: Callable[[int], _Value]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, key: int) -> _Value:
        value = self[key] = self._compute(key)
        return value


def places(scores: Sequence[int]) -> tuple[int, ...]:
    """Return 1 + the number of higher scores, for each score (spec "Words used everywhere")."""
    return tuple(1 + sum(other > score for other in scores) for score in scores)


def _fresh(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _fresh(inner) for key, inner in value.items()}
    return [_fresh(inner) for inner in value] if isinstance(value, list) else value
