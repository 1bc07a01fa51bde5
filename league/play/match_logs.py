"""Logs of live matches and the states they replay to, cached in each process.

Only whole phases are replayed and cached. So a state from which another seat's observation is made
can't contain a secret choice. A log only ever grows, so a cached state stays right; a log is
cached only after its moves are committed.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

from engine.deals import seeded_shuffle
from engine.games import catalogue
from engine.games.game import State
from league.models import LiveMove, Match
from league.play import statements
from league.play.rows import DealtMatch, MatchRow, MoveRow

MAX_KEPT = 1_000
"""Matches in the cache, at about 10 kB each."""

AnyMatch = Match | MatchRow | DealtMatch
Key = tuple[int, int, bytes]


@dataclass(frozen=True, slots=True)
class Log:
    """A match up to the phase that is being decided.

    Attributes:
        plies: number of moves.
        state: after these moves; copy it, don't change it.
        faults: number of faults by seat.
    """

    plies: int
    state: State
    faults: tuple[int, ...]

    def followed_by(self, moves: Sequence[LiveMove | MoveRow]) -> "Log":
        """Return the log with the moves of further whole phases, which ascend by ply."""
        state, faults = self.state.copy(), list(self.faults)
        for move in moves:
            state.step_unchecked({move.seat: state.moves.ids[move.text]})
            faults[move.seat] += bool(move.fault)
        return Log(self.plies + len(moves), state, tuple(faults))


class LogCache:
    """The logs used last, one a match. Threads may share it."""

    def __init__(self, max_kept: int = MAX_KEPT) -> None:
        self._max_kept = max_kept
        self._logs: OrderedDict[Key, Log] = OrderedDict()
        self._lock = Lock()

    def put(self, match: AnyMatch, log: Log) -> None:
        """Keep a log whose moves have been committed."""
        key = _key(match)
        with self._lock:
            kept = self._logs.get(key)
            if kept is None or kept.plies < log.plies:
                self._logs[key] = log
            self._logs.move_to_end(key)
            while len(self._logs) > self._max_kept:
                self._logs.popitem(last=False)

    def get(self, match: AnyMatch) -> Log | None:
        """Return the cached log of a match, or None."""
        with self._lock:
            return self._logs.get(_key(match))

    def drop(self, match: AnyMatch) -> None:
        """Remove a match that is over."""
        with self._lock:
            self._logs.pop(_key(match), None)

    def clear(self) -> None:
        """Remove all logs."""
        with self._lock:
            self._logs.clear()


def _key(match: AnyMatch) -> Key:
    # If a match is ever played again from its start, that is another attempt. An id may come back
    # with another deal while this process lives: after a restore, or in tests.
    # The row of a finished match may have no seed.
    return match.pk, match.attempts, bytes(match.deal_seed or b"")


cache = LogCache()


def logs_of(matches: Iterable[AnyMatch]) -> dict[int, Log]:
    """Return the logs of matches in play by id, each of its row's length; one query at most.

    A match that was finished after its row was read is left out. In a transaction that writes
    moves, call it before the write.
    """
    logs, behind = known_logs(matches)
    if behind:
        complete(logs, behind, statements.read_moves(missing(logs, behind)))
    return logs


def known_logs(matches: Iterable[AnyMatch]) -> tuple[dict[int, Log], list[AnyMatch]]:
    """Return logs by id without a query, and the matches whose log is too short."""
    logs: dict[int, Log] = {}
    behind: list[AnyMatch] = []
    for match in matches:
        log = cache.get(match)
        if log is None:
            log = _dealt(match)
            cache.put(match, log)
        elif log.plies > match.plies:
            log = _dealt(match)
        logs[match.pk] = log
        if log.plies < match.plies:
            behind.append(match)
    return logs, behind


def missing(logs: Mapping[int, Log], behind: Iterable[AnyMatch]) -> list[tuple[int, int, int]]:
    """Return the parts of logs that are too short, as `statements.logged_values` takes them."""
    return [(match.pk, logs[match.pk].plies, match.plies) for match in behind]


def complete(logs: dict[int, Log], behind: Iterable[AnyMatch], moves: Iterable[MoveRow]) -> None:
    """Append the missing moves to logs, and keep them; remove a log whose moves are gone."""
    found: defaultdict[int, list[MoveRow]] = defaultdict(list)
    for move in moves:
        found[move.match_id].append(move)
    for match in behind:
        log = logs.pop(match.pk)
        if len(found[match.pk]) == match.plies - log.plies:
            logs[match.pk] = log.followed_by(found[match.pk])
            cache.put(match, logs[match.pk])


def _dealt(match: AnyMatch) -> Log:
    shuffle = seeded_shuffle(bytes(match.deal_seed))
    state = catalogue.start(match.game, match.rules, match.seats, shuffle)
    return Log(0, state, (0,) * match.seats)
