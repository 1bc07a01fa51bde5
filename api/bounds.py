"""Middleware that refuses requests before any other work: foreign hosts, and more than a share."""

from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.http.request import split_domain_port, validate_host

from api.problems import CODES, PREFIX, ProblemError, problem_response
from api.shares import FairShares
from league.accounts import throttles

_ANY_HOST = ("/healthz", "/healthz/web", "/readyz", "/metrics")
"""Paths for probes, which reach a part by its IP address or its name in a network of containers."""
_FREE_PATHS = ("/static/", "/healthz")
"""Paths that need next to no time, so no client can hold threads with them."""
_RETRY_SECONDS = "1"
_HOSTS = 100
"""Hosts of which a process remembers whether the league answers at them."""

Next = Callable[[HttpRequest], HttpResponseBase]


class HostMiddleware:
    """Answers 400 to a host that is not among ``ALLOWED_HOSTS``, without a line for the error.

    Probes may use any host: their answers have no links.
    """

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response."""
        if request.path_info in _ANY_HOST:
            # Middleware after this one asks for the host again.
            request.get_host = lambda: "probe"  # type: ignore[method-assign]
            return self.get_response(request)
        try:
            request.get_host()
        except DisallowedHost:
            error = unknown_host(request.META.get("HTTP_HOST", ""))
            return _refusal(request, error)
        return self.get_response(request)


def is_known_host(host: str) -> bool:
    """Return whether the league answers at a host, which may have a port."""
    return _is_allowed(host, tuple(settings.ALLOWED_HOSTS))


@lru_cache(_HOSTS)
def _is_allowed(host: str, allowed: tuple[str, ...]) -> bool:
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, allowed)


def unknown_host(host: str) -> ProblemError:
    """Return the problem for a host at which the league does not answer."""
    return ProblemError(
        "unknown-host",
        f"This league does not answer at the host {host[:100]!r}. Use the league's "
        "address, or ask its operator to add this host to ALLOWED_HOSTS.",
    )


def too_many_at_once(share: int, what: str) -> ProblemError:
    """Return the problem for an address that holds its share.

    Args:
        share: how many it holds.
        what: it holds.
    """
    return ProblemError(
        "too-many-at-once",
        f"The league is busy, and at least {share} {what} from your IP address are already in "
        f"progress. Try again in {_RETRY_SECONDS} s.",
        headers={"Retry-After": _RETRY_SECONDS},
    )


class FairShareMiddleware:
    """Keeps threads of this process free for other addresses than the busiest.

    Any address may use idle threads. Once three quarters of the threads are in use, an address
    that holds its share already gets a 429. So a quarter of the threads serves addresses that
    hold less.
    """

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response
        self._shares = FairShares()

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response."""
        if request.path_info.startswith(_FREE_PATHS):
            return self.get_response(request)
        client = throttles.client_by_request(request)
        share = settings.FAIR_THREADS
        if not self._shares.enter(client, of=settings.WEB_THREADS, share=share):
            return _refusal(request, too_many_at_once(share, "requests"))
        is_open = False
        try:
            response = self.get_response(request)
            is_open = response.streaming
        finally:
            if not is_open:
                self._shares.leave(client)
        if is_open:
            _when_closed(response, lambda: self._shares.leave(client))
        return response


def _when_closed(response: HttpResponseBase, call: Callable[[], None]) -> None:
    """Run a function when the server has sent a stream, or given it up."""
    closers: list[Any] = response._resource_closers  # type: ignore[attr-defined] # not in the stubs
    closers.append(call)


def _refusal(request: HttpRequest, error: ProblemError) -> HttpResponseBase:
    """Return a problem for a call of the API, and a line of text for a page."""
    if request.path_info.startswith(PREFIX):
        return problem_response(error.code, error.detail, headers=error.headers)
    status = HTTPStatus(CODES[error.code][0])
    return HttpResponse(
        error.detail + "\n",
        status=status,
        headers=error.headers,
        content_type="text/plain; charset=utf-8",
    )
