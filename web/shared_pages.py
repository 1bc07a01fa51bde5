"""Shares a page among readers without cookies: it is rendered once for all who come in a moment."""

from collections.abc import Callable
from hashlib import sha256
from typing import NamedTuple

from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import resolve

_TYPES = ("text/html", "application/atom+xml")
_UNSHARED = ("no-store", "no-cache", "private")


class _Page(NamedTuple):
    content: bytes
    headers: dict[str, str]


def share_pages(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Answer a request without cookies with the page that the last such reader got.

    Each process keeps its own pages, for `SHARED_PAGE_SECONDS`. A request with a cookie is never
    answered so, and a page that sets a cookie is never kept: it may belong to one reader.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if not settings.SHARED_PAGE_SECONDS or not _may_share(request):
            return get_response(request)
        key = sha256(request.build_absolute_uri().encode()).hexdigest()
        kept: _Page | None = caches["pages"].get(key)
        if kept is not None:
            request.resolver_match = resolve(request.path_info)  # for the log and the metrics
            return HttpResponse(kept.content, headers=kept.headers)
        response = get_response(request)
        if isinstance(response, HttpResponse) and _is_for_all(response):
            page = _Page(response.content, dict(response.items()))
            caches["pages"].set(key, page, timeout=settings.SHARED_PAGE_SECONDS)
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
