"""How far a bot is on its way to a rank on a ladder."""

from collections import Counter
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Avg, Count, Exists, F, Max, Min, OuterRef, Q, QuerySet
from django.utils import timezone

from bots_sdk.statuses import UNFINISHED
from league.competitions.ladder_rounds import bots_to_draw
from league.competitions.placement import MAX_PLACED, bots_placed_next
from league.models import Block, Bot, Ladder, Match, Round, Standing

_TOGETHER = timedelta(seconds=5)
"""The rounds of one placement of a hosted bot are opened within this time."""
_HOSTED_SECONDS = 25.0
"""Length of the placement of a hosted bot on an idle machine (`benchmarks/placement.py`)."""
_REMOTE_SECONDS = 50.0
"""Length of the placement of a remote bot that answers at once: 36 to 65 s, by the game."""
_FIRST_MATCH_SECONDS = 5.0
"""The wait for the first match on an idle machine."""
_ENOUGH_BLOCKS = 3
"""From so many on, their pace is an estimate."""
_NEWEST_ROUNDS = 5
"""Number of rounds whose matches show how long a match takes now."""
_NEWEST_BLOCKS = 100
"""Only so many of their blocks count, as a round of a large ladder has tens of thousands."""
_MAX_CHANGE = 5.0
_LATELY = timedelta(minutes=10)
_NOW = timedelta(seconds=60)


class RankProgress(NamedTuple):
    """The blocks of a bot's current version that count towards its rank.

    Placements of other bots draw the bot too, so it may get more blocks than its rank needs. Of
    these only as many count as it needs: first those that are over, then those in play.

    Attributes:
        needed: the number that a rank needs.
        finished: those that are over, rated or not.
        playing: those of which a match has begun.
        queued: those that are drawn and wait.
        seconds_left: about how long until all are over. At first: at the pace of the last new bot
            of this kind on this ladder; without one, at the pace at which workers play now; else
            at the pace of an idle machine. Other placements share the workers, so their matches
            count too. Later: at the pace so far. None if the bot gets no matches now.
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
    begun = Exists(Match.objects.begun().filter(block=OuterRef("pk")))
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
    seconds_left = _estimate(ladder, bot, counts)
    needed = left = ladder.ranked_from
    finished = min(counts.finished, left)
    left -= finished
    playing = min(counts.playing, left)
    left -= playing
    rounded = None if seconds_left is None else round(seconds_left, 1)
    return RankProgress(needed, finished, playing, min(counts.queued, left), rounded)


def usual_seconds(ladder: Ladder, bot: Bot, since: datetime | None = None) -> float:
    """Return how long the placement of a bot usually takes, from its first block to its rank.

    For a hosted bot, the estimate follows from the pace of the last placement of another hosted
    bot. It is scaled by the number of matches, since workers play the matches of all placements in
    turn, and by the length of a match now, since opponents differ. Before the first placement it
    follows from the pace of the workers, and is at least the figure for an idle machine. The
    figure for remote bots is fixed. It assumes that the bot answers at once, because other
    programs' answers show nothing about this one.

    Args:
        ladder: the ladder.
        bot: the bot.
        since: when the placement began; None if it has not.
    """
    if bot.kind == Bot.Kind.REMOTE:
        return _REMOTE_SECONDS
    own = ladder.ranked_from * ladder.seats
    matches = own + _matches_in_turn(ladder, bot, own, since)
    last = _last_placement(ladder, bot)
    if last is None:
        at_rest = _HOSTED_SECONDS * matches / own
        return max(at_rest, _seconds_at_workers_pace(matches))
    times = last.aggregate(since=Min("opened_at"), until=Max("applied_at"))
    ended = Match.objects.finished().filter(finished_at__range=(times["since"], times["until"]))
    played = ended.hosted().filter(block__round__placed__isnull=False).count()
    seconds = float((times["until"] - times["since"]).total_seconds()) * matches / (played or own)
    return seconds * _length_now(ladder, last)


def _length_now(ladder: Ladder, last: QuerySet[Round]) -> float:
    """Return how many times as long a match takes now as in the last placement."""
    newest = ladder.rounds.applied().order_by("-applied_number")[:_NEWEST_ROUNDS]
    now, then = (
        Match.objects.finished()
        .hosted()
        .filter(block__in=blocks.order_by("-pk").values("pk")[:_NEWEST_BLOCKS])
        .aggregate(each=Avg(F("finished_at") - F("started_at")))["each"]
        for blocks in (Block.objects.filter(round__in=each.values("pk")) for each in (newest, last))
    )
    if not now or not then:
        return 1.0
    return float(min(max(now / then, 1 / _MAX_CHANGE), _MAX_CHANGE))


def seconds_to_first_match(ladder: Ladder, bot: Bot) -> float:
    """Return how long after its blocks are drawn a bot's first match usually begins."""
    last = None if bot.kind == Bot.Kind.REMOTE else _last_placement(ladder, bot)
    if last is None:
        return _FIRST_MATCH_SECONDS
    opened = last.aggregate(since=Min("opened_at"))["since"]
    begun = Match.objects.filter(block__round__in=last).aggregate(at=Min("started_at"))["at"]
    return _FIRST_MATCH_SECONDS if begun is None else float((begun - opened).total_seconds())


