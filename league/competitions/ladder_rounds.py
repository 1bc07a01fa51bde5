"""A ladder's own rounds: when the next one opens, and which bots it draws.

Rounds overlap. The next round opens when the matches of open rounds that wait for a worker are no
more than those being played, so that no worker runs out of matches. It opens a little earlier if
other matches wait too, so that a ladder of few bots gets its share. A round is applied when its own
blocks are over, from the ratings at that time; it waits for no other round.
"""

import math
import secrets
from collections import Counter
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import models, transaction
from django.db.models import Count, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from bots_sdk.statuses import UNFINISHED
from engine.deals import SEED_BYTES
from engine.pairing import LadderEntrant, ladder_round
from engine.rating import elo
from league.competitions.rounds import open_round, played_before
from league.models import Block, BlockBot, Bot, Ladder, Match, MatchSeat, Round, Standing
from league.models.bots import BotQuerySet, just_online
from league.models.built_once import Given, built_once
from league.models.rounds import RoundQuerySet
from league.play.match_queue import AHEAD

SETTLED_BLOCKS = 40
"""If only house bots are on a ladder, they play so many blocks and then wait for other bots."""

MAX_OPEN_ROUNDS = 50
"""The most open rounds of a ladder's own. More of them mean that matches are stuck.

Usually few are open: a slow match with remote bots keeps only its own round open."""

PLACEMENT_FIRST = timedelta(minutes=2)
"""A ladder's own rounds wait for placement, but no longer than this after their last one: new bots
may come without end."""


class OpenWork(NamedTuple):
    """The open rounds of a ladder's own, and their matches that workers play.

    Attributes:
        rounds: number of open rounds that are not set aside, without those of placement.
        waiting: hosted matches that no worker has taken yet.
        playing: hosted matches that a worker plays.
        placing: whether placement has matches that wait, and the last own round is recent.
        others_wait: whether matches outside these rounds wait for a worker too.
        last: when the ladder's last own round was applied; None before the first.
    """

    rounds: int
    waiting: int
    playing: int
    placing: bool
    others_wait: bool
    last: datetime | None

    @property
    def is_enough(self) -> bool:
        """Whether each busy worker finds a next match.

        If other matches wait, more must be left: as many as the queue takes from each ladder.
        """
        return self.placing or self.waiting > max(self.playing, AHEAD if self.others_wait else 0)

    def pause_ends(self, pause: float) -> datetime | None:
        """Return the end of a finite pause after the last round; None if there is no pause."""
        return self.last + timedelta(seconds=pause) if self.last and pause else None


def ladders_to_pair() -> list[int]:
    """Return the ids of ladders whose next own round may open now."""
    ladders = list(Ladder.objects.active())
    work, now = open_work(), timezone.now()
    return [
        ladder.pk
        for ladder in ladders
        if _may_open(work[ladder.pk], ladder.round_pause_seconds, now)
        # A quiet ladder would be locked and read in each tick for nothing.
        and _may_open(work[ladder.pk], _shortest_pause(ladder), now)
    ]


def open_ladder_round(ladder_id: int) -> Round | None:
    """Open a ladder's next own round with the bots that can play now; None if none may open.

    Safe to call any number of times, also in parallel: the ladder's lock lets one call open it, and
    a call that doesn't get the lock does nothing.
    """
    with transaction.atomic():
        ladder = Ladder.objects.lock_free(pk=ladder_id)
        if ladder is None or ladder.paused:
            return None
        entrants = _entrants(ladder)
        house_alone = all(one.owner is None for one in entrants)
        fewest = min((one.blocks for one in entrants), default=0)
        came = not _come_online(ladder).isdisjoint(one.bot for one in entrants)
        pause = _pause(ladder, house_alone, fewest, came_online=came)
        if not _may_open(open_work()[ladder_id], pause, timezone.now()):
            return None
        seed = secrets.token_bytes(SEED_BYTES)
        # Rated tables only: a bot that could sit only with its owner's other bots waits.
        tables = ladder_round(
            entrants, ladder.seats, seed, allow_unrated=False, random_percent=ladder.random_percent
        )
        if not tables:
            return None
        played = played_before(ladder, tables) if ladder.seats % 2 else None
        return open_round(ladder=ladder, tables=tables, seed=seed, played=played)


