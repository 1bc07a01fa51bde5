"""The form of bots: the results of their last matches, rated or not."""

from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Value
from django.db.models.fields import IntegerField

from league.models import Match
from league.visibility import counting_results
from web.ordinals import ordinal

MATCHES = 5


class Mark(NamedTuple):
    """A result of a bot.

    Attributes:
        mark: ``W`` for a win, ``D`` for a shared first place; else ``L`` at tables of two, and the
            place at larger ones.
        words: the mark in words.
    """

    mark: str
    words: str


def result_mark(place: int, seats: int, *, tied: bool) -> Mark:
    """Return the mark of a place at a table.

    Args:
        place: of the bot.
        seats: number of bots at the table.
        tied: whether another bot has the same place.
    """
    if place == 1:
        return Mark("D", f"shares the first place of {seats}") if tied else Mark("W", "won")
    if seats == 2:
        return Mark("L", "lost")
    return Mark(str(place), f"{ordinal(place)} of {seats}")


class Form(NamedTuple):
    """The last results of a bot, the oldest first."""

    marks: list[Mark]

    @property
    def words(self) -> str:
        """All results, for people who do not see the marks."""
        return "Last matches: " + ", ".join(mark.words for mark in self.marks)


def forms_of(bots: Sequence[int]) -> dict[int, Form]:
    """Return the form of each bot with a public result. Costs one query.

    The query is a union, so PostgreSQL plans the search for each bot by how often the bot plays.

    Args:
        bots: their ids.
    """
    public = Match.objects.filter(counting_results())
    last = [
        public.with_bots(bot)
        .annotate(of_bot=Value(bot, IntegerField()))
        .order_by("-pk")
        .values_list("of_bot", "pk", "bot_ids", "places")[:MATCHES]
        for bot in bots
    ]
    if not last:
        return {}
    rows = last[0].union(*last[1:], all=True) if len(last) > 1 else last[0]
    found: dict[int, list[Mark]] = {}
    for bot, _, seats, places in sorted(rows, key=lambda row: row[1]):
        if places is None:
            continue
        place = places[seats.index(bot)]
        mark = result_mark(place, len(seats), tied=places.count(place) > 1)
        found.setdefault(bot, []).append(mark)
    return {bot: Form(marks) for bot, marks in found.items()}
