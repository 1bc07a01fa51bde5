"""Leases: a worker's right to play a hosted match until a time; a dead worker's match is retried.

A lease is short, and its worker renews it while it plays. If the worker dies, the lease runs out,
and another worker plays the match from its start. Each lease has an id, and a result under another
id is dropped.
"""

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import structlog
from django.db import Error as DatabaseError
from django.db import connection, transaction
from django.utils import timezone

from league.models import Match

log = structlog.get_logger(__name__)

LEASE = timedelta(seconds=20)
RENEW_EVERY = 5.0
MAX_ATTEMPTS = 3


def take(match_id: int) -> uuid.UUID | None:
    """Take the lease of a match and count the attempt; return None if it is not free.

    After `MAX_ATTEMPTS` a match has none: `league.play.claim_due_hosted` makes it void.
    """
    now = timezone.now()
    with transaction.atomic():
        match = (
            Match.objects.unfinished()
            .hosted()
            .select_for_update(of=("self",))
            .filter(pk=match_id)
            .first()
        )
        if match is None or (match.leased_until and match.leased_until >= now):
            return None
        if match.attempts >= MAX_ATTEMPTS:
            return None
        match.status = Match.Status.PLAYING
        match.attempts += 1
        match.lease = uuid.uuid4()
        match.leased_until = match.due_at = now + LEASE
        match.started_at = match.started_at or now
        match.save(
            update_fields=["status", "attempts", "lease", "leased_until", "due_at", "started_at"]
        )
        return match.lease


def give_back(match_id: int, lease: uuid.UUID) -> None:
    """End a lease early, so that another worker may play the match at once."""
    now = timezone.now()
    Match.objects.filter(pk=match_id, lease=lease).update(leased_until=now, due_at=now)


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

    thread = threading.Thread(target=renew, name=f"lease of match {match_id}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _renew(match_id: int, lease: uuid.UUID) -> None:
    until = timezone.now() + LEASE
    try:
        Match.objects.filter(pk=match_id, lease=lease).update(leased_until=until, due_at=until)
    except DatabaseError as error:  # if all renewals fail, another worker plays the match
        log.warning("a lease could not be renewed", match_id=match_id, error=str(error))
        connection.close()
