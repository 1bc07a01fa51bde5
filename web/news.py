"""What is new in the feed since a person's last visit of it, by a cookie of the browser.

A cookie and no row: a visit of the feed is a GET request, which changes nothing in the league.
"""

from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from league import feeds
from league.models import FeedItem
from web.requests import visitor

COOKIE = "feed-read"
MOST = 99
"""The header counts no further."""
_FIRST = timedelta(days=7)
"""In a browser without the cookie, items of so many days are new."""
_KEPT = 365 * 86_400
_LABELS = {
    FeedItem.Kind.VERSION: "Version",
    FeedItem.Kind.FIRST_RANK: "Rank",
    FeedItem.Kind.RANK: "Rank",
    FeedItem.Kind.STARTED: "Tournament",
    FeedItem.Kind.FINISHED: "Tournament",
    FeedItem.Kind.PLACED: "Tournament",
}


def labelled(item: FeedItem, text: str) -> tuple[str, str]:
    """Return a label for an item, and its sentence without what the label says.

    The sentence of a highlight begins with its kind and day; each row shows its day anyway.
    """
    if item.kind == FeedItem.Kind.HIGHLIGHT and ": " in text:
        head, what = text.split(": ", 1)
        return head.partition(" of ")[0], what
    return _LABELS.get(FeedItem.Kind(item.kind), ""), text


def within_tournament(item: FeedItem) -> str:
    """Return an item of a tournament as a line below the tournament's title."""
    name = "a deleted bot" if item.bot is None else item.bot.name
    match item.kind:
        case FeedItem.Kind.STARTED:
            return f"Begins with {item.number} bots"
        case FeedItem.Kind.FINISHED:
            return f"Is over: {name} wins" if item.bot else "Is over: nobody has a rank"
    return f"{name} wins" if item.number == 1 else f"{name} finishes with rank {item.number}"


def link_of(item: FeedItem) -> str:
    """Return the address of the page that shows what an item is about."""
    if item.kind == FeedItem.Kind.HIGHLIGHT and item.match_id:
        page = reverse("web:match", args=[item.match_id])
        return f"{page}?step={item.number}" if item.number else page
    if item.tournament_id is not None:
        return reverse("web:tournament", args=[item.tournament_id])
    return reverse("web:bot", args=[item.bot.name]) if item.bot else reverse("web:home")


def read_until(request: HttpRequest) -> datetime:
    """Return when the browser last showed the feed."""
    now = timezone.now()
    try:
        at = datetime.fromisoformat(request.COOKIES.get(COOKIE, ""))
    except ValueError:
        return now - _FIRST
    return max(at, now - _FIRST) if at.tzinfo and at <= now else now - _FIRST


def note_visit(answer: HttpResponse) -> None:
    """Let the browser keep that it has shown the feed now."""
    at = timezone.now().isoformat(timespec="seconds")
    answer.set_cookie(COOKIE, at, max_age=_KEPT, samesite="Lax", httponly=True)


def news(request: HttpRequest) -> dict[str, Any]:
    """Return the number of new items for the header, worked out where a template shows it."""

    def count() -> int:
        person = visitor(request)
        return 0 if person is None else feeds.count_news(person, read_until(request), MOST)

    return {"news_count": SimpleLazyObject(count)}
