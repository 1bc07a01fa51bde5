"""The one route on which a live match changes: read, decide, write, wake those who wait.

A plan receives the match as it was read and returns a decision; it reads and writes nothing. One
statement reads all matches, one statement writes all decisions. A decision on a match that changed
meanwhile is not written, and its plan decides again. Decisions that need it are made and written
under the match's lock, one match at a time. No lock is held while a bot thinks.

``docs/moves.md`` has a diagram.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import TypeVar

from django.db import OperationalError, models, transaction
from django.db.models import QuerySet
from psycopg.errors import DeadlockDetected

from bots_sdk.statuses import UNFINISHED
from engine.record import Fault, record_of
from engine.referee import forfeits
from league.models import Match, MatchSeat
from league.models.built_once import Given, built_once
from league.play import outages, statements, wakeups
from league.play.finishing import finish
from league.play.live_match import Decision, LiveMatch
from league.play.match_logs import Log, cache, complete, known_logs, logs_of, missing
from league.play.rows import MatchRow, Snapshot
from league.play.seat_logs import store_notes
from league.play.turn_clocks import Stopwatch

MAX_TRIES = 3
"""Times that a plan decides without the lock before it decides under the lock."""

Wake = Callable[[Iterable[int]], None]
"""Wakes the requests of this process that wait for turns of these bots."""
T = TypeVar("T")
Plan = Callable[[LiveMatch], Decision[T]]
"""Decides on a live match, by nothing but the match as it was read. It may be called again."""


def change_matches(
    plans: Mapping[int, Plan[T]], watch: Stopwatch, *, overdue_at: datetime | None = None
) -> dict[int, T]:
    """Decide on live matches and write the decisions; return their answers by match id.

    Args:
        plans: by match id. A match that does not exist or is not live has no answer.
        watch: gives the time at which turns open.
        overdue_at: the time at which plans find turns overdue, by default the watch's start.
    """
    overdue_at = overdue_at or watch.start
    answers: dict[int, T] = {}
    left = dict(plans)
    to_lock: dict[int, Plan[T]] = {}
    for _ in range(MAX_TRIES):
        if not left:
            break
        matches = _read_after_outage(left, watch, overdue_at)
        settled, locking = _decide_without_lock(left, matches)
        to_lock |= {match_id: left[match_id] for match_id in locking}
        answers |= settled
        left = {pk: left[pk] for pk in matches if pk not in to_lock and pk not in settled}
    for match_id, plan in (to_lock | left).items():
        answers |= _change_under_lock(match_id, plan, watch, overdue_at)
    return answers


async def change_in_one_go(
    plans: Mapping[int, Plan[T]], watch: Stopwatch, run: statements.Run, wake: Wake
) -> dict[int, T]:
    """Decide on live matches with one read and one write; return the answers by match id.

    A match has no answer, and is unchanged, if one of these is true: it does not exist or is not
    live, it has an overdue turn, its decision needs the lock, its plan fails, or it changed between
    read and write. Call `change_matches` for it, which may take longer.

    Args:
        plans: by match id.
        watch: gives the time at which turns open.
        run: runs a statement, and waits for it without a thread. A thread for each group costs more
            than the group's decisions: it competes with the event loop for Python's lock.
        wake: wakes the waiting requests of this process.
    """
    snapshots = statements.snapshots(await run(statements.READ, statements.read_values(plans)))
    logs, behind = known_logs(_in_play(snapshots))
    if behind:  # another process has made moves
        parts = statements.logged_values(missing(logs, behind))
        complete(logs, behind, statements.logged_moves(await run(statements.LOGGED, parts)))
    matches = _live_matches(snapshots, logs, watch.now())
    in_time = {pk: match for pk, match in matches.items() if not match.overdue_turns(watch.start)}
    decisions, _ = _decide(plans, in_time, skips_failures=True)
    changes = _changes(decisions)
    written: set[int] = set()
    if changes:
        with _no_deadlock():
            values = statements.write_values(changes.values())
            written = statements.written(await run(statements.WRITE, values))
    to_worker = [pk for pk in written if _announce_now(decisions[pk], wake)]
    await asyncio.gather(*(asyncio.to_thread(wakeups.wake_worker, pk) for pk in to_worker))
    return {pk: decisions[pk].answer for pk in _settled(decisions, changes, written)}


def _decide_without_lock(
    plans: Mapping[int, Plan[T]], matches: Mapping[int, LiveMatch]
) -> tuple[dict[int, T], set[int]]:
    """Run plans, and write the decisions that need no lock.

    Args:
        plans: by match id.
        matches: as they were read; a stale one is left out.

    Returns:
        The answers of the decisions that count by match id, and the ids whose decision needs the
        lock.
    """
    decisions, to_lock = _decide(plans, matches)
    settled = _write(decisions)
    return {match_id: decisions[match_id].answer for match_id in settled}, to_lock


def _decide(
    plans: Mapping[int, Plan[T]],
    matches: Mapping[int, LiveMatch],
    *,
    skips_failures: bool = False,
) -> tuple[dict[int, Decision[T]], set[int]]:
    """Run plans; return the decisions that need no lock, and the ids of those that need it.

    Args:
        plans: by match id.
        matches: as they were read; a stale one is left out.
        skips_failures: leave out a match whose plan raises an exception.
    """
    decisions: dict[int, Decision[T]] = {}
    to_lock: set[int] = set()
    for match_id, match in matches.items():
        if not match.is_stale:
            try:
                decision = plans[match_id](match)
            except Exception:
                if not skips_failures:
                    raise
                continue
            if decision.needs_lock:
                to_lock.add(match_id)
            else:
                decisions[match_id] = decision
    return decisions, to_lock


def read_matches(match_ids: Iterable[int], now: datetime) -> dict[int, LiveMatch]:
    """Read live matches, in play or not, without locking; return them by id."""
    snapshots = statements.read(match_ids)
    return _live_matches(snapshots, logs_of(_in_play(snapshots)), now)


def _in_play(snapshots: Mapping[int, Snapshot]) -> list[MatchRow]:
    """Return the rows of the matches that have a log."""
    return [each.match for each in snapshots.values() if each.match.status in UNFINISHED]


def _live_matches(
    snapshots: Mapping[int, Snapshot], logs: Mapping[int, Log], now: datetime
) -> dict[int, LiveMatch]:
    return {pk: LiveMatch(snapshot, logs.get(pk), now) for pk, snapshot in snapshots.items()}


def _read_after_outage(
    match_ids: Iterable[int], watch: Stopwatch, overdue_at: datetime
) -> dict[int, LiveMatch]:
    """Read matches; before a turn counts as overdue, give open turns the time of an outage."""
    matches = read_matches(match_ids, watch.now())
    overdue = [
        turn.deadline for match in matches.values() for turn in match.overdue_turns(overdue_at)
    ]
    if overdue and outages.settle(overdue_at, max(overdue)):
        matches = read_matches(match_ids, watch.now())
    return matches


def _write(decisions: Mapping[int, Decision[T]]) -> set[int]:
    """Write decisions in one statement; return the ids of the matches whose decision counts."""
    changes = _changes(decisions)
    written: set[int] = set()
    if changes:
        with _no_deadlock():
            written = statements.write(changes.values())
    for match_id in written:
        _announce(decisions[match_id])
    return _settled(decisions, changes, written)


def _changes(decisions: Mapping[int, Decision[T]]) -> dict[int, statements.Change]:
    return {pk: each.change for pk, each in decisions.items() if each.change is not None}


def _settled(
    decisions: Mapping[int, Decision[T]],
    changes: Mapping[int, statements.Change],
    written: set[int],
) -> set[int]:
    """Return the ids of the decisions that count: they are written, or change nothing."""
    return written | (decisions.keys() - changes.keys())


@contextmanager
def _no_deadlock() -> Iterator[None]:
    """Leave the context if two writes of several matches blocked each other: nothing is written."""
    try:
        yield
    except OperationalError as error:
        if not isinstance(error.__cause__, DeadlockDetected):
            raise


def _change_under_lock(
    match_id: int, plan: Plan[T], watch: Stopwatch, overdue_at: datetime
) -> dict[int, T]:
    """Decide on a match under its lock, and finish the match if it is over.

    No deadline moves meanwhile, so no turn expires while its time is being given back.
    """
    while True:
        with transaction.atomic(durable=True):
            clock = outages.hold()
            row = Match.objects.live().select_for_update(no_key=True).filter(pk=match_id).first()
            if row is None:
                return {}
            match = read_matches([match_id], watch.now())[match_id]
            if match.is_stale:
                raise RuntimeError(f"match {match_id} has lost moves of its log")
            overdue = [turn.deadline for turn in match.overdue_turns(overdue_at)]
            if not overdue or outages.is_settled(clock, overdue_at, max(overdue)):
                return {match_id: _decide_locked(row, plan(match), watch)}
        outages.settle(overdue_at)


def _decide_locked(row: Match, decision: Decision[T], watch: Stopwatch) -> T:
    """Write a decision on a match whose lock is held; return its answer."""
    if decision.change is not None and not statements.write([decision.change]):
        raise RuntimeError(f"match {row.pk} has changed under its lock")
    store_notes(decision.notes)
    if decision.ends and decision.log is not None:
        _finish(row, decision.log, watch.now())
    _announce(decision)
    return decision.answer


@built_once
def _names() -> QuerySet[MatchSeat, tuple[str]]:
    """Read the names of a match's bots by seat."""
    seats = MatchSeat.objects.filter(match=Given("match", models.BigIntegerField()))
    return seats.order_by("seat").values_list("bot__name")


