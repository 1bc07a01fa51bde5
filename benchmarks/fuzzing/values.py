"""Values that no form should receive, and the ids of rows that belong to others."""

from collections.abc import Sequence
from typing import Any

HUGE = "9" * 5000

TEXTS: Sequence[str] = (
    "",
    " ",
    "\0",
    "a\0b",
    "\r\nSet-Cookie: a=b",
    "🃏" * 40,
    "\u202ealice",
    "\ufeff",
    "\uff41da",
    "x" * 100_000,
    "null",
    "undefined",
    "true",
    "[]",
    "{}",
    "../../etc/passwd",
    "<script>alert(1)</script>",
    "{{ 7 * 7 }}",
    "%s%n%x",
    "' OR 1=1 --",
    "-",
    "é" * 200,
)
NUMBERS: Sequence[str] = (
    "0",
    "-1",
    "-5",
    "1",
    "99",
    "2147483647",
    "2147483648",
    "-2147483649",
    "9223372036854775807",
    "9223372036854775808",
    "1e400",
    "1e5",
    "-inf",
    "inf",
    "nan",
    "0.5",
    "0x10",
    "1_000",
    "٣",
    "+1",
    "00",
    HUGE,
    f"-{HUGE}",
)
TIMES: Sequence[str] = (
    "0001-01-01T00:00:00Z",
    "0001-01-01",
    "9999-12-31T23:59:59Z",
    "9999-12-31T23:59:59-12:00",
    "10000-01-01T00:00:00Z",
    "2026-02-30T00:00:00Z",
    "2026-13-01",
    "25:61",
    "23:59:60",
    "1970-01-01T00:00:00+99:99",
    "P1D",
)
NASTY: Sequence[str] = (*TEXTS, *NUMBERS, *TIMES)
"""Values of fields of forms, of query strings, and of strings in JSON."""

IN_PATHS: Sequence[str] = (
    *("0", "-1", "9223372036854775807", "9223372036854775808", "99999999999999999999"),
    *("9" * 4000, "1e5", "nan", "%00", "a%00b", "%ff%fe", "..%2f..", "%0d%0aX: y", "🃏", "x" * 300),
    *("null", "-", "%20", "%25", ";", "a'b", "A-B"),
)
"""Parts of a path, percent-encoded where needed."""

JSON_VALUES: Sequence[Any] = (
    *(None, True, False, 0, -1, 1.5, 2**31, 2**63, 2**64, -(2**63) - 1, 10**30),
    *([], {}, [[]], [None], ["a"] * 1000, {"a": {"b": {}}}, {"": ""}),
)
"""Values that are no text."""

BODIES: Sequence[tuple[bytes, str]] = (
    (b"", "application/json"),
    (b"{", "application/json"),
    (b"null", "application/json"),
    (b"[]", "application/json"),
    (b'"text"', "application/json"),
    (b"1e999", "application/json"),
    (b"NaN", "application/json"),
    (b"9" * 5000, "application/json"),
    (b'{"a": ' + b"9" * 5000 + b"}", "application/json"),
    (b"\xff\xfe\x00", "application/json"),
    (b"[" * 50_000, "application/json"),
    (b'{"a":1,"a":2}', "application/json"),
    (b'{"\\ud800": "\\ud800"}', "application/json"),
    (b'{"a": "\\u0000"}', "application/json"),
    (b"a=b", "application/x-www-form-urlencoded"),
    (b"--x\r\n\r\n", "multipart/form-data; boundary=x"),
    (b"nonsense", "multipart/form-data; boundary=x"),
    (b"nonsense", "multipart/form-data"),
    (b"{}", "application/json; charset=utf-7"),
    (b"{}", "nonsense"),
    (b" " * 70_000, "application/json"),
)
"""Whole bodies with their content types."""

MALFORMED_HOSTS = ("a b", "[::")

HEADERS: Sequence[dict[str, str]] = (
    {"Authorization": "Bearer"},
    {"Authorization": "Bearer " + "x" * 5000},
    {"Authorization": "Bearer tn_o_" + "x" * 43},
    {"Authorization": "Bearer tn_b_\xff"},
    {"Authorization": "Basic Og=="},
    {"Host": "foreign.example"},
    *({"Host": host} for host in MALFORMED_HOSTS),
    {"X-Forwarded-For": "nonsense, 1.2.3.4"},
    {"X-Forwarded-Host": "foreign.example"},
    {"X-Forwarded-Proto": "https"},
    {"X-Request-ID": "x" * 5000},
    {"Accept": "nonsense"},
    {"Accept": "*/" * 200},
    {"Accept-Language": "," * 500},
    {"Accept-Encoding": "gzip;q=nan"},
    {"Cookie": "sessionid=" + "x" * 3000},
    {"Cookie": "sessionid=\xff; csrftoken=\xff; messages=nonsense"},
    {"If-None-Match": "nonsense"},
    {"If-Modified-Since": "nonsense"},
    {"Range": "bytes=5-1"},
    {"Idempotency-Key": "\xff" * 200},
    {"Last-Event-ID": HUGE},
    {"Content-Encoding": "gzip"},
)
"""Headers of a request."""
