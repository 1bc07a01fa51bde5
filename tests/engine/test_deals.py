import hashlib
import hmac
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.deals import commitment, derive, fast_shuffle, parse_seed, seeded_shuffle

seeds = st.binary(min_size=32, max_size=32)


def spelled_out(seed: bytes, k: int, cards: list[int]) -> list[int]:
    """The three steps of the spec, in order."""
    cards = sorted(cards)
    words: list[int] = []
    block = 0
    for j in range(len(cards) - 1, 0, -1):
        while True:
            if not words:
                data = seed + k.to_bytes(4, "big") + block.to_bytes(4, "big")
                digest = hashlib.sha256(data).digest()
                words = [int.from_bytes(digest[i : i + 4], "big") for i in range(0, 32, 4)]
                block += 1
            word = words.pop(0)
            if word < 2**32 - 2**32 % (j + 1):
                break
        r = word % (j + 1)
        cards[j], cards[r] = cards[r], cards[j]
    return cards


@given(seeds, st.integers(0, 40), st.integers(0, 200))
def test_the_shuffle_matches_the_spec_bit_for_bit(seed: bytes, k: int, size: int) -> None:
    cards = list(range(size))
    seeded_shuffle(seed)(k, cards)
    assert cards == spelled_out(seed, k, list(range(size)))


def test_a_word_that_would_bias_the_shuffle_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    class Digest:
        def __init__(self, data: bytes) -> None:
            self.block = data[-1]

        def digest(self) -> bytes:
            # In block 0 every m except powers of two rejects the first word.
            words = [0xFFFFFFFF, *range(1, 8)] if self.block == 0 else range(8, 16)
            return b"".join(word.to_bytes(4, "big") for word in words)

    monkeypatch.setattr("engine.deals.sha256", Digest)
    monkeypatch.setattr(hashlib, "sha256", Digest)
    cards = list(range(11))
    seeded_shuffle(bytes(32))(0, cards)
    assert cards == spelled_out(bytes(32), 0, list(range(11)))
    assert cards[10] == 1 % 11


def test_a_known_deal_does_not_change() -> None:
    cards = list(range(10))
    seeded_shuffle(bytes(range(32)))(3, cards)
    assert cards == [1, 5, 2, 8, 9, 0, 7, 4, 3, 6]


@given(st.integers(0, 100))
def test_the_fast_shuffle_permutes(seed: int) -> None:
    cards = list(range(80))
    fast_shuffle(Random(seed).random)(0, cards)
    assert sorted(cards) == list(range(80))


def test_the_fast_shuffle_puts_every_card_in_every_place_equally_often() -> None:
    random = Random(3).random
    shuffle = fast_shuffle(random)
    rounds, size = 4000, 5
    seen = [[0] * size for _ in range(size)]
    for _ in range(rounds):
        cards = list(range(size))
        shuffle(0, cards)
        for place, card in enumerate(cards):
            seen[place][card] += 1
    spread = 4 * (rounds * 1 / size * (1 - 1 / size)) ** 0.5
    for counts in seen:
        for count in counts:
            assert count == pytest.approx(rounds / size, abs=spread)


def test_the_commitment_is_the_sha_256_of_the_seed_bytes() -> None:
    assert commitment(bytes(32)) == hashlib.sha256(bytes(32)).hexdigest()


def test_seeds_derive_by_hmac_sha_256() -> None:
    assert derive(b"k" * 32, "deal/7") == hmac.new(b"k" * 32, b"deal/7", hashlib.sha256).digest()


@pytest.mark.parametrize(
    "text", ["", "ab", "g" * 64, "a" * 63, "a" * 65, "a" * 64 + "\n", "²" * 64]
)
def test_a_seed_must_have_64_hex_digits(text: str) -> None:
    with pytest.raises(ValueError, match="64 hex digits"):
        parse_seed(text)


def test_a_seed_may_have_upper_or_lower_case() -> None:
    assert parse_seed("AB" * 32) == parse_seed("ab" * 32) == b"\xab" * 32


def test_a_deal_seed_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes, not 31"):
        seeded_shuffle(bytes(31))
