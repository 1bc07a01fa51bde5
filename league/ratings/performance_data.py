"""The data of a performance fit: the pair results of current versions, as NumPy arrays.

Only workers that fit import it; web processes run without NumPy.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import structlog

from engine.rating.performance import PairResults, fit
from engine.rating.performance import Performance as Fitted
from league.ratings.packing import LUCK_UNITS, Packed, integers_a_block

log = structlog.get_logger(__name__)

MAX_BOTS = 2000
"""The most bots of a fit: those that played last. Its time grows with the cube of this number."""

_Ints = npt.NDArray[np.int64]


@dataclass(slots=True)
class VersionTotals:
    """Sums over the rated blocks of a bot's current version; ``halves`` are half points."""

    matches: int = 0
    pairs: int = 0
    halves: int = 0
    points: int = 0


class PerformanceData:
    """The pair results of a ladder up to a round.

    A bot's current version is here the version that was rated last, as on its standing. A version
    uploaded since has no results; an older version that plays again counts with all its results.
    """

    def __init__(self, packs: Iterable[Packed]) -> None:
        self.rounds: dict[int, int] = {}
        """By bot, the id of the last applied round that it played in."""
        self._last: dict[int, int] = {}
        """By bot, the position of that round's pack: packs come in the order of application."""
        kept: dict[int, list[bytes]] = {}
        current: dict[int, int] = {}
        for position, pack in enumerate(packs):
            kept.setdefault(pack.seats, []).append(pack.numbers)
            width = integers_a_block(pack.seats)
            numbers = np.frombuffer(pack.numbers, "<i8").reshape(-1, width)
            ids, versions, *_ = _parts(numbers, pack.seats)
            at_tables = ids.ravel().tolist()
            self.rounds.update(dict.fromkeys(at_tables, pack.round))
            self._last.update(dict.fromkeys(at_tables, position))
            current.update(zip(at_tables, versions.ravel().tolist(), strict=True))
        self._tables = {
            seats: np.frombuffer(b"".join(packed), "<i8").reshape(-1, integers_a_block(seats))
            for seats, packed in kept.items()
        }
        self.blocks = sum(len(table) for table in self._tables.values())
        self._bots = np.array(sorted(self.rounds), np.int64)
        self._current = np.array([current[bot] for bot in self._bots.tolist()], np.int64)

    def fit(self, anchor: int | None) -> Fitted:
        """Return the fit; if the anchor has results, it has 1500 on the fit's scale."""
        results = PairResults()
        bots = self._bots_to_fit()
        for seats, table in sorted(self._tables.items()):
            self._add(results, seats, table, bots)
        return fit(results, anchor=anchor if anchor in results.bots else None)

    def totals(self, bots: Sequence[int]) -> dict[int, VersionTotals]:
        """Return the sums of each bot's current version against all opponents."""
        wanted = np.array(sorted(bots), np.int64)
        totals = {bot: VersionTotals() for bot in wanted.tolist()}
        for seats, table in self._tables.items():
            ids, versions, points, _ = _parts(table, seats)
            halves, matches = table[:, 4 * seats : -1], table[:, -1]
            taken = np.zeros(ids.shape, np.int64)
            for pair, (a, b) in enumerate(combinations(range(seats), 2)):
                taken[:, a] += halves[:, pair]
                taken[:, b] += 2 * matches - halves[:, pair]
            counts = self._is_current(ids, versions) & np.isin(ids, wanted)
            at = np.searchsorted(wanted, ids[counts])
            played = np.broadcast_to(matches[:, None], ids.shape)[counts]
            sums = [
                np.bincount(at, values, minlength=len(wanted)).astype(np.int64).tolist()
                for values in (played, taken[counts], points[counts])
            ]
            for bot, (played_by, halves_of, points_of) in zip(
                wanted.tolist(), zip(*sums, strict=True), strict=True
            ):
                total = totals[bot]
                total.matches += played_by
                total.pairs += played_by * (seats - 1)
                total.halves += halves_of
                total.points += points_of
        return totals

    def _add(self, results: PairResults, seats: int, table: _Ints, fitted: _Ints) -> None:
        """Add the pairs of current versions, for each set of seats that hold one."""
        ids, versions, _, luck = _parts(table, seats)
        halves, matches = table[:, 4 * seats : -1], table[:, -1]
        current = self._is_current(ids, versions) & np.isin(ids, fitted)
        pattern = current @ (1 << np.arange(seats))
        pairs = list(combinations(range(seats), 2))
        for bits in np.unique(pattern).tolist():
            columns = [seat for seat in range(seats) if bits >> seat & 1]
            if len(columns) < 2:
                continue
            rows = pattern == bits
            kept = [at for at, (a, b) in enumerate(pairs) if a in columns and b in columns]
            n = matches[rows]
            shares = halves[rows][:, kept] / (2 * n[:, None])
            results.extend(ids[rows][:, columns], shares, n, luck[rows][:, columns] / LUCK_UNITS)

    def _is_current(self, ids: _Ints, versions: _Ints) -> npt.NDArray[np.bool_]:
        current: _Ints = self._current[np.searchsorted(self._bots, ids)]
        return np.equal(versions, current)

    def _bots_to_fit(self) -> _Ints:
        """Return the ids of the bots to fit: the `MAX_BOTS` that played last."""
        bots = sorted(self.rounds, key=lambda bot: (-self._last[bot], bot))
        if len(bots) > MAX_BOTS:
            log.warning(
                "performance is fitted for the bots that played last",
                bots=len(bots),
                max_bots=MAX_BOTS,
            )
        return np.array(bots[:MAX_BOTS], np.int64)


def _parts(table: _Ints, seats: int) -> tuple[_Ints, _Ints, _Ints, _Ints]:
    """Return the bots, versions, points and luck of blocks, (B, n) each."""
    bots, versions, points, luck = (table[:, at * seats : (at + 1) * seats] for at in range(4))
    return bots, versions, points, luck
