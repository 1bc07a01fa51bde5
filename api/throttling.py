"""Rate limits: fixed windows counted in the cache. Without the cache, nobody is turned away."""

import logging
import math
import time
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
        used = self._count(f"{policy}:{self._who(request)}", seconds, now)
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

    def _count(self, key: str, seconds: int, now: float) -> int | None:
        """Count a request in the window of a time; None if the cache is away."""
        if now < RateLimit._away_until:
            return None
        key = f"rate:{key}:{int(now // seconds)}"
        try:
            if cache.add(key, 1, timeout=seconds + 1):
                return 1
            return int(cache.incr(key))
        except ValueError:
            return 1  # the window ended between the two
        except (RedisError, OSError) as error:
            RateLimit._away_until = now + _REST_AFTER_FAILURE
            log.warning("no rate limits for a while: the cache is away (%s)", error)
            return None


def parse_rate(rate: str) -> tuple[int, int]:
    """Return how many requests in how many seconds ``300/minute`` means."""
    number, _, unit = rate.partition("/")
    if not number.isdecimal() or unit not in _SECONDS:
        raise ImproperlyConfigured(
            f"the rate {rate!r} is not a number and second, minute or hour, as 300/minute is"
        )
    return int(number), _SECONDS[unit]
