"""``/metrics`` for Prometheus: the work to do, and the parts that do it.

Each request reads all metrics from the database and the cache. So every process returns the same
values, and restarts don't reset them. If one of the two can't be reached, its metrics are missing.
"""

import hmac
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any

from django.conf import settings
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from league import durations, health, play, queueing
from league.bots import sandbox_reports
from league.models import Bot, BotVersion, Comparison, Ladder, Match, Round, Tournament, Turn


class LeagueCollector(Collector):
    """The league's metrics; the number of queries does not grow with the data."""

    def describe(self) -> list[Metric]:
        """Return nothing, since registering must not query the database."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        began = time.monotonic()
        faults = health.find_faults()
        if "database" not in faults:
            yield from self._stored(timezone.now())
        yield self._workers()
        yield self._queues()
        yield from self._times()
        yield _gauge("ready", "1 if /readyz answers 200.", int(not faults))
        yield self._sandboxes()
        yield _gauge("collect_seconds", "Time to collect these metrics.", time.monotonic() - began)

    def _stored(self, now: datetime) -> Iterator[Metric]:
        """Yield the metrics of the database."""
        yield from self._matches()
        open_turns = Turn.objects.open().in_play().count()
        yield _gauge("turns_open", "Turns that wait for a bot's move.", open_turns)
        yield _gauge(
            "turns_overdue",
            "Open turns past their deadline; a clock worker plays them within a second.",
            Turn.objects.overdue(now).in_play().count(),
        )
        yield _gauge(
            "rounds_open",
            "Rounds that are not applied yet.",
            Round.objects.open().count(),
        )
        yield from self._checks(now)
        yield _gauge(
            "versions_checking",
            "Uploaded versions that wait to be checked.",
            BotVersion.objects.checking().count(),
        )
        yield _gauge(
            "comparisons_running",
            "A/B tests that are running.",
            Comparison.objects.running().count(),
        )
        yield _by("tournaments", "Tournaments.", "state", Tournament.objects.all())
        yield _by("bots", "Bots.", "kind", Bot.objects.all())
        yield from self._archive(now)

    def _workers(self) -> Metric:
        about = "Time since the last heartbeat of a worker for a queue; workers send one every 2 s."
        family = GaugeMetricFamily("league_worker_silent_seconds", about, labels=["queue"])
        try:
            ages = health.heartbeat_ages()
        except RedisError:
            return family
        for queue, seconds in ages.items():
            family.add_metric([queue], seconds)
        return family

    def _sandboxes(self) -> Metric:
        about = "1 if the sandbox of a worker that runs uploaded bots works."
        family = GaugeMetricFamily("league_sandbox_ok", about, labels=["kind", "host"])
        with suppress(RedisError):
            for report in sandbox_reports.newest():
                family.add_metric([report.kind, report.host], int(not report.fault))
        return family

    def _queues(self) -> Metric:
        about = "Tasks that wait in a queue for a worker."
        family = GaugeMetricFamily("league_tasks_queued", about, labels=["queue"])
        try:
            for queue in health.QUEUES:
                family.add_metric([queue], queueing.tasks_queued(queue))
        except RedisError:
            return GaugeMetricFamily("league_tasks_queued", about, labels=["queue"])
        return family

    def _archive(self, now: datetime) -> Iterator[Metric]:
        state = play.archive_state()
        yield _gauge("archive_rounds", "Rounds whose records are in the archive.", state.rounds)
        yield _gauge("archive_matches", "Matches whose records are in the archive.", state.matches)
        yield _gauge("archive_bytes", "Size of the files of the archive.", state.size)
        faults = 0 if state.run is None else len(state.run.faults)
        yield _gauge("archive_faults", "Rounds that the last run could not archive.", faults)
        if state.run is not None:
            about = "Rounds older than ARCHIVE_DAYS that waited after the last run."
            yield _gauge("archive_rounds_due", about, state.run.due)
            age = (now - state.run.at).total_seconds()
            yield _gauge("archive_run_seconds", "Time since the last run of the archive.", age)

    def _times(self) -> Iterator[Metric]:
        families = {
            name: HistogramMetricFamily(
                f"league_{name}_seconds", histogram.about, labels=histogram.labels
            )
            for name, histogram in durations.HISTOGRAMS.items()
        }
        with suppress(RedisError):
            for kind, (counts, total) in durations.read().items():
                bounds = [*map(str, durations.HISTOGRAMS[kind.name].bounds), "+Inf"]
                buckets = zip(bounds, accumulate(counts), strict=True)
                families[kind.name].add_metric(kind.labels, list(buckets), total)
        yield from families.values()

    def _matches(self) -> Iterator[Metric]:
        unfinished = Match.objects.unfinished()
        yield _by("matches_unfinished", "Matches that are not finished.", "status", unfinished)
        hour_ago = timezone.now() - timedelta(hours=1)
        hour = Match.objects.finished().filter(finished_at__gte=hour_ago)
        yield _gauge(
            "matches_finished_last_hour", "Matches finished in the last hour.", hour.count()
        )
        tried = unfinished.filter(attempts__gt=1).count()
        yield _gauge("matches_played_again", "Unfinished matches with a failed attempt.", tried)

    def _checks(self, now: datetime) -> Iterator[Metric]:
        age = GaugeMetricFamily(
            "league_checked_seconds",
            "Time since the last check that found a ladder's ratings equal to its records. "
            "Before the first such check: time since the ladder was created.",
            labels=["ladder"],
        )
        alarms = 0
        for ladder in Ladder.objects.order_by("slug"):
            checked = ladder.checked_at or ladder.created_at
            age.add_metric([ladder.slug], (now - checked).total_seconds())
            alarms += bool(ladder.alarm)
        yield _gauge("alarms", "Ladders whose ratings differ from their records.", alarms)
        yield age


def _gauge(name: str, about: str, value: float) -> Metric:
    return GaugeMetricFamily(f"league_{name}", about, value=value)


def _by(name: str, about: str, field: str, rows: QuerySet[Any]) -> Metric:
    """Return a gauge with the number of rows by a field, which is the label."""
    family = GaugeMetricFamily(f"league_{name}", about, labels=[field])
    for value, count in rows.order_by().values_list(field).annotate(Count("pk")):
        family.add_metric([value], count)
    return family


_registry = CollectorRegistry()
_registry.register(LeagueCollector())


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics in the format of Prometheus; ``METRICS_TOKEN`` may protect them."""
    if settings.METRICS_TOKEN:
        wanted = f"Bearer {settings.METRICS_TOKEN}"
        if not hmac.compare_digest(
            request.headers.get("Authorization", "").encode(), wanted.encode()
        ):
            return HttpResponse(
                "Send the header Authorization: Bearer with the league's METRICS_TOKEN.\n",
                status=401,
                headers={"WWW-Authenticate": "Bearer"},
                content_type="text/plain; charset=utf-8",
            )
    return HttpResponse(generate_latest(_registry), content_type=CONTENT_TYPE_LATEST)
