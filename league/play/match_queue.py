"""Handing out matches: which of those that wait go to the queue next, fairly among those who wait.

The queue is short, so that who comes later waits for few: each ladder, each tournament and the
matches that owners ask for have as many in it, and take turns. It holds some for each worker that
plays, however many these are, so that none runs out before more are handed out.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import chain, zip_longest
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import BooleanField, Count, ExpressionWrapper, Q, QuerySet
from django.utils import timezone

from league.models import Match
from league.play import leases
from league.play.finishing import void_match

REQUEUE = timedelta(seconds=60)
AHEAD = 8
"""Matches of each that waits in the queue, beyond `AHEAD_PER_WORKER` for each that is played."""
AHEAD_PER_WORKER = 2
FEW = 2
"""Of comparisons, queued or played while a tournament is: who waits for one can wait longer."""


class _Group(NamedTuple):
    """Matches that wait together.

    Attributes:
        ladder: id of that they are rated on; None for unrated ones.
        tournament: id of theirs, if they are of one.
        swap: whether they are of comparisons.
        due: how many are to be queued.
        queued: how many are, and wait for a worker.
        playing: how many a worker plays.
    """

    ladder: int | None
    tournament: int | None
    swap: bool
    due: int
    queued: int
    playing: int

    def matches(self, unfinished: QuerySet[Match]) -> QuerySet[Match]:
        """Return those of the group."""
        if self.swap:
            return unfinished.exclude(swap_block=None)
        if self.ladder is None:
            return unfinished.filter(swap_block=None, block=None)
        return unfinished.filter(
            block__round__ladder=self.ladder, block__round__tournament=self.tournament
        )


def requeue_all() -> None:
    """Have all matches that wait for a worker queued again: the queue may have lost them."""
    now = timezone.now()
    Match.objects.filter(status=Match.Status.WAITING, due_at__gt=now).update(due_at=now)


def take_due() -> list[int]:
    """Return the ids of matches to queue now, and don't return them again for a while.

    What was queued and not played in `REQUEUE` is due again: the queue may have lost it. A match
    that has been tried too often voids its block instead.
    """
    now = timezone.now()
    unfinished = Match.objects.filter(status__in=["waiting", "playing"], live=False)
    with transaction.atomic():
        groups = _groups(unfinished, now)
        taken = [_take(group, unfinished, room, now) for group, room in _rooms(groups)]
        due = [match for match in chain(*zip_longest(*taken)) if match is not None]
        Match.objects.filter(pk__in=[match.pk for match in due]).update(due_at=now + REQUEUE)
    tried_out = [match for match in due if match.attempts >= leases.MAX_ATTEMPTS]
    for match in tried_out:
        void_match(match)
    return [match.pk for match in due if match not in tried_out]


def _groups(unfinished: QuerySet[Match], now: datetime) -> list[_Group]:
    """Return all who have matches that are not finished, in one query."""
    is_swap = ExpressionWrapper(Q(swap_block__isnull=False), output_field=BooleanField())
    ahead, waiting = Q(due_at__gt=now), Q(status=Match.Status.WAITING)
    rows: QuerySet[Match, tuple[Any, ...]] = (
        unfinished.order_by()
        .annotate(swap=is_swap)
        .values("block__round__ladder", "block__round__tournament", "swap")
        .annotate(
            due=Count("pk", filter=~ahead),
            queued=Count("pk", filter=ahead & waiting),
            playing=Count("pk", filter=ahead & ~waiting),
        )
        .order_by("block__round__ladder", "block__round__tournament", "swap")
        .values_list(
            "block__round__ladder", "block__round__tournament", "swap", "due", "queued", "playing"
        )
    )
    return [_Group(*row) for row in rows]


def _rooms(groups: Iterable[_Group]) -> list[tuple[_Group, int]]:
    """Return who has matches to queue, and how many of each may be queued now."""
    groups = list(groups)
    if not groups:
        return []
    most = AHEAD + AHEAD_PER_WORKER * sum(group.playing for group in groups) // len(groups)
    tournament = any(group.tournament is not None for group in groups)
    rooms = []
    for group in groups:
        room = most - group.queued
        if group.swap and tournament:
            room = FEW - group.queued - group.playing
        if group.due and room > 0:
            rooms.append((group, room))
    return rooms


def _take(group: _Group, unfinished: QuerySet[Match], most: int, now: datetime) -> list[Match]:
    """Return up to so many matches of a group to queue, those that wait longest; locks them."""
    return list(
        group.matches(unfinished)
        .filter(due_at__lte=now)
        .order_by("due_at", "id")
        .select_for_update(skip_locked=True, of=("self",))[:most]
    )
