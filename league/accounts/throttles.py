"""Rate limits: fixed windows counted in the cache. Without the cache, nobody is turned away.

API, waiting calls and pages count with the same counters, so that none is a way round another.
"""

import logging
import math
import time
from threading import Lock
from typing import NamedTuple

from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest
from redis.exceptions import RedisError

from league.models import Token

log = logging.getLogger(__name__)

_SECONDS = {"second": 1, "minute": 60, "hour": 3600}
_REST_AFTER_FAILURE = 5.0
_PORTIONS = 1000
"""Of a limit, that processes take one at a time."""
_MAX_TAKEN = 10_000
_taken: dict[str, tuple[int, int]] = {}
"""By key the requests that were counted, and up to which count they have been taken."""
_lock = Lock()
_away_until = 0.0


class Usage(NamedTuple):
    """How much of a limit somebody has used in this window, the request counted.

    Attributes:
        policy: one of ``settings.API_RATES``.
        limit: requests in a window.
        window: its length in seconds.
        used: requests in it so far.
        reset: seconds until the next.
    """

    policy: str
    limit: int
    window: int
    used: int
    reset: int

    @property
    def is_exceeded(self) -> bool:
        """Whether the request is beyond the limit."""
        return self.used > self.limit

    @property
    def headers(self) -> dict[str, str]:
        """The headers that tell of it (draft-ietf-httpapi-ratelimit-headers)."""
        left = max(0, self.limit - self.used)
        told = {
            "RateLimit-Policy": f'"{self.policy}";q={self.limit};w={self.window}',
            "RateLimit": f'"{self.policy}";r={left};t={self.reset}',
        }
        return told | ({"Retry-After": str(self.reset)} if self.is_exceeded else {})


def count(policy: str, who: str) -> Usage | None:
    """Count a request of somebody; None if the cache is away.

    Args:
        policy: one of ``settings.API_RATES``.
        who: what `holder`, `visitor` or `visitor_of` returns.
    """
    limit, seconds = parse_rate(settings.API_RATES[policy])
    now = time.time()
    used = _count(f"{policy}:{who}", limit, seconds, now)
    if used is None:
        return None
    return Usage(policy, limit, seconds, used, max(1, math.ceil(seconds - now % seconds)))


def holder(token: Token) -> str:
    """Return by what the requests with a token are counted: its bot, or its owner."""
    return f"bot:{token.bot_id}" if token.bot_id else f"owner:{token.owner_id}"


def visitor(peer: str, forwarded: str) -> str:
    """Return by what the requests without a token are counted: the address they come from.

    Args:
        peer: who is connected to us.
        forwarded: the header ``X-Forwarded-For``; only what our own proxies add to it counts.
    """
    passed = [part.strip() for part in forwarded.split(",") if part.strip()]
    if settings.PROXIES and passed:
        return f"ip:{passed[-min(settings.PROXIES, len(passed))]}"
    return f"ip:{peer}"


def visitor_of(request: HttpRequest) -> str:
    """Return `visitor` of a request to Django."""
    meta = request.META
    return visitor(meta.get("REMOTE_ADDR", ""), meta.get("HTTP_X_FORWARDED_FOR", ""))


def parse_rate(rate: str) -> tuple[int, int]:
    """Return how many requests in how many seconds ``300/minute`` means."""
    number, _, unit = rate.partition("/")
    if not number.isdecimal() or unit not in _SECONDS:
        raise ImproperlyConfigured(
            f"the rate {rate!r} is not a number and second, minute or hour, as 300/minute is"
        )
    return int(number), _SECONDS[unit]


def _count(key: str, limit: int, seconds: int, now: float) -> int | None:
    """Count a request in the window of a time; None if the cache is away.

    Of a large limit a process takes some at a time, so that not every request asks the cache.
    """
    global _away_until
    if now < _away_until:
        return None
    key = f"rate:{key}:{int(now // seconds)}"
    with _lock:
        used, end = _taken.get(key, (0, 0))
        if used < end:
            _taken[key] = (used + 1, end)
            return used + 1
    try:
        some = max(1, limit // _PORTIONS)
        end = _take(key, some, seconds)
    except (RedisError, OSError) as error:
        _away_until = now + _REST_AFTER_FAILURE
        log.warning("no rate limits for a while: the cache is away (%s)", error)
        return None
    if some > 1:
        with _lock:
            if len(_taken) >= _MAX_TAKEN:
                _taken.clear()
            _taken[key] = (end - some + 1, end)
    return end - some + 1


def _take(key: str, some: int, seconds: int) -> int:
    if cache.add(key, some, timeout=seconds + 1):
        return some
    try:
        return int(cache.incr(key, some))
    except ValueError:
        return some  # the window ended between the two
