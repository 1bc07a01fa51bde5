"""Leases: a worker's right to play a hosted match until a time; a dead worker's match is retried.

A lease is short, and its worker renews it while it plays. If the worker dies, the lease runs out,
and another worker plays the match from its start. Each lease has an id, and a result under another
id is dropped.
"""

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from datetime import datetime, timedelta
from typing import NamedTuple

import structlog
from django.db import Error as DatabaseError
from django.db import connection, models, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from engine.errors import MatchInterruptedError
from engine.games.game import Observation
from engine.referee import Player
from league.models import Bot, Match, MatchSeat
from league.models.built_once import Given, built_once, objects_built_once
from league.play import retries

log = structlog.get_logger(__name__)

LEASE = timedelta(seconds=20)
RENEW_EVERY = 5.0
LOOK_EVERY = 5.0
"""Seconds after which a worker looks, at the next move, whether it still holds its lease."""


class LeaseLostError(MatchInterruptedError):
    """A worker no longer holds the lease of a match: the match is void or has another worker."""


class Lease(NamedTuple):
    """A worker's right to play a match.

    Attributes:
        id: of the lease.
        is_alone: whether the match is to be played in its own process.
        match: the match, as the lease was taken.
    """

    id: uuid.UUID
    is_alone: bool
    match: Match


class Free(NamedTuple):
    """A match that may be leased.

    Attributes:
        has_uploaded: whether an uploaded bot plays in it.
    """

    has_uploaded: bool


def find_free(match_id: int) -> Free | None:
    """Return a match if it may be leased now, in one query without a lock."""
    return next((Free(*row) for row in _free(match=match_id)), None)


_MATCH = Given("match", models.BigIntegerField())


@built_once
def _free() -> QuerySet[Match, tuple[bool]]:
    """Return the columns of `Free`."""
    uploaded = MatchSeat.objects.filter(match=OuterRef("pk"), bot__kind=Bot.Kind.HOSTED)
    free = Q(leased_until=None) | Q(leased_until__lt=timezone.now())
    found = Match.objects.unfinished().hosted().filter(free, pk=_MATCH)
    return found.values_list(Exists(uploaded))


@objects_built_once
def _locked() -> QuerySet[Match]:
    """Return a match that may be free, under its lock."""
    return Match.objects.unfinished().hosted().filter(pk=_MATCH).select_for_update(of=("self",))


def take(match_id: int) -> Lease | None:
    """Take the lease of a match and count the attempt; return None if it is not free.

    If the last lease ran out, that attempt counts as a loss, and the match may have to wait.
    """
    now = timezone.now()
    with transaction.atomic():
        match = next(iter(_locked(match=match_id)), None)
        if match is None or (match.leased_until and match.leased_until >= now):
            return None
        if match.lease is not None:
            retries.count_loss(match, now)
        is_pausing = match.queued_at is None and match.due_at > now
        is_lost = match.losses >= retries.MAX_LOSSES
        if not is_pausing and not is_lost:
            return _leased(match, now)
    if is_lost:
        retries.void_lost(match)
    return None


def _leased(match: Match, now: datetime) -> Lease:
    """Lease a match whose lock is held."""
    lease = Lease(uuid.uuid4(), retries.is_played_alone(match), match)
    match.status = Match.Status.PLAYING
    match.attempts += 1
    match.lease = lease.id
    match.leased_until = match.due_at = now + LEASE
    match.queued_at = None
    match.started_at = match.started_at or now
    match.save(
        update_fields=[
            *("status", "attempts", "lease", "leased_until"),
            *("due_at", "queued_at", "started_at"),
        ]
    )
    return lease


@contextmanager
def kept(match_id: int, lease: uuid.UUID) -> Iterator[None]:
    """Renew a lease while the context lasts."""
    done = threading.Event()

    def renew() -> None:
        try:
            while not done.wait(RENEW_EVERY):
                _renew(match_id, lease)
        finally:
            connection.close()

    # A new thread begins without the ids that are bound for the log, so it gets a copy of them.
    thread = threading.Thread(
        target=copy_context().run, args=(renew,), name=f"lease of match {match_id}", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


class Watch:
    """Watches the lease of a match, so that no worker plays a match whose lease it has lost."""

    def __init__(self, match_id: int, lease: uuid.UUID) -> None:
        self._match_id = match_id
        self._lease = lease
        self._looked_at = time.monotonic()

    def watched(self, player: Player) -> Player:
        """Return a player that raises `LeaseLostError` at its next move after a loss."""

        def choose(observation: Observation) -> str:
            self._check()
            return player(observation)

        return choose

    def _check(self) -> None:
        now = time.monotonic()
        if now - self._looked_at < LOOK_EVERY:
            return
        self._looked_at = now
        try:
            holds = Match.objects.filter(pk=self._match_id, lease=self._lease).exists()
        except DatabaseError as error:  # the bot is not at fault, and the match may still end well
            log.warning("a lease could not be read", error=" ".join(str(error).split()))
            connection.close()
            return
        if not holds:
            raise LeaseLostError("the match is void or has another worker")


def _renew(match_id: int, lease: uuid.UUID) -> None:
    until = timezone.now() + LEASE
    try:
        Match.objects.filter(pk=match_id, lease=lease).update(leased_until=until, due_at=until)
    except DatabaseError as error:  # if all renewals fail, another worker plays the match
        log.warning("a lease could not be renewed", error=str(error))
        connection.close()
