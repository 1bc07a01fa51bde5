"""Rate limits of pages, counted with those of the API (`league.accounts.throttles`)."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from league.accounts import throttles

View = Callable[..., HttpResponse]


def limited(policy: str) -> Callable[[View], View]:
    """Have a view count what is sent to it by address, and say when it was too often.

    Args:
        policy: one of ``settings.API_RATES``.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def counted(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            usage = None
            if request.method == "POST":
                usage = throttles.count(policy, throttles.visitor_of(request))
            if usage is None:
                return view(request, *args, **kwargs)
            if usage.is_exceeded:
                context = {"minutes": -(-usage.reset // 60)}
                response = render(request, "429.html", context, status=429)
            else:
                response = view(request, *args, **kwargs)
            for name, value in usage.headers.items():
                response[name] = value
            return response

        return counted

    return decorate
