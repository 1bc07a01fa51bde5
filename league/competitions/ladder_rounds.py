"""Drawing a ladder's own rounds: when the next one opens, and which bots are in it.

Rounds overlap: the next one opens when no more matches of those before wait for a worker than are
being played, so that no worker that becomes free finds nothing to do; a little earlier if others
wait too, or a ladder of few bots would come short. They are applied one after the other all the
same, each from the ratings that the one before it left.
"""

import secrets
from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from engine.deals import SEED_BYTES
from engine.pairing import LadderEntrant, Table, ladder_round
from engine.rating import elo
from league.bots import ONLINE_FOR
from league.competitions.rounds import open_round
from league.models import (
    Block,
    BlockBot,
    Bot,
    Ladder,
    Match,
    MatchSeat,
    Round,
    Standing,
    TableCount,
)
from league.play.match_queue import AHEAD

SETTLED_BLOCKS = 40
"""House bots alone on a ladder play up to here; then they rest until somebody comes."""

MAX_OPEN_ROUNDS = 50
"""Of a ladder's own that are not applied, so that a match that lasts holds up no more than these.

A slow match with remote bots may last as long as many rounds of bots that run here."""

_UNFINISHED = (Match.Status.WAITING, Match.Status.PLAYING)


class UnderWay(NamedTuple):
    """What is open of a ladder's own rounds.

    Attributes:
        rounds: that are not applied.
        waiting: matches of bots that run here, which no worker has taken yet.
        playing: such matches that a worker plays.
        others_wait: whether matches that are not of these rounds wait for a worker, too.
        last: when the last of its rounds was applied; None before the first.
    """

    rounds: int
    waiting: int
    playing: int
    others_wait: bool
    last: datetime | None

    @property
    def has_work(self) -> bool:
        """Whether enough is left for the workers: for each that plays its next match.

        Where others wait, it is as many as the queue takes of each.
        """
        return self.waiting > max(self.playing, AHEAD if self.others_wait else 0)

    def rests_until(self, pause: float) -> datetime | None:
        """Return when a pause after the last round is over; None where none is to be kept."""
        return self.last + timedelta(seconds=pause) if self.last and pause else None


def ladders_to_pair() -> list[int]:
    """Return the ids of ladders whose next round may be opened now."""
    ladders = list(Ladder.objects.filter(paused=False))
    open_now, now = under_way(ladders), timezone.now()
    return [
        ladder.pk
        for ladder in ladders
        if _may_open(open_now[ladder.pk], ladder.round_pause_seconds, now)
    ]


def open_ladder_round(ladder_id: int) -> Round | None:
    """Open a ladder's next round, of the bots that can play now; None if there is nothing to play.

    May be called any number of times, at once too: under the ladder's lock one opens the round.
    """
    with transaction.atomic():
        ladder = Ladder.objects.select_for_update().get(pk=ladder_id)
        if ladder.paused:
            return None
        candidates = _candidates(ladder)
        house_alone = all(one.owner is None for one in candidates)
        known = all(one.blocks >= ladder.settled_blocks for one in candidates)
        pause = pause_of(ladder, is_quiet=house_alone or known)
        if not _may_open(under_way([ladder])[ladder_id], pause, timezone.now()):
            return None
        if house_alone and all(one.blocks >= SETTLED_BLOCKS for one in candidates):
            return None
        seed = secrets.token_bytes(SEED_BYTES)
        # Only to be rated: those who could sit with their owner's other bots alone wait.
        tables = ladder_round(
            candidates, ladder.seats, seed, unrated=False, random_percent=ladder.random_percent
        )
        if not tables:
            return None
        played = _count_tables(ladder, tables) if ladder.seats % 2 else None
        return open_round(ladder=ladder, tables=tables, seed=seed, played=played)


def under_way(ladders: Collection[Ladder]) -> dict[int, UnderWay]:
    """Return what is open of the ladders' own rounds, by ladder's id. Costs three queries."""
    ids = [ladder.pk for ladder in ladders]
    own = Round.objects.filter(tournament=None).order_by()
    unapplied = own.filter(ladder__in=ids, applied_at=None).values("ladder")
    opened = dict(unapplied.annotate(count=Count("pk")).values_list("ladder", "count"))
    waiting, playing = Counter[int](), Counter[int]()
    all_waiting = 0
    unfinished = Match.objects.filter(status__in=_UNFINISHED, live=False).order_by()
    of = ("block__round__ladder", "block__round__tournament", "status")
    for ladder, tournament, status, count in unfinished.values_list(*of).annotate(Count("pk")):
        all_waiting += count * (status == Match.Status.WAITING)
        if tournament is None and ladder is not None:
            (waiting if status == Match.Status.WAITING else playing)[ladder] += count
    applied = own.filter(ladder=OuterRef("pk"), applied_at__isnull=False).order_by("-number")
    last = Ladder.objects.annotate(last=Subquery(applied.values("applied_at")[:1]))
    return {
        ladder: UnderWay(
            rounds=opened.get(ladder, 0),
            waiting=waiting[ladder],
            playing=playing[ladder],
            others_wait=all_waiting > waiting[ladder],
            last=applied_at,
        )
        for ladder, applied_at in last.filter(pk__in=ids).values_list("pk", "last")
    }


