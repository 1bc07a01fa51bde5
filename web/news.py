"""What is new in the feed since a person's last visit of it, by a cookie of the browser.

A cookie and no row: a visit of the feed is a GET request, which changes nothing in the league.
"""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Max
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from league import feeds
from league.models import FeedItem
from web.requests import visitor, whole_number

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


class Read(NamedTuple):
    """How far a browser has shown the feed.

    Attributes:
        at: when it showed the feed last.
        newest: id of the newest item then. The end of a tournament, for example, becomes an item
            up to a minute later, with the time of the end. None if it is not known.
    """

    at: datetime
    newest: int | None = None

    def has(self, item: FeedItem) -> bool:
        """Return whether the browser has shown an item of a page of the feed."""
        return item.at <= self.at and (self.newest is None or item.pk <= self.newest)


def read_until(request: HttpRequest) -> Read:
    """Return how far the browser has shown the feed."""
    now = timezone.now()
    text, _, newest = request.COOKIES.get(COOKIE, "").partition("_")
    number = whole_number(newest)
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return Read(now - _FIRST)
    if not at.tzinfo or not now - _FIRST <= at <= now:
        return Read(now - _FIRST)
    return Read(at, number)


def newest_item() -> int:
    """Return the id of the newest item; read it before a page's items."""
    return FeedItem.objects.aggregate(newest=Max("pk"))["newest"] or 0


def note_visit(answer: HttpResponse, newest: int) -> None:
    """Let the browser keep that it has shown the feed now, up to the item with an id."""
    at = timezone.now().isoformat(timespec="seconds")
    text = f"{at}_{newest}"
    answer.set_cookie(COOKIE, text, max_age=_KEPT, samesite="Lax", httponly=True)


def news(request: HttpRequest) -> dict[str, Any]:
    """Return the number of new items for the header, worked out where a template shows it."""

    def count() -> int:
        person = visitor(request)
        if person is None:
            return 0
        read = read_until(request)
        return feeds.count_news(person, read.at, MOST, after=read.newest)

    return {"news_count": SimpleLazyObject(count)}