def _finish(row: Match, log: Log, now: datetime) -> None:
    """Hand the record of a live match that is over to `finish`."""
    moves = statements.read_moves([(row.pk, 0, log.plies)])
    record = record_of(
        log.state,
        row.deal_seed,
        [(move.seat, move.text) for move in moves],
        faults=[Fault(move.ply, move.seat, move.fault) for move in moves if move.fault],
        players=[name for (name,) in _names(match=row.pk)],
    )
    forfeited = [seat for seat, faults in enumerate(log.faults) if forfeits(faults)]
    finish(row, record, forfeited, now)
    row.live_moves.all().delete()


def _announce(decision: Decision[T]) -> None:
    """After the commit, keep the log and wake those who wait."""
    if decision.change is None or decision.log is None or not decision.has_advanced:
        return
    match, log = decision.change.match, decision.log
    if decision.ends:
        transaction.on_commit(lambda: cache.drop(match))
    else:
        transaction.on_commit(lambda: cache.put(match, log))
    wakeups.announce(
        match_id=match.pk, bot_ids=decision.woken_bots, wakes_worker=decision.wakes_worker
    )


def _announce_now(decision: Decision[T], wake: Wake) -> bool:
    """Do as `_announce` for a committed decision that ends no match, without blocking the loop.

    Requests of this process are woken at once. By way of the broker they would wait for a thread,
    which waits for Python's lock.

    Returns:
        Whether a worker is to be woken too, which may block.
    """
    if decision.change is None or decision.log is None or not decision.has_advanced:
        return False
    match = decision.change.match
    cache.put(match, decision.log)
    wake(decision.woken_bots)
    wakeups.publish(match.pk, decision.woken_bots, woken_here=True)
    return decision.wakes_worker
