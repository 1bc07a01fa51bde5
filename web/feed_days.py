"""The feed of an account as its page shows it: by day, with pictures of matches."""

from collections.abc import Iterable
from datetime import date
from itertools import groupby
from typing import NamedTuple

from league.archive_files import ArchiveError
from league.feeds.items import sentence
from league.models import FeedItem
from league.visibility import may_see_record
from web.news import labelled, link_of
from web.selectors.matches import matches_listed
from web.table.moments import Moment, moment_of

_PICTURES = 8
"""Maximum number of items with a picture on a page: each picture replays a match."""
_END = 1_000_000
"""A number above that of any step, so `moment_of` takes the nearest step, the end."""


class Shown(NamedTuple):
    """An item of the feed on its page.

    Attributes:
        item: what happened.
        label: its kind, in a word or two.
        text: the sentence, without what the label says.
        address: of the page about it.
        moment: the picture of its match; None without one.
    """

    item: FeedItem
    label: str
    text: str
    address: str
    moment: Moment | None


def by_day(items: Iterable[FeedItem]) -> list[tuple[date, list[Shown]]]:
    """Return items, the newest first, by their day in UTC; costs two queries if they have matches.

    Several items can lead to one match; the first of them has its picture.
    """
    rows = list(items)
    moments = _moments(rows)
    shown = (
        Shown(item, *labelled(item, sentence(item)), link_of(item), moments.get(item.pk))
        for item in rows
    )
    return [(day, list(of_day)) for day, of_day in groupby(shown, lambda each: each.item.at.date())]


def _moments(rows: list[FeedItem]) -> dict[int, Moment]:
    first: dict[int, FeedItem] = {}
    for item in rows:
        if item.match_id is not None:
            first.setdefault(item.match_id, item)
    matches = matches_listed().defer(None).in_bulk(list(first)[:_PICTURES])
    moments = {}
    for pk, match in matches.items():
        item = first[pk]
        is_step = item.kind == FeedItem.Kind.HIGHLIGHT and item.number
        if may_see_record(match):
            try:
                moments[item.pk] = moment_of(match, item.number if is_step else _END)
            except ArchiveError:
                continue
    return moments
