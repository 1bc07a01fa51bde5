"""Rate limits of the API's views: a thin adapter of `league.accounts.throttles` for DRF."""

from typing import Any

from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from api.authentication import token_of
from api.problems import too_many_requests
from league.accounts import throttles


class RateLimit(BaseThrottle):
    """Counts requests by bot, by owner, or without a token by address.

    A view's ``rate`` names one of ``settings.RATE_LIMITS``, by default ``general``.
    """

    def allow_request(self, request: Request, view: Any) -> bool:
        """Count the request and return True.

        Raises:
            ProblemError: the client has used up the limit.
        """
        token = token_of(request)
        client = (
            throttles.client_by_token(token)
            if token is not None
            else throttles.client_by_request(request._request)
        )
        rates = getattr(view, "rates", {})
        rate = rates.get(request.method, getattr(view, "rate", "general"))
        usage = throttles.count(rate, client)
        if usage is not None:
            # `api.middleware` adds the headers to every response of the view.
            request._request.rate_limit_usage = usage  # type: ignore[attr-defined] # our own
            if usage.is_exceeded:
                raise too_many_requests(usage)
        return True
