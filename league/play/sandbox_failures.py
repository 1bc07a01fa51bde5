"""Sandbox failures: count attempts of matches whose sandbox is missing or breaks, then void them.

A hosted match also counts an attempt each time a worker leases it (`league.play.leases`).
"""

import structlog
from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from redis.exceptions import RedisError

from league.bots import jails
from league.models import Match
from league.play.finishing import void_match
from league.play.leases import MAX_ATTEMPTS

log = structlog.get_logger(__name__)

BROKEN_EVERY = 60
"""Seconds in which a live match whose sandbox breaks counts one attempt at most."""


def note_no_sandbox(match_id: int) -> None:
    """Count an attempt if no worker has had a sandbox for a while; void the match after the last.

    It counts once in ``settings.SANDBOX_PATIENCE`` seconds, however often it is called.
    """
    if jails.lacking_for() >= settings.SANDBOX_PATIENCE:
        _count(match_id, settings.SANDBOX_PATIENCE)


def note_broken_sandbox(match_id: int) -> None:
    """Count an attempt of an interrupted live match; void the match after the last."""
    _count(match_id, BROKEN_EVERY)


def _count(match_id: int, every: int) -> None:
    try:
        if not cache.add(f"tried:{match_id}", True, timeout=every):
            return
    except RedisError as error:
        log.warning("a failed attempt could not be counted", match_id=match_id, error=str(error))
        return
    with transaction.atomic():
        match = (
            Match.objects.unfinished().select_for_update(of=("self",)).filter(pk=match_id).first()
        )
        if match is None:
            return
        match.attempts += 1
        match.save(update_fields=["attempts"])
    # Starting a live match was its first attempt.
    failed = match.attempts - match.live
    log.warning(
        "a match could not be played", match_id=match_id, attempt=failed, max_attempts=MAX_ATTEMPTS
    )
    if failed >= MAX_ATTEMPTS:
        void_match(match)
