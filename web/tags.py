"""Template filters and tags for numbers, cards and links; Django loads them for all templates."""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import groupby
from typing import Any

from django import template
from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.urls import reverse
from django.utils import timezone
from django.utils.dateformat import format as date_format
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.timesince import timeuntil

from bots_sdk.explanations import BLOCK, WIN_SHARE
from engine.games.titles import GAME_TITLES, SCORE_UNITS, title
from league import accounts, feeds
from league.accounts.quarantines import quarantine_of
from league.models import Bot, Challenge, Ladder, Match, Quarantine, Tournament
from league.play import bot_output
from league.visibility import owns
from web import guide
from web.table.steps import Card

register = template.Library()

_EXPLANATIONS = {"block": BLOCK, "win share": WIN_SHARE}
_LONGEST_WHOLE = 32
"""Letters of a word that fits on a line of a phone: the longest name of a bot."""


@register.filter
def elo(rating: int) -> str:
    """Return a rating in thousandths as whole Elo points."""
    return f"{rating / 1000:.0f}"


@register.filter
def gain(change: int) -> str:
    """Return a number with its sign."""
    return f"{change:+}".replace("-", "−")


@register.filter
def points(change: int) -> str:
    """Return a change in thousandths as whole points with their sign."""
    return elo_gain(change / 1000)


@register.filter
def elo_gain(change: float) -> str:
    """Return a change in Elo as a whole number with its sign."""
    return gain(round(change)) if round(change) else "±0"


@register.filter
def decimals(number: float | Fraction | None) -> str:
    """Return a number with two decimals; a dash for None."""
    return "–" if number is None else f"{float(number):.2f}"


@register.filter
def as_json(data: object) -> str:
    """Return data as JSON on one line."""
    return json.dumps(data)


@register.filter
def percent(share: float | None) -> str:
    """Return a share from 0 to 1 in percent; a dash for None."""
    return "–" if share is None else f"{100 * share:.0f} %"


@register.filter
def chance(probability: float | None) -> str:
    """Return a probability in percent, never as 0 or 100 %; a dash for None."""
    if probability is not None and probability < 0.01:
        return "< 1 %"
    return "> 99 %" if probability is not None and probability > 0.99 else percent(probability)


@register.filter
def milli(rating: int) -> str:
    """Return a rating in thousandths as points with three decimals."""
    return f"{rating / 1000:.3f}"


@register.filter
def milli_change(change: int) -> str:
    """Return a change in thousandths as points with their sign and three decimals."""
    return f"{change / 1000:+.3f}".replace("-", "−")


@register.filter
def of(found: object, key: object) -> Any:
    """Return a value of a mapping by its key; None without one, or if the page has no mapping."""
    return found.get(key) if isinstance(found, Mapping) else None


@register.filter
def less(number: int, other: int) -> int:
    """Return a difference."""
    return number - other


@register.filter
def times(number: float, factor: int) -> str:
    """Return a product as a whole number in HTML's notation, in every language."""
    return f"{number * factor:.0f}"


@register.filter
def whole(text: str) -> SafeString:
    """Return a text with each short word that has a hyphen, such as a score, kept on one line.

    Nor does a line end in the name of a game, after its number.
    """
    text = text.replace("12 Days", "12\N{NO-BREAK SPACE}Days")
    words = (
        format_html('<span class="whole">{}</span>', word)
        if {*"-−"} & {*word} and len(word.rstrip(",:")) <= _LONGEST_WHOLE
        else escape(word)
        for word in text.split(" ")
    )
    return mark_safe(" ".join(words))


@register.filter
def game_title(played: Match | Ladder | Challenge) -> str:
    """Return the title of the game and preset of a match, ladder or challenge."""
    return title(played.game, played.rules)


@register.filter
def described(ladder: Ladder) -> str:
    """Return the game and preset, and the seats, of a ladder, without the game if in its title."""
    seats = f"{ladder.seats} seats"
    game, _, edition = game_title(ladder).partition(", ")
    parts = [edition, seats] if game == ladder.title else [game, edition, seats]
    return ", ".join(filter(None, parts))


