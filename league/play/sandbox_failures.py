"""Sandbox failures: matches whose sandbox is missing, or breaks at a mixed table.

Each counts as a failure of the match now and then (`league.play.retries`), so that it ends.
"""

import structlog
from django.conf import settings
from django.core.cache import cache
from redis.exceptions import RedisError

from league.bots import jails
from league.play import retries

log = structlog.get_logger(__name__)

BROKEN_EVERY = 60
"""Seconds in which a live match whose sandbox breaks counts one failure at most."""


def note_no_sandbox(match_id: int) -> None:
    """Count a failure if no worker has had a sandbox for a while; void the match after the last.

    It counts once in ``settings.SANDBOX_PATIENCE`` seconds, however often it is called.
    """
    if jails.lacking_for() >= settings.SANDBOX_PATIENCE:
        seconds = settings.SANDBOX_PATIENCE
        _count(match_id, seconds, f"no worker has had a working sandbox for {seconds} s")


def note_broken_sandbox(match_id: int) -> None:
    """Count a failure of an interrupted live match; void the match after the last."""
    _count(match_id, BROKEN_EVERY, "the sandbox, in which uploaded bots run, broke")


def _count(match_id: int, every: int, reason: str) -> None:
    try:
        if not cache.add(f"tried:{match_id}", True, timeout=every):
            return
    except RedisError as error:
        log.warning("a failure could not be counted", error=str(error))
        return
    retries.note_failure(match_id, reason)
