"""The matches of `batched` in plain Python, equal to those of the kernel, number for number."""

from array import array

from bots_sdk.environments import compact, encoding
from engine.deals import fast_shuffle
from engine.games import catalogue
from engine.games.game import State
from engine.playouts import NewMatch
from engine.playouts.luck import Luck
from engine.playouts.results import half_points


class PlainMatches:
    """Matches with the buffers of `engine.playouts.many.KernelMatches`."""

    def __init__(self, match: NewMatch, matches: int) -> None:
        """Make the buffers; `start` deals."""
        self._match, self._count = match, matches
        rows = matches * match.seats
        self._moves = len(catalogue.find(match.game).moves)
        self._lucks = [Luck(0)] * matches
        self._states = [self._deal(luck) for luck in self._lucks]
        self._numbers = len(compact.features(self._states[0].observe(0)))
        self.actions = bytearray(rows)
        self.illegal = bytearray(rows)
        self.masks = bytearray(rows * self._moves)
        self.observations = bytearray(rows * self._numbers)
        self.over = bytearray(matches)
        self.scores = array("i", [0]) * rows
        self.half_points = array("i", [0]) * rows

    def start(self, seed: int) -> None:
        """Deal all matches."""
        seeds = Luck(seed)
        self._lucks = [Luck(seeds.word()) for _ in range(self._count)]
        self._states = [self._deal(luck) for luck in self._lucks]
        self.over[:] = bytes(len(self.over))
        self.illegal[:] = bytes(len(self.illegal))
        for number in range(self._count):
            self._show(number)

    def step(self) -> int:
        """Make the actions and return the number of matches that ended and were dealt anew."""
        self.illegal[:] = bytes(len(self.illegal))
        for number, luck in enumerate(self._lucks):
            state, row = self._states[number], number * self._match.seats
            chosen = {}
            for seat in state.actors:
                action, legal = self.actions[row + seat], state.legal(seat)
                if action not in legal:
                    self.illegal[row + seat] = 1
                    action = legal[luck.below(len(legal))]
                chosen[seat] = action
            state.step_unchecked(chosen)
            scores = state.scores
            self.over[number] = state.is_over
            if scores is not None:
                halves = [half_points(scores, seat) for seat in range(len(scores))]
                self.scores[row : row + len(scores)] = array("i", scores)
                self.half_points[row : row + len(scores)] = array("i", halves)
                self._states[number] = self._deal(luck)
            self._show(number)
        return sum(self.over)

    def _deal(self, luck: Luck) -> State:
        return catalogue.start(*self._match, fast_shuffle(luck.random))

    def _show(self, number: int) -> None:
        """Write the observations and masks of a match."""
        for seat in range(self._match.seats):
            seen = self._states[number].observe(seat)
            row = number * self._match.seats + seat
            numbers, moves = row * self._numbers, row * self._moves
            self.observations[numbers : numbers + self._numbers] = bytes(compact.features(seen))
            self.masks[moves : moves + self._moves] = bytes(encoding.mask(seen))
