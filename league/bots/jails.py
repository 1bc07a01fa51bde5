"""The jail of this process: the canary proves it at first use and every 240 seconds."""

import os
import socket
import time
from contextlib import suppress
from threading import Lock

import structlog
from django.conf import settings
from django.core.cache import cache
from redis.exceptions import RedisError

from bots_sdk.sandbox.canary import proven_jail
from bots_sdk.sandbox.errors import SandboxUnavailableError
from bots_sdk.sandbox.jail import Jail

log = structlog.get_logger(__name__)

PROVE_EVERY = 240.0
"""Seconds from a proof that succeeded to the next."""
TRY_AGAIN_AFTER = 30.0
"""Seconds to the next proof if none succeeded, or only that of a weaker jail than before."""
REPORTED_FOR = 900.0
"""Seconds for which a report counts. A host that is gone makes none, such as a container."""
_LACKING_FOR = 24 * 3600
_REPORTS = "sandbox-reports"
_LACKING = "sandbox-lacking"

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


def find_fault() -> str | None:
    """Return why workers play no hosted matches, by their last reports; None if all can."""
    try:
        reports = _reports()
    except RedisError:
        return None
    faults = [f"{host}: {fault}" for host, (fault, _) in sorted(reports.items()) if fault]
    return f"hosted bots do not run: {'; '.join(faults)}" if faults else None


def lacking_for() -> float:
    """Return the seconds since which workers report no sandbox and none has reported one."""
    try:
        since: float | None = cache.get(_LACKING)
    except RedisError:
        return 0.0
    return 0.0 if since is None else max(0.0, time.time() - since)


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
        _report(str(error))
        return now + TRY_AGAIN_AFTER, error
    _report("")
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


def _report(fault: str) -> None:
    """Store a report for ``/readyz``; if two hosts write at once, one report may be lost."""
    try:
        reports = _reports() | {socket.gethostname(): (fault, time.time())}
        cache.set(_REPORTS, reports, timeout=REPORTED_FOR)
        if fault:
            cache.add(_LACKING, time.time(), timeout=_LACKING_FOR)
        else:
            cache.delete(_LACKING)
    except RedisError as error:
        log.warning("the state of the sandbox could not be stored", error=str(error))


def _reports() -> dict[str, tuple[str, float]]:
    """Return the last report of each host, with its time, unless it is too old."""
    oldest = time.time() - REPORTED_FOR
    reports: dict[str, tuple[str, float]] = cache.get(_REPORTS) or {}
    return {host: report for host, report in reports.items() if report[1] >= oldest}
