"""Blocks: who sits where on which deal, and what the matches of a block say of each pair of bots.

A block is one table of n bots and n matches, one seat order each (spec "A block"). Bots are known
by integer ids here, seats, matches and deals count from 0.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from engine.deals import SEED_BYTES, derive, seeded_shuffle
from engine.errors import quote
from engine.games.game import places as places_of_scores

MIN_SEATS = 2
MAX_SEATS = 8


# -- What is played --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlannedMatch:
    """One match of a block, before it is played.

    Attributes:
        index: 0 to n-1, in the order of the block.
        deal_seed: 32 bytes, secret until its record is published; left out of the repr.
        seating: bot ids by seat.
    """

    index: int
    deal_seed: bytes = field(repr=False)
    seating: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BlockPlan:
    """What a block will play.

    Attributes:
        bots: ids by label.
        duplicate: whether all matches share one deal.
        matches: n of them; each bot sits in each seat once.
    """

    bots: tuple[int, ...]
    duplicate: bool
    matches: tuple[PlannedMatch, ...]


def derive_block_seed(round_seed: bytes, block: int) -> bytes:
    """Return the 32-byte seed of a block: HMAC-SHA256(round seed, ``block/B``).

    Args:
        round_seed: 32 bytes, of a ladder's round or of a tournament.
        block: its number B, from 0.

    Raises:
        ValueError: the seed is not 32 bytes long, or the number is negative.
    """
    return _derive_numbered(round_seed, "block", block)


def derive_deal_seed(block_seed: bytes, deal: int) -> bytes:
    """Return the 32-byte seed of a deal: HMAC-SHA256(block seed, ``deal/D``).

    Args:
        block_seed: 32 bytes.
        deal: its number D, from 0.

    Raises:
        ValueError: the seed is not 32 bytes long, or the number is negative.
    """
    return _derive_numbered(block_seed, "deal", deal)


def seat_orders(n: int, *, odd_repeat: bool = False) -> tuple[tuple[int, ...], ...]:
    """Return the n seat orders of a block as rows of a Williams square: labels by seat.

    The first row is 0, 1, n-1, 2, n-2, ...; row k adds k mod n. Each label stands in each seat
    once. For even n each ordered pair of labels sits in seats s and s+1 just once; for odd n just
    twice over a block and the one after it, whose rows are reversed. (E. J. Williams, "Experimental
    designs balanced for the estimation of residual effects of treatments", 1949.) Seat n-1 feeds
    seat 0 as well, which no row-complete square balances.

    Args:
        n: seats, 2 to 8.
        odd_repeat: whether this is the second, fourth, ... block of its table. Even n ignores it.

    Raises:
        ValueError: there is no such table.
    """
    _check_seats(n)
    # Seats 1, 3, ... hold 1, 2, ...; seats 2, 4, ... hold n-1, n-2, ...
    first = [(seat + 1) // 2 if seat % 2 else -(seat // 2) for seat in range(n)]
    if odd_repeat and n % 2:
        first.reverse()
    return tuple(tuple((label + k) % n for label in first) for k in range(n))


def assign_labels(block_seed: bytes, bots: Collection[int]) -> tuple[int, ...]:
    """Return the bots of a table by label, in an order that only the block's seed decides.

    The permutation is the published shuffle of deals (spec "Deals that anyone can check"), with
    HMAC-SHA256(block seed, ``seats``) in the place of the deal seed, as shuffle k = 0. The "cards"
    are the bots by ascending id; the first of the shuffled list gets label 0, the next label 1...

    Args:
        block_seed: 32 bytes.
        bots: 2 to 8 different ids, in any order.

    Raises:
        ValueError: a wrong number of bots, a bot twice, or a seed of another length.
    """
    _check_bots(bots)
    _check_seed(block_seed)
    ascending = sorted(bots)
    order = list(range(len(ascending)))
    seeded_shuffle(derive(block_seed, "seats"))(0, order)
    return tuple(ascending[position] for position in order)


def plan_block(
    block_seed: bytes, bots: Collection[int], *, duplicate: bool, odd_repeat: bool = False
) -> BlockPlan:
    """Return what a block plays, from its seed and its table.

    Args:
        block_seed: 32 bytes.
        bots: 2 to 8 different ids, in any order.
        duplicate: every match on deal 0, for tables where all bots are hosted; else match m is
            played on deal m, since a remote bot could remember the cards.
        odd_repeat: as `seat_orders` takes it.

    Raises:
        ValueError: a wrong number of bots, a bot twice, or a seed of another length.
    """
    by_label = assign_labels(block_seed, bots)
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


# -- What came of it -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MatchResult:
    """A finished match as ratings see it.

    Attributes:
        seating: bot ids by seat.
        places: `rated_places` by seat, 1 the best.
        scores: points by seat, for those who add them up; no rating is made of them.
    """

    seating: tuple[int, ...]
    places: tuple[int, ...]
    scores: tuple[int, ...] = ()


def rated_places(places: Sequence[int], forfeited: Collection[int]) -> tuple[int, ...]:
    """Return the places that count for rating: forfeited seats last, several of them tied.

    The others keep their order among themselves and move up; ties between them stay ties.

    Args:
        places: by seat, as in the match's record.
        forfeited: the seats that had forfeited, in any order.

    Raises:
        ValueError: a forfeited seat is not at the table.
    """
    strangers = [seat for seat in forfeited if not 0 <= seat < len(places)]
    if strangers:
        raise ValueError(f"seat {quote(strangers[0])} forfeited, but there are {len(places)} seats")
    below_all = max(places, default=0) + 1
    moved = [below_all if seat in forfeited else place for seat, place in enumerate(places)]
    return places_of_scores([-place for place in moved])


def half_points(place: int, other: int) -> int:
    """Return what a place takes from another in a match: 2 for the better, 1 if shared, else 0."""
    return (place < other) + (place <= other)


def pair_results(results: Sequence[MatchResult]) -> dict[tuple[int, int], Fraction]:
    """Return the mean pair results s of some matches of one table, such as those of a block.

    A match counts 1 for the better place, 1/2 for a shared one, 0 for the worse.

    Args:
        results: at least one; the same bots in each.

    Returns:
        ``{(i, j): s_ij}`` for every ordered pair of different bots, exact, from 0 to 1; so
        ``s_ij + s_ji == 1``.

    Raises:
        ValueError: no matches, or one in which other bots sat, a bot sat twice, or that has not
            one place a seat.
    """
    if not results:
        raise ValueError("no matches, so no pair results")
    table = results[0].seating
    _check_bots(table)
    halves = {(i, j): 0 for i in table for j in table if i != j}
    for result in results:
        if sorted(result.seating) != sorted(table):
            raise ValueError(f"bots {quote(result.seating)} where the table was {quote(table)}")
        if len(result.places) != len(table):
            raise ValueError(f"places {quote(result.places)} at {len(table)} seats")
        place = dict(zip(result.seating, result.places, strict=True))
        for i, j in halves:
            halves[i, j] += half_points(place[i], place[j])
    return {pair: Fraction(points, 2 * len(results)) for pair, points in halves.items()}


# -- Checks ----------------------------------------------------------------------------------


def _derive_numbered(seed: bytes, what: str, number: int) -> bytes:
    _check_seed(seed)
    if number < 0:
        raise ValueError(f"a {what} has a number from 0, not {quote(number)}")
    return derive(seed, f"{what}/{number}")


def _check_seed(seed: bytes) -> None:
    if len(seed) != SEED_BYTES:
        raise ValueError(f"a seed has {SEED_BYTES} bytes, not {len(seed)}")


def _check_seats(n: int) -> None:
    if not MIN_SEATS <= n <= MAX_SEATS:
        raise ValueError(f"a table has {MIN_SEATS} to {MAX_SEATS} seats, not {quote(n)}")


def _check_bots(bots: Collection[int]) -> None:
    _check_seats(len(bots))
    if len(set(bots)) != len(bots):
        raise ValueError(f"a bot sits twice at the table {quote(sorted(bots))}")
