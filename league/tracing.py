"""Traces: a span for each request and each task, sent to a collector of OpenTelemetry.

``OTEL_EXPORTER_OTLP_ENDPOINT`` switches them on. They are sent as JSON over HTTP (OTLP 1.0), which
every collector reads. A request continues the trace of its header ``traceparent`` (W3C), and a task
the trace of the request that queued it.
"""

import json
import re
import secrets
import socket
import time
from collections.abc import Mapping
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from django.conf import settings
from structlog.contextvars import get_contextvars

from league.outbox import Outbox, post

TRACEPARENT = "traceparent"
SERVER, CONSUMER = 2, 5
"""Kinds of spans in OTLP: a request that the league answers, a task that it takes from a queue."""
_OK, _ERROR = 1, 2
_PARENT = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}"
)
"""A valid header: no id is 0 (W3C), because a collector drops the spans of such a trace."""


@dataclass
class Span:
    """A piece of work with its beginning and its end.

    Attributes:
        name: such as ``GET /bots/<slug:name>/``.
        kind: `SERVER` or `CONSUMER`.
        trace_id: 32 hex digits, the same for all spans of a trace.
        span_id: 16 hex digits.
        parent_id: of the span that caused it; empty without one.
        began: in nanoseconds since 1970.
        attributes: what is known about the work.
        failed: whether the work failed by a fault of the league.
    """

    name: str
    kind: int
    trace_id: str
    span_id: str
    parent_id: str
    began: int
    attributes: dict[str, str | int] = field(default_factory=dict)
    failed: bool = False
    token: "Token[Span | None] | None" = None


_current: ContextVar[Span | None] = ContextVar("span", default=None)


def is_on() -> bool:
    """Return whether spans are sent."""
    return bool(settings.OTEL_EXPORTER_OTLP_ENDPOINT)


def begin(name: str, kind: int, parent: str = "") -> Span | None:
    """Begin a span; return None if traces are off.

    Args:
        name: of the span.
        kind: `SERVER` or `CONSUMER`.
        parent: a header ``traceparent``; another text begins a trace.
    """
    if not is_on():
        return None
    found = _PARENT.fullmatch(parent)
    trace_id, parent_id = found.groups() if found else (secrets.token_hex(16), "")
    span = Span(name, kind, trace_id, secrets.token_hex(8), parent_id, time.time_ns())
    span.token = _current.set(span)
    return span


def end(span: Span | None, **attributes: str | int) -> None:
    """End a span and leave it to be sent, with the ids that are bound for the log."""
    if span is None:
        return
    if span.token is not None:
        _current.reset(span.token)
    bound = {name: value for name, value in get_contextvars().items() if value is not None}
    span.attributes |= {f"league.{name}": _plain(value) for name, value in bound.items()}
    span.attributes |= attributes
    _outbox().put(_as_json(span, time.time_ns()))


def current_parent() -> str:
    """Return the header ``traceparent`` for work that the current span causes; empty without."""
    span = _current.get()
    return "" if span is None else f"00-{span.trace_id}-{span.span_id}-01"


def flush() -> None:
    """Send the spans of this process now."""
    _outbox().flush()


@cache
def _outbox() -> Outbox[dict[str, Any]]:
    return Outbox("spans", _send)


def _send(spans: list[dict[str, Any]]) -> None:
    resource = {"service.name": "twelfth-night", "host.name": socket.gethostname()}
    scope = {"scope": {"name": "league"}, "spans": spans}
    body = {
        "resourceSpans": [
            {"resource": {"attributes": _attributes(resource)}, "scopeSpans": [scope]}
        ]
    }
    headers = {"Content-Type": "application/json"}
    for pair in filter(None, settings.OTEL_EXPORTER_OTLP_HEADERS.split(",")):
        name, _, value = pair.partition("=")
        headers[name.strip()] = value.strip()
    url = f"{settings.OTEL_EXPORTER_OTLP_ENDPOINT.rstrip('/')}/v1/traces"
    post(url, json.dumps(body).encode(), headers)


def _as_json(span: Span, ended: int) -> dict[str, Any]:
    """Return a span as OTLP writes it in JSON: ids in hex digits, times as texts."""
    return {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "parentSpanId": span.parent_id,
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": str(span.began),
        "endTimeUnixNano": str(ended),
        "attributes": _attributes(span.attributes),
        "status": {"code": _ERROR if span.failed else _OK},
    }


def _attributes(values: Mapping[str, str | int]) -> list[dict[str, Any]]:
    return [
        {
            "key": name,
            "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value},
        }
        for name, value in values.items()
    ]


def _plain(value: object) -> str | int:
    return value if isinstance(value, int) and not isinstance(value, bool) else str(value)
