"""Many matches in the kernel's memory, stepped together; for `bots_sdk.environments.batched`."""

from engine.games.catalogue import find
from engine.playouts.positions import NewMatch, words
from engine.playouts.wasm import Kernel, signed

MAX_MATCHES = 4096


class KernelMatches:
    """Matches in flat, writable views of a kernel's memory, a row for each match and seat.

    Attributes:
        actions: action ids that the next `step` makes, a byte for each match and seat.
        observations: bytes, `numbers` for each match and seat.
        masks: bytes, one for each match, seat and action.
        over: a byte for each match: whether it ended in the last step.
        illegal: a byte for each match and seat: whether the kernel replaced its action.
        scores: 32-bit integers for each match and seat, set when the match ends.
        half_points: the same, as in `results.Played`.
    """

    def __init__(self, match: NewMatch, matches: int) -> None:
        """Take a kernel for this many matches; `start` deals.

        Raises:
            ValueError: the kernel refused the rules.
        """
        self._kernel = kernel = Kernel()
        self._count = matches
        kernel.give(words(match))
        if kernel.call("load"):
            raise ValueError(f"the kernel can't play {match}")
        rows = matches * match.seats
        moves = len(find(match.game).moves)
        self.actions = kernel.view(kernel.call("actions_at"), rows)
        self.illegal = kernel.view(kernel.call("illegal_at"), rows)
        self.masks = kernel.view(kernel.call("masks_at"), rows * moves)
        self.observations = kernel.view(kernel.call("seen_at"), rows * kernel.call("numbers"))
        self.over = kernel.view(kernel.call("over_at"), matches)
        self.scores = kernel.view(kernel.call("scores_at"), 4 * rows)
        self.half_points = kernel.view(kernel.call("halves_at"), 4 * rows)

    def start(self, seed: int) -> None:
        """Deal all matches; the lowest 64 bits of the seed determine all cards."""
        self.over[:] = bytes(len(self.over))
        self.illegal[:] = bytes(len(self.illegal))
        self._kernel.call("start_many", self._count, signed(seed))

    def step(self) -> int:
        """Make the actions and return the number of matches that ended and were dealt anew."""
        return self._kernel.call("step_many")
