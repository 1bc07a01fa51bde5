"""The feed of an account as its page shows it: by day, with pictures of matches."""

from collections.abc import Iterable, Sequence
from datetime import date
from itertools import groupby
from typing import NamedTuple

from league.archive_files import ArchiveError
from league.feeds.items import sentence
from league.models import FeedItem, Match
from league.play import headlines
from league.visibility import may_see_record
from web.news import labelled, link_of, within_tournament
from web.ordinals import ordinal
from web.selectors.matches import matches_listed
from web.table.moments import Moment, moment_of

_PICTURES = 8
"""Maximum number of items with a picture on a page: each picture replays a match."""
_END = 1_000_000
"""A number above that of any step, so `moment_of` takes the nearest step, the end."""


_RANKS = (FeedItem.Kind.FIRST_RANK, FeedItem.Kind.RANK)
"""They have no picture: no match is about a rank."""


class Shown(NamedTuple):
    """An item of the feed on its page.

    Attributes:
        item: what happened.
        label: its kind, in a word or two.
        text: the sentence, without what the label or the title of its block says.
        address: of the page about it.
        moment: the picture of its match; None without one.
        repeats: whether its time is that of the line above it in its block.
    """

    item: FeedItem
    label: str
    text: str
    address: str
    moment: Moment | None
    repeats: bool = False


class Together(NamedTuple):
    """Items of one day about one tournament, match or ladder, or a bot's versions; most are alone.

    Attributes:
        lines: the items, the newest first.
        title: of the tournament, match or bot; "" for an item alone.
        address: of its page.
    """

    lines: list[Shown]
    title: str = ""
    address: str = ""

    @property
    def first(self) -> Shown:
        """The newest item."""
        return self.lines[0]

    @property
    def label(self) -> str:
        """The kinds of the items, each once."""
        return ", ".join(dict.fromkeys(line.label for line in self.lines if line.label))

    @property
    def moment(self) -> Moment | None:
        """The picture of the first item that has one."""
        return next((line.moment for line in self.lines if line.moment), None)


def by_day(items: Iterable[FeedItem]) -> list[tuple[date, list[Together]]]:
    """Return items, the newest first, by their day in UTC; costs two queries if they have matches.

    Items of a day about one tournament, match or bot with new versions stand together. Several
    items can lead to one match; the first of them has its picture.
    """
    rows = list(items)
    matches = _matches(rows)
    moments = _moments(rows, matches)
    return [
        (day, _together(list(of_day), matches, moments))
        for day, of_day in groupby(rows, lambda item: item.at.date())
    ]


def headline(days: Sequence[tuple[date, list[Together]]]) -> str:
    """Return the best news of a page as a sentence; "" without any.

    It is a tournament that a bot won on the newest day, else the newest highlight, else the newest
    item.
    """
    of_days = [[line for block in of_day for line in block.lines] for _, of_day in days]
    for line in of_days[0] if of_days else ():
        if line.item.kind == FeedItem.Kind.PLACED and line.item.number == 1:
            return sentence(line.item)
    lines = [line for of_day in of_days for line in of_day]
    items = (line.item for line in lines if line.item.kind == FeedItem.Kind.HIGHLIGHT)
    highlights = (
        labelled(item, sentence(item))[1] for item in items
    )  # in full: the feed shortens them
    return next(highlights, sentence(lines[0].item) if lines else "").rstrip(".")


def _together(
    rows: list[FeedItem], matches: dict[int, Match], moments: dict[int, Moment]
) -> list[Together]:
    subjects: dict[tuple[str, int], list[FeedItem]] = {}
    for item in rows:
        subjects.setdefault(_subject(item), []).append(item)
    return [_block(about, matches, moments) for about in subjects.values()]


def _subject(item: FeedItem) -> tuple[str, int]:
    """Return what an item is about: its tournament, match, bot with versions, ladder, or itself."""
    if item.tournament_id is not None:
        return "tournament", item.tournament_id
    if item.kind == FeedItem.Kind.HIGHLIGHT and item.match_id is not None:
        return "match", item.match_id
    if item.kind == FeedItem.Kind.VERSION and item.bot_id is not None:
        return "versions", item.bot_id
    if item.kind in _RANKS and item.ladder_id is not None:
        return "ranks", item.ladder_id
    return "item", item.pk


def _block(
    about: list[FeedItem], matches: dict[int, Match], moments: dict[int, Moment]
) -> Together:
    first = about[0]
    shown = [
        Shown(item, *labelled(item, sentence(item)), link_of(item), moments.get(item.pk))
        for item in about
    ]
    if len(about) == 1:
        return Together(shown)
    minutes = [item.at.replace(second=0, microsecond=0) for item in about]
    shown = [
        line._replace(repeats=number > 0 and minutes[number] == minutes[number - 1])
        for number, line in enumerate(shown)
    ]
    if first.kind == FeedItem.Kind.VERSION and first.bot is not None:
        lines = [
            line._replace(text=f"Version {line.item.number} is ready to play") for line in shown
        ]
        return Together(lines, f"{first.bot.name}: {len(lines)} new versions", link_of(first))
    if first.kind in _RANKS and first.ladder is not None:
        bots = {line.item.bot.name for line in shown if line.item.bot is not None}
        whose = bots.pop() if len(bots) == 1 else f"{len(bots)} bots"
        return Together(shown, f"{first.ladder.title}: new ranks of {whose}", link_of(first))
    if first.tournament is not None:
        lines = [line._replace(text=within_tournament(line.item)) for line in shown]
        best = next((each for each in about if each.kind == FeedItem.Kind.FINISHED), None)
        if best is not None and best.bot is not None:
            return Together(lines, f"{best.bot.name} wins {first.tournament.title}", link_of(first))
        placed = [each for each in about if each.kind == FeedItem.Kind.PLACED and each.bot]
        best = min(placed, key=lambda each: each.number, default=None)
        if best is None or best.bot is None:
            return Together(lines, first.tournament.title, link_of(first))
        does = "wins" if best.number == 1 else f"comes {ordinal(best.number)} in"
        return Together(lines, f"{best.bot.name} {does} {first.tournament.title}", link_of(first))
    match = matches.get(first.match_id or 0)
    title = headlines.headline(match) if match else "One match"
    lines = [
        line._replace(text=line.label if line.text == title else f"{line.label}: {line.text}")
        for line in shown
    ]
    return Together(lines, title, link_of(first))


def _matches(rows: list[FeedItem]) -> dict[int, Match]:
    """Return the first matches that items lead to, by their ids."""
    numbers = dict.fromkeys(pk for item in rows if (pk := _match_of(item)) is not None)
    return matches_listed().defer(None).in_bulk(list(numbers)[:_PICTURES])


def _match_of(item: FeedItem) -> int | None:
    """Return the id of the match whose picture an item has; changes of ranks have none."""
    return None if item.kind in _RANKS else item.match_id


def _moments(rows: list[FeedItem], matches: dict[int, Match]) -> dict[int, Moment]:
    """Return the pictures of matches, by the ids of the first items that lead to them."""
    first: dict[int, FeedItem] = {}
    for item in rows:
        if (pk := _match_of(item)) is not None:
            first.setdefault(pk, item)
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
