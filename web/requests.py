"""Reads requests: page numbers, search texts and the person who is signed in."""

import re
from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseNotAllowed,
)
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from league import accounts, activity, bots
from league.models import Bot

View = Callable[..., HttpResponseBase]
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_MOVES_PATH = re.compile(r"^/api/v1/.*moves/?\Z")


def refuse_nul(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Answer 400 to an address with a NUL character, which PostgreSQL's texts can't contain."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        query = request.META.get("QUERY_STRING", "")
        # Calls of the API name the parameter.
        is_page = not request.path_info.startswith("/api/")
        if is_page and ("\0" in request.path_info or "%00" in query or "\0" in query):
            return HttpResponse(
                "The address contains the character NUL (%00). Remove it.\n",
                status=400,
                content_type="text/plain; charset=utf-8",
            )
        return get_response(request)

    return middleware


def note_activity(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Note requests that may change something: after them the league is no longer at rest.

    Moves are not noted: while a match is in play, the league does not rest.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if request.method not in SAFE_METHODS and not _MOVES_PATH.search(request.path_info):
            activity.note()
        return response

    return middleware


def explain_method(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Give the answer 405 of a page a text: Django's is empty."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if isinstance(response, HttpResponseNotAllowed) and not response.content:
            page = render(request, "405.html", status=405)
            page["Allow"] = response["Allow"]
            return page
        return response

    return middleware


def signed_in(request: HttpRequest) -> User:
    """Return the person who is signed in, for a view that requires it."""
    assert isinstance(request.user, User), "the view requires a person who is signed in"
    return request.user


def form_of_a_person(view: View) -> View:
    """Decorate a view that takes only forms, of people who are signed in.

    Who has signed out meanwhile, in another tab, signs in and comes back to the page of the form:
    the address of such a view is no page.
    """

    @require_POST
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated:
            return view(request, *args, **kwargs)
        page = urlsplit(request.headers.get("Referer", ""))
        is_own = page.netloc == request.get_host()
        return redirect_to_login(urlunsplit(("", "", page.path, page.query, "")) if is_own else "/")

    return guarded


def organiser_only(view: View) -> View:
    """Decorate a view for organisers alone; others get 403, and visitors sign in first."""
    return _guarded(view, accounts.is_organiser, "organisers")


def operator_only(view: View) -> View:
    """Decorate a view for staff alone, as `organiser_only` does for organisers."""
    return _guarded(view, accounts.is_operator, "operators")


def _guarded(view: View, may: Callable[[Any], bool], whom: str) -> View:
    @login_required
    @never_cache
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not may(request.user):
            raise PermissionDenied(whom)  # `403.html` names them
        return view(request, *args, **kwargs)

    return guarded


def visitor(request: HttpRequest) -> User | None:
    """Return the person who is signed in; None for a visitor without an account."""
    return request.user if isinstance(request.user, User) else None


def whole_number(text: str) -> int | None:
    """Return the number that a text spells in at most nine digits; None for any other text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def page_of(request: HttpRequest, rows: Any, size: int, parameter: str = "page") -> Page[Any]:
    """Return the page of rows that the query parameter names; the nearest one if there is none."""
    return Paginator(rows, size).get_page(request.GET.get(parameter))


def bot_or_404(name: str) -> Bot:
    """Return a bot by its name or a former name; raise `Http404` if there is none."""
    found = bots.find_by_name(name)
    if found is None:
        raise Http404
    return found
