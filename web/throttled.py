"""Rate limits of pages: a thin adapter of `league.accounts.throttles` for views of Django."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from league.accounts import throttles
from league.accounts.throttles import Usage

View = Callable[..., HttpResponse]


def too_often(request: HttpRequest, usage: Usage) -> HttpResponse:
    """Return the page for a client that is beyond a limit."""
    context = {"minutes": -(-usage.reset_seconds // 60)}
    return render(request, "429.html", context, status=429)


def limited(
    policy: str,
    client: Callable[[HttpRequest], str] = throttles.client_by_request,
    refusal: Callable[[HttpRequest, Usage], HttpResponse] = too_often,
) -> Callable[[View], View]:
    """Decorate a view to count its POST requests by client, and to answer 429 beyond the limit.

    Args:
        policy: one of ``settings.RATE_LIMITS``.
        client: by whom requests are counted; by default the address.
        refusal: makes the answer beyond the limit.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def counted(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            usage = None
            if request.method == "POST":
                usage = throttles.count(policy, client(request))
            if usage is None:
                return view(request, *args, **kwargs)
            if usage.is_exceeded:
                response = refusal(request, usage)
            else:
                response = view(request, *args, **kwargs)
            for name, value in usage.headers.items():
                response[name] = value
            return response

        return counted

    return decorate
