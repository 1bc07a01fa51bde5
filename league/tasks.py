"""Celery's entry points. Arguments are ids, and every task may run twice, at once too."""

import logging
from collections.abc import Callable, Iterable

from celery import shared_task
from django.utils import timezone

from engine.rating.elo import ZeroSumError
from league import bots, competitions, health, play, ratings
from league.bots import jails
from league.models import Ladder
from league.queueing import note_begun, queue_once

log = logging.getLogger(__name__)

_FIT_REST = 4
"""After a fit a ladder gets no other for so many times as long as that took."""
_LONG = 6 * 3600
"""Seconds that folding a ladder from its first record may take: about 1 ms a match."""


_MAX_QUEUED = 1000
"""Tasks in a queue, beyond which matches are not put into it again: nobody takes them out."""


@shared_task
def play_match(match_id: int) -> None:
    """Play a match whose bots all run here, and let what waits for it go on."""
    if play.play_match(match_id):
        queue_once("follow_up")


@shared_task
def open_live_match(match_id: int) -> None:
    """Start a match with remote bots, or look after one in play."""
    play.open_live(match_id)


@shared_task
def play_house_turns(match_id: int) -> None:
    """Move the seats of a match with remote bots whose bots run here."""
    play.play_house_turns(match_id)


@shared_task
def qualify(version_id: int) -> None:
    """Check an uploaded version."""
    bots.qualify(version_id)


@shared_task
def prove_sandbox() -> None:
    """Look whether hosted bots can be run here."""
    jails.prove()


@shared_task
def expire_overdue() -> None:
    """Play for the bots whose time is over."""
    now = timezone.now()
    play.note_tick(now)
    play.expire_overdue(now)


@shared_task
def follow_up() -> None:
    """Close the rounds that are played to the end, open those that come next, hand them out."""
    note_begun("follow_up")
    while _each(ratings.rounds_to_close(), _close_round):
        pass  # of rounds that overlap the next may be over, too
    _each(competitions.tournaments_to_advance(), competitions.advance)
    _each(competitions.ladders_to_pair(), competitions.open_ladder_round)
    _each(competitions.comparisons_to_advance(), competitions.advance_comparison)
    # At once, not at the next tick: a worker may have nothing to do.
    if _has_room("play"):
        for match_id in play.claim_due_hosted():
            play_match.delay(match_id)
    if _has_room("control"):
        for match_id in play.claim_due_live():
            open_live_match.delay(match_id)
    _each(ratings.take_fits(rest=_FIT_REST), fit_performance.delay)


@shared_task
def fit_performance(round_id: int) -> None:
    """Fit performance up to a round; should it fail, ratings stand and a later tick tries again."""
    try:
        ratings.fit_round(round_id)
    except Exception:
        log.exception("fit_round(%s) failed; it is tried again in a while", round_id)


@shared_task(time_limit=_LONG)
def correct_ladder(ladder_id: int) -> None:
    """Fold a ladder anew whose ratings don't follow its void marks yet."""
    ratings.correct(ladder_id)


@shared_task(time_limit=_LONG)
def count_head_to_head(ladder_id: int) -> None:
    """Count who beats whom on a ladder that has rounds from before it was kept."""
    ratings.count_head_to_head(ladder_id)


@shared_task(time_limit=_LONG)
def check_ladder(ladder_id: int) -> None:
    """Recompute a ladder, and freeze its display with an alarm if anything differs."""
    ratings.check_ladder(ladder_id)


@shared_task
def check_ratings() -> None:
    """Have every ladder checked: beat sends this nightly."""
    for ladder_id in Ladder.objects.values_list("pk", flat=True):
        check_ladder.delay(ladder_id)
    for ladder_id in ratings.ladders_to_count():
        count_head_to_head.delay(ladder_id)


@shared_task
def tick() -> None:
    """Do whatever is due, as the database has it."""
    if health.broker_was_emptied() or health.worker_started():
        play.requeue_all()
    competitions.announce_due()
    _each(ratings.ladders_to_hide_on(), ratings.hide_idle)
    follow_up()
    for version_id in bots.versions_to_qualify():
        qualify.delay(version_id)
    for ladder_id in ratings.ladders_to_correct():
        # Not taken up before the next tick it is worth nothing: that sends another.
        correct_ladder.apply_async((ladder_id,), expires=1)
    health.note_pulse()


def _has_room(queue: str) -> bool:
    """Return whether workers keep up: else what is due stands in the database, and not twice."""
    return health.tasks_queued(queue) < _MAX_QUEUED


def _close_round(round_id: int) -> bool:
    """Close a round; where its ladder's ratings are wrong already, have that told.

    Returns:
        Whether it was closed.
    """
    try:
        return ratings.close_round(round_id)
    except ZeroSumError:
        ladder = Ladder.objects.get(rounds=round_id)
        if ladder.alarm:
            return False  # it is known, and the round waits until somebody has put it right
        check_ladder.apply_async((ladder.pk,), expires=1)
        raise


def _each(ids: Iterable[int], work: Callable[[int], object]) -> int:
    """Do something for each, and return for how many it came to anything.

    What fails for one must not keep the others waiting.
    """
    done = 0
    for number in ids:
        try:
            done += bool(work(number))
        except Exception:
            log.exception("%s(%s) failed; the next tick tries again", work.__qualname__, number)
    return done
