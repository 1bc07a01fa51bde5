"""The standings of a ladder as pages and the API show them: order, ranks, trends, head to head.

While a ladder has an alarm, the functions with "public" in their names return the frozen numbers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db import connection
from django.db.models import Count, F, Q, QuerySet, Sum
from django.utils import timezone

from league.accounts.quarantines import quarantine_of
from league.models import HeadToHead, Ladder, Performance, Round, RoundEntry, Standing
from league.models.moderation import in_quarantine
from league.models.standings import SHOWN, StandingQuerySet, provisional_expression
from league.ratings.ledger import round_entries

ORDER = ("hidden", "provisional", "-rating", "bot_id")
"""Order of a ladder's standings: ranked, provisional, then hidden bots. No two rows are equal."""

TREND_ROUNDS = 10
"""A bot's trend is its change of rating over so many of the ladder's last rounds."""


@dataclass(frozen=True, slots=True)
class StandingRow:
    """A bot's row in the standings.

    Attributes:
        standing: with its bot, owner and numbers; frozen while the ladder has an alarm.
        rank: 1 plus the number of shown bots rated higher; None for provisional and hidden bots.
        trend: change of rating over the last `TREND_ROUNDS`, in milli-Elo; None if none of them
            rated the bot.
    """

    standing: Standing
    rank: int | None
    trend: int | None

    @property
    def quarantined(self) -> bool:
        """Whether the bot or its account is in quarantine; lists have it annotated."""
        known: bool | None = getattr(self.standing, "quarantined", None)
        return quarantine_of(self.standing.bot) is not None if known is None else known


def public_standings(ladder: Ladder) -> StandingQuerySet:
    """Return a ladder's standings; while it has an alarm, the frozen ones."""
    if ladder.alarm:
        return ladder.frozen_standings.all()
    return ladder.standings.all()


def public_standing(row: Standing) -> Standing:
    """Return a standing, which has its ladder and bot, as public: frozen if there is an alarm."""
    if not row.ladder.alarm:
        return row
    frozen = public_standings(row.ladder).filter(bot=row.bot_id).first() or row
    frozen.ladder, frozen.bot = row.ladder, row.bot
    return frozen


def up_to_public(ladder: Ladder, number: str = "round__applied_number") -> Q:
    """Return the condition for rows up to the round of the public standings.

    While the ladder has an alarm, these are the frozen rounds. If not, the condition is empty.

    Args:
        ladder: of the rows.
        number: path from a row to the applied number of its round.
    """
    return Q(**{f"{number}__lte": ladder.frozen_rounds or 0}) if ladder.alarm else Q()


def public_entries(ladder: Ladder) -> QuerySet[RoundEntry]:
    """Return the rating changes of each round and bot that made the public standings."""
    return round_entries(ladder).filter(up_to_public(ladder))


def public_rounds(ladder: Ladder) -> QuerySet[Round]:
    """Return the rounds that made the public standings, the last applied first."""
    rounds = ladder.rounds.applied().filter(up_to_public(ladder, "applied_number"))
    return rounds.order_by("-applied_number")


def standings_in_order(ladder: Ladder, *, hidden: bool = False) -> StandingQuerySet:
    """Return a ladder's public standings, best first, provisional bots after ranked ones.

    Args:
        ladder: to list.
        hidden: whether to list hidden bots too, after all others.
    """
    return in_order(public_standings(ladder), hidden=hidden)


def in_order(standings: StandingQuerySet, *, hidden: bool = False) -> StandingQuerySet:
    """Return standings as `standings_in_order` does, with their bots, owners and quarantine."""
    held = in_quarantine(timezone.now(), bot="bot", owner="bot__owner")
    rows = standings.select_related("bot__owner").annotate(quarantined=held)
    return _ordered(rows, hidden)


def bots_in_order(ladder: Ladder, *, hidden: bool = False) -> QuerySet[Standing, int]:
    """Return the ids of a ladder's bots in order, from the index alone: a deep slice is cheap."""
    return _ordered(public_standings(ladder), hidden).values_list("bot_id", flat=True)


def _ordered(standings: StandingQuerySet, hidden: bool) -> StandingQuerySet:
    return _listed(standings, hidden).with_provisional().order_by(*ORDER)


def _listed(standings: StandingQuerySet, hidden: bool) -> StandingQuerySet:
    return standings if hidden else standings.shown()


class RankedBot(NamedTuple):
    """A bot that a search by name returned: its id, and its rank unless provisional or hidden."""

    bot: int
    rank: int | None


