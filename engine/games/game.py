"""What both games share: states, moves, views and presets.

Inside, a move is a small integer, its **action id**, numbered so that ascending ids are the
canonical order of ``legal_moves``; outside, it is a text. A `MoveTable` translates between them.
A `State` holds everything about a match and serves the referee and search; a `View` holds what
one seat may know, and everything that a seat receives is made from it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, Self, TypeVar

from engine.deals import Shuffle
from engine.errors import IllegalMoveError, UnknownRulesError, listed, quote
from engine.games.events import Event, HandDealt, HandShown, MatchOver, MatchStarted

Observation = dict[str, Any]
"""A JSON object as documented in docs/reference/observations.md."""

_LONGEST_MOVE_TEXT = 1 << 16


@dataclass(frozen=True, slots=True)
class Rules:
    """A preset: a published edition or variant by name, with the numbers of seats it allows."""

    name: str
    min_seats: int
    max_seats: int

    def check_seats(self, seats: int) -> None:
        """Raise `UnknownRulesError` unless this preset allows that many seats."""
        if not self.min_seats <= seats <= self.max_seats:
            raise UnknownRulesError(
                f"{self.name} takes {self.min_seats} to {self.max_seats} seats, not {quote(seats)}"
            )

    def max_moves(self, seats: int) -> int:
        """Return a number of moves that one seat of a match never exceeds."""
        raise NotImplementedError


class MoveTable:
    """All moves of a game as texts; the position of a text is its action id."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = tuple(texts)
        self.ids = {text: action for action, text in enumerate(texts)}

    def __len__(self) -> int:
        return len(self.texts)

    def parse(self, text: str) -> int:
        """Return the action id of a move that a person or program wrote.

        Cards may stand in any order, with any run of spaces between the parts.

        Raises:
            ValueError: the text is not a move of this game.
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
    """A match in play, hidden cards included: the replay of its log so far.

    Attributes:
        rules: the preset.
        seats: number of seats; seat ``s`` has the left neighbour ``(s + 1) % seats``.
        phase: the decision in progress, by its name in the observations; ``over`` at the end.
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
    def start(
        cls, rules: str, seats: int, shuffle: Shuffle, report: list[Event] | None = None
    ) -> Self:
        """Deal a new match.

        Args:
            rules: name of the preset.
            seats: number of seats.
            shuffle: puts the cards in order.
            report: receives the events of the deal, if given.

        Raises:
            UnknownRulesError: there is no such preset, or it does not allow that many seats.
        """

    @abstractmethod
    def legal(self, seat: int) -> tuple[int, ...]:
        """Return the ids of a seat's legal moves, ascending; empty if it has no decision."""

    @abstractmethod
    def step_unchecked(self, actions: Mapping[int, int], report: list[Event] | None = None) -> None:
        """Make moves as `step` does, without a check that they are legal: for playouts.

        Args:
            actions: action id by seat.
            report: receives the events, if given; playouts leave it out and don't pay for them.
        """

    @abstractmethod
    def copy(self) -> Self:
        """Return an independent copy, in about a microsecond (finished history is shared)."""

    @abstractmethod
    def observe(self, seat: int) -> Observation:
        """Return the observation of a seat: fresh JSON data that the caller may keep or change."""

    @abstractmethod
    def hand(self, seat: int) -> list[int]:
        """Return the cards that a seat holds, ascending, with any that it has chosen to part with.

        This is the hidden truth, for the referee and for events; a seat sees `observe`.
        """

    @abstractmethod
    def _public(self) -> dict[str, Any]:
        """Return the part of an observation that all seats and the public see."""

    @property
    @abstractmethod
    def scores(self) -> tuple[int, ...] | None:
        """Final points per seat, or None while the match is not over."""

    @classmethod
    @abstractmethod
    def sample(cls, observation: Observation, rng: Random) -> Self:
        """Return a state to play out, drawn from the states that fit a seat's observation.

        ``rng`` decides hands, deck and the shuffles still to come. Secret moves of other seats on
        finished days stay unknown: they are null in those seats' observations. In a finished match
        nothing is left to play, and the other hands need not fit the scores.
        """

    def step(self, actions: Mapping[int, int]) -> tuple[Event, ...]:
        """Make the moves of one or more of the `actors` and return what happened.

        If several seats decide at once, their moves take effect with the last move. Until then
        there are no events, and no other seat can see that one has chosen.

        Args:
            actions: action id by seat.

        Returns:
            The events in their order, secrets included; pass each through `Event.seen_by` before
            it leaves for a seat or the public.

        Raises:
            IllegalMoveError: a seat has nothing to decide or the move is not legal. The state does
                not change.
        """
        for seat, action in actions.items():
            if action not in self.legal(seat):
                raise self._illegal(seat, self._spell(action))
        report: list[Event] = []
        if actions:
            self.step_unchecked(actions, report)
        return tuple(report)

    def parse(self, seat: int, text: str) -> int:
        """Return the action id of a legal move of a seat, from text as `MoveTable.parse` takes it.

        Raises:
            IllegalMoveError: the text is not a move, or this seat may not make the move now.
        """
        try:
            action = self.moves.parse(text)
        except ValueError:
            raise self._illegal(seat, text) from None
        if action not in self.legal(seat):
            raise self._illegal(seat, self.moves.texts[action])
        return action

    def legal_texts(self, seat: int) -> list[str]:
        """Return a seat's legal moves as canonical texts in canonical order."""
        texts = self.moves.texts
        return [texts[action] for action in self.legal(seat)]

    def view(self, seat: int) -> "View":
        """Return what a seat may know."""
        return View(type(self), self.observe(seat))

    def spectate(self) -> dict[str, Any]:
        """Return what the public sees, as JSON data: an observation without anyone's secrets.

        ``hands`` lists the hands when the match is over, and is null before.
        """
        hands = [self.hand(seat) for seat in range(self.seats)] if self.is_over else None
        return {**self._public(), "hands": hands}

    @property
    def is_over(self) -> bool:
        """Whether the match has ended."""
        return not self.actors

    @property
    def places(self) -> tuple[int, ...] | None:
        """The place of each seat, 1 the best and ties shared, or None before the end."""
        scores = self.scores
        return None if scores is None else places(scores)

    def _match_started(self) -> Event:
        return MatchStarted(self.game, self.rules.name, self.seats)

    def _hands_dealt(self) -> list[Event]:
        hands = [tuple(self.hand(seat)) for seat in range(self.seats)]
        return [HandDealt(seat, len(hand), hand) for seat, hand in enumerate(hands)]

    def _hands_shown(self) -> list[Event]:
        return [HandShown(seat, tuple(self.hand(seat))) for seat in range(self.seats)]

    def _match_over(self) -> Event:
        return MatchOver(self.scores or (), self.places or ())

    def _illegal(self, seat: int, move: str) -> IllegalMoveError:
        return IllegalMoveError(seat, self.phase, move, self.legal_texts(seat))

    def _spell(self, action: int) -> str:
        known = type(action) is int and 0 <= action < len(self.moves)
        return self.moves.texts[action] if known else f"action {quote(action)}"


class View:
    """What one seat may know of a match: its observation, and states that fit it."""

    __slots__ = ("_game", "_observation")

    def __init__(self, game: type[State], observation: Observation) -> None:
        self._game = game
        self._observation = observation

    def observation(self) -> Observation:
        """Return the observation: fresh JSON data that the caller may keep or change."""
        fresh: Observation = _fresh(self._observation)
        return fresh

    def sample(self, rng: Random) -> State:
        """Return a full state in which this seat has this same observation; see `State.sample`.

        The state is made from the observation alone, so it holds nothing that is hidden.
        """
        return self._game.sample(self._observation, rng)


_Value = TypeVar("_Value")


class Memo(dict[int, _Value]):
    """A table that computes an entry at its first use and keeps it; for small sets of keys."""

    def __init__(self, compute: Callable[[int], _Value]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, key: int) -> _Value:
        value = self[key] = self._compute(key)
        return value


def places(scores: Sequence[int]) -> tuple[int, ...]:
    """Return 1 + the number of higher scores, for each score."""
    return tuple(1 + sum(other > score for other in scores) for score in scores)


def _fresh(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _fresh(inner) for key, inner in value.items()}
    return [_fresh(inner) for inner in value] if isinstance(value, list) else value
