"""Traces: a collector gets a span of each request and of each task, in one trace."""

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from celery.signals import before_task_publish, task_postrun, task_prerun
from django.test import Client
from pytest_django import Settings

from league import tracing
from tests.collector import Collector, collecting

pytestmark = pytest.mark.django_db


@pytest.fixture
def collector(settings: Settings) -> Iterator[Collector]:
    """A collector to which spans go."""
    tracing.flush()
    with collecting() as collector:
        settings.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url
        settings.OTEL_EXPORTER_OTLP_HEADERS = "Authorization=Bearer x, X-Tenant=1"
        yield collector


def spans(collector: Collector) -> list[dict[str, Any]]:
    """Return the spans that the collector has got, as OTLP has them, with plain attributes."""
    tracing.flush()
    found = []
    for post in collector.posts:
        assert post.path == "/v1/traces"
        for resource in json.loads(post.body)["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                found += scope["spans"]
    for span in found:
        span["attributes"] = {
            each["key"]: next(iter(each["value"].values())) for each in span["attributes"]
        }
    return found


def test_a_request_s_span_has_its_id_its_route_and_its_status(
    client: Client, collector: Collector
) -> None:
    client.get("/docs/glossary/", headers={"X-Request-ID": "twelve-drummers"})
    [span] = spans(collector)
    assert span["name"] == "GET /docs/<path:path>/"
    assert span["kind"] == tracing.SERVER
    assert span["attributes"] == {
        "league.request_id": "twelve-drummers",
        "http.request.method": "GET",
        "url.path": "/docs/glossary/",
        "http.route": "/docs/<path:path>/",
        "http.response.status_code": "200",
    }
    assert int(span["startTimeUnixNano"]) < int(span["endTimeUnixNano"])
    assert collector.posts[0].headers["Authorization"] == "Bearer x"
    assert collector.posts[0].headers["X-Tenant"] == "1"


def test_a_request_continues_the_trace_of_its_client(client: Client, collector: Collector) -> None:
    trace, parent = "ab" * 16, "cd" * 8
    client.get("/docs/glossary/", headers={"traceparent": f"00-{trace}-{parent}-01"})
    client.get("/docs/glossary/", headers={"traceparent": "00-nonsense-01"})
    first, second = spans(collector)
    assert (first["traceId"], first["parentSpanId"]) == (trace, parent)
    assert second["traceId"] != trace
    assert second["parentSpanId"] == ""


@pytest.mark.parametrize(
    "header",
    [
        f"00-{'0' * 32}-{'b' * 16}-01",
        f"00-{'a' * 32}-{'0' * 16}-01",
        f"ff-{'a' * 32}-{'b' * 16}-01",
    ],
)
def test_a_request_with_an_invalid_trace_begins_its_own(
    client: Client, collector: Collector, header: str
) -> None:
    client.get("/docs/glossary/", headers={"traceparent": header})
    [span] = spans(collector)
    assert span["traceId"] not in ("0" * 32, "a" * 32)
    assert span["parentSpanId"] == ""


def test_a_task_belongs_to_the_trace_of_the_request_that_queued_it(collector: Collector) -> None:
    request = tracing.begin("POST /bots", tracing.SERVER)
    headers: dict[str, Any] = {}
    before_task_publish.send(sender="league.tasks.check_version", headers=headers)
    tracing.end(request)
    task = SimpleNamespace(
        name="league.tasks.check_version",
        request=SimpleNamespace(delivery_info=None, traceparent=headers["traceparent"]),
    )
    task_prerun.send(sender=None, task_id="7", task=task)
    task_postrun.send(sender=None, task_id="7", task=task, state="FAILURE")
    asked, done = spans(collector)
    assert done["name"] == "check_version"
    assert (done["traceId"], done["parentSpanId"]) == (asked["traceId"], asked["spanId"])
    assert (asked["status"], done["status"]) == ({"code": 1}, {"code": 2})
    assert tracing.current_parent() == ""


def test_without_a_collector_nothing_is_collected(client: Client, settings: Settings) -> None:
    settings.OTEL_EXPORTER_OTLP_ENDPOINT = ""
    tracing.flush()
    client.get("/docs/glossary/")
    assert tracing._outbox()._items == []
    headers: dict[str, Any] = {}
    before_task_publish.send(sender="league.tasks.tick", headers=headers)
    assert "traceparent" not in headers


def test_a_collector_that_is_away_or_refuses_fails_no_request(
    client: Client, collector: Collector, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    collector.status = 500
    for _ in range(2):
        assert client.get("/docs/glossary/").status_code == 200
        tracing.flush()
    settings.OTEL_EXPORTER_OTLP_ENDPOINT = "http://127.0.0.1:9"
    assert client.get("/docs/glossary/").status_code == 200
    tracing.flush()
    lost = [line for line in caplog.records if "they are lost" in str(line.msg)]
    assert len(lost) == 1
