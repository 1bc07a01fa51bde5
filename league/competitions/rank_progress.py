"""How far a bot is on its way to a rank on a ladder."""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Count, Exists, Max, Min, OuterRef, Q
from django.utils import timezone

from bots_sdk.statuses import UNFINISHED
from league.models import Block, Bot, Ladder, Match, Standing

_TOGETHER = timedelta(seconds=5)
"""The rounds of one placement of a hosted bot are opened within this time."""
_PROMISED_SECONDS = 60.0
"""What a placement takes on an idle machine."""
_ENOUGH_BLOCKS = 3
"""From so many on, their pace is an estimate."""
_LATELY = timedelta(minutes=10)
_NOW = timedelta(seconds=60)
_ENOUGH_MATCHES = 20
"""From so many matches within `_NOW` on, their pace is that of the league's workers."""
_PLACEMENT_SHARE = 0.5
"""While other matches wait, workers play one match of placements, then one other match."""


class RankProgress(NamedTuple):
    """The blocks of a bot's current version that count towards its rank.

    Attributes:
        needed: the number that a rank needs.
        finished: those that are over, rated or not.
        playing: those of which a match has begun.
        queued: those that are drawn and wait.
        seconds_left: about how long until all are over: at first as long as the last new hosted
            bot took on this ladder, or at the pace at which workers play now; later at the pace so
            far. None if none of them is known.
    """

    needed: int
    finished: int
    playing: int
    queued: int
    seconds_left: float | None


class BlockCounts(NamedTuple):
    """The rated blocks of a bot's current version on a ladder, without void ones.

    Attributes:
        finished: those that are over, also those of rounds that are not applied yet.
        playing: those of which a match has begun.
        queued: those that are drawn and wait.
    """

    finished: int
    playing: int
    queued: int


def count_blocks(ladder: Ladder, bot: Bot) -> BlockCounts:
    """Count the blocks of a bot's current version; all are 0 if it has none."""
    over = Q(state=Block.State.FINISHED)
    begun = Exists(Match.objects.filter(block=OuterRef("pk")).exclude(status=Match.Status.WAITING))
    blocks = Block.objects.filter(
        round__ladder=ladder, rated=True, bots__bot=bot, bots__version=bot.current_id
    ).exclude(state=Block.State.VOID)
    found = blocks.annotate(begun=begun).aggregate(
        finished=Count("pk", filter=over),
        playing=Count("pk", filter=~over & Q(begun=True)),
        queued=Count("pk", filter=~over & Q(begun=False)),
    )
    return BlockCounts(**found)


def rank_progress(ladder: Ladder, bot: Bot) -> RankProgress | None:
    """Return a bot's way to a rank; None if it has one, or no version that could play."""
    standing = Standing.objects.filter(ladder=ladder, bot=bot).select_related("bot").first()
    if bot.current is None or _is_ranked(standing, bot.current.number):
        return None
    counts = count_blocks(ladder, bot)
    drawn, now = sum(counts), timezone.now()
    is_placed_at_once = bot.kind != Bot.Kind.REMOTE
    if is_placed_at_once and drawn >= ladder.ranked_from:
        left = _seconds_left(ladder, bot, now)
    elif is_placed_at_once and drawn == 0:
        left = _usual_seconds(ladder, bot)
    else:
        left = _seconds_left_by_blocks(ladder, bot, ladder.ranked_from - counts.finished, now)
    return RankProgress(ladder.ranked_from, *counts, seconds_left=left)


def _is_ranked(standing: Standing | None, version: int) -> bool:
    if standing is None or standing.is_provisional:
        return False
    return (standing.fitted_version or standing.version) == version


def _usual_seconds(ladder: Ladder, bot: Bot) -> float | None:
    """Return how long a placement takes: as long as the last one, else at the workers' pace.

    None if there was no placement of another hosted bot, and workers hardly play.
    """
    hosted = ladder.rounds.applied().filter(placed__kind=Bot.Kind.HOSTED).exclude(placed=bot)
    last = hosted.order_by("-applied_number").first()
    if last is None:
        return _seconds_at_workers_pace(ladder)
    together = hosted.filter(placed=last.placed_id, opened_at__gt=last.opened_at - _TOGETHER)
    times = together.aggregate(since=Min("opened_at"), until=Max("applied_at"))
    return float((times["until"] - times["since"]).total_seconds())


def _seconds_at_workers_pace(ladder: Ladder) -> float | None:
    now = timezone.now()
    lately = Match.objects.finished().filter(finished_at__gt=now - _NOW, live=False)
    found = lately.aggregate(count=Count("pk"), since=Min("finished_at"))
    if found["count"] < _ENOUGH_MATCHES:
        return None
    seconds_a_match = (now - found["since"]).total_seconds() / found["count"]
    return float(ladder.ranked_from * ladder.seats * seconds_a_match / _PLACEMENT_SHARE)


def _seconds_left(ladder: Ladder, bot: Bot, now: datetime) -> float | None:
    """Return how long a placement still takes.

    The first matches come slowly and in groups. So the estimate begins with the time of the last
    placement, and the pace of this one counts more with each match.
    """
    opened = ladder.rounds.open().filter(placed=bot).aggregate(first=Min("opened_at"))["first"]
    if opened is None:
        return None
    # The placement's rounds that are applied already count too.
    rounds = ladder.rounds.filter(placed=bot, opened_at__gt=opened - _TOGETHER)
    since = rounds.aggregate(first=Min("opened_at"))["first"]
    counts = Match.objects.filter(block__round__in=rounds).aggregate(
        left=Count("pk", filter=Q(status__in=UNFINISHED)),
        over=Count("pk", filter=~Q(status__in=UNFINISHED)),
        last=Max("finished_at"),
    )
    left, over = counts["left"], counts["over"]
    spent, usual = float((now - since).total_seconds()), _usual_seconds(ladder, bot)
    if usual is None and not over:
        return None
    at_first = max((_PROMISED_SECONDS if usual is None else usual) - spent, 1.0)
    if not over:
        return at_first
    weight = over / (over + left)
    by_pace = _left_at_pace(since, counts["last"] or now, now, over=over, left=left)
    return float(weight * by_pace + (1 - weight) * at_first)


def _seconds_left_by_blocks(ladder: Ladder, bot: Bot, left: int, now: datetime) -> float | None:
    """Return how long a bot whose blocks are drawn bit by bit needs, at its pace of late."""
    rounds = ladder.rounds.filter(placed=bot, opened_at__gt=now - _LATELY)
    since = rounds.aggregate(first=Min("opened_at"))["first"]
    blocks = Block.objects.filter(round__in=rounds, bots__bot=bot, bots__version=bot.current_id)
    finished = blocks.filter(state=Block.State.FINISHED)
    over = finished.count()
    if over < _ENOUGH_BLOCKS:
        return None
    last = finished.aggregate(last=Max("matches__finished_at"))["last"]
    return _left_at_pace(since, last or now, now, over=over, left=left)


def _left_at_pace(since: datetime, last: datetime, now: datetime, *, over: int, left: int) -> float:
    """Return the seconds that the rest needs at the pace so far.

    The pace is that at the last end, not that of now: it would fall, and the estimate rise, until
    the next end. An end that comes late doesn't shorten the estimate further.

    Args:
        since: the start.
        last: when the last one ended.
        now: the present time.
        over: how many have ended.
        left: how many have not.
    """
    pace = (last - since).total_seconds() / over
    return max(pace * left - min((now - last).total_seconds(), pace), 0.0)
