"""Shares a page among readers without cookies: it is rendered once for all who come in a moment."""

import time
from collections.abc import Callable
from hashlib import sha256
from typing import NamedTuple

from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import resolve

_TYPES = ("text/html", "application/atom+xml")
_UNSHARED = ("no-store", "no-cache", "private")


_RENDER_SECONDS = 10
"""Maximum time for which readers get the old page while one reader's page is rendered."""


class _Page(NamedTuple):
    content: bytes
    headers: dict[str, str]
    fresh_until: float


def share_pages(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Answer a request without cookies with the page that the last such reader got.

    Each process keeps its own pages, for `SHARED_PAGE_SECONDS`. After that, one reader waits for
    the new page, and the others get the old one meanwhile. A request with a cookie is never
    answered so, and a page that sets a cookie is never kept: it may belong to one reader.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if not settings.SHARED_PAGE_SECONDS or not _may_share(request):
            return get_response(request)
        pages = caches["pages"]
        key = sha256(request.build_absolute_uri().encode()).hexdigest()
        kept: _Page | None = pages.get(key)
        if kept is not None and (
            time.monotonic() < kept.fresh_until
            or not pages.add(f"{key}-renders", True, timeout=_RENDER_SECONDS)
        ):
            request.resolver_match = resolve(request.path_info)  # for the log and the metrics
            return HttpResponse(kept.content, headers=kept.headers)
        try:
            response = get_response(request)
            if isinstance(response, HttpResponse) and _is_for_all(response):
                fresh_until = time.monotonic() + settings.SHARED_PAGE_SECONDS
                page = _Page(response.content, dict(response.items()), fresh_until)
                pages.set(key, page, timeout=settings.SHARED_PAGE_SECONDS + _RENDER_SECONDS)
        finally:
            pages.delete(f"{key}-renders")
        return response

    return middleware


def _may_share(request: HttpRequest) -> bool:
    return (
        request.method == "GET"
        and not request.META.get("HTTP_COOKIE")
        and "HTTP_AUTHORIZATION" not in request.META
    )


def _is_for_all(response: HttpResponse) -> bool:
    control = response.get("Cache-Control", "")
    return (
        response.status_code == 200
        and response.get("Content-Type", "").startswith(_TYPES)
        and not response.cookies
        and not response.has_header("Content-Encoding")
        and not any(word in control for word in _UNSHARED)
    )
