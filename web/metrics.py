"""``/metrics`` for Prometheus: how much there is to do, and whether it gets done.

All of it is read when it is asked for, from the database and the cache, so that it is the same
whichever process answers and lasts through restarts.
"""

import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from league import health
from league.bots import jails
from league.models import Bot, BotVersion, Comparison, Ladder, Match, Round, Tournament, Turn


class LeagueCollector(Collector):
    """The league's figures; each a number of queries that does not grow with the data."""

    def describe(self) -> list[Metric]:
        """Give nothing: the database must not be asked while this is imported."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Give the figures."""
        began = time.monotonic()
        yield from self._matches()
        now = timezone.now()
        open_turns = Turn.objects.filter(
            decided_at__isnull=True, match__status=Match.Status.PLAYING
        )
        yield _gauge("turns_open", "Turns that bots are asked for.", open_turns.count())
        yield _gauge(
            "turns_overdue",
            "Open turns whose deadline has passed: the clock plays them within a second.",
            open_turns.filter(deadline__lt=now).count(),
        )
        yield _gauge(
            "rounds_open",
            "Rounds that are not applied yet.",
            Round.objects.filter(applied_at=None).count(),
        )
        yield from self._checks(now)
        yield _gauge(
            "versions_checking",
            "Uploaded versions that wait to be checked.",
            BotVersion.objects.filter(state=BotVersion.State.CHECKING).count(),
        )
        yield _gauge(
            "comparisons_running",
            "A/B tests that are running.",
            Comparison.objects.filter(state=Comparison.State.RUNNING).count(),
        )
        yield _by("tournaments", "Tournaments.", "state", Tournament.objects.all())
        yield _by("bots", "Bots.", "kind", Bot.objects.all())
        yield self._workers()
        yield self._queues()
        faults = health.find_faults()
        yield _gauge("ready", "Whether /readyz says so.", int(not faults))
        yield _gauge(
            "sandbox_ok", "Whether no worker lacks its sandbox.", int(jails.find_fault() is None)
        )
        yield _gauge("collect_seconds", "What these figures took.", time.monotonic() - began)

    def _workers(self) -> Metric:
        about = "Since a worker for a queue was last heard of; they speak every 2 s."
        family = GaugeMetricFamily("league_worker_silent_seconds", about, labels=["queue"])
        try:
            silent = health.workers_silent()
        except RedisError:
            return family
        for queue, seconds in silent.items():
            family.add_metric([queue], seconds)
        return family

    def _queues(self) -> Metric:
        about = "Tasks that wait in a queue for a worker."
        family = GaugeMetricFamily("league_tasks_queued", about, labels=["queue"])
        try:
            for queue in health.QUEUES:
                family.add_metric([queue], health.tasks_queued(queue))
        except RedisError:
            return GaugeMetricFamily("league_tasks_queued", about, labels=["queue"])
        return family

    def _matches(self) -> Iterator[Metric]:
        unfinished = Match.objects.filter(status__in=["waiting", "playing"])
        yield _by("matches_unfinished", "Matches to be played.", "status", unfinished)
        hour = Match.objects.filter(
            status=Match.Status.FINISHED,
            finished_at__gte=timezone.now() - timedelta(hours=1),
        )
        yield _gauge("matches_finished_last_hour", "Matches finished.", hour.count())
        tried = unfinished.filter(attempts__gt=1).count()
        yield _gauge("matches_played_again", "Unfinished matches that failed before.", tried)

    def _checks(self, now: datetime) -> Iterator[Metric]:
        age = GaugeMetricFamily(
            "league_checked_seconds",
            "Since a recompute last gave a ladder's ratings as stored, or since it was made.",
            labels=["ladder"],
        )
        alarms = 0
        for ladder in Ladder.objects.order_by("slug"):
            checked = ladder.checked_at or ladder.created_at
            age.add_metric([ladder.slug], (now - checked).total_seconds())
            alarms += bool(ladder.alarm)
        yield _gauge("alarms", "Ladders whose ratings are not what their records give.", alarms)
        yield age


def _gauge(name: str, about: str, value: float) -> Metric:
    return GaugeMetricFamily(f"league_{name}", about, value=value)


def _by(name: str, about: str, field: str, rows: QuerySet[Any]) -> Metric:
    """Return a gauge with a label: how many rows there are by a field."""
    family = GaugeMetricFamily(f"league_{name}", about, labels=[field])
    for value, count in rows.order_by().values_list(field).annotate(Count("pk")):
        family.add_metric([value], count)
    return family


_registry = CollectorRegistry()
_registry.register(LeagueCollector())


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer as Prometheus asks."""
    return HttpResponse(generate_latest(_registry), content_type=CONTENT_TYPE_LATEST)
