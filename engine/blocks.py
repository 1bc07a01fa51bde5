"""Blocks before they are played: the deal and the seating of each match.

A block is one table of n bots and n matches. The bots change seats, so that each bot sits in each
seat once. Bots are integer ids; seats, matches and deals count from 0.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from engine.deals import SEED_BYTES, derive, seeded_shuffle
from engine.errors import quote

MIN_SEATS = 2
MAX_SEATS = 8


@dataclass(frozen=True, slots=True)
class PlannedMatch:
    """One match of a block, before it is played.

    Attributes:
        index: 0 to n-1, in the order of the block.
        deal_seed: 32 bytes, secret until the match's record is published; not in the repr.
        seating: bot ids by seat.
    """

    index: int
    deal_seed: bytes = field(repr=False)
    seating: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BlockPlan:
    """A block before it is played.

    Attributes:
        bots: bot ids by label, 0 to n-1.
        duplicate: whether all matches use one deal.
        matches: n matches, in which each bot sits in each seat once.
    """

    bots: tuple[int, ...]
    duplicate: bool
    matches: tuple[PlannedMatch, ...]


def derive_block_seed(round_seed: bytes, block: int) -> bytes:
    """Return the 32-byte seed of a block: HMAC-SHA256(round seed, ``block/B``).

    Args:
        round_seed: 32 bytes; the seed of a ladder's round or of a tournament.
        block: the block's number B, from 0.

    Raises:
        ValueError: the seed is not 32 bytes long, or the number is negative.
    """
    return _derive_numbered(round_seed, "block", block)


def derive_deal_seed(block_seed: bytes, deal: int) -> bytes:
    """Return the 32-byte seed of a deal: HMAC-SHA256(block seed, ``deal/D``).

    Args:
        block_seed: 32 bytes.
        deal: the deal's number D in its block, from 0.

    Raises:
        ValueError: the seed is not 32 bytes long, or the number is negative.
    """
    return _derive_numbered(block_seed, "deal", deal)


def seat_orders(n: int, *, odd_repeat: bool = False) -> tuple[tuple[int, ...], ...]:
    """Return the n seat orders of a block: the rows of a Williams square, labels by seat.

    The first row is 0, 1, n-1, 2, n-2, ...; row k adds k mod n. Each label is in each seat once. If
    n is even, each ordered pair of labels sits in seats s and s+1 exactly once. If n is odd, it
    does so exactly twice over two blocks, the second with reversed rows. Source: E. J. Williams,
    "Experimental designs balanced for the estimation of residual effects of treatments", 1949.
    Seat n-1 also comes before seat 0; no row-complete square balances that neighbourhood.

    Args:
        n: the number of seats, 2 to 8.
        odd_repeat: whether this is the second, fourth, ... block of its table. It has no effect if
            n is even.

    Returns:
        n rows of n labels.

    Raises:
        ValueError: n is not from 2 to 8.
    """
    _check_seats(n)
    # Seats 1, 3, ... hold 1, 2, ...; seats 2, 4, ... hold n-1, n-2, ...
    first = [(seat + 1) // 2 if seat % 2 else -(seat // 2) for seat in range(n)]
    if odd_repeat and n % 2:
        first.reverse()
    return tuple(tuple((label + k) % n for label in first) for k in range(n))


def assign_labels(block_seed: bytes, bots: Collection[int]) -> tuple[int, ...]:
    """Return the bots of a table by label, in an order that only the block's seed decides.

    The shuffle is the one that deals cards (`engine.deals.seeded_shuffle`), with the number k = 0
    and HMAC-SHA256(block seed, ``seats``) as the deal seed. It shuffles the bots by ascending id;
    the first bot of the result gets label 0, the next one label 1, and so on.

    Args:
        block_seed: 32 bytes.
        bots: 2 to 8 different ids, in any order.

    Raises:
        ValueError: there are not 2 to 8 bots, a bot is listed twice, or the seed is not 32 bytes
            long.
    """
    check_table(bots)
    _check_seed(block_seed)
    ascending = sorted(bots)
    order = list(range(len(ascending)))
    seeded_shuffle(derive(block_seed, "seats"))(0, order)
    return tuple(ascending[position] for position in order)


def plan_block(
    block_seed: bytes,
    bots: Collection[int],
    *,
    duplicate: bool,
    odd_repeat: bool = False,
    labels: Sequence[int] | None = None,
) -> BlockPlan:
    """Return the plan of a block, which its seed, its table and the labels determine.

    Args:
        block_seed: 32 bytes.
        bots: 2 to 8 different ids, in any order.
        duplicate: if true, all matches use deal 0: for tables of hosted bots only. If false, match
            m uses deal m, because a remote bot could remember the cards.
        odd_repeat: see `seat_orders`.
        labels: the bots by label in the table's block before. An odd repeat takes them over, or the
            two blocks would not balance the neighbours. Any other block draws new ones.

    Raises:
        ValueError: there are not 2 to 8 bots, a bot is listed twice, the seed is not 32 bytes
            long, or the labels are not those of the same bots.
    """
    by_label = assign_labels(block_seed, bots)
    if labels is not None and odd_repeat and len(bots) % 2:
        by_label = tuple(labels)
    if sorted(by_label) != sorted(bots):
        raise ValueError(f"the labels {quote(by_label)} are not of the bots {quote(sorted(bots))}")
    rows = seat_orders(len(by_label), odd_repeat=odd_repeat)
    return BlockPlan(
        bots=by_label,
        duplicate=duplicate,
        matches=tuple(
            PlannedMatch(
                index=m,
                deal_seed=derive_deal_seed(block_seed, 0 if duplicate else m),
                seating=tuple(by_label[label] for label in row),
            )
            for m, row in enumerate(rows)
        ),
    )


def check_table(bots: Collection[int]) -> None:
    """Check that a table has 2 to 8 bots, each once.

    Raises:
        ValueError: it has not.
    """
    _check_seats(len(bots))
    if len(set(bots)) != len(bots):
        raise ValueError(f"a bot sits twice at the table {quote(sorted(bots))}")


def _derive_numbered(seed: bytes, kind: str, number: int) -> bytes:
    _check_seed(seed)
    if number < 0:
        raise ValueError(f"a {kind} number starts at 0; {quote(number)} is negative")
    return derive(seed, f"{kind}/{number}")


def _check_seed(seed: bytes) -> None:
    if len(seed) != SEED_BYTES:
        raise ValueError(f"a seed has {SEED_BYTES} bytes, not {len(seed)}")


def _check_seats(n: int) -> None:
    if not MIN_SEATS <= n <= MAX_SEATS:
        raise ValueError(f"a table has {MIN_SEATS} to {MAX_SEATS} seats, not {quote(n)}")
