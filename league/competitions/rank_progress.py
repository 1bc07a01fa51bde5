"""How far a bot is on its way to a rank on a ladder."""

from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Min, Q
from django.utils import timezone

from bots_sdk.statuses import UNFINISHED
from league.models import Block, Bot, Ladder, Match, Standing


class RankProgress(NamedTuple):
    """The blocks of a bot's current version that count towards its rank.

    Attributes:
        needed: the number that a rank needs.
        finished: those that are over, rated or not.
        playing: those of which a match has begun.
        queued: those that are drawn and wait.
        seconds_left: about how long until all are over, at the pace so far. None if it is not
            known: no match is over yet, or some blocks are not drawn.
    """

    needed: int
    finished: int
    playing: int
    queued: int
    seconds_left: float | None


def rank_progress(ladder: Ladder, bot: Bot) -> RankProgress | None:
    """Return a bot's way to a rank; None if it has one, or no version that could play."""
    standing = Standing.objects.filter(ladder=ladder, bot=bot).select_related("bot").first()
    if bot.current is None or _is_ranked(standing, bot.current.number):
        return None
    blocks = Block.objects.filter(
        round__ladder=ladder, rated=True, bots__bot=bot, bots__version=bot.current_id
    ).exclude(state=Block.State.VOID)
    begun = Count("matches", filter=~Q(matches__status=Match.Status.WAITING))
    states = list(blocks.annotate(begun=begun).values_list("state", "begun"))
    finished = sum(state == Block.State.FINISHED for state, _ in states)
    playing = sum(state != Block.State.FINISHED and begun > 0 for state, begun in states)
    drawn_all = len(states) >= ladder.ranked_from
    return RankProgress(
        needed=ladder.ranked_from,
        finished=finished,
        playing=playing,
        queued=len(states) - finished - playing,
        seconds_left=_seconds_left(ladder, bot, timezone.now()) if drawn_all else None,
    )


def _is_ranked(standing: Standing | None, version: int) -> bool:
    if standing is None or standing.is_provisional:
        return False
    return (standing.fitted_version or standing.version) == version


def _seconds_left(ladder: Ladder, bot: Bot, now: datetime) -> float | None:
    """Return how long a placement still takes, at the pace of its matches so far."""
    placement = ladder.rounds.open().filter(placed=bot)
    since = placement.aggregate(since=Min("opened_at"))["since"]
    if since is None:
        return None
    of_placement = Match.objects.filter(
        block__round__placed=bot, block__round__ladder=ladder, block__round__opened_at__gte=since
    )
    counts = of_placement.aggregate(
        left=Count("pk", filter=Q(status__in=UNFINISHED)),
        over=Count("pk", filter=~Q(status__in=UNFINISHED)),
    )
    if not counts["over"]:
        return None
    return float((now - since).total_seconds() * counts["left"] / counts["over"])
