"""The data of a performance fit: the pair results of current versions, as NumPy arrays.

A block counts if a current version sat in it. Its other seats may hold versions that are current no
longer: each of these is an entry of the fit with its own strength, which no page shows. So a bot
keeps its blocks when its opponents change their versions.

Only workers that fit import it; web processes run without NumPy.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import structlog

from engine.rating.performance import MAX_EXACT, PairResults, fit
from engine.rating.performance import Performance as Fitted
from league.ratings.packing import LUCK_UNITS, Packed, integers_a_block

log = structlog.get_logger(__name__)

MAX_BOTS = 10_000
"""The most bots of a fit: those that played last. A fit is measured up to this number.

With older versions of opponents, an exact fit has at most `MAX_EXACT` entries, and a larger one
this number. Then older versions that did not play for the longest time are left out.
"""

_NONE = -1
"""The number of the current version of a bot that has none."""
_VERSIONS = 2**31
"""More than any number of a version."""
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

    A version that has become current has no results before its first rated block; an older version
    that is current again counts with all its results.

    Ten million pair results at tables of four take 280 MB. No Python object is made for any of
    them.
    """

    def __init__(self, packs: Iterable[Packed], versions: Mapping[int, int]) -> None:
        """Read packs, in the order of application.

        Args:
            packs: of the ladder's rounds.
            versions: the number of the current version by bot. A bot without one is not fitted.
        """
        buffers: dict[int, bytearray] = defaultdict(bytearray)
        places: dict[int, list[tuple[int, int]]] = defaultdict(list)
        rounds: list[int] = []
        for position, pack in enumerate(packs):
            rounds.append(pack.round)
            buffers[pack.seats] += pack.numbers
            blocks = len(pack.numbers) // (8 * integers_a_block(pack.seats))
            places[pack.seats].append((position, blocks))
        self._tables = {
            seats: np.frombuffer(buffer, "<i8").reshape(-1, integers_a_block(seats))
            for seats, buffer in buffers.items()
        }
        self.blocks = sum(len(table) for table in self._tables.values())
        ids = [_parts(table, seats)[0] for seats, table in self._tables.items()]
        self._bots = _distinct(ids)
        self._index = {
            seats: _positions(self._bots, of_seats)
            for seats, of_seats in zip(self._tables, ids, strict=True)
        }
        """The position in ``_bots`` of each block's bots, by number of seats."""
        self._last = np.full(len(self._bots), -1, np.int64)
        """By bot, the position of its last pack: packs come in the order of application."""
        current = [versions.get(bot, _NONE) for bot in self._bots.tolist()]
        self._current = np.array(current, np.int64)
        self._packs = {seats: np.repeat(*np.array(at, np.int64).T) for seats, at in places.items()}
        """The position of each block's pack, by number of seats."""
        for seats in self._tables:
            self._note_last(seats)
        last = np.array(rounds, np.int64)[self._last] if rounds else self._last
        self.rounds = dict(zip(self._bots.tolist(), last.tolist(), strict=True))
        """By bot, the id of the last applied round that it played in."""
        self._is_fitted = self._find_fitted()
        self.current = dict(
            zip(
                self._bots[self._is_fitted].tolist(),
                self._current[self._is_fitted].tolist(),
                strict=True,
            )
        )
        """The number of the current version of each bot that the fit can count."""

    def fit(self, anchor: int | None) -> Fitted:
        """Return the fit of current versions; an anchor with results has 1500 on its scale."""
        results = PairResults()
        older = self._older_versions()
        for seats in sorted(self._tables):
            self._add(results, seats, older)
        known = set(results.bots).intersection(self.current)
        return fit(results, anchor=anchor if anchor in known else None, among=known)

    def totals(self, bots: Sequence[int]) -> dict[int, VersionTotals]:
        """Return the sums of each bot's current version against all opponents."""
        wanted = np.array(sorted(bots), np.int64)
        at = np.searchsorted(self._bots, wanted)
        sums = np.zeros((3, len(self._bots)), np.int64)
        pairs = np.zeros(len(self._bots), np.int64)
        for seats, table in self._tables.items():
            _, _, points, _ = _parts(table, seats)
            halves, matches = table[:, 4 * seats : -1], table[:, -1]
            taken = np.zeros(points.shape, np.int64)
            for pair, (a, b) in enumerate(combinations(range(seats), 2)):
                taken[:, a] += halves[:, pair]
                taken[:, b] += 2 * matches - halves[:, pair]
            counts = self._is_current(seats)
            cells = self._index[seats][counts]
            played = np.broadcast_to(matches[:, None], points.shape)[counts]
            for row, values in enumerate((played, taken[counts], points[counts])):
                more = np.bincount(cells, values, minlength=len(self._bots)).astype(np.int64)
                sums[row] += more
                if row == 0:
                    pairs += more * (seats - 1)
        return {
            bot: VersionTotals(matches, met, halves_of, points_of)
            for bot, met, (matches, halves_of, points_of) in zip(
                wanted.tolist(), pairs[at].tolist(), sums[:, at].T.tolist(), strict=True
            )
        }

    def _note_last(self, seats: int) -> None:
        """Note the last pack of each bot at tables of so many seats."""
        last = np.full(len(self._bots), -1, np.int64)
        # Where a cell is assigned more than once, the last value stays.
        last[self._index[seats].ravel()] = np.repeat(self._packs[seats], seats)
        self._last = np.maximum(self._last, last)

    def _older_versions(self) -> _Ints:
        """Return the older versions that are entries of the fit, as ascending `_codes`.

        They sat in a block with a current version. If there are too many, those that played last
        are taken.
        """
        codes, last = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for seats in self._tables:
            counts = self._counts(seats)
            beside = counts.any(axis=1) & ~counts.all(axis=1)
            if beside.any():
                old = ~self._is_current(seats)[beside]
                codes.append(self._codes(seats)[beside][old])
                last.append(np.repeat(self._packs[seats][beside], old.sum(axis=1)))
        distinct, at = np.unique(np.concatenate(codes), return_inverse=True)
        played = np.full(len(distinct), -1, np.int64)
        np.maximum.at(played, at, np.concatenate(last))
        size = len(self.current)
        free = max(MAX_EXACT if size <= MAX_EXACT else MAX_BOTS, size) - size
        return np.sort(distinct[np.lexsort((distinct, -played))[:free]])

    def _add(self, results: PairResults, seats: int, older: _Ints) -> None:
        """Add the pairs of each block with a current version, for each set of seats that count.

        The id of an older version's entry is negative.
        """
        table = self._tables[seats]
        ids, _, _, luck = _parts(table, seats)
        halves, matches = table[:, 4 * seats : -1], table[:, -1]
        counts = self._counts(seats)
        if len(older):
            codes = self._codes(seats)
            at = np.minimum(np.searchsorted(older, codes), len(older) - 1)
            is_older = (older[at] == codes) & counts.any(axis=1, keepdims=True)
            ids = np.where(is_older, -1 - at, ids)
            counts |= is_older
        pattern = np.zeros(len(table), np.int64)
        for seat in range(seats):
            pattern |= counts[:, seat].astype(np.int64) << seat
        pairs = list(combinations(range(seats), 2))
        for bits in np.unique(pattern).tolist():
            columns = [seat for seat in range(seats) if bits >> seat & 1]
            if len(columns) < 2:
                continue
            rows = np.flatnonzero(pattern == bits)[:, None]
            kept = [at for at, (a, b) in enumerate(pairs) if a in columns and b in columns]
            n = matches[rows]
            shares = halves[rows, kept] / (2 * n)
            results.extend(ids[rows, columns], shares, n[:, 0], luck[rows, columns] / LUCK_UNITS)

    def _is_current(self, seats: int) -> npt.NDArray[np.bool_]:
        """Return whether each block's bots played with their current version, shape (B, seats)."""
        _, versions, *_ = _parts(self._tables[seats], seats)
        return np.equal(versions, self._current[self._index[seats]])

    def _counts(self, seats: int) -> npt.NDArray[np.bool_]:
        """Return whether each seat of each block holds a current version that is fitted."""
        return self._is_current(seats) & self._is_fitted[self._index[seats]]

    def _codes(self, seats: int) -> _Ints:
        """Return a number for the bot and version in each seat of each block, (B, seats)."""
        _, versions, *_ = _parts(self._tables[seats], seats)
        return self._index[seats] * _VERSIONS + versions

    def _find_fitted(self) -> npt.NDArray[np.bool_]:
        """Return whether each bot is fitted: the `MAX_BOTS` that played last are."""
        if len(self._bots) > MAX_BOTS:
            log.warning(
                "performance is fitted for the bots that played last",
                bots=len(self._bots),
                max_bots=MAX_BOTS,
            )
        fitted = np.zeros(len(self._bots), np.bool_)
        fitted[np.lexsort((self._bots, -self._last))[:MAX_BOTS]] = True
        fitted &= self._current != _NONE
        return fitted


def _distinct(ids: Sequence[_Ints]) -> _Ints:
    """Return the distinct ids of all arrays, ascending."""
    return np.unique(np.concatenate([np.zeros(0, np.int64), *map(np.unique, ids)]))


def _positions(bots: _Ints, ids: _Ints) -> _Ints:
    """Return the position of each id among ascending bots."""
    if not len(bots):
        return np.zeros(ids.shape, np.int64)
    span = int(bots[-1] - bots[0]) + 1
    if span > max(ids.size, 1000):
        return np.searchsorted(bots, ids)
    by_id = np.zeros(span, np.int64)  # quicker than a search for each of millions of ids
    by_id[bots - bots[0]] = np.arange(len(bots))
    positions: _Ints = by_id[ids - bots[0]]
    return positions


def _parts(table: _Ints, seats: int) -> tuple[_Ints, _Ints, _Ints, _Ints]:
    """Return the bots, versions, points and luck of blocks, (B, n) each."""
    bots, versions, points, luck = (table[:, at * seats : (at + 1) * seats] for at in range(4))
    return bots, versions, points, luck
