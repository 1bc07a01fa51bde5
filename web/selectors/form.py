"""The form of bots: the results of their last matches, rated or not."""

from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Value
from django.db.models.fields import IntegerField

from engine.games.titles import GAME_TITLES
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
        kind: "won", "drew", "upper" in the upper half of a larger table (or its middle), or "lost".
    """

    mark: str
    words: str
    kind: str = "lost"


def result_mark(place: int, seats: int, *, tied: bool) -> Mark:
    """Return the mark of a place at a table.

    Args:
        place: of the bot.
        seats: number of bots at the table.
        tied: whether another bot has the same place.
    """
    if place == 1:
        shared = Mark("D", f"shared 1st of {seats}", "drew")
        return shared if tied else Mark("W", "won", "won")
    if seats == 2:
        return Mark("L", "lost")
    half = "upper" if 2 * (place - 1) < seats else "lost"
    return Mark(str(place), f"{ordinal(place)} of {seats}", half)


class Form(NamedTuple):
    """The last results of a bot, the oldest first.

    Attributes:
        marks: the results.
        games: titles of the games of these matches.
    """

    marks: list[Mark]
    games: Sequence[str] = ()

    @property
    def words(self) -> str:
        """The games and all results, for people who do not see the marks."""
        games = f" of {' and '.join(self.games)}" if self.games else ""
        return f"Last matches{games}: " + ", ".join(mark.words for mark in self.marks)


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
        .values_list("of_bot", "pk", "bot_ids", "places", "game")[:MATCHES]
        for bot in bots
    ]
    if not last:
        return {}
    rows = last[0].union(*last[1:], all=True) if len(last) > 1 else last[0]
    found: dict[int, list[Mark]] = {}
    games: dict[int, set[str]] = {}
    for bot, _, seats, places, game in sorted(rows, key=lambda row: row[1]):
        if places is None:
            continue
        place = places[seats.index(bot)]
        mark = result_mark(place, len(seats), tied=places.count(place) > 1)
        found.setdefault(bot, []).append(mark)
        games.setdefault(bot, set()).add(GAME_TITLES.get(game, game))
    return {bot: Form(marks, sorted(games[bot])) for bot, marks in found.items()}
