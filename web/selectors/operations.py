"""What the operator's page shows: queues, processes, what waits longest, and what failed."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Max, Q, QuerySet
from django.utils.text import get_text_list
from redis.exceptions import RedisError

from league import health, processes, queueing
from league.models import BotVersion, Match, Round, Turn
from league.play.headlines import seat_names
from web.selectors.matches import SEATING

MAX_ROWS = 20
_RECENT_MATCHES = 100_000
"""Void matches are looked for among so many of the newest: they have no index of their own."""


class Queue(NamedTuple):
    """A queue.

    Attributes:
        name: such as ``play``.
        tasks: how many wait for a worker.
        waits: how long the oldest of them has waited; None without one.
        silent: time since the last heartbeat of one of its workers; None if there was none.
    """

    name: str
    tasks: int
    waits: timedelta | None
    silent: timedelta | None

    @property
    def is_served(self) -> bool:
        """Whether a worker serves it now."""
        longest = timedelta(seconds=health.MAX_HEARTBEAT_AGE_SECONDS)
        return self.silent is not None and self.silent <= longest


class Process(NamedTuple):
    """A process of the league and its last heartbeat."""

    name: str
    queues: list[str]
    silent: timedelta

    @property
    def is_alive(self) -> bool:
        """Whether its last heartbeat is as new as that of a process that runs."""
        return self.silent <= timedelta(seconds=health.MAX_HEARTBEAT_AGE_SECONDS)


class Waiting(NamedTuple):
    """What waits longest of its kind.

    Attributes:
        kind: in words, such as ``waits for a move``.
        subject: the match, the version or the round.
        match: its match, or the subject itself; None without one.
        since: when it began to wait.
    """

    kind: str
    subject: str
    match: int | None
    since: datetime


def queues(now: datetime) -> list[Queue]:
    """Return all queues, by name.

    Raises:
        RedisError: the broker can't be reached.
    """
    ages = health.heartbeat_ages()
    found = []
    for name in health.QUEUES:
        sent = queueing.oldest_sent(name)
        waits = None if sent is None else timedelta(seconds=max(0.0, now.timestamp() - sent))
        silent = timedelta(seconds=ages[name]) if name in ages else None
        found.append(Queue(name, queueing.tasks_queued(name), waits, silent))
    return found


def alive_processes() -> list[Process]:
    """Return the processes with a heartbeat in the last minutes, by name.

    Raises:
        RedisError: the broker can't be reached.
    """
    return [
        Process(each.name, each.queues, timedelta(seconds=each.silent_seconds))
        for each in processes.alive()
    ]


def broker_shows(now: datetime) -> dict[str, Any]:
    """Return queues and processes for the page; nothing if the broker can't be reached."""
    try:
        return {"queues": queues(now), "processes": alive_processes()}
    except RedisError:
        return {}


def waiting_longest() -> list[Waiting]:
    """Return the oldest hosted match, live match, turn, check and round that wait."""
    found = []
    waiting = Match.objects.waiting().order_by("created_at")
    hosted, live = waiting.hosted().first(), waiting.live().first()
    if hosted is not None:
        found.append(Waiting("waits for a worker", _called(hosted), hosted.pk, hosted.created_at))
    if live is not None:
        found.append(Waiting("waits for its start", _called(live), live.pk, live.created_at))
    turns = Turn.objects.open().in_play().select_related("bot", "match")
    turn = turns.order_by("opened_at").first()
    if turn is not None:
        what = f"waits for a move of {turn.bot.name}"
        found.append(Waiting(what, _called(turn.match), turn.match_id, turn.opened_at))
    checks = BotVersion.objects.checking().select_related("bot")
    version = checks.order_by("created_at").first()
    if version is not None:
        found.append(Waiting("waits for its check", str(version), None, version.created_at))
    round_ = Round.objects.open().select_related("ladder").order_by("opened_at").first()
    if round_ is not None:
        what = f"rating round {round_.number} of {round_.ladder.title}"
        found.append(Waiting("waits for its last matches", what, None, round_.opened_at))
    return found


def _called(match: Match) -> str:
    """Return the bots of a match and its number; costs a query."""
    return f"{get_text_list(seat_names(match), 'and')} (match {match.pk})"


def failed_matches() -> QuerySet[Match]:
    """Return unfinished matches with an attempt that failed or was lost, the newest first."""
    failed = Q(failures__gt=0) | Q(losses__gt=0)
    found = Match.objects.unfinished().filter(failed).order_by("-pk")
    return found.prefetch_related(SEATING)[:MAX_ROWS]


def void_matches() -> QuerySet[Match]:
    """Return the newest void matches."""
    newest = Match.objects.aggregate(newest=Max("pk"))["newest"] or 0
    recent = Match.objects.filter(pk__gt=newest - _RECENT_MATCHES)
    return recent.void().order_by("-pk").prefetch_related(SEATING)[:MAX_ROWS]


def open_turns_of(match: Match) -> QuerySet[Turn]:
    """Return the open turns of a match with their bots, by seat."""
    return Turn.objects.open().filter(match=match).select_related("bot").order_by("seat")
