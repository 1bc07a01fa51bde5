"""Many matches at once, with NumPy arrays in and out, for training.

It needs NumPy. With the extra ``fast`` the compiled kernel plays; without it the engine plays the
same matches, slower. `compact.features` gives a bot the same numbers at the league.
"""

from typing import Any, Literal, NamedTuple, Protocol, SupportsInt

import numpy as np
from numpy.typing import NDArray

from bots_sdk.environments.batched_plain import PlainMatches
from engine.games import catalogue
from engine.playouts import NewMatch, is_fast
from engine.playouts.many import MAX_MATCHES, KernelMatches

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]


class Step(NamedTuple):
    """What a step brought, for n matches with s seats.

    Attributes:
        observations: the numbers of `compact.features`, shape (n, s, numbers).
        masks: 1 for each legal action, all 0 for a seat without a decision; shape (n, s, actions).
        rewards: 0 before the end of a match, shape (n, s); their sum over a match is 0.
        over: whether the match ended; the observations then show the next match. Shape (n,).
        illegal: whether the action was illegal, so that a random legal one was played; shape
            (n, s).
    """

    observations: Bytes
    masks: Bytes
    rewards: Floats
    over: NDArray[np.bool_]
    illegal: NDArray[np.bool_]


class Matches(Protocol):
    """Matches in flat buffers of bytes, and of 32-bit integers for scores and half points."""

    actions: Any
    observations: Any
    masks: Any
    over: Any
    illegal: Any
    scores: Any
    half_points: Any

    def start(self, seed: int) -> None:
        """Deal all matches."""

    def step(self) -> int:
        """Make the actions and return the number of matches that ended."""


class BatchedEnv:
    """An environment of many matches with the same rules, which start anew when they end.

    In each step all seats whose mask has a 1 decide; the actions of other seats do not count. The
    arrays that `reset` and `step` return are overwritten by the next step; copy what you keep.

    Attributes:
        matches: the number of matches.
        seats: the number of seats.
        numbers: the length of an observation.
        actions: the number of actions, the ids of the game's `MoveTable`.
    """

    def __init__(
        self,
        game: str,
        rules: str,
        seats: int,
        matches: int,
        *,
        rewards: Literal["places", "scores"] = "places",
        in_kernel: bool | None = None,
    ) -> None:
        """Create the environment; `reset` deals.

        Args:
            game: the slug of the game.
            rules: the name of the preset.
            seats: the number of seats.
            matches: the number of matches, 1 to `MAX_MATCHES`.
            rewards: ``places``, as ratings count: the mean over the other seats of 1 for a better
                place, 0 for the same place, -1 for a worse one; or ``scores``, the score minus the
                mean score of the others.
            in_kernel: whether the compiled kernel plays; by default if it is installed.

        Raises:
            UnknownRulesError: no such game, preset or number of seats exists.
            ValueError: another argument has a wrong value.
        """
        if rewards not in ("places", "scores"):
            raise ValueError(f"rewards must be 'places' or 'scores', not {rewards!r}")
        if not 1 <= matches <= MAX_MATCHES:
            raise ValueError(f"matches must be 1 to {MAX_MATCHES}, not {matches}")
        catalogue.find(game).preset(rules).check_seats(seats)
        match = NewMatch(game, rules, seats)
        is_kernel = is_fast() if in_kernel is None else in_kernel
        self._matches: Matches = (KernelMatches if is_kernel else PlainMatches)(match, matches)
        self._rewards = rewards
        self._is_dealt = False
        self.matches, self.seats = matches, seats
        self.actions = len(catalogue.find(game).moves)
        rows = (matches, seats)
        self._given = self._array("actions").reshape(rows)
        self._masks = self._array("masks").reshape(*rows, self.actions)
        self._observations = self._array("observations").reshape(*rows, -1)
        self._over = self._array("over").view(np.bool_)
        self._illegal = self._array("illegal").view(np.bool_).reshape(rows)
        self._scores = self._array("scores", np.int32).reshape(rows)
        self._half_points = self._array("half_points", np.int32).reshape(rows)
        self.numbers = self._observations.shape[-1]

    def reset(self, seed: SupportsInt = 0) -> tuple[Bytes, Bytes]:
        """Deal all matches and return observations and masks, as in `Step`.

        Args:
            seed: determines all cards of these matches and of the later ones.
        """
        self._is_dealt = True
        self._matches.start(int(seed))  # an integer of NumPy has too few bits to compute with
        return self._observations, self._masks

    def step(self, actions: NDArray[Any]) -> Step:
        """Make the actions of all seats that must decide.

        Args:
            actions: action ids, integers, shape (n, s).

        Raises:
            ValueError: the array has another shape, or it does not hold integers.
            RuntimeError: `reset` has not dealt yet.
        """
        if not self._is_dealt:
            raise RuntimeError("call reset first: it deals the matches")
        if actions.shape != self._given.shape or actions.dtype.kind not in "iu":
            raise ValueError(f"actions must be integers of the shape {self._given.shape}")
        if actions.dtype.itemsize > 1:  # as a byte, 256 would be action 0
            actions = np.clip(actions, -1, 255)
        self._given[:] = actions
        ended = self._matches.step()
        rewards = np.zeros(self._given.shape, np.float32)
        if ended:
            over, others = self._over, self.seats - 1
            if self._rewards == "places":
                rewards[over] = self._half_points[over] / others - 1
            else:
                scores = self._scores[over]
                rewards[over] = (self.seats * scores - scores.sum(1, keepdims=True)) / others
        return Step(self._observations, self._masks, rewards, self._over, self._illegal)

    def _array(self, name: str, kind: type[Any] = np.uint8) -> NDArray[Any]:
        return np.frombuffer(getattr(self._matches, name), kind)
