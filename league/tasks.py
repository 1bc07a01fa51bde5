"""Celery's entry points. Arguments are ids. Every task may run twice, even at the same time."""

import inspect
from collections.abc import Callable, Iterable
from datetime import UTC, timedelta
from functools import partial, wraps
from typing import TypeVar

import structlog
from celery import Task, shared_task
from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.utils import timezone
from structlog.contextvars import bound_contextvars

from engine.rating.elo import ZeroSumError
from league import (
    activity,
    analyses,
    bots,
    competitions,
    feeds,
    heartbeats,
    moderation,
    play,
    queueing,
    ratings,
)
from league.accounts import repetitions, sessions
from league.bots import jails, trials
from league.models import Ladder, Match
from league.queueing import note_begun, queue_once, waiting_ids

log = structlog.get_logger(__name__)
Result = TypeVar("Result")

_FIT_REST = 4
"""After a fit that took t seconds, a ladder gets no other fit for this many times t."""
_MAX_FOLD_SECONDS = 6 * 3600
"""Time limit of work on all records of a ladder; to fold one takes about 1 ms per match."""
_MAX_MATCH_SECONDS = 365 * 86_400
"""Time limit of a hosted match: longer than any that uses up the longest clocks of a ladder.

Each move has its own limit, so a match always ends."""
_AFTER_MIDNIGHT = timedelta(minutes=20)
"""For so long after midnight UTC, the highlights of yesterday are still looked for."""
_MAX_QUEUED_TASKS = 1000
"""If more tasks wait in a queue, its workers are stuck, and no match is queued again."""


def _binds_id(work: Callable[[int], Result]) -> Callable[[int], Result]:
    """Bind the id that a function takes, by the parameter's name, to all lines that it logs."""
    [name] = inspect.signature(work).parameters

    @wraps(work)
    def bound(number: int) -> Result:
        with bound_contextvars(**{name: number}):
            return work(number)

    return bound


@shared_task(time_limit=_MAX_MATCH_SECONDS)
@_binds_id
def play_match(match_id: int) -> None:
    """Play a match whose bots all run on workers, then queue `follow_up`."""
    if queue := (play_match.request.delivery_info or {}).get("routing_key"):
        queueing.note_taken(queue)
    if play.play_match(match_id):
        queue_once("follow_up")


@shared_task
@_binds_id
def open_live_match(match_id: int) -> None:
    """Start a live match, or continue one that is in play."""
    play.open_live(match_id)


@shared_task
@_binds_id
def play_house_turns(match_id: int) -> None:
    """Play the open turns of the bots that run on workers at a mixed table."""
    play.play_house_turns(match_id)


@shared_task
@_binds_id
def analyse_match(match_id: int) -> None:
    """Compute a portion of the analysis of a match, then queue the next one behind all others."""
    if analyses.compute(match_id):
        analyse_match.delay(match_id)


@shared_task
@_binds_id
def analyse_between_matches(match_id: int) -> None:
    """Compute a small portion of an analysis, then queue the next one behind waiting matches."""
    if analyses.compute(match_id, analyses.SMALL_PORTION_SECONDS):
        _queue_between_matches(match_id)


@shared_task
@_binds_id
def check_version(version_id: int) -> None:
    """Check an uploaded version."""
    bots.check_version(version_id)
    activity.note()


@shared_task
def try_bot(trial_id: str) -> None:
    """Try a bot from the editor; if too many are tried now, queue it again behind the others."""
    if not trials.run(trial_id):
        try_bot.apply_async((trial_id,), countdown=1)


@shared_task
def prove_sandbox() -> None:
    """Prove that this worker can confine hosted bots."""
    jails.prove()


@shared_task
def remove_old_output() -> None:
    """Remove old turns, and what uploaded bots printed, beyond its age and its size in all."""
    now = timezone.now()
    _do(lambda: play.remove_old_output(now))
    _do(lambda: play.remove_old_turns(now))


