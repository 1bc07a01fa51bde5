"""Rate limits of the API's views, as DRF asks for them; `league.accounts.throttles` counts."""

from typing import Any

from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from league.accounts import throttles


class RateLimit(BaseThrottle):
    """Counts by bot, owner, or address where there is no token.

    A view's ``rate`` names one of ``settings.API_RATES``; without, it is that of all other calls.
    """

    reset = 0

    def allow_request(self, request: Request, view: Any) -> bool:
        """Count the request; return whether it is within the limit."""
        usage = throttles.count(getattr(view, "rate", "general"), self._who(request))
        if usage is None:
            return True
        # For the response: the middleware puts its headers there.
        request._request.rate_limit = usage  # type: ignore[attr-defined]
        self.reset = usage.reset
        return not usage.is_exceeded

    def wait(self) -> float:
        """Return the seconds until the next window."""
        return float(self.reset)

    def _who(self, request: Request) -> str:
        if request.auth is not None:
            return throttles.holder(request.auth)
        return throttles.visitor_of(request._request)
