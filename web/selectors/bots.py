"""Bots for pages: a person's bots, versions and sources, and faults."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import (
    Count,
    Exists,
    F,
    Max,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Subquery,
    Sum,
)
from django.db.models.functions import Coalesce

from bots_sdk.wasm.binary import MAGIC
from league.models import (
    Bot,
    BotSource,
    BotVersion,
    Challenge,
    ChallengeBot,
    Ladder,
    LadderEntry,
    Match,
    MatchSeat,
    Standing,
)
from league.visibility import public_results

_COLUMNS = 2
"""The largest number of ladders that each get a column in a list of bots."""


class Faults(NamedTuple):
    """Counts over a bot's last finished matches."""

    matches: int
    faults: int
    forfeits: int


def last_faults(bot: Bot, matches: int) -> Faults:
    """Return the faults and forfeits in a bot's last public results, at most `matches` of them."""
    public = Match.objects.filter(public_results(), pk=OuterRef("match"))
    seats = list(
        MatchSeat.objects.outside_comparisons()
        .without_players()
        .of_bot(bot.pk)
        .filter(Exists(public), score__isnull=False)
        .order_by("-match_id")
        .values_list("faults", "forfeited")[:matches]
    )
    return Faults(
        len(seats), sum(faults for faults, _ in seats), sum(forfeited for _, forfeited in seats)
    )


def is_challengeable(bot: Bot, *, owned: bool) -> bool:
    """Return whether a page offers to challenge a bot, or to test it to its owner."""
    if bot.current_id is None or bot.retired_at is not None:
        return False
    return owned or bot.owner_id is None or bot.challenges_from != Bot.Challengers.NOBODY


def last_challenges(bot: Bot, count: int) -> list[Challenge]:
    """Return the last challenges with a bot, each with its bots."""
    seats = ChallengeBot.objects.select_related("bot")
    found = Challenge.objects.filter(bots__bot=bot).select_related("bot").order_by("-pk")
    return list(found.prefetch_related(Prefetch("bots", seats))[:count])


def challenges_with_bots() -> QuerySet[Challenge]:
    """Return challenges with all that their page and picture show of bots."""
    seats = ChallengeBot.objects.select_related("bot", "version")
    return Challenge.objects.select_related("bot").prefetch_related(Prefetch("bots", seats))


SORTS = {"": "best rating", "matches": "rated matches", "newest": "newest", "name": "name"}
"""The orders that a list of bots can have, with their words."""


def bots_listed(wanted: str, kind: str, game: str = "", sort: str = "") -> QuerySet[Bot]:
    """Return bots, each with its owner and its standings, in the order of the ladders' titles.

    Args:
        wanted: part of the name; "" for all.
        kind: of `Bot.Kind`; "" for all.
        game: by name, of a ladder that has rated them or that they are on; "" for all.
        sort: one of `SORTS`; ratings and matches are those of the game. "" is the best rating, of
            ranked bots first: the page begins with the bots that readers look for.

    Each standing has ``higher``, the number of ranked bots of its ladder with a higher rating.
    """
    bots = Bot.objects.active().select_related("owner", "current").order_by("name")
    of_game = Q(standings__ladder__game=game) if game else Q()
    ladder_of_game = {"ladder__game": game} if game else {}
    if game:
        entered = Q(ladder_entries__ladder__game=game)
        bots = bots.filter(pk__in=Bot.objects.filter(of_game | entered).values("pk"))
    if sort == "newest":
        bots = bots.order_by("-created_at", "name")
    elif not sort:
        has_rank = Exists(Standing.objects.ranked().filter(bot=OuterRef("pk"), **ladder_of_game))
        bots = bots.annotate(best=Max("standings__rating", filter=of_game), has_rank=has_rank)
        by_rating = F("best").desc(nulls_last=True)
        bots = bots.order_by(F("has_rank").desc(), by_rating, "name")
    elif sort == "matches":
        bots = bots.annotate(played=Sum("standings__matches", filter=of_game))
        bots = bots.order_by(F("played").desc(nulls_last=True), "name")
    if wanted:
        bots = bots.filter(name__contains=wanted.lower())
    if kind:
        bots = bots.filter(kind=kind)
    standings = _with_higher(Standing.objects.filter(**ladder_of_game))
    return bots.prefetch_related(Prefetch("standings", standings))


