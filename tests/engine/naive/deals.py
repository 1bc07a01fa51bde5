"""Deals of the naive implementation: seeds, shuffles and fallbacks."""

import hashlib
import hmac
import itertools
from collections.abc import Iterator


def commitment(seed: bytes) -> str:
    return hashlib.sha256(seed).hexdigest()


def words(seed: bytes, k: int) -> Iterator[int]:
    for i in itertools.count():
        block = hashlib.sha256(seed + k.to_bytes(4, "big") + i.to_bytes(4, "big")).digest()
        for at in range(0, 32, 4):
            yield int.from_bytes(block[at : at + 4], "big")


def shuffle(cards: list[int], seed: bytes, k: int) -> list[int]:
    cards = sorted(cards)
    stream = words(seed, k)
    for j in range(len(cards) - 1, 0, -1):
        w = next(stream)
        while w >= 2**32 - 2**32 % (j + 1):
            w = next(stream)
        r = w % (j + 1)
        cards[j], cards[r] = cards[r], cards[j]
    return cards


def fallback(seed: bytes, ply: int, legal: list[str]) -> str:
    digest = hmac.digest(seed, f"fallback/{ply}".encode(), "sha256")
    return legal[int.from_bytes(digest[:8], "big") % len(legal)]
