"""Rate limits: fixed windows counted in the cache. Without the cache, nobody is turned away."""

import logging
import math
import time
from threading import Lock
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import ImproperlyConfigured
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

log = logging.getLogger(__name__)

_SECONDS = {"second": 1, "minute": 60, "hour": 3600}
_REST_AFTER_FAILURE = 5.0
_PORTIONS = 1000
"""Of a limit, that processes take one at a time."""
_MOST_TAKEN = 10_000
_taken: dict[str, tuple[int, int]] = {}
"""By key the requests that were counted, and up to which count they have been taken."""
_lock = Lock()


class RateLimit(BaseThrottle):
    """Counts by bot, owner, or address where there is no token.

    A view's ``rate`` names one of ``settings.API_RATES``; without, it is that of all other calls.
    """

    _away_until = 0.0

    def allow_request(self, request: Request, view: Any) -> bool:
        """Count the request; return whether it is within the limit."""
        policy = getattr(view, "rate", "general")
        limit, seconds = parse_rate(settings.API_RATES[policy])
        now = time.time()
        used = self._count(f"{policy}:{self._who(request)}", limit, seconds, now)
        if used is None:
            return True
        self.reset = max(1, math.ceil(seconds - now % seconds))
        # For the response: the middleware puts them there (draft-ietf-httpapi-ratelimit-headers).
        request._request.rate_limit = (  # type: ignore[attr-defined]
            f'"{policy}";q={limit};w={seconds}',
            f'"{policy}";r={max(0, limit - used)};t={self.reset}',
        )
        return used <= limit

    def wait(self) -> float:
        """Return the seconds until the next window."""
        return float(self.reset)

    def _who(self, request: Request) -> str:
        token = request.auth
        if token is None:
            return f"ip:{self.get_ident(request)}"
        return f"bot:{token.bot_id}" if token.bot_id else f"owner:{token.owner_id}"

    def _count(self, key: str, limit: int, seconds: int, now: float) -> int | None:
        """Count a request in the window of a time; None if the cache is away.

        Of a large limit a process takes some at a time, so that not every request asks the cache.
        """
        if now < RateLimit._away_until:
            return None
        key = f"rate:{key}:{int(now // seconds)}"
        with _lock:
            used, end = _taken.get(key, (0, 0))
            if used < end:
                _taken[key] = (used + 1, end)
                return used + 1
        try:
            some = max(1, limit // _PORTIONS)
            end = self._take(key, some, seconds)
        except (RedisError, OSError) as error:
            RateLimit._away_until = now + _REST_AFTER_FAILURE
            log.warning("no rate limits for a while: the cache is away (%s)", error)
            return None
        if some > 1:
            with _lock:
                if len(_taken) >= _MOST_TAKEN:
                    _taken.clear()
                _taken[key] = (end - some + 1, end)
        return end - some + 1

    def _take(self, key: str, some: int, seconds: int) -> int:
        if cache.add(key, some, timeout=seconds + 1):
            return some
        try:
            return int(cache.incr(key, some))
        except ValueError:
            return some  # the window ended between the two


def parse_rate(rate: str) -> tuple[int, int]:
    """Return how many requests in how many seconds ``300/minute`` means."""
    number, _, unit = rate.partition("/")
    if not number.isdecimal() or unit not in _SECONDS:
        raise ImproperlyConfigured(
            f"the rate {rate!r} is not a number and second, minute or hour, as 300/minute is"
        )
    return int(number), _SECONDS[unit]
