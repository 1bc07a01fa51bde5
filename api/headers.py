"""Headers of the API's responses: caching, and reading by pages of other sites (CORS).

Django's views (`api.middleware`) and the gateway (`api.play.requests`) use them.
"""

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