def _estimate(ladder: Ladder, bot: Bot, counts: BlockCounts) -> float | None:
    """Return about how long it takes until a bot has the blocks for a rank."""
    needed, now = ladder.ranked_from, timezone.now()
    left = max(needed - counts.finished, 0)
    if not left:
        return 0.0
    if not counts.playing + counts.queued and not bots_to_draw(ladder).filter(pk=bot.pk).exists():
        return None
    if bot.kind != Bot.Kind.REMOTE and sum(counts) >= needed:
        found = _seconds_left(ladder, bot, now)
    elif sum(counts):
        found = _seconds_left_by_blocks(ladder, bot, left, now)
    else:
        found = None
    return usual_seconds(ladder, bot) * left / needed if found is None else found


def _last_placement(ladder: Ladder, bot: Bot) -> QuerySet[Round] | None:
    """Return the rated rounds of the last placement of another hosted bot; None without one."""
    hosted = ladder.rounds.applied().filter(placed__kind=Bot.Kind.HOSTED).exclude(placed=bot)
    last = hosted.order_by("-applied_number").first()
    if last is None:
        return None
    return hosted.filter(placed=last.placed_id, opened_at__gt=last.opened_at - _TOGETHER)


def _is_ranked(standing: Standing | None, version: int) -> bool:
    if standing is None or standing.is_provisional:
        return False
    return (standing.fitted_version or standing.version) == version


def _matches_in_turn(ladder: Ladder, bot: Bot, own: int, since: datetime | None) -> int:
    """Return how many matches of other placements workers play in turn with those of a bot.

    Args:
        ladder: the ladder on which the bot is placed. There, its owner's other bots wait for it.
        bot: the bot.
        own: the number of its matches. Of each other placement at most as many come in between.
        since: when its placement began: matches that ended later count too.
    """
    placing = (
        Match.objects.hosted()
        .filter(block__round__placed__isnull=False)
        .exclude(block__round__ladder=ladder, block__round__placed__owner=bot.owner_id)
    )
    parts = [placing.filter(status__in=UNFINISHED)]
    if since is not None:
        parts.append(placing.finished().filter(finished_at__gt=since))
    matches = Counter[tuple[int, int]]()
    for part in parts:
        counted = part.order_by().values_list("block__round__ladder", "block__round__placed")
        for ladder_id, placed, count in counted.annotate(count=Count("pk")):
            matches[ladder_id, placed] += count
    for other, blocks in bots_placed_next(ladder):
        if other.owner_id != bot.owner_id and other.kind != Bot.Kind.REMOTE:
            matches[ladder.pk, other.pk] += blocks * ladder.seats
    largest = sorted((min(own, count) for count in matches.values()), reverse=True)
    return sum(largest[: MAX_PLACED - 1])


def _seconds_at_workers_pace(matches: int) -> float:
    """Return how long placements of so many matches take at the pace of the last minute.

    The result is 0 if no match ended in that minute.

    Busy workers show their pace by the number of matches. Workers that mostly wait play fewer
    matches than they could, so there the matches' own time counts.
    """
    now = timezone.now()
    lately = Match.objects.finished().filter(finished_at__gt=now - _NOW, live=False)
    found = lately.aggregate(
        count=Count("pk"), since=Min("started_at"), each=Avg(F("finished_at") - F("started_at"))
    )
    if not found["count"]:
        return 0.0
    seconds_a_match = min(
        found["each"].total_seconds(), (now - found["since"]).total_seconds() / found["count"]
    )
    # While other matches wait, workers play one match of placements, then one other match.
    waiting = Match.objects.unfinished().hosted().waiting().filter(block__round__placed=None)
    others = waiting.order_by()[:matches].count()
    return float((matches + others) * seconds_a_match)


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
    spent = float((now - since).total_seconds())
    at_first = max(usual_seconds(ladder, bot, since) - spent, 1.0)
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
