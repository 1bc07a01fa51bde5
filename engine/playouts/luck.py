"""The luck of playouts: random numbers that the kernel and plain Python draw alike.

The generator is splitmix64 (Steele, Lea and Flood 2014): a 64-bit counter and a mix of its bits.
"""

from collections.abc import MutableSequence, Sequence
from random import Random
from typing import Any, TypeVar

_T = TypeVar("_T")

_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_UNIT = 2.0**-32


class Luck(Random):
    """A source of random numbers for `State.sample`, `fast_shuffle` and policies.

    It offers only the methods below; each number takes one step of the generator.
    """

    def __init__(self, seed: int) -> None:
        """Start at a seed, of which the lowest 64 bits count."""
        self._state = seed & _MASK

    def word(self) -> int:
        """Return 64 random bits."""
        self._state = z = (self._state + _STEP) & _MASK
        z = ((z ^ (z >> 30)) * _FIRST) & _MASK
        z = ((z ^ (z >> 27)) * _SECOND) & _MASK
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        """Return a number from 0 to ``n - 1``; ``n`` is far below 2**32."""
        self._state = z = (self._state + _STEP) & _MASK
        z = ((z ^ (z >> 30)) * _FIRST) & _MASK
        z = ((z ^ (z >> 27)) * _SECOND) & _MASK
        return ((z ^ (z >> 31)) >> 32) * n >> 32

    def random(self) -> float:
        """Return a multiple of 2**-32 below 1, so that ``int(random() * n)`` is `below`."""
        return (self.word() >> 32) * _UNIT

    def randrange(self, start: int, *_: Any) -> int:
        """Return a number from 0 to ``start - 1``."""
        return self.below(start)

    def choice(self, seq: Sequence[_T]) -> _T:  # type: ignore[override] # a part of its types
        """Return one of the elements."""
        return seq[self.below(len(seq))]

    def shuffle(self, x: MutableSequence[Any]) -> None:
        """Put the elements in random order (Fisher and Yates, from the back)."""
        for j in range(len(x) - 1, 0, -1):
            r = self.below(j + 1)
            x[j], x[r] = x[r], x[j]
