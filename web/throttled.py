"""Rate limits of pages: a thin adapter of `league.accounts.throttles` for views of Django."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from league.accounts import throttles

View = Callable[..., HttpResponse]


def limited(policy: str) -> Callable[[View], View]:
    """Decorate a view to count its POST requests by address, and to answer 429 beyond the limit.

    Args:
        policy: one of ``settings.RATE_LIMITS``.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def counted(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            usage = None
            if request.method == "POST":
                usage = throttles.count(policy, throttles.client_by_request(request))
            if usage is None:
                return view(request, *args, **kwargs)
            if usage.is_exceeded:
                context = {"minutes": -(-usage.reset_seconds // 60)}
                response = render(request, "429.html", context, status=429)
            else:
                response = view(request, *args, **kwargs)
            for name, value in usage.headers.items():
                response[name] = value
            return response

        return counted

    return decorate
