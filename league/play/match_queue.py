"""The match queue: which due matches the tick queues next, in fair shares.

The queue is short, so that a new match waits for few others. Each ladder, each tournament and the
unrated matches have equal shares of it and take turns. The shares grow with the number of workers
that play, so that no worker runs out of matches before the next tick. While rated matches wait,
unrated matches and comparisons also hold no more than their share of the workers.

The first blocks of new bots (placement) and challenges have a queue of their own, which workers
empty first. Each of these bots is a group, and so is each owner of challenges. These groups take
turns. While other matches wait, they hold at most half of the workers.
"""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from itertools import chain, zip_longest
from random import Random
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import BooleanField, Count, ExpressionWrapper, Q, QuerySet
from django.utils import timezone

from league import queueing
from league.models import Match
from league.models.built_once import built_once
from league.models.matches import MatchQuerySet

REQUEUE = timedelta(seconds=60)
"""After this time the tick checks that a queued match still waits in the queue."""
AHEAD = 8
"""Matches of each group in the queue, beyond `AHEAD_PER_WORKER` for each match in play."""
AHEAD_PER_WORKER = 2
MAX_COMPARED = 2
"""Matches of comparisons, queued or in play, while a tournament has matches to play."""
_LOT = Random()
MAX_LIVE = 200
"""Live matches queued at a time."""


class _Group(NamedTuple):
    """Hosted matches that share one part of the queue.

    Attributes:
        ladder: id of the ladder that rates them; None for unrated matches.
        tournament: id of their tournament, or None.
        swap: whether they belong to comparisons.
        due: number of matches to queue.
        queued: number of matches that are queued and wait for a worker.
        playing: number of matches that a worker plays.
        placed: id of the bot whose first blocks they are; None for other matches.
        challenger: id of the owner whose challenges they are; None for other matches.
    """

    ladder: int | None
    tournament: int | None
    swap: bool
    due: int
    queued: int
    playing: int
    placed: int | None = None
    challenger: int | None = None

    @property
    def is_urgent(self) -> bool:
        """Whether workers take its matches before others."""
        return self.placed is not None or self.challenger is not None

    @property
    def is_rated(self) -> bool:
        """Whether its matches change ratings."""
        return self.ladder is not None and not self.swap

    def matches(self, unfinished: MatchQuerySet) -> MatchQuerySet:
        """Keep the matches of the group."""
        if self.swap:
            return unfinished.of_comparisons()
        if self.challenger is not None:
            return unfinished.filter(challenge__bot__owner=self.challenger)
        if self.ladder is None:
            return unfinished.alone()
        return unfinished.filter(
            block__round__ladder=self.ladder,
            block__round__tournament=self.tournament,
            block__round__placed=self.placed,
        )


def requeue_all() -> None:
    """Make all queued matches due: the queue may have lost their tasks."""
    now = timezone.now()
    Match.objects.waiting().filter(queued_at__isnull=False, due_at__gt=now).update(due_at=now)


def claim_due_live(now: datetime | None = None) -> list[int]:
    """Return the ids of live matches to start or look after now; they are due again later.

    A match is left out while one of its tasks waits in a queue.
    """
    now = now or timezone.now()
    with transaction.atomic():
        due = list(
            Match.objects.unfinished()
            .live()
            .due(now)
            .order_by("due_at", "id")
            .select_for_update(skip_locked=True, of=("self",), no_key=True)
            .values_list("pk", flat=True)[:MAX_LIVE]
        )
        Match.objects.filter(pk__in=due).update(due_at=now + REQUEUE, queued_at=now)
    if not due:
        return []
    waiting = queueing.waiting_ids("open_live_match") | queueing.waiting_ids("play_house_turns")
    return [match_id for match_id in due if match_id not in waiting]


def claim_due_hosted() -> list[int]:
    """Return the ids of hosted matches to queue now; they are due again after `REQUEUE`.

    A match is left out while its task waits in the queue. If the queue has lost the task, the match
    is returned again.
    """
    now = timezone.now()
    unfinished = Match.objects.unfinished().hosted()
    groups = _groups()
    if not any(group.due for group in groups):
        return []
    with transaction.atomic():
        if _check_queued(unfinished, now):
            groups = _groups()
        taken = [_claim(group, unfinished, room, now) for group, room in _rooms(groups)]
        due = [match for match in chain(*zip_longest(*taken)) if match is not None]
        ids = [match.pk for match in due]
        Match.objects.filter(pk__in=ids).update(due_at=now + REQUEUE, queued_at=now)
    return ids


