"""Ladders for pages: standings with their intervals, and the sums of ratings."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from django.core.paginator import Page, Paginator
from django.db.models import Count, Q, QuerySet, Sum, Window
from django.db.models.functions import RowNumber

from engine.rating.elo import START
from league.models import Highlight, Ladder, Match, Standing
from league.models.standings import SHOWN
from league.ratings.standings import (
    ORDER,
    StandingRow,
    bots_in_order,
    find_bots,
    in_order,
    public_standings,
    standing_rows,
    standings_in_order,
)


class Top(NamedTuple):
    """A ladder and its best bots."""

    ladder: Ladder
    standings: Sequence[Standing]


class Movement(NamedTuple):
    """A ladder and the rows of its best bots, with rank and trend.

    Attributes:
        ladder: the ladder.
        rows: the best first.
        ahead: from `bot_ahead`.
    """

    ladder: Ladder
    rows: Sequence[StandingRow]
    ahead: Standing | None = None


class Sums(NamedTuple):
    """Sums over the standings of a ladder, hidden bots included.

    Attributes:
        bots: number of bots that have a rating.
        ratings: sum of their ratings, in thousandths of an Elo point.
        expected: the sum that the ratings must have, as blocks only move points.
        hidden: number of hidden bots among them.
    """

    bots: int
    ratings: int
    expected: int
    hidden: int


def mostly_provisional(standings: Collection[Standing]) -> bool:
    """Return whether more than half of the standings are provisional."""
    return 2 * sum(row.is_provisional for row in standings) > len(standings)


def ladders_named(wanted: str, game: str = "") -> QuerySet[Ladder]:
    """Return the ladders of a game with a text in their title; "" stands for all."""
    ladders = Ladder.objects.order_by("slug")
    if game:
        ladders = ladders.filter(game=game)
    return ladders.filter(title__icontains=wanted) if wanted else ladders


def ladders_with_movement(ladders: int, count: int) -> list[Movement]:
    """Return some ladders, each with its best bots and their trends."""
    return with_movement(list(Ladder.objects.all()[:ladders]), count)


def with_movement(ladders: Sequence[Ladder], count: int) -> list[Movement]:
    """Return ladders with their best bots and the trends; a few queries a ladder."""
    top = {ladder.pk: standings for ladder, standings in ladders_with_top(count, ladders)}
    return [
        Movement(ladder, standing_rows(ladder, top[ladder.pk]), bot_ahead(ladder))
        for ladder in ladders
    ]


def bot_ahead(ladder: Ladder) -> Standing | None:
    """Return the provisional bot that is rated above all others of a ladder; None without one."""
    shown = standings_in_order(ladder).shown()
    best = list(shown.order_by("-rating", "bot_id")[:2])
    if not best or not best[0].is_provisional:
        return None
    return best[0] if all(each.rating < best[0].rating for each in best[1:]) else None


def ladders_with_top(count: int, ladders: Sequence[Ladder]) -> list[Top]:
    """Return ladders, each with its best bots. Costs one query, and one for each alarm."""
    place = Window(RowNumber(), partition_by="ladder", order_by=ORDER)
    best = (
        in_order(Standing.objects.filter(ladder__in=ladders))
        .annotate(place=place)
        .filter(place__lte=count)
    )
    top: dict[int, list[Standing]] = {}
    for row in best.order_by("ladder", *ORDER):
        top.setdefault(row.ladder_id, []).append(row)
    return [
        Top(
            ladder,
            list(standings_in_order(ladder)[:count]) if ladder.alarm else top.get(ladder.pk, []),
        )
        for ladder in ladders
    ]


def standings_page(
    ladder: Ladder, wanted: str, number: str | None, size: int, *, hidden: bool = False
) -> tuple[Page[Any], list[StandingRow]]:
    """Return a page of a ladder's standings, and its rows with rank and trend.

    One query finds the bots of the page; only these are joined with the other tables.

    Args:
        ladder: the ladder.
        wanted: part of the names to search for; "" for all bots.
        number: of the page, as in the address.
        size: rows on a page.
        hidden: whether the page shows hidden bots too, after all other bots.
    """
    page: Page[Any]
    ranks: dict[int, int | None] | None
    if wanted:
        page = Paginator(find_bots(ladder, wanted, hidden=hidden), size).get_page(number)
        ranks = {found.bot: found.rank for found in page}
        bots = list(ranks)
    else:
        page = Paginator(bots_in_order(ladder, hidden=hidden), size).get_page(number)
        ranks, bots = None, list(page)
    rows = standings_in_order(ladder, hidden=hidden).filter(bot__in=bots)
    return page, standing_rows(ladder, list(rows), ranks)


def sums_of(ladder: Ladder) -> Sums:
    """Return the sums over a ladder's standings."""
    sums = public_standings(ladder).aggregate(
        bots=Count("pk"),
        ratings=Sum("rating", default=0),
        hidden=Count("pk", filter=~Q(hidden=SHOWN)),
    )
    return Sums(**sums, expected=START * sums["bots"])


def likely_best(ladder: Ladder, count: int) -> list[Standing]:
    """Return the bots that are most probably the best, those with 1 % or more. Costs one query."""
    rows = public_standings(ladder).filter(best_chance__gte=0.01).select_related("bot")
    return list(rows.order_by("-best_chance", "bot_id")[:count])


def of_ladder(highlights: Sequence[Highlight], ladder: Ladder) -> list[Highlight]:
    """Return the highlights whose match was rated on a ladder, or played for its tournament.

    Args:
        highlights: with their matches. Costs one query.
        ladder: of the page.
    """
    matches = [each.match_id for each in highlights if each.match_id is not None]
    found = Match.objects.filter(pk__in=matches, block__round__ladder=ladder)
    on_it = set(found.values_list("pk", flat=True))
    return [each for each in highlights if each.match_id in on_it]
