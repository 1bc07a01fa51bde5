"""Deals: seeds, commitments and shuffles that anyone can check (docs/reference/deals.md).

All chance in a match comes from a 32-byte deal seed. A state never holds the seed, only a
`Shuffle`: a function that puts cards in order. `seeded_shuffle` is the published shuffle, bit for
bit. `fast_shuffle` replaces it where no proof is needed, as in playouts.
"""

import hmac
import re
from collections.abc import Callable
from hashlib import sha256
from struct import Struct

from engine.errors import quote

SEED_BYTES = 32

Shuffle = Callable[[int, list[int]], None]
"""Reorder ``cards``, which arrive ascending, in place, as shuffle number ``k`` of a match."""

_WORD_RANGE = 1 << 32
_WORDS_IN_BLOCK = 8
_MOST_CARDS = 160
_NO_WORD_REJECTED = _WORD_RANGE - _MOST_CARDS
"""No shuffle of up to `_MOST_CARDS` cards rejects a word below this."""

_BLOCK_NUMBERS = [i.to_bytes(4, "big") for i in range(_MOST_CARDS // _WORDS_IN_BLOCK)]
_POSITIONS = [tuple(range(m - 1, 0, -1)) for m in range(_MOST_CARDS + 1)]
"""By number of cards, the values of ``j``."""
_CHOICES = [tuple(range(m, 1, -1)) for m in range(_MOST_CARDS + 1)]
"""By number of cards, ``j + 1``: a table, because this loop takes a fifth of a playout."""
_unpack_blocks = [
    Struct(f">{blocks * _WORDS_IN_BLOCK}I").unpack for blocks in range(len(_BLOCK_NUMBERS) + 1)
]

_HEX_SEED = re.compile(r"[0-9a-fA-F]{64}", re.ASCII)


def parse_seed(text: str) -> bytes:
    """Return the 32 bytes written as 64 hex digits, in either case.

    Raises:
        ValueError: ``text`` is anything else.
    """
    if not _HEX_SEED.fullmatch(text):
        raise ValueError(f"a seed is {2 * SEED_BYTES} hex digits, not {quote(text)}")
    return bytes.fromhex(text)


def commitment(seed: bytes) -> str:
    """Return the SHA-256 of a seed in hex; published before the first move, it fixes the deal."""
    return sha256(seed).hexdigest()


def derive(key: bytes, message: str) -> bytes:
    """Return the HMAC-SHA256 of an ASCII message: 32 bytes for a new seed (RFC 2104)."""
    return hmac.digest(key, message.encode("ascii"), "sha256")


def seeded_shuffle(seed: bytes) -> Shuffle:
    """Return the published shuffle of a match with this deal seed.

    It is a Fisher-Yates shuffle from the back. The SHA-256 word stream gives each index
    without bias, so every implementation of it produces the same order.

    Raises:
        ValueError: ``seed`` is not 32 bytes long.
    """
    if len(seed) != SEED_BYTES:
        raise ValueError(f"a deal seed has {SEED_BYTES} bytes, not {len(seed)}")

    def shuffle(k: int, cards: list[int]) -> None:
        head = seed + k.to_bytes(4, "big")
        m = len(cards)
        if m > _MOST_CARDS:
            _shuffle_word_by_word(head, cards)
            return
        blocks = (m + _WORDS_IN_BLOCK - 2) // _WORDS_IN_BLOCK  # for m - 1 words
        stream = [sha256(head + number).digest() for number in _BLOCK_NUMBERS[:blocks]]
        words = _unpack_blocks[blocks](b"".join(stream))
        if words and max(words) >= _NO_WORD_REJECTED:
            _shuffle_word_by_word(head, cards)
            return
        for j, choices, word in zip(_POSITIONS[m], _CHOICES[m], words):  # noqa: B905 - words left
            r = word % choices
            cards[j], cards[r] = cards[r], cards[j]

    return shuffle


def _shuffle_word_by_word(head: bytes, cards: list[int]) -> None:
    """Shuffle as `seeded_shuffle` does, and reject words where that is needed."""
    words: list[int] = []
    block = 0
    for j in range(len(cards) - 1, 0, -1):
        limit = _WORD_RANGE - _WORD_RANGE % (j + 1)
        while True:
            if not words:
                words = list(_unpack_blocks[1](sha256(head + block.to_bytes(4, "big")).digest()))
                words.reverse()
                block += 1
            word = words.pop()
            if word < limit:
                break
        r = word % (j + 1)
        cards[j], cards[r] = cards[r], cards[j]


def fast_shuffle(random: Callable[[], float]) -> Shuffle:
    """Return a shuffle for playouts: twice as fast, but without proof.

    Args:
        random: returns floats in [0, 1), like ``random.Random(seed).random``.
    """

    def shuffle(_k: int, cards: list[int]) -> None:
        for j in range(len(cards) - 1, 0, -1):
            r = int(random() * (j + 1))
            cards[j], cards[r] = cards[r], cards[j]

    return shuffle
