"""The feed of an account, the buttons to follow, and Atom feeds of bots, ladders and events."""

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.syndication.views import Feed
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from league import feeds
from league.feeds.items import sentence
from league.models import Bot, FeedItem, Ladder, Tournament
from web.feed_days import by_day, headline
from web.news import link_of, newest_item, note_visit, read_until
from web.requests import bot_or_404, form_of_a_person, page_of, signed_in
from web.selectors.bots import bots_listed

_ROWS = 25
_OFFERED = 3
"""Number of bots that an empty feed offers to follow."""
_ENTRIES = 30
_TOP_RANKS = 10
"""Number of first ranks whose changes are in a ladder's Atom feed."""


@login_required
@require_safe
@never_cache
def feed(request: HttpRequest) -> HttpResponse:
    """Show what happened to the account's bots, and to the bots and tournaments that it follows."""
    user = signed_in(request)
    own = list(Bot.objects.owned_by(user).active().order_by("name"))
    newest, read = newest_item(), read_until(request)
    page = page_of(request, feeds.feed_of(user), _ROWS)
    days = by_day(page)
    follows = user.followed.exclude(bot__in=own).select_related("bot", "tournament")
    context = {
        "page": page,
        "days": days,
        "headline": headline(days),
        "new": {item.pk for item in page if not read.has(item)},
        "own": own,
        "follows": follows.order_by("-pk"),
    }
    if not days and not own:
        context["offered"] = bots_listed("", "")[:_OFFERED]
    answer = render(request, "web/feed.html", context)
    note_visit(answer, newest)
    return answer


@form_of_a_person
def follow_bot(request: HttpRequest, name: str) -> HttpResponse:
    """Follow a bot, or stop following it."""
    bot = bot_or_404(name)
    _change(request, bot)
    return redirect("web:bot", bot.name)


@form_of_a_person
def follow_tournament(request: HttpRequest, pk: int) -> HttpResponse:
    """Follow a tournament, or stop following it."""
    tournament = get_object_or_404(Tournament, pk=pk)
    _change(request, tournament)
    return redirect("web:tournament", tournament.pk)


def _change(request: HttpRequest, followed: Bot | Tournament) -> None:
    if request.POST.get("follow") == "no":
        feeds.unfollow(signed_in(request), followed)
        messages.success(request, f"You don’t follow {followed} any more.")
        return
    try:
        feeds.follow(signed_in(request), followed)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.success(request, f"You follow {followed}. Your feed shows what happens to it.")


class _Items(Feed):  # type: ignore[type-arg]
    """The last items about something, as Atom."""

    feed_type = Atom1Feed
    description_template = "web/feeds/item.html"

    def item_title(self, item: FeedItem) -> str:
        """Return an item as a sentence."""
        return sentence(item)

    def get_context_data(self, **of: Any) -> dict[str, Any]:
        """Return the context of an item's description: a sentence, and a link to its match."""
        item: FeedItem = of["item"]
        request: HttpRequest = of["request"]
        page = item.match_id and reverse("web:match", args=[item.match_id])
        return {"text": sentence(item), "match": page and request.build_absolute_uri(page)}

    def item_link(self, item: FeedItem) -> str:
        """Return the address of the page about an item."""
        return link_of(item)

    def item_guid(self, item: FeedItem) -> str:
        """Return the id of an item, which never changes."""
        return f"urn:twelfth-night:{item.key}"

    def item_updateddate(self, item: FeedItem) -> datetime:
        """Return when it happened."""
        return item.at

    def item_pubdate(self, item: FeedItem) -> datetime:
        """Return when it happened."""
        return item.at


def _last(items: QuerySet[FeedItem]) -> QuerySet[FeedItem]:
    return items.select_related("bot", "ladder", "tournament").order_by("-at", "-id")[:_ENTRIES]


class BotFeed(_Items):
    """What happened to a bot."""

    def get_object(self, request: HttpRequest, name: str) -> Bot:
        """Return the bot that the address names: feed readers keep the address of an old name."""
        return bot_or_404(name)

    def title(self, bot: Bot) -> str:
        """Return the title of the feed."""
        return f"{bot} – Twelfth Night"

    def link(self, bot: Bot) -> str:
        """Return the address of the page that the feed belongs to."""
        return reverse("web:bot", args=[bot.name])

    def items(self, bot: Bot) -> QuerySet[FeedItem]:
        """Return the last items."""
        return _last(bot.feed_items.exclude(kind=FeedItem.Kind.FINISHED))


class LadderFeed(_Items):
    """Tournaments of a ladder, and changes among its first ranks."""

    def get_object(self, request: HttpRequest, slug: str) -> Ladder:
        """Return the row that the address names."""
        return get_object_or_404(Ladder, slug=slug)

    def title(self, ladder: Ladder) -> str:
        """Return the title of the feed."""
        return f"{ladder} – Twelfth Night"

    def link(self, ladder: Ladder) -> str:
        """Return the address of the page that the feed belongs to."""
        return reverse("web:ladder", args=[ladder.slug])

    def items(self, ladder: Ladder) -> QuerySet[FeedItem]:
        """Return the last items."""
        items = ladder.feed_items.exclude(kind=FeedItem.Kind.PLACED)
        ranks = [FeedItem.Kind.FIRST_RANK, FeedItem.Kind.RANK]
        return _last(items.exclude(kind__in=ranks, number__gt=_TOP_RANKS))


class EventFeed(_Items):
    """What happened in a tournament."""

    def get_object(self, request: HttpRequest, pk: int) -> Tournament:
        """Return the row that the address names."""
        return get_object_or_404(Tournament, pk=pk)

    def title(self, tournament: Tournament) -> str:
        """Return the title of the feed."""
        return f"{tournament} – Twelfth Night"

    def link(self, tournament: Tournament) -> str:
        """Return the address of the page that the feed belongs to."""
        return reverse("web:tournament", args=[tournament.pk])

    def items(self, tournament: Tournament) -> QuerySet[FeedItem]:
        """Return the last items."""
        return _last(tournament.feed_items.all())