@shared_task
def archive_rounds() -> None:
    """Move the records of old rounds into files."""
    if settings.ARCHIVE_DAYS:
        play.archive_due(timezone.now())


@shared_task
def follow_up() -> None:
    """Close finished rounds, open the next rounds, and queue the matches that are due."""
    note_begun("follow_up")
    found = [
        _each(ratings.rounds_to_apply, _apply_round, kind="round"),
        _each(
            competitions.tournaments_to_advance, competitions.advance_tournament, kind="tournament"
        ),
        _each(competitions.ladders_to_place_on, competitions.open_placements, kind="ladder"),
        _each(competitions.ladders_to_pair, competitions.open_ladder_round, kind="ladder"),
        _each(
            competitions.comparisons_to_advance, competitions.advance_comparison, kind="comparison"
        ),
    ]
    # At once rather than at the next tick, since a worker may be idle.
    if all(map(_has_room, settings.PLAY_QUEUES)):
        found.append(_queue_matches())
    if _has_room("control"):
        found.append(_each(play.claim_due_live, open_live_match.delay))
    found.append(_each(lambda: ratings.take_fits(rest=_FIT_REST), fit_performance.delay))
    if any(found):
        activity.note()


def _queue_matches() -> int:
    """Queue the hosted matches that are due; placement and challenges come before the others.

    Return their number.
    """
    due = _do(play.claim_due_hosted) or []
    urgent = play.played_first(due)
    first, others = settings.PLAY_QUEUES

    def send(match_id: int) -> None:
        play_match.apply_async((match_id,), queue=first if match_id in urgent else others)

    return _each(lambda: due, send)


@shared_task
def sweep() -> None:
    """Delete old first answers and sessions, refused bots, retired sources, players' tables."""
    now = timezone.now()
    _do(lambda: repetitions.sweep(now))
    _do(lambda: sessions.sweep(now))
    _do(competitions.delete_refused_bots)
    _do(bots.erase_sources)
    _do(lambda: competitions.remove_old_tables(now))


@shared_task(time_limit=_MAX_FOLD_SECONDS)
@_binds_id
def fit_performance(round_id: int) -> None:
    """Fit performance up to a round. If it fails, ratings stand, and a later tick tries again."""
    try:
        ratings.fit_round(round_id)
    except Exception:
        log.exception("a performance fit failed; a later tick tries again")


@shared_task(time_limit=_MAX_FOLD_SECONDS)
@_binds_id
def count_luck(ladder_id: int) -> None:
    """Count how much of a ladder's numbers is luck. If it fails, a later upkeep tries again."""
    try:
        ratings.count_luck(ladder_id)
    except Exception:
        log.exception("luck was not counted; a later upkeep tries again")


@shared_task(time_limit=_MAX_FOLD_SECONDS)
@_binds_id
def correct_ladder(ladder_id: int) -> None:
    """Fold a ladder anew if its ratings don't follow its void marks yet."""
    ratings.correct(ladder_id)


@shared_task(time_limit=_MAX_FOLD_SECONDS)
@_binds_id
def check_ladder(ladder_id: int) -> None:
    """Recompute a ladder. If a number differs, freeze its standings with an alarm."""
    ratings.check_ladder(ladder_id)


@shared_task
def check_ratings() -> None:
    """Queue a check of every ladder; beat sends this task nightly."""
    _each(lambda: ratings.take_checks(timezone.now()), check_ladder.delay)


@shared_task
def tick() -> None:
    """Do what is due in the database, but for `upkeep`.

    Beat sends this task each second. It sends this task and those below less often while the league
    is at rest: see `config.schedule.REST_SECONDS`.
    """
    if heartbeats.broker_was_emptied() or heartbeats.worker_was_started():
        play.requeue_all()
        activity.note()
    follow_up()
    _each(ratings.ladders_to_correct, partial(_queue_for_ladder, correct_ladder))
    heartbeats.note_tick()