_FIND = """
SELECT placed.bot_id,
    CASE WHEN placed.provisional OR placed.hidden <> '' THEN NULL ELSE placed.rank END
FROM (
    SELECT *, rank() OVER (PARTITION BY hidden, provisional ORDER BY rating DESC) AS rank
    FROM ({standings}) AS known
) AS placed
JOIN league_bot AS bot ON bot.id = placed.bot_id
WHERE strpos(bot.name, %s) > 0
ORDER BY placed.hidden, placed.provisional, placed.rating DESC, placed.bot_id
"""


def find_bots(ladder: Ladder, wanted: str, *, hidden: bool = False) -> list[RankedBot]:
    """Return a ladder's bots with a text in their name, in order. Costs one query."""
    listed = _listed(public_standings(ladder), hidden).order_by()
    known = listed.values("bot_id", "hidden", "rating", provisional=provisional_expression())
    standings, values = known.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(_FIND.format(standings=standings), [*values, wanted.lower()])
        return [RankedBot(bot, rank) for bot, rank in cursor.fetchall()]


def standing_rows(
    ladder: Ladder,
    standings: Sequence[Standing],
    ranks: Mapping[int, int | None] | None = None,
) -> list[StandingRow]:
    """Return standings of a ladder with rank and trend.

    Costs two queries, and one more if there was a correction.

    Args:
        ladder: of the standings.
        standings: in order, and successive unless their ranks are given.
        ranks: by bot, if they are known.
    """
    by_bot = _ranks(standings) if ranks is None else ranks
    trends = _trends(ladder, standings)
    return [StandingRow(row, by_bot.get(row.bot_id), trends.get(row.bot_id)) for row in standings]


def _ranks(rows: Sequence[Standing]) -> dict[int, int | None]:
    """Return the ranks of successive rows of one ladder by bot; of ranked bots alone."""
    ranked = [row for row in rows if not row.is_provisional and row.hidden == SHOWN]
    if not ranked:
        return {}
    first = ranked[0]
    field = type(first).objects.ranked().filter(ladder_id=first.ladder_id)  # frozen among frozen
    counted = field.filter(rating__gte=first.rating).aggregate(
        higher=Count("pk", filter=Q(rating__gt=first.rating)),
        level=Count("pk", filter=Q(rating=first.rating, bot_id__lt=first.bot_id)),
    )
    rank, before = counted["higher"] + 1, counted["higher"] + counted["level"]
    rating = first.rating
    ranks: dict[int, int | None] = {}
    for number, row in enumerate(ranked, before + 1):
        if row.rating != rating:
            rank, rating = number, row.rating
        ranks[row.bot_id] = rank
    return ranks


def _trends(ladder: Ladder, rows: Sequence[Standing]) -> dict[int, int]:
    """Return by bot the change of rating over the last rounds, for bots that they rated."""
    last = public_rounds(ladder)[:TREND_ROUNDS].values("pk")
    bots = [row.bot_id for row in rows]
    entries = round_entries(ladder).filter(bot__in=bots, round__in=last).order_by()
    gains = entries.values("bot").annotate(gain=Sum(F("rating_after") - F("rating_before")))
    return dict(gains.values_list("bot", "gain"))


def public_performances(standing: Standing) -> QuerySet[Performance]:
    """Return a bot's performances on a ladder, round by round, up to the public standings."""
    found = Performance.objects.filter(bot=standing.bot_id, round__ladder=standing.ladder)
    return found.filter(up_to_public(standing.ladder))


def meetings(ladder: Ladder) -> QuerySet[HeadToHead]:
    """Return the head-to-head rows of a ladder, with the bots' names."""
    return HeadToHead.objects.filter(ladder=ladder).select_related("bot", "opponent")


def opponents(standing: Standing) -> QuerySet[HeadToHead]:
    """Return a bot's head-to-head rows on a ladder, the opponents that it met most first."""
    met = HeadToHead.objects.filter(ladder=standing.ladder_id, bot=standing.bot_id)
    return met.select_related("opponent").order_by("-pairs", "opponent__name")


def who_beats_whom(ladder: Ladder, bots: Sequence[int]) -> dict[tuple[int, int], HeadToHead]:
    """Return the head-to-head rows among some bots, by bot and opponent; of pairs that have met."""
    met = HeadToHead.objects.filter(ladder=ladder, bot__in=bots, opponent__in=bots)
    return {(row.bot_id, row.opponent_id): row for row in met}
