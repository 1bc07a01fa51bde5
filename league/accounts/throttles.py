"""Rate limits: requests of a client, counted in fixed windows in the cache.

``settings.RATE_LIMITS`` has the numbers. API, gateway and pages use the same counters. While the
cache can't be reached there is no limit.
"""

import math
import time
from contextlib import suppress
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from threading import Lock
from typing import NamedTuple

import structlog
from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from redis.exceptions import RedisError

from league.models import Token

log = structlog.get_logger(__name__)

_IPV6_CLIENT_BITS = 64
"""Leading bits of an IPv6 address that stand for one client: providers give out whole networks."""
_RETRY_CACHE_SECONDS = 5.0
_MAX_PORTIONS = 1000
"""A process reserves requests in portions of this fraction of the limit, so that few requests
need the cache."""
_MAX_RESERVED_KEYS = 10_000
_reserved: dict[str, tuple[int, int]] = {}
"""By key the requests counted so far, and the count up to which this process has reserved."""
_lock = Lock()
_cache_away_until = 0.0


class Usage(NamedTuple):
    """A client's use of a rate limit in the current window, this request included.

    Attributes:
        policy: one of ``settings.RATE_LIMITS``.
        limit: requests in a window.
        window_seconds: length of a window.
        used: requests in this window so far.
        reset_seconds: until the next window.
    """

    policy: str
    limit: int
    window_seconds: int
    used: int
    reset_seconds: int

    @property
    def is_exceeded(self) -> bool:
        """Whether the request is beyond the limit."""
        return self.used > self.limit

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the response (draft-ietf-httpapi-ratelimit-headers)."""
        left = max(0, self.limit - self.used)
        headers = {
            "RateLimit-Policy": f'"{self.policy}";q={self.limit};w={self.window_seconds}',
            "RateLimit": f'"{self.policy}";r={left};t={self.reset_seconds}',
        }
        if self.is_exceeded:
            headers["Retry-After"] = str(self.reset_seconds)
        return headers

    @property
    def refusal(self) -> str:
        """The sentence for a client that is beyond the limit."""
        return (
            f"The limit is {self.limit} requests in {self.window_seconds} s. "
            f"Try again in {self.reset_seconds} s."
        )


def count(policy: str, client: str) -> Usage | None:
    """Count a request of a client; return None if the cache can't be reached.

    Args:
        policy: one of ``settings.RATE_LIMITS``.
        client: from `client_by_token`, `client_by_address` or `client_by_request`.
    """
    limit, seconds = settings.RATE_LIMITS[policy]
    now = time.time()
    used = _count(f"{policy}:{client}", limit, seconds, now)
    return None if used is None else _usage(policy, limit, seconds, used, now)


def count_reserved(policy: str, client: str) -> Usage | None:
    """Count a request of a client if this process has reserved it, without a call of the cache.

    Returns:
        None if the request is not counted; then call `count`.
    """
    limit, seconds = settings.RATE_LIMITS[policy]
    now = time.time()
    used = _count_reserved(_window(f"{policy}:{client}", seconds, now))
    return None if used is None else _usage(policy, limit, seconds, used, now)


def _usage(policy: str, limit: int, seconds: int, used: int, now: float) -> Usage:
    return Usage(policy, limit, seconds, used, max(1, math.ceil(seconds - now % seconds)))


def client_by_bot(bot_id: int) -> str:
    """Return the client of requests with a bot token."""
    return f"bot:{bot_id}"


def client_by_token(token: Token) -> str:
    """Return the client of requests with a token: its bot or its owner."""
    return client_by_bot(token.bot_id) if token.bot_id else f"owner:{token.owner_id}"


def client_by_address(peer: str, forwarded_for: str) -> str:
    """Return the client of requests without a token: the address that they come from.

    Each trusted proxy adds the address of its own peer on the right. So the client is the first
    address from the right, the peer first, that is not a trusted proxy.

    Args:
        peer: address of the other end of the connection; empty for a unix socket.
        forwarded_for: the header ``X-Forwarded-For``.
    """
    client = peer
    for hop in reversed(forwarded_for.split(",")):
        if client and not _is_trusted(client):
            break
        if _parsed(hop.strip()) is None:
            break
        client = hop.strip()
    return f"ip:{_network_of(client)}"


def client_by_request(request: HttpRequest) -> str:
    """Return `client_by_address` of a request to Django."""
    meta = request.META
    return client_by_address(meta.get("REMOTE_ADDR", ""), meta.get("HTTP_X_FORWARDED_FOR", ""))


def _is_trusted(address: str) -> bool:
    parsed = _parsed(address)
    return parsed is not None and any(parsed in each for each in settings.TRUSTED_PROXIES)


@lru_cache(maxsize=4096)
def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    """Return an address, an IPv4 address in IPv6 form as IPv4; None for any other text."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _network_of(text: str) -> str:
    """Return an address, or for IPv6 the network that stands for one client."""
    address = _parsed(text)
    if isinstance(address, IPv6Address):
        return str(ip_network((address, _IPV6_CLIENT_BITS), strict=False))
    return text if address is None else str(address)


def give_back(policy: str, client: str) -> None:
    """Take back one counted request, if the cache can be reached: it was no wrong password."""
    _, seconds = settings.RATE_LIMITS[policy]
    with suppress(RedisError, OSError, ValueError):  # ValueError: the window is over
        cache.decr(f"rate:{policy}:{client}:{int(time.time() // seconds)}")


def _count(key: str, limit: int, seconds: int, now: float) -> int | None:
    """Count a request in the window of a time; return None if the cache can't be reached."""
    global _cache_away_until
    if now < _cache_away_until:
        return None
    key = _window(key, seconds, now)
    if (reserved := _count_reserved(key)) is not None:
        return reserved
    try:
        portion = max(1, limit // _MAX_PORTIONS)
        end = _reserve(key, portion, seconds)
    except (RedisError, OSError) as error:
        _cache_away_until = now + _RETRY_CACHE_SECONDS
        log.warning(
            "the cache can't be reached: no rate limits",
            error=str(error),
            retry_seconds=_RETRY_CACHE_SECONDS,
        )
        return None
    if portion > 1:
        with _lock:
            if len(_reserved) >= _MAX_RESERVED_KEYS:
                _reserved.clear()
            _reserved[key] = (end - portion + 1, end)
    return end - portion + 1


def _window(key: str, seconds: int, now: float) -> str:
    return f"rate:{key}:{int(now // seconds)}"


def _count_reserved(key: str) -> int | None:
    """Count a request that this process has reserved; return None if none is left."""
    with _lock:
        used, end = _reserved.get(key, (0, 0))
        if used >= end:
            return None
        _reserved[key] = (used + 1, end)
        return used + 1


def _reserve(key: str, portion: int, seconds: int) -> int:
    """Reserve requests in the cache; return the count up to which they reach."""
    if cache.add(key, portion, timeout=seconds + 1):
        return portion
    try:
        return int(cache.incr(key, portion))
    except ValueError:
        return portion  # the window ended between the two calls
