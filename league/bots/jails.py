"""The jail of this process: the canary proves it at first use and every 240 seconds."""

import os
import time
from contextlib import suppress
from threading import Lock

import structlog
from django.conf import settings

from bots_sdk.sandbox.canary import proven_jail
from bots_sdk.sandbox.errors import SandboxUnavailableError
from bots_sdk.sandbox.jail import Jail
from league.bots import sandbox_reports

log = structlog.get_logger(__name__)

PROVE_EVERY = 240.0
"""Seconds from a proof that succeeded to the next."""
TRY_AGAIN_AFTER = 30.0
"""Seconds to the next proof if none succeeded, or only that of a weaker jail than before."""

_lock = Lock()
_known: tuple[float, Jail | SandboxUnavailableError] | None = None
_strongest: Jail | None = None
"""The strongest jail that this process has proven so far."""


def _renew_lock() -> None:
    """Replace the lock: in a new process, no thread will ever release that of its parent."""
    global _lock
    _lock = Lock()


os.register_at_fork(after_in_child=_renew_lock)


def jail() -> Jail:
    """Return a jail that the canary has proven.

    Raises:
        SandboxUnavailableError: there is none on this machine; hosted bots must not run.
    """
    global _known
    with _lock:
        now = time.monotonic()
        if _known is None or now >= _known[0]:
            _known = _prove(now)
        found = _known[1]
    if isinstance(found, SandboxUnavailableError):
        raise SandboxUnavailableError(*found.args)
    return found


def prove() -> bool:
    """Return whether hosted bots can run on this machine; log the reason if they can't."""
    with suppress(SandboxUnavailableError):
        return bool(jail())
    return False


def distrust() -> None:
    """Prove the jail again before its next use, because it broke."""
    global _known
    with _lock:
        _known = None


def _prove(now: float) -> tuple[float, Jail | SandboxUnavailableError]:
    """Return the jail, or why there is none, and when it must be proven again."""
    global _strongest
    try:
        found = proven_jail(forks=settings.SANDBOX_FORKS)
    except SandboxUnavailableError as error:
        log.error(
            "the sandbox can't be proven: no hosted bots run here",
            error=str(error),
            next_try_seconds=TRY_AGAIN_AFTER,
        )
        sandbox_reports.note(str(error))
        return now + TRY_AGAIN_AFTER, error
    sandbox_reports.note("")
    log.info("the sandbox is proven", tier=found.tier, forks=found.forks)
    if _strongest is None or _rank(found) <= _rank(_strongest):
        _strongest = found
        return now + PROVE_EVERY, found
    log.warning(
        "a stronger sandbox worked before; bots run in a weaker one now",
        tier=_strongest.tier,
        forks=_strongest.forks,
    )
    return now + TRY_AGAIN_AFTER, found


def _rank(found: Jail) -> tuple[int, bool]:
    """Return the place of a jail in the order in which they are tried."""
    return found.tier, not found.forks
