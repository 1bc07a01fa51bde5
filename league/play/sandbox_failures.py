"""Sandbox failures: matches whose sandbox is missing, or breaks at a mixed table.

Now and then a missing sandbox counts as a failure of the match, and a broken one as a loss
(`league.play.retries`), so that the match ends. So does any other error at a mixed table.
"""

from collections.abc import Callable

import structlog
from django.conf import settings
from django.core.cache import cache
from redis.exceptions import RedisError

from league.bots import sandbox_reports
from league.play import retries

log = structlog.get_logger(__name__)

BROKEN_EVERY = 60
"""If the moves of a live match fail, it counts one loss or failure in so many seconds."""


def note_no_sandbox(match_id: int) -> None:
    """Count a failure if no worker has had a sandbox for a while; void the match after the last.

    It counts once in ``settings.SANDBOX_PATIENCE`` seconds, however often it is called.
    """
    if sandbox_reports.lacking_for() >= settings.SANDBOX_PATIENCE:
        seconds = settings.SANDBOX_PATIENCE
        reason = f"no worker has had a working sandbox for {seconds} s"
        _count(match_id, seconds, lambda: retries.note_failure(match_id, reason))


def note_broken_sandbox(match_id: int) -> None:
    """Count a loss of an interrupted live match; void the match after the last.

    A live match is not played again from its start, so it may lose its sandbox at any of its
    moves. If each loss was a failure, a few killed processes would void a long match.
    """
    _count(match_id, BROKEN_EVERY, lambda: retries.note_loss(match_id))


def note_failed_move(match_id: int, reason: str) -> None:
    """Count a failure of a live match whose bot could not be asked for a move.

    The match becomes void after so many failures as `league.play.retries` allows.

    It counts once in `BROKEN_EVERY` seconds, so that no short disturbance voids a match.

    Args:
        match_id: id of the match.
        reason: the name of the error; it is public.
    """
    _count(match_id, BROKEN_EVERY, lambda: retries.note_failure(match_id, reason))


def _count(match_id: int, every: int, note: Callable[[], None]) -> None:
    try:
        if not cache.add(f"tried:{match_id}", True, timeout=every):
            return
    except RedisError as error:
        log.warning("a failure could not be counted", error=str(error))
        return
    note()
