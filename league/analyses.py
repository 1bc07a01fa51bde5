"""Analyses of matches: asked for, computed in portions when workers are idle, and stored.

In a league whose workers are never idle, the analysis that has waited longest goes on in smaller
portions between matches.

The only writer of `MatchAnalysis`. `engine.analysis` computes; the same record gives the same
analysis, so two workers that run the same portion store the same result once.
"""

from datetime import datetime, timedelta
from functools import partial
from time import monotonic

import structlog
from django.db import transaction
from django.db.models import F, Max, OuterRef, Q, Subquery
from django.utils import timezone

from engine.analysis import DEFAULT_PLAYOUTS, VERSION, Analysis, Work
from engine.rating.results import forfeited_in, places_of
from engine.record import Record
from league import queueing
from league.models import Match, MatchAnalysis, Round, Tournament
from league.visibility import may_see_record

log = structlog.get_logger(__name__)

PORTION_SECONDS = 2.0
"""A worker leaves an analysis after this time, at the end of a phase of the match, so that a
match that waits begins soon."""
SMALL_PORTION_SECONDS = 0.5
"""The same for a portion between matches that wait."""
REQUEUE = timedelta(seconds=60)
"""If the queue loses a portion, upkeep queues it again after this time. If the portion waits for
so long, upkeep queues it between matches."""
MAX_ATTEMPTS = 5
"""A portion that never ends is given up: perhaps it ends the process of each worker."""
FINALS_FOR = timedelta(days=7)
"""Upkeep looks for finals of tournaments that ended less than this time ago."""
_MAX_CLAIMED = 20


class HiddenError(Exception):
    """The record of the match is not public, so nobody may see its analysis."""


def find(match: Match) -> MatchAnalysis | None:
    """Return the analysis of a match, or None if nobody asked for one.

    Raises:
        HiddenError: the match has no public record.
    """
    if not may_see_record(match):
        raise HiddenError(f"The record of match {match.pk} is not public.")
    return MatchAnalysis.objects.filter(match=match).first()


def result_of(row: MatchAnalysis, record: Record) -> Analysis | None:
    """Return the result of an analysis with the final places; None before its end.

    Args:
        row: the analysis.
        record: the record of its match.
    """
    if row.state != MatchAnalysis.State.DONE or row.result is None:
        return None
    return Analysis.from_json(row.result).rated(places_of(record), forfeited_in(record))


def ask(*, match: Match) -> MatchAnalysis:
    """Ask for the analysis of a match; a second call changes nothing.

    An analysis that failed begins anew.

    Raises:
        HiddenError: the match has no public record.
    """
    found = find(match)
    if found is None:
        found, _ = MatchAnalysis.objects.get_or_create(
            match=match, defaults={"version": VERSION, "due_at": timezone.now() + REQUEUE}
        )
    elif found.state == MatchAnalysis.State.FAILED:
        _begin_anew(Q(pk=found.pk))
        found.refresh_from_db()
    if found.state == MatchAnalysis.State.WAITING and not found.moves_done:
        transaction.on_commit(partial(queueing.queue, "analyse_match", match.pk))
    return found


def ask_for_finals(now: datetime) -> list[int]:
    """Ask for the analyses of finals: the last stage of each knockout that ended lately.

    Return the ids of the matches.
    """
    last = (
        Round.objects.filter(tournament=OuterRef("block__round__tournament"), superseded_by=None)
        .order_by()
        .values("tournament")
        .annotate(last=Max("stage"))
    )
    found = Match.objects.finished().filter(
        block__round__tournament__format=Tournament.Format.KNOCKOUT,
        block__round__tournament__state=Tournament.State.FINISHED,
        block__round__tournament__finished_at__gt=now - FINALS_FOR,
        block__round__stage=Subquery(last.values("last")),
        analysis=None,
    )
    ids = list(found.values_list("pk", flat=True)[:_MAX_CLAIMED])
    MatchAnalysis.objects.bulk_create(
        (MatchAnalysis(match_id=pk, version=VERSION, due_at=now) for pk in ids),
        ignore_conflicts=True,
    )
    return ids


