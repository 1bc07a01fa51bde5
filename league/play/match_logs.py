"""The logs of live matches and what they replay to, kept for a while in each process.

Only whole phases are replayed and kept: what a seat has chosen in secret can't be in a state that
another seat's observation is made of. A log is only ever added to, so what was replayed once
holds; still nothing is kept that has not been committed.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock

from django.db.models import F, Q

from engine.deals import seeded_shuffle
from engine.games import catalogue
from engine.games.game import State
from engine.referee import FAULTS_TO_FORFEIT
from league.models import LiveMove, Match
from league.play.rows import MatchRow, MoveRow

MAX_KEPT = 1_000
"""Matches, at about 10 kB each."""


@dataclass(frozen=True, slots=True)
class Log:
    """A match up to the phase that is being decided.

    Attributes:
        plies: how many moves that is.
        state: what they replay to; not to be changed, only copied.
        faults: of each seat so far.
    """

    plies: int
    state: State
    faults: tuple[int, ...]

    def forfeited(self, seat: int) -> bool:
        """Return whether the referee plays the rest for a seat."""
        return self.faults[seat] >= FAULTS_TO_FORFEIT

    def followed_by(self, moves: Sequence[LiveMove | MoveRow]) -> "Log":
        """Return the log with more moves, which are those of whole phases, ascending by ply."""
        state, faults = self.state.copy(), list(self.faults)
        for move in moves:
            state.step_unchecked({move.seat: state.moves.ids[move.text]})
            faults[move.seat] += bool(move.fault)
        return Log(self.plies + len(moves), state, tuple(faults))


class LogCache:
    """The logs replayed last, one a match. Threads may share it."""

    def __init__(self, most: int = MAX_KEPT) -> None:
        self._most = most
        self._logs: OrderedDict[tuple[int, int], Log] = OrderedDict()
        self._lock = Lock()

    def put(self, match: Match | MatchRow, log: Log) -> None:
        """Keep a log whose moves have been committed."""
        key = _key(match)
        with self._lock:
            kept = self._logs.get(key)
            if kept is None or kept.plies < log.plies:
                self._logs[key] = log
            self._logs.move_to_end(key)
            while len(self._logs) > self._most:
                self._logs.popitem(last=False)

    def get(self, match: Match | MatchRow) -> Log | None:
        """Return the log of a match as far as it is kept."""
        with self._lock:
            return self._logs.get(_key(match))

    def drop(self, match: Match | MatchRow) -> None:
        """Forget a match: it is over."""
        with self._lock:
            self._logs.pop(_key(match), None)

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._logs.clear()


def _key(match: Match | MatchRow) -> tuple[int, int]:
    # Should a match ever be played again from its start, that is another attempt.
    return match.pk, match.attempts


cache = LogCache()


def logs_of(matches: Iterable[Match | MatchRow]) -> dict[int, Log]:
    """Return the logs of matches in play, each as long as its row says; one query at most.

    A match that was finished since its row was read is left out. In a transaction that writes
    moves, call it before.
    """
    logs: dict[int, Log] = {}
    behind: dict[int, Match | MatchRow] = {}
    for match in matches:
        log = cache.get(match)
        if log is None:
            log = _dealt(match)
            cache.put(match, log)
        elif log.plies > match.plies:
            log = _dealt(match)
        logs[match.pk] = log
        if log.plies < match.plies:
            behind[match.pk] = match
    if not behind:
        return logs
    wanted = Q()
    for pk in behind:
        wanted |= Q(match=pk, ply__gte=logs[pk].plies)
    missing: dict[int, list[LiveMove]] = {pk: [] for pk in behind}
    for move in LiveMove.objects.filter(wanted, ply__lt=F("match__plies")).order_by("ply"):
        if move.ply < behind[move.match_id].plies:  # it may have gone on meanwhile
            missing[move.match_id].append(move)
    for pk, moves in missing.items():
        match = behind[pk]
        if len(moves) < match.plies - logs[pk].plies:
            del logs[pk]
            continue
        logs[pk] = logs[pk].followed_by(moves)
        cache.put(match, logs[pk])
    return logs


def _dealt(match: Match | MatchRow) -> Log:
    shuffle = seeded_shuffle(bytes(match.deal_seed))
    state = catalogue.start(match.game, match.rules, match.seats, shuffle)
    return Log(0, state, (0,) * match.seats)