def open_work() -> dict[int, OpenWork]:
    """Return the open work of each ladder's own rounds, by ladder's id. Costs three queries."""
    opened: dict[int, int] = dict(_open_rounds())
    waiting, playing, placing = Counter[int](), Counter[int](), Counter[int]()
    all_waiting = 0
    for ladder, tournament, placed, status, count in _unfinished_matches():
        all_waiting += count * (status == Match.Status.WAITING)
        if placed is not None and ladder is not None:
            placing[ladder] += count * (status == Match.Status.WAITING)
        elif tournament is None and ladder is not None:
            (waiting if status == Match.Status.WAITING else playing)[ladder] += count
    recent = timezone.now() - PLACEMENT_FIRST
    return {
        ladder: OpenWork(
            rounds=opened.get(ladder, 0),
            waiting=waiting[ladder],
            playing=playing[ladder],
            placing=placing[ladder] > 0 and opened_at is not None and opened_at > recent,
            others_wait=all_waiting > waiting[ladder],
            last=applied_at,
        )
        for ladder, applied_at, opened_at in _last_rounds()
    }


def _own_rounds() -> RoundQuerySet:
    """Return the rounds that ladders draw themselves, without those of placement."""
    return Round.objects.drawn_by_ladder().filter(placed=None).order_by()


@built_once
def _open_rounds() -> QuerySet[Round, tuple[Any, ...]]:
    """Return the number of each ladder's own open rounds."""
    rounds = _own_rounds().open().filter(set_aside="").values("ladder")
    return rounds.annotate(count=Count("pk")).values_list("ladder", "count")


@built_once
def _unfinished_matches() -> QuerySet[Match, tuple[Any, ...]]:
    """Return the number of hosted matches by ladder, tournament, placed bot and status."""
    of = ("block__round__ladder", "block__round__tournament", "block__round__placed", "status")
    unfinished = Match.objects.unfinished().hosted().order_by()
    return unfinished.values_list(*of).annotate(Count("pk"))


@built_once
def _last_rounds() -> QuerySet[Ladder, tuple[Any, ...]]:
    """Return when each ladder's last own round was applied, and when the last one was opened."""
    rounds = _own_rounds().filter(ladder=OuterRef("pk"))
    applied = rounds.applied().order_by("-applied_number").values("applied_at")
    latest = rounds.order_by("-number").values("opened_at")
    return Ladder.objects.order_by().values_list("pk", Subquery(applied[:1]), Subquery(latest[:1]))


def pause_of(ladder: Ladder, *, is_quiet: bool) -> float:
    """Return the seconds to wait after a round.

    Args:
        ladder: of the round.
        is_quiet: whether only house bots would play, or all bots that can play are settled.
    """
    own: float = ladder.round_pause_seconds
    return max(own, ladder.idle_pause_seconds) if is_quiet else own


def _pause(ladder: Ladder, house_alone: bool, fewest_blocks: int, *, came_online: bool) -> float:
    """Return the seconds to wait after a round; infinite if no round opens until a bot enters.

    Args:
        ladder: of the round.
        house_alone: whether only house bots can play.
        fewest_blocks: of the bots that can play.
        came_online: whether a remote bot has just come online.
    """
    if house_alone and fewest_blocks >= SETTLED_BLOCKS:
        return math.inf
    is_settled = fewest_blocks >= ladder.settled_blocks and not came_online
    return pause_of(ladder, is_quiet=house_alone or is_settled)


def _shortest_pause(ladder: Ladder) -> float:
    """Return at most the seconds that `open_ladder_round` will wait after a round.

    It waits longer if blocks of open rounds settle the bots, or if the remote bots are playing.
    """
    [(guests, fewest, came)] = _field(ladder=ladder.pk) or [(0, 0, 0)]
    return _pause(ladder, house_alone=not guests, fewest_blocks=fewest, came_online=came > 0)