@register.filter
def unit(game: str) -> str:
    """Return what a score of a game counts: "points" or "gifts"."""
    return SCORE_UNITS[game]


@register.filter
def called(game: str) -> str:
    """Return the title of a game by its name."""
    return GAME_TITLES.get(game, game)


@register.filter
def names_game(tournament: Tournament) -> bool:
    """Return whether the title of a tournament begins with the title of its game."""
    game = called(tournament.ladder.game)
    return tournament.title.startswith((f"{game},", f"{game}:"))


@register.filter
def kept_until(written: datetime) -> datetime:
    """Return when output is removed at the latest."""
    return bot_output.kept_until(written)


@register.simple_tag
def output_kept(until: datetime | None) -> str:
    """Return sentences about how long output is kept; None: there is no output."""
    text = (
        f"The league keeps the output of bots for {settings.MAX_OUTPUT_DAYS} days, and "
        f"{settings.MAX_OUTPUT_MEGABYTES} MB in all: the oldest is removed first."
    )
    if until is None:
        return text
    day = date_format(until.astimezone(UTC), "j M Y, H:i")
    return f"{text} This output is removed on {day} UTC at the latest."


@register.filter
def operates(user: User | AnonymousUser) -> bool:
    """Return whether a person sees the operator's pages."""
    return accounts.is_operator(user)


@register.filter
def organises(user: User | AnonymousUser) -> bool:
    """Return whether a person is an organiser."""
    return bool(getattr(user, "is_authenticated", False)) and accounts.is_organiser(user)


@register.filter
def in_quarantine(bot: Bot) -> Quarantine | None:
    """Return the quarantine that keeps a bot out of new matches; None without one."""
    return None if getattr(bot, "quarantined", None) is False else quarantine_of(bot)


@register.filter
def sees_quarantine(user: User | AnonymousUser, bot: Bot) -> bool:
    """Return whether a person may see the reason and the end of a bot's quarantine."""
    return owns(user, bot) or organises(user)


@register.simple_tag(takes_context=True)
def page_link(context: template.Context, name: str, number: int) -> str:
    """Return the address of this page with another page number in a query parameter."""
    query = context["request"].GET.copy()
    query[name] = str(number)
    return f"?{query.urlencode()}"


@register.filter
def duration(time: timedelta | None) -> str:
    """Return a span of time in its largest unit, such as `90 s`, `5 min` or `3 days`."""
    if time is None:
        return "–"
    seconds = max(0, round(time.total_seconds()))
    for unit, size, last in (("s", 1, 120), ("min", 60, 120), ("h", 3600, 48)):
        if seconds < last * size:
            return f"{seconds // size} {unit}"
    return f"{seconds // 86_400} days"


@register.filter
def since(now: datetime, then: datetime) -> str:
    """Return the time from then until now, as `duration`."""
    return duration(now - then)


@register.filter
def until(at: datetime) -> str:
    """Return the time until a moment in words, as countdown.js shows it at its end."""
    left = at - timezone.now()
    return timeuntil(at) if left >= timedelta(minutes=1) else "a moment"


