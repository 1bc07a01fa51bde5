"""What the templates need to say numbers and draw cards; loaded for all of them."""

import json
from collections.abc import Iterable

from django import template
from django.utils.safestring import SafeString, mark_safe

from league.models import Match
from league.visibility import may_see_record
from web.table.replays import Card

register = template.Library()

_NAMES = ("Claus", *map(str, range(1, 13)))
_SAID = {"given": "given away", "received": "received", "played": "played", "scored": "scores"}


@register.filter
def elo(rating: int) -> str:
    """Return a rating in thousandths as Elo points."""
    return f"{rating / 1000:.0f}"


@register.filter
def gain(change: int) -> str:
    """Return a number with its sign."""
    return f"{change:+}".replace("-", "−")


@register.filter
def points(change: int) -> str:
    """Return a change in thousandths of a point as whole points with their sign."""
    return gain(round(change / 1000)) if round(change / 1000) else "±0"


@register.filter
def decimals(number: float | None) -> str:
    """Return a number with two decimals."""
    return "–" if number is None else f"{float(number):.2f}"


@register.filter
def as_json(data: object) -> str:
    """Return data as JSON on one line."""
    return json.dumps(data)


@register.filter
def percent(share: float | None) -> str:
    """Return a share as per cent."""
    return "–" if share is None else f"{100 * share:.0f} %"


@register.filter
def milli(rating: int) -> str:
    """Return a rating in thousandths as points with all their decimals."""
    return f"{rating / 1000:.3f}"


@register.filter
def milli_change(change: int) -> str:
    """Return a change in thousandths as points with their sign and all their decimals."""
    return f"{change / 1000:+.3f}".replace("-", "−")


@register.filter
def less(number: int, other: int) -> int:
    """Return a difference."""
    return number - other


@register.filter
def deal_seed(match: Match) -> str:
    """Return the deal seed of a match that is open to all, in hex."""
    return bytes(match.deal_seed).hex() if may_see_record(match) else ""


@register.filter
def times(number: float, factor: int) -> str:
    """Return a product as HTML wants a number, whatever the language."""
    return f"{number * factor:.0f}"


@register.filter
def open_to_all(match: Match) -> bool:
    """Return whether the result and cards of a match may be shown."""
    return may_see_record(match)


@register.filter
def cards(drawn: Iterable[Card] | None) -> SafeString:
    """Return cards, each a rank and its marks, as list items."""
    return mark_safe("".join(map(_card, drawn or ())))


@register.filter
def faces(ranks: Iterable[int | None]) -> SafeString:
    """Return plain ranks as list items."""
    return cards([Card(rank) for rank in ranks if rank is not None])


@register.simple_tag(takes_context=True)
def page_link(context: template.Context, name: str, number: int) -> str:
    """Return the address of this page with another page number under a name."""
    query = context["request"].GET.copy()
    query[name] = str(number)
    return f"?{query.urlencode()}"


def _card(card: Card) -> str:
    # Nothing here comes from outside: a rank is an integer and marks are our own words.
    marks = "".join(f" {mark}" for mark in card.marks)
    said = "".join(f", {_SAID[mark]}" for mark in card.marks)
    said = f'<span class="unseen">{said}</span>' if said else ""
    label = '<span class="unseen">Claus</span>' if card.rank == 0 else str(card.rank)
    return f'<li class="card r{card.rank}{marks}">{label}{said}</li>'