def best_of(bots: Iterable[Bot]) -> Bot | None:
    """Return the first of the bots that `bots_listed` returns if it has a rank; else None."""
    first = next(iter(bots), None)
    ranked = first is not None and any(
        not row.is_provisional and not row.hidden for row in first.standings.all()
    )
    return first if ranked else None


class ListedBots(NamedTuple):
    """Bots of a list with their standings.

    Attributes:
        ladders: of all standings, by title; empty if they are too many for a column each.
        rows: each bot with its standing on each of these ladders, None where it has none. Without
            ladders, with all its standings.
    """

    ladders: list[Ladder]
    rows: list[tuple[Bot, list[Standing | None]]]


def in_columns(bots: Iterable[Bot]) -> ListedBots:
    """Return bots, as `bots_listed` returns them, with their standings in columns."""
    listed = [(bot, list(bot.standings.all())) for bot in bots]
    found = {row.ladder_id: row.ladder for _, standings in listed for row in standings}
    ladders = sorted(found.values(), key=lambda ladder: (ladder.title, ladder.pk))
    if len(ladders) > _COLUMNS:
        return ListedBots([], [(bot, [*standings]) for bot, standings in listed])
    rows: list[tuple[Bot, list[Standing | None]]] = []
    for bot, standings in listed:
        on = {row.ladder_id: row for row in standings}
        rows.append((bot, [on.get(ladder.pk) for ladder in ladders] if on else []))
    return ListedBots(ladders, rows)


def _with_higher(standings: QuerySet[Standing]) -> QuerySet[Standing]:
    """Return standings with ``higher``, in the order of their ladders' titles."""
    better = Standing.objects.ranked().filter(
        ladder=OuterRef("ladder"), rating__gt=OuterRef("rating")
    )
    counted = better.order_by().values("ladder").annotate(count=Count("pk")).values("count")
    found = standings.select_related("ladder").annotate(higher=Coalesce(Subquery(counted), 0))
    return found.order_by("ladder__title", "pk")


def bots_of(owner: User) -> QuerySet[Bot]:
    """Return a person's bots with their tokens, ladders, and standings as in `bots_listed`."""
    bots = Bot.objects.owned_by(owner).active().with_quarantine().select_related("current")
    standings = Prefetch("standings", _with_higher(Standing.objects.all()))
    return bots.prefetch_related("tokens", "ladder_entries__ladder", standings)


class OnLadder(NamedTuple):
    """A ladder, for one bot.

    Attributes:
        ladder: the ladder.
        is_entered: whether the bot is on it.
        standing: of the bot; None before its first rated block.
    """

    ladder: Ladder
    is_entered: bool
    standing: Standing | None


def on_ladders(bot: Bot, ladders: Sequence[Ladder]) -> list[OnLadder]:
    """Return what each ladder is to a bot, as `bots_of` returns it."""
    entered = {entry.ladder_id for entry in bot.ladder_entries.all()}
    standings = {row.ladder_id: row for row in bot.standings.all()}
    return [OnLadder(each, each.pk in entered, standings.get(each.pk)) for each in ladders]


class LaddersFor(NamedTuple):
    """The ladders of some games: those that a bot is on, and those that it can enter."""

    entered: list[Ladder]
    to_enter: list[Ladder]


def ladders_for(bot: Bot, games: Collection[str]) -> LaddersFor:
    """Return the ladders of games for one bot, by their titles. Costs two queries.

    A bot can enter the ladders that play: neither paused nor set aside.
    """
    entered = set(LadderEntry.objects.filter(bot=bot).values_list("ladder", flat=True))
    found = LaddersFor([], [])
    for ladder in Ladder.objects.filter(game__in=games).order_by("title", "pk"):
        if ladder.pk in entered:
            found.entered.append(ladder)
        elif not (ladder.paused or ladder.set_aside):
            found.to_enter.append(ladder)
    return found


def last_versions(bot: Bot, count: int) -> list[BotVersion]:
    """Return the last versions of a bot, the newest first."""
    return list(bot.versions.order_by("-number")[:count])


def source_text(version: BotVersion) -> str | None:
    """Return the uploaded file of a version as text; None without a file, or if it is no text."""
    source = BotSource.objects.filter(version=version).first()
    if source is None or bytes(source.data).startswith((b"PK", MAGIC)):
        return None
    return bytes(source.data).decode("utf-8", "replace")
