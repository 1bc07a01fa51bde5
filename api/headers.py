"""Headers of the API's responses: caching, and reading by pages of other sites (CORS).

Django's views (`api.middleware`) and the gateway (`api.play.requests`) use them.
"""

from collections.abc import Mapping
from functools import cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.security import SecurityMiddleware

PUBLIC = "public, no-cache"
"""A cache may keep the answer, and compares its ``ETag`` before each use."""
IMMUTABLE = "public, max-age=31536000, immutable"
"""The answer never changes."""
PRIVATE = "private, no-cache"
"""As `PUBLIC`, but only in the cache of the client that sent the token."""
SECRET = "no-store"
"""No cache may keep the answer."""

READS = ("GET", "HEAD")
_READABLE = (
    "Allow, Content-Disposition, ETag, Location, RateLimit, RateLimit-Policy, Retry-After, "
    "X-Request-ID"
)
ALLOW_ORIGIN = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": _READABLE,
}
"""For answers to reads: pages of any site may read them, without credentials."""
PREFLIGHT = {
    **ALLOW_ORIGIN,
    "Access-Control-Allow-Methods": ", ".join(READS),
    "Access-Control-Allow-Headers": "Accept, If-None-Match, Last-Event-ID, X-Request-ID",
    "Access-Control-Max-Age": "86400",
}
"""For the answer to a browser's ``OPTIONS`` before such a read."""


def security_headers(*, is_secure: bool) -> Mapping[str, str]:
    """Return the headers that Django's middleware adds to each answer, for the gateway.

    Args:
        is_secure: whether the client uses TLS.
    """
    return _security_headers(is_secure, settings.SECURE_HSTS_SECONDS)


@cache
def _security_headers(is_secure: bool, hsts_seconds: int) -> Mapping[str, str]:
    request = HttpRequest()
    request.META["HTTP_X_FORWARDED_PROTO"] = "https" if is_secure else "http"
    plain = HttpResponse()
    unsent = set(plain.headers)
    framed = XFrameOptionsMiddleware(lambda _: plain).process_response(request, plain)
    whole = SecurityMiddleware(lambda _: framed).process_response(request, framed)
    return {name: value for name, value in whole.items() if name not in unsent}