def claim_due(now: datetime) -> list[int]:
    """Return the ids of matches whose analysis should go on; they are due again after `REQUEUE`.

    Analyses of another version of the method begin anew. A match is left out while its task waits
    in the queue.
    """
    _begin_anew(~Q(version=VERSION), due_at=now)
    with transaction.atomic():
        due = list(
            MatchAnalysis.objects.filter(due_at__lte=now)
            .order_by("due_at")
            .select_for_update(skip_locked=True)
            .values_list("match_id", flat=True)[:_MAX_CLAIMED]
        )
        if not due:
            return []
        MatchAnalysis.objects.filter(match__in=due).update(due_at=now + REQUEUE)
    waiting = queueing.waiting_ids("analyse_match")
    return [match_id for match_id in due if match_id not in waiting]


def claim_starved(now: datetime) -> list[int]:
    """Return the id of the match whose analysis has waited longest, if it waits for `REQUEUE`.

    Its task waits in the queue, because workers always find a match to play. One analysis at a
    time: matches come first.
    """
    waiting = queueing.waiting_ids("analyse_match")
    if not waiting or queueing.waiting_ids("analyse_between_matches", "play", "ratings"):
        return []
    with transaction.atomic():
        starved = MatchAnalysis.objects.filter(match__in=waiting)
        # A worker computes the next portion of one just now, so no task of it waits.
        if starved.filter(attempts__gt=0, due_at__gt=now).exists():
            return []
        found = (
            starved.filter(due_at__lte=now)
            .order_by("due_at")
            .select_for_update(skip_locked=True)
            .first()
        )
        if found is None:
            return []
        MatchAnalysis.objects.filter(pk=found.pk).update(due_at=now + REQUEUE)
    return [found.match_id]


def compute(
    match_id: int, seconds: float = PORTION_SECONDS, playouts: int = DEFAULT_PLAYOUTS
) -> bool:
    """Compute the next portion of an analysis and store it; return whether there is more to do.

    Args:
        match_id: of the match.
        seconds: the portion ends with the first phase after this time.
        playouts: of each comparison; the first portion decides.
    """
    found = MatchAnalysis.objects.select_related("match").filter(
        match=match_id, version=VERSION, due_at__isnull=False
    )
    row = found.first()
    if row is None:
        return False
    if row.match.status != Match.Status.FINISHED:  # void since
        row.delete()
        return False
    if row.attempts >= MAX_ATTEMPTS:
        log.error("an analysis is given up: its portion failed too often", match_id=match_id)
        found.update(due_at=None)
        return False
    due_at = timezone.now() + REQUEUE
    found.update(attempts=F("attempts") + 1, due_at=due_at)
    record = row.match.record
    work = Work(record, playouts) if row.work is None else Work.resume(record, row.work)
    ends = monotonic() + seconds
    work.advance(lambda: monotonic() < ends)
    # Of two workers with the same portion, the first one stores it.
    same = found.filter(moves_done=row.moves_done)
    if not work.is_done:
        packed = MatchAnalysis.pack(work.as_json())
        return bool(same.update(packed_work=packed, moves_done=work.ply, attempts=0))
    same.update(
        packed_work=None,
        packed_result=MatchAnalysis.pack(work.result().as_json()),
        moves_done=work.ply,
        attempts=0,
        due_at=None,
        finished_at=timezone.now(),
    )
    return False


def _begin_anew(which: Q, due_at: datetime | None = None) -> None:
    MatchAnalysis.objects.filter(which).update(
        version=VERSION,
        due_at=due_at or timezone.now() + REQUEUE,
        moves_done=0,
        attempts=0,
        finished_at=None,
        packed_work=None,
        packed_result=None,
    )