def _check_queued(unfinished: MatchQuerySet, now: datetime) -> bool:
    """Find out which of the matches that were queued long ago still wait in the queue.

    Those are due again later. The queue has lost the tasks of the others. Return whether there were
    matches that were queued long ago.
    """
    overdue = unfinished.due(now).filter(queued_at__isnull=False)
    ids = set(overdue.values_list("pk", flat=True))
    if not ids:
        return False
    waiting = ids & queueing.waiting_ids("play_match", *settings.PLAY_QUEUES)
    Match.objects.filter(pk__in=waiting).update(due_at=now + REQUEUE)
    overdue.filter(pk__in=ids - waiting).update(queued_at=None)
    return True


def _groups() -> list[_Group]:
    """Return all groups with unfinished matches, in one query."""
    return [_Group(*row) for row in _unfinished_by_group()]


@built_once
def _unfinished_by_group() -> QuerySet[Match, tuple[Any, ...]]:
    """Return the columns of `_Group`."""
    is_swap = ExpressionWrapper(Q(swap_block__isnull=False), output_field=BooleanField())
    of = ("block__round__ladder", "block__round__tournament", "swap")
    urgent = ("block__round__placed", "challenge__bot__owner")
    ahead, waiting = Q(due_at__gt=timezone.now()), Q(status=Match.Status.WAITING)
    queued = Q(queued_at__isnull=False)
    rows: QuerySet[Match, tuple[Any, ...]] = (
        Match.objects.unfinished()
        .hosted()
        .order_by()
        .annotate(swap=is_swap)
        .values(*of, *urgent)
        .annotate(
            due=Count("pk", filter=~ahead),
            queued=Count("pk", filter=ahead & waiting & queued),
            playing=Count("pk", filter=ahead & ~waiting),
        )
        .order_by(*of, *urgent)
        .values_list(*of, "due", "queued", "playing", *urgent)
    )
    return rows


def _rooms(groups: Iterable[_Group]) -> list[tuple[_Group, int]]:
    """Return the groups with matches to queue, and how many of each may be queued now."""
    groups = list(groups)
    if not groups:
        return []
    others = [group for group in groups if not group.is_urgent]
    playing = sum(group.playing for group in groups)
    share = AHEAD + AHEAD_PER_WORKER * playing // max(len(others), 1)
    tournament = any(group.tournament is not None for group in others)
    rated_wait = any(group.is_rated and (group.due or group.queued) for group in others)
    rooms = _urgent_rooms(groups, playing)
    for group in others:
        room = share - group.queued
        if group.swap and tournament:
            room = MAX_COMPARED - group.queued - group.playing
        elif rated_wait and not group.is_rated:
            # A match can take minutes, and anyone may open many that are not rated. So they have an
            # equal share of the workers, not only of the queue.
            room = max(1, playing // len(others)) - group.queued - group.playing
        if group.due and room > 0:
            rooms.append((group, room))
    return rooms


def _urgent_rooms(groups: Iterable[_Group], playing: int) -> list[tuple[_Group, int]]:
    """Return how many matches of each placement, and of each owner's challenges, may be queued.

    Workers take these before all others. So while other matches wait, one of these is queued at a
    time, only if the last match that a worker took was another one, and together they hold at most
    half of the workers. The group with the least in play comes first. Of several, one by lot: each
    gets its turn, also where each match is over before the next one is queued.
    """
    urgent = [group for group in groups if group.is_urgent]
    _LOT.shuffle(urgent)
    urgent.sort(key=lambda group: group.queued + group.playing)
    due = [group for group in urgent if group.due]
    if not any(not group.is_urgent and (group.due or group.queued) for group in groups):
        return [(group, AHEAD - group.queued) for group in due if group.queued < AHEAD]
    held = sum(group.queued + group.playing for group in urgent)
    first, _ = settings.PLAY_QUEUES
    if (
        any(group.queued for group in urgent)
        or held >= max(1, playing // 2)
        or queueing.last_taken() == first
    ):
        return []
    return [(group, 1) for group in due[:1]]


def played_first(match_ids: Collection[int]) -> set[int]:
    """Return those of some matches that are first blocks of new bots, or of challenges."""
    if not match_ids:
        return set()
    urgent = Q(block__round__placed__isnull=False) | Q(challenge__isnull=False)
    found = Match.objects.filter(urgent, pk__in=match_ids)
    return set(found.values_list("pk", flat=True))


def _claim(group: _Group, unfinished: MatchQuerySet, limit: int, now: datetime) -> list[Match]:
    """Lock and return up to ``limit`` due matches of a group, the longest wait first."""
    return list(
        group.matches(unfinished)
        .filter(due_at__lte=now)
        .order_by("due_at", "id")
        .select_for_update(skip_locked=True, of=("self",))[:limit]
    )
