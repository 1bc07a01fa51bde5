"""The results of finished matches: places, pair results and win shares.

Bots are integer ids; seats and matches count from 0.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from engine.blocks import check_table
from engine.errors import quote
from engine.games.game import places as places_of_scores
from engine.record import Record
from engine.referee import forfeits


@dataclass(frozen=True, slots=True)
class MatchResult:
    """A finished match, as ratings and standings use it.

    Attributes:
        seating: bot ids by seat.
        places: `rated_places` by seat; 1 is the best place.
        scores: game points by seat. Ratings ignore them, and callers that don't add up points may
            leave them out.
        luck: `luck.luck` by seat; empty if it is not measured, or the block has one deal. Only
            performance uses it.
    """

    seating: tuple[int, ...]
    places: tuple[int, ...]
    scores: tuple[int, ...] = ()
    luck: tuple[float, ...] = ()


def rated_places(places: Sequence[int], forfeited: Collection[int]) -> tuple[int, ...]:
    """Return the places that count for rating: all forfeited seats share the last place.

    The other seats keep their order and move up; ties between them stay ties.

    Args:
        places: places by seat, as in the match's record.
        forfeited: the forfeited seats, in any order.

    Raises:
        ValueError: a forfeited seat is not at the table.
    """
    unknown = [seat for seat in forfeited if not 0 <= seat < len(places)]
    if unknown:
        raise ValueError(f"seat {quote(unknown[0])} forfeited, but there are {len(places)} seats")
    last = max(places, default=0) + 1
    moved = [last if seat in forfeited else place for seat, place in enumerate(places)]
    return places_of_scores([-place for place in moved])


def forfeited_in(record: Record) -> list[int]:
    """Return the seats that forfeited a match, by its record."""
    faults = [fault.seat for fault in record.faults]
    return [seat for seat in range(record.seats) if forfeits(faults.count(seat))]


def places_of(record: Record) -> tuple[int, ...]:
    """Return the final places of a match; the places in its record are by points alone."""
    return rated_places(record.places, forfeited_in(record))


def half_points(place: int, other: int) -> int:
    """Return a pair result in half points: 2 for the better place, 1 for a tie, else 0."""
    return (place < other) + (place <= other)


def win_share(halves: int, pairs: int) -> float:
    """Return the sum of pair results divided by their number, from 0 to 1.

    Args:
        halves: sum of the pair results in half points.
        pairs: number of pair results, at least 1.
    """
    return halves / (2 * pairs)


def pair_results(results: Sequence[MatchResult]) -> dict[tuple[int, int], Fraction]:
    """Return the mean pair results s of some matches of one table, such as a block's matches.

    The pair result of two seats in a match is 1 for the better place, 1/2 for a tied place and 0
    for the worse place.

    Args:
        results: at least one match; all of the same bots.

    Returns:
        ``{(i, j): s_ij}`` for each ordered pair of different bots, exact, from 0 to 1;
        ``s_ij + s_ji == 1``.

    Raises:
        ValueError: there are no matches, the bots of two matches differ, a bot sits twice, or the
            number of places is not the number of seats.
    """
    if not results:
        raise ValueError("pair results need at least one match; there are no matches")
    table = results[0].seating
    check_table(table)
    halves = {(i, j): 0 for i in table for j in table if i != j}
    for result in results:
        if sorted(result.seating) != sorted(table):
            raise ValueError(
                f"all matches must be of the bots {quote(table)}, not {quote(result.seating)}"
            )
        if len(result.places) != len(table):
            raise ValueError(f"{len(table)} seats need as many places, not {quote(result.places)}")
        place = dict(zip(result.seating, result.places, strict=True))
        for i, j in halves:
            halves[i, j] += half_points(place[i], place[j])
    return {pair: Fraction(points, 2 * len(results)) for pair, points in halves.items()}


def win_shares(results: Mapping[tuple[int, int], Fraction]) -> dict[int, Fraction]:
    """Return the win share of each bot: the mean of its pair results against the others.

    Args:
        results: ``{(i, j): s_ij}`` for each ordered pair of a table, as `pair_results` returns it.

    Returns:
        Win shares by bot, exact, from 0 to 1; their mean is 1/2.
    """
    sums: dict[int, Fraction] = defaultdict(Fraction)
    opponents: Counter[int] = Counter()
    for (bot, _), s_ij in results.items():
        sums[bot] += s_ij
        opponents[bot] += 1
    return {bot: total / opponents[bot] for bot, total in sums.items()}