def pause_of(ladder: Ladder, *, is_quiet: bool) -> float:
    """Return the seconds to wait after a round.

    Args:
        ladder: of the round.
        is_quiet: whether only house bots would play, or all who can have played enough.
    """
    own: float = ladder.round_pause_seconds
    return max(own, ladder.idle_pause_seconds) if is_quiet else own


def _may_open(open_now: UnderWay, pause: float, now: datetime) -> bool:
    """Return whether the next round may be opened: a pause begins when all rounds are applied."""
    if open_now.rounds >= MAX_OPEN_ROUNDS or open_now.has_work:
        return False
    until = open_now.rests_until(pause)
    return not pause or (not open_now.rounds and (until is None or until <= now))


def bots_to_draw(ladder: Ladder) -> QuerySet[Bot]:
    """Return the bots on a ladder that can play now: hosted ones, and remote ones online."""
    online = Q(seen_at__gte=timezone.now() - ONLINE_FOR)
    return Bot.objects.filter(
        ~Q(kind=Bot.Kind.REMOTE) | online,
        ladder_entries__ladder=ladder,
        current__isnull=False,
        paused=False,
    )


def bots_at_live_tables(ladder: Ladder) -> set[int]:
    """Return the ids of the bots that have matches in play with remote ones, in own rounds."""
    return set(
        MatchSeat.objects.filter(
            match__live=True,
            match__status__in=_UNFINISHED,
            match__block__round__ladder=ladder,
            match__block__round__tournament=None,
        )
        .order_by()
        .values_list("bot", flat=True)
        .distinct()
    )


def remote_bots_wait(online: Collection[int], busy: Collection[int]) -> bool:
    """Return whether the remote bots that are free wait for others: until half of them are.

    Drawn one by one, as they become free, they would meet hardly anybody but bots that run here;
    waiting for the last they would all be as slow as the slowest.

    Args:
        online: ids of the remote bots that can play.
        busy: ids of bots in matches in play with remote ones.
    """
    return 2 * len(set(online) - set(busy)) < len(online)


def _count_tables(ladder: Ladder, tables: Sequence[Table]) -> dict[tuple[int, ...], int]:
    """Count blocks for the tables of a round; return how many each had before.

    Call it under the ladder's lock.
    """
    key = {table.bots: ",".join(map(str, table.bots)) for table in tables}
    before = dict(
        ladder.table_counts.filter(bots__in=key.values()).values_list("bots", "blocks"),
    )
    now = Counter(key[table.bots] for table in tables)
    TableCount.objects.bulk_create(
        [
            TableCount(ladder=ladder, bots=bots, blocks=before.get(bots, 0) + more)
            for bots, more in now.items()
        ],
        update_conflicts=True,
        unique_fields=["ladder", "bots"],
        update_fields=["blocks"],
    )
    return {bots: before.get(of, 0) for bots, of in key.items()}


def _candidates(ladder: Ladder) -> list[LadderEntrant]:
    """Return who may be drawn now; blocks in rounds that are not applied yet count as played."""
    bots = list(bots_to_draw(ladder).values_list("pk", "owner", "kind"))
    online = {bot for bot, _, kind in bots if kind == Bot.Kind.REMOTE}
    if online:
        busy = bots_at_live_tables(ladder)
        left_out = online if remote_bots_wait(online, busy) else online & busy
        bots = [each for each in bots if each[0] not in left_out]
    standings = {row.bot_id: row for row in ladder.standings.all()}
    fresh = Standing(rating=elo.START, blocks=0)
    drawn = _blocks_drawn(ladder)
    return [
        LadderEntrant(bot, owner, row.rating, row.blocks + drawn[bot], ladder.max_blocks_per_round)
        for bot, owner, _ in bots
        if (row := standings.get(bot, fresh))
    ]


def _blocks_drawn(ladder: Ladder) -> Counter[int]:
    """Return by bot how many blocks it is drawn for that are to be rated, and aren't yet."""
    seats = (
        BlockBot.objects.filter(
            block__round__ladder=ladder, block__round__applied_at=None, block__rated=True
        )
        .exclude(block__state=Block.State.VOID)
        .order_by()
        .values("bot")
        .annotate(count=Count("pk"))
    )
    return Counter(dict(seats.values_list("bot", "count")))