@built_once
def _field() -> QuerySet[Bot, tuple[Any, ...]]:
    """Return a ladder's bots that can play: how many have owners, the fewest blocks, who came.

    The last number is that of remote bots which have just come online.
    """
    ladder = Given("ladder", models.BigIntegerField())
    blocks = Standing.objects.filter(ladder=ladder, bot=OuterRef("pk")).values("blocks")
    playing = Bot.objects.playable().online().filter(ladder_entries__ladder=ladder).order_by()
    of_ladder = playing.values("ladder_entries__ladder")
    return of_ladder.annotate(
        guests=Count("pk", filter=Q(owner__isnull=False)),
        fewest=Min(Coalesce(Subquery(blocks), 0)),
        came=Count("pk", filter=just_online()),
    ).values_list("guests", "fewest", "came")


def _may_open(work: OpenWork, pause: float, now: datetime) -> bool:
    """Return whether the next round may open; a pause begins once all rounds are applied."""
    if work.rounds >= MAX_OPEN_ROUNDS or work.is_enough or pause == math.inf:
        return False
    until = work.pause_ends(pause)
    return not pause or (not work.rounds and (until is None or until <= now))


def bots_to_draw(ladder: Ladder) -> BotQuerySet:
    """Return the bots on a ladder that can play now: playable, and online if remote."""
    return Bot.objects.playable().online().filter(ladder_entries__ladder=ladder)


def bots_in_live_matches(ladder: Ladder) -> set[int]:
    """Return the ids of the bots in live matches of a ladder's own rounds."""
    return set(
        MatchSeat.objects.filter(
            match__live=True,
            match__status__in=UNFINISHED,
            match__block__round__ladder=ladder,
            match__block__round__tournament=None,
        )
        .order_by()
        .values_list("bot", flat=True)
        .distinct()
    )


def remote_bots_wait(online: Collection[int], playing: Collection[int]) -> bool:
    """Return whether free remote bots wait for others: until at least half of them are free.

    If each were drawn once it is free, it would meet almost only house and hosted bots. If each
    waited for the last one, all would be as slow as the slowest.

    Args:
        online: ids of the remote bots that can play.
        playing: ids of the bots in live matches.
    """
    return 2 * len(set(online) - set(playing)) < len(online)


def _come_online(ladder: Ladder) -> set[int]:
    """Return the ids of a ladder's remote bots that have just come online."""
    return set(bots_to_draw(ladder).filter(just_online()).values_list("pk", flat=True))


def _entrants(ladder: Ladder) -> list[LadderEntrant]:
    """Return the bots that the next round may draw; blocks of open rounds count as played."""
    bots = list(bots_to_draw(ladder).values_list("pk", "owner", "kind"))
    online = {bot for bot, _, kind in bots if kind == Bot.Kind.REMOTE}
    if online:
        # A bot that is placed plays enough, and nobody waits for it.
        placed = set(
            ladder.rounds.open().filter(placed__in=online).values_list("placed", flat=True)
        )
        bots = [each for each in bots if each[0] not in placed]
        online -= placed
        playing = bots_in_live_matches(ladder)
        left_out = online & playing
        if remote_bots_wait(online, playing):
            # One that has just come online plays at once, against the bots that workers run.
            left_out |= online - _come_online(ladder)
        bots = [each for each in bots if each[0] not in left_out]
    rows = ladder.standings.values_list("bot", "rating", "blocks")
    standings = {bot: (rating, blocks) for bot, rating, blocks in rows}
    drawn = _blocks_drawn(ladder)
    entrants = []
    for bot, owner, _ in bots:
        rating, blocks = standings.get(bot, (elo.START, 0))
        entrants.append(
            LadderEntrant(bot, owner, rating, blocks + drawn[bot], ladder.max_blocks_per_round)
        )
    return entrants


def _blocks_drawn(ladder: Ladder) -> Counter[int]:
    """Return by bot the number of its rated blocks in open rounds, without void ones."""
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