@register.filter
def iso(at: datetime) -> str:
    """Return a time in UTC for the attribute ``datetime``, without fractions of a second."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@register.inclusion_tag("web/parts/follow.html", takes_context=True)
def follow_button(context: template.Context, followed: Bot | Tournament) -> dict[str, Any]:
    """Return what the button to follow a bot or tournament shows."""
    request = context["request"]
    user = request.user if isinstance(request.user, User) else None
    kind, key = ("bot", followed.name) if isinstance(followed, Bot) else ("tournament", followed.pk)
    return {
        "state": feeds.follow_state(user, followed),
        "signed_in": user is not None,
        "yours": user is not None and isinstance(followed, Bot) and followed.owner_id == user.pk,
        "kind": kind,
        "address": reverse(f"web:follow-{kind}", args=[key]),
        "atom": reverse(f"web:{kind}-atom", args=[key]),
        "page": request.path,
        "csrf_token": context.get("csrf_token"),
    }


@register.simple_tag(takes_context=True)
def here(context: template.Context, name: str, below: str = "") -> str:
    """Return the attribute ``aria-current`` of a link if this page is the linked one or below it.

    Args:
        context: of the page.
        name: of the linked page's address.
        below: how the addresses of pages below the linked one begin; "" if with its address.
    """
    path, linked = getattr(context.get("request"), "path", ""), reverse(name)
    if path == linked:
        return mark_safe('aria-current="page"')
    return mark_safe('aria-current="true"') if path.startswith(below or linked) else ""


@register.simple_tag(takes_context=True)
def view_link(context: template.Context, view: str) -> str:
    """Return the address of this page in another view; "" is the view without a parameter."""
    query = context["request"].GET.copy()
    query.pop("view", None)
    if view:
        query["view"] = view
    return f"?{query.urlencode()}"


@register.simple_tag(takes_context=True)
def absolute(context: template.Context, address: str) -> str:
    """Return an address with scheme and host, for use on other sites."""
    found: str = context["request"].build_absolute_uri(address)
    return found


@register.simple_tag(takes_context=True)
def canonical(context: template.Context) -> str:
    """Return the absolute address of this page, with the number of the page of a list if not 1."""
    request = context["request"]
    number = request.GET.get("page", "")
    query = f"?page={number}" if re.fullmatch(r"[1-9][0-9]{0,8}", number) and number != "1" else ""
    return absolute(context, request.path + query)


@register.inclusion_tag("web/parts/embed_code.html", takes_context=True)
def embed_code(context: template.Context, address: str, name: str, height: int) -> dict[str, Any]:
    """Return the HTML with which another site shows an embed, as text to copy.

    Args:
        context: of the page.
        address: of the embed, without the host.
        name: of what it shows.
        height: of the frame in pixels; its width is that of its place.
    """
    frame = (
        '<iframe src="{}" title="{}" width="100%" height="{}" style="border: 0" loading="lazy">'
        "</iframe>"
    )
    return {"code": format_html(frame, absolute(context, address), name, height)}


@register.simple_tag
def explained(word: str) -> str:
    """Return the sentences that explain a word; the command line uses the same."""
    return _EXPLANATIONS[word]


@register.simple_tag
def docs(page: str, anchor: str = "") -> str:
    """Return the address of a page of the documentation, or of a section on it."""
    address = reverse("web:document", args=[page])
    return f"{address}#{anchor}" if anchor else address


@register.simple_tag(takes_context=True)
def guide_advice(context: template.Context) -> str | None:
    """Return the guide's sentences for a turn, "" between turns; None if the guide is off."""
    if context["request"].COOKIES.get(guide.COOKIE) != "on":
        return None
    return guide.advice(context["observation"]) if context["turn"] else ""


@register.filter
def table_cards(drawn: Iterable[Card]) -> SafeString:
    """Return cards as list items for a table; ``received`` and ``scored`` are marked.

    Each item carries its place among the cards of its rank beside it, as in `web/table/view.js`: a
    narrow table draws them as one pile with their number.
    """
    items = []
    for _, equal in groupby(drawn, key=lambda card: card.rank):
        pile = list(equal)
        items += [_table_card(card, len(pile), at) for at, card in enumerate(pile, start=1)]
    return mark_safe("".join(items))


def _table_card(card: Card, count: int, at: int) -> str:
    # All parts are safe: the numbers are integers, and the marks are constants of `web.table`.
    names = {"received": ("fresh", "new"), "scored": ("scored", "scores")}
    marks = [names[mark] for mark in card.marks if mark in names]
    classes = "".join(f" {name}" for name, _ in marks)
    label = "".join(f", {said}" for _, said in marks)
    label = label if card.rank else f", Claus{label}"
    label = f'<span class="unseen">{label}</span>' if label else ""
    below = " below" if at < count else ""
    pile = f' data-count="{count}"' if count > 1 and not below else ""
    return (
        f'<li class="slot{below}"{pile}>'
        f'<span class="tc r{card.rank}{classes}">{card.rank}{label}</span></li>'
    )
