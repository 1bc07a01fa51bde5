"""Middleware that refuses requests before any other work: foreign hosts, and more than a share."""

import re
from collections import Counter
from collections.abc import Callable
from http import HTTPStatus
from threading import Lock
from typing import Any

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from api import tokens
from api.problems import CODES, ProblemError, problem_response
from league.accounts import throttles

API_PREFIX = "/api/"
_FREE_PATHS = ("/static/", "/healthz")
"""Paths that need next to no time, so no client can hold threads with them."""
_MOVES = re.compile(r"/api/v1/(matches/[0-9]+/)?moves/?")
_RETRY_SECONDS = "1"
_FULL_SHARE = 0.75
"""Part of the threads in use from which no address gets more than its share."""

Next = Callable[[HttpRequest], HttpResponseBase]


class HostMiddleware:
    """Answers 400 to a host that is not among ``ALLOWED_HOSTS``, without a line for the error."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response."""
        try:
            request.get_host()
        except DisallowedHost:
            host = request.META.get("HTTP_HOST", "")[:100]
            return _refusal(
                request,
                "unknown-host",
                f"This league does not answer at the host {host!r}. Its operator lists the hosts "
                "in ALLOWED_HOSTS.",
                {},
            )
        return self.get_response(request)


class FairShareMiddleware:
    """Keeps threads of this process free for other addresses than the busiest.

    Any address may use idle threads. Once three quarters of the threads are in use, an address
    that holds its share already gets a 429. So a quarter of the threads serves addresses that
    hold less. The counts are of this process, so they need no server.

    A move whose address holds its share counts for its bot instead, because the bot's clock runs:
    each bot may hold as many threads as an address. Bots of one class share an address.
    """

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response
        self._lock = Lock()
        self._running: Counter[str] = Counter()

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response."""
        if request.path_info.startswith(_FREE_PATHS):
            return self.get_response(request)
        client = self._admit(request)
        if client is None:
            return _refusal(
                request,
                "too-many-at-once",
                "The league is busy, and it already answers at least "
                f"{settings.FAIR_THREADS} requests from your IP address. Try again in "
                f"{_RETRY_SECONDS} s.",
                {"Retry-After": _RETRY_SECONDS},
            )
        is_open = False
        try:
            response = self.get_response(request)
            is_open = response.streaming
        finally:
            if not is_open:
                self._leave(client)
        if is_open:
            _when_closed(response, lambda: self._leave(client))
        return response

    def _admit(self, request: HttpRequest) -> str | None:
        """Count a request; return the client that it counts for, None if it is refused."""
        address = throttles.client_by_request(request)
        if self._enter(address):
            return address
        bot = _moving_bot(request)
        return bot if bot is not None and self._enter(bot) else None

    def _enter(self, client: str) -> bool:
        with self._lock:
            is_full = self._running.total() >= _FULL_SHARE * settings.WEB_THREADS
            if is_full and self._running[client] >= settings.FAIR_THREADS:
                return False
            self._running[client] += 1
            return True

    def _leave(self, client: str) -> None:
        with self._lock:
            self._running[client] -= 1
            if not self._running[client]:
                del self._running[client]


def _moving_bot(request: HttpRequest) -> str | None:
    """Return the client of the bot that moves with this request; None for any other request."""
    if request.method != "POST" or not _MOVES.fullmatch(request.path_info):
        return None
    try:
        token = tokens.find_token(request.META.get("HTTP_AUTHORIZATION", ""))
    except (ProblemError, DatabaseError):
        return None
    return throttles.client_by_token(token) if token is not None and token.bot_id else None


def _when_closed(response: HttpResponseBase, call: Callable[[], None]) -> None:
    """Run a function when the server has sent a stream, or given it up."""
    closers: list[Any] = response._resource_closers  # type: ignore[attr-defined] # not in the stubs
    closers.append(call)


def _refusal(
    request: HttpRequest, code: str, detail: str, headers: dict[str, str]
) -> HttpResponseBase:
    """Return a problem for a call of the API, and a line of text for a page."""
    if request.path_info.startswith(API_PREFIX):
        return problem_response(code, detail, headers=headers)
    status = HTTPStatus(CODES[code][0])
    return HttpResponse(
        detail + "\n", status=status, headers=headers, content_type="text/plain; charset=utf-8"
    )