@shared_task
def upkeep() -> None:
    """Do what is due and can wait for seconds; beat sends this task every 5 s."""
    _do(lambda: competitions.check_stored(timezone.now()))
    _do(lambda: competitions.note_open_entries(timezone.now()))
    _do(competitions.announce_scheduled)
    if _do(lambda: competitions.opens_or_starts_soon(timezone.now())):
        activity.note()  # at rest, a tick would find it up to 30 s late
    _each(moderation.bots_to_stop, moderation.stop_new_matches)
    _each(ratings.ladders_to_hide_on, ratings.hide_idle)
    _each(ratings.ladders_with_other_ranked_from, ratings.copy_ranked_from)
    _each(bots.versions_to_check, check_version.delay)
    _each(lambda: ratings.take_overdue_checks(timezone.now()), check_ladder.delay)
    _each(lambda: ratings.take_luck_counts(timezone.now()), count_luck.delay)
    _do(lambda: analyses.ask_for_finals(timezone.now()))
    _each(lambda: analyses.claim_starved(timezone.now()), _queue_between_matches)
    _each(lambda: analyses.claim_due(timezone.now()), analyse_match.delay)


@shared_task
def write_feed() -> None:
    """Store what happened for the feed; beat sends this task each minute."""
    _do(lambda: feeds.write_items(timezone.now()))


@shared_task
def find_highlights() -> None:
    """Find today's highlights, and have one analysed; beat sends this task every five minutes."""
    now = timezone.now().astimezone(UTC)
    # The last matches of yesterday may have finished after its last search.
    for day in sorted({(now - _AFTER_MIDNIGHT).date(), now.date()}):
        _do(partial(feeds.find_highlights, day))
    _do(lambda: feeds.analyse_highlights(timezone.now()))


def _has_room(queue: str) -> bool:
    """Return whether the workers of a queue keep up. If not, due matches stay in the database."""
    return queueing.tasks_queued(queue) < _MAX_QUEUED_TASKS


def _queue_between_matches(match_id: int) -> None:
    """Queue a portion of an analysis that `analyse_between_matches` computes.

    Extra hosts play matches without the archive, so a worker for ratings takes an archived match.
    """
    is_archived = Match.objects.filter(pk=match_id, archived=True).exists()
    analyse_between_matches.apply_async((match_id,), queue="ratings" if is_archived else "play")


def _queue_for_ladder(task: Task, ladder_id: int) -> None:
    """Queue a task for a ladder, unless one waits: its workers may be busy for hours."""
    if ladder_id not in waiting_ids(task.name.rpartition(".")[2]):
        task.delay(ladder_id)


@_binds_id
def _apply_round(round_id: int) -> bool:
    """Apply a round; return whether it was applied.

    If the ladder's ratings don't sum up, queue a check of the ladder, which raises its alarm.
    """
    try:
        return ratings.apply_round(round_id)
    except ZeroSumError:
        ladder = Ladder.objects.get(rounds=round_id)
        if ladder.alarm:
            return False  # the round waits until an operator has repaired the ratings
        _queue_for_ladder(check_ladder, ladder.pk)
        log.exception("a round was not applied: the sum of the ladder's ratings is wrong")
        return False


def _each(
    find: Callable[[], Iterable[int]], work: Callable[[int], object], *, kind: str = ""
) -> int:
    """Find the ids that are due and call a function for each of them; return their number.

    A call that fails does not stop the others; if the ids are of a kind, the row is set aside.
    """
    found = _do(lambda: list(find())) or []
    for number in found:
        try:
            work(number)
        except Exception as error:
            log.exception(
                "a part of a tick failed; a later tick tries again",
                step=getattr(work, "__qualname__", repr(work)),
                id=number,
            )
            if kind:
                _do(partial(competitions.set_aside_failed, kind, number, error))
    return len(found)


def _do(step: Callable[[], Result]) -> Result | None:
    """Take a step of a task; return None if it fails, so that the other steps go on.

    Raises:
        OperationalError, InterfaceError: the database can't be reached, so no step would succeed.
    """
    try:
        return step()
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        log.exception("a step of a task failed; the next run tries again")
        return None
