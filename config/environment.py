"""Environment variables as settings, checked when they are read."""

import ipaddress
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.core.exceptions import ImproperlyConfigured
from django.http.request import split_domain_port
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict
from redis.connection import parse_url

_YES = ("1", "yes", "true", "on")
_NO = ("0", "no", "false", "off", "")
_UNIT_SECONDS = {"second": 1, "minute": 60, "hour": 3600}
MAX_DAYS = 36_500

defaults: dict[str, str] = {}
"""Each variable that was read, with its default as one would set it: tests compare the docs."""

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def text(name: str, default: str | None = None) -> str:
    """Return a variable.

    Raises:
        ImproperlyConfigured: the variable is not set and has no default.
    """
    defaults[name] = default or ""
    value = os.environ.get(name) or default
    if not value:
        raise ImproperlyConfigured(
            f"{name} is not set. Start the league with `make up`, which sets it for manage.py too, "
            "or set the variable: docs/operate.md lists all of them."
        )
    return value


def optional(name: str) -> str:
    """Return a variable, by default empty."""
    defaults[name] = ""
    return os.environ.get(name, "")


def url(name: str) -> str:
    """Return a variable that is the URL of an HTTP server, by default empty.

    Raises:
        ImproperlyConfigured: the value is not such a URL.
    """
    defaults[name] = ""
    value = os.environ.get(name, "")
    if value and not _has_server(value):
        raise ImproperlyConfigured(
            f"{name} is {value!r}; it must be a URL such as http://127.0.0.1:8000."
        )
    return value


def _has_server(value: str) -> bool:
    """Return whether a value is a URL with the host and perhaps the port of an HTTP server."""
    try:
        parts = urlsplit(value)
        _ = parts.port
    except ValueError:
        return False
    return bool(parts.scheme in ("http", "https") and parts.hostname)


def is_dsn(value: str) -> bool:
    """Return whether a value is an address for error reports: ``https://KEY@HOST/PROJECT``."""
    if not _has_server(value):
        return False
    parts = urlsplit(value)
    return bool(parts.username and parts.path.rpartition("/")[2])


def secret(name: str) -> str:
    """Return a variable, or the content of the file that the variable ``NAME_FILE`` names.

    Raises:
        ImproperlyConfigured: neither is set, or the file cannot be read or is empty.
    """
    defaults[name] = defaults[f"{name}_FILE"] = ""
    path = os.environ.get(f"{name}_FILE")
    if not path:
        return text(name)
    try:
        found = Path(path).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise ImproperlyConfigured(
            f"{name}_FILE is {path!r}, and this file cannot be read: {reason}."
        ) from None
    if not found:  # else /metrics, for example, would be open to everybody
        raise ImproperlyConfigured(f"{name}_FILE is {path!r}, and this file is empty.")
    return found


def optional_secret(name: str) -> str:
    """Return a variable or the content of its file as `secret` does, by default empty.

    Raises:
        ImproperlyConfigured: the file cannot be read or is empty.
    """
    defaults[name] = defaults[f"{name}_FILE"] = ""
    is_set = os.environ.get(name) or os.environ.get(f"{name}_FILE")
    return secret(name) if is_set else ""


def networks(name: str) -> list[Network]:
    """Return the ranges of addresses that a variable lists, such as ``10.0.0.0/8,192.0.2.7``."""
    try:
        return [ipaddress.ip_network(part) for part in listed(name, "")]
    except ValueError as error:
        raise ImproperlyConfigured(
            f"{name} must list addresses or ranges, such as 10.0.0.0/8,192.0.2.7: {error}."
        ) from None


def hosts(name: str, default: str) -> list[str]:
    """Return the host names that a variable lists; ``*`` stands for all.

    Raises:
        ImproperlyConfigured: one is a URL or has a port, so no request would have this host.
    """
    found = listed(name, default)
    for host in found:
        _, port = split_domain_port(host.lower())
        if port or "/" in host:
            raise ImproperlyConfigured(
                f"{name} contains {host!r}; it must list names of hosts, without https:// and "
                "without a port, such as league.example,192.0.2.7."
            )
    return found


def number(name: str, default: int, *, minimum: int = 0) -> int:
    """Return a variable that is a number from a minimum.

    Raises:
        ImproperlyConfigured: the value is no number, or below the minimum.
    """
    value = text(name, str(default))
    if not value.isdecimal() or int(value[:20]) < minimum:
        raise ImproperlyConfigured(
            f"{name} is {value!r}; it must be a whole number of {minimum} or more."
        )
    return int(value)


def days(name: str, default: int, *, minimum: int = 0) -> int:
    """Return a variable that is a number of days, not so many that a date is out of range.

    Raises:
        ImproperlyConfigured: there are fewer than `minimum`, or more than `MAX_DAYS`.
    """
    value = number(name, default)
    if not minimum <= value <= MAX_DAYS:
        raise ImproperlyConfigured(
            f"{name} is {value}; it must be a number of days from {minimum} to {MAX_DAYS}."
        )
    return value


def rate(name: str, default: str) -> tuple[int, int]:
    """Return the number of requests and the seconds of a rate such as ``300/minute``."""
    value = text(name, default)
    requests, _, unit = value.partition("/")
    if not requests.isdecimal() or unit not in _UNIT_SECONDS:
        raise ImproperlyConfigured(
            f"{name} is {value!r}; it must be a number of requests in a second, minute or hour, "
            "such as 300/minute."
        )
    return int(requests), _UNIT_SECONDS[unit]


def flag(name: str, default: bool = False) -> bool:
    """Return a variable that is yes or no."""
    defaults[name] = "yes" if default else "no"
    value = (os.environ.get(name) or defaults[name]).lower()
    if value not in (*_YES, *_NO):
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be yes or no.")
    return value in _YES


def choice(name: str, choices: Sequence[str]) -> str:
    """Return a variable that is one of several words, by default the first."""
    defaults[name] = choices[0]
    value = os.environ.get(name) or defaults[name]
    if value not in choices:
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be {' or '.join(choices)}.")
    return value


def listed(name: str, default: str) -> list[str]:
    """Return the parts of a variable that commas separate."""
    defaults[name] = default
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


def json_object(name: str) -> dict[str, Any]:
    """Return a variable that is a JSON object, by default an empty one."""
    value = optional(name) or "{}"
    try:
        found = json.loads(value)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ImproperlyConfigured(
            f'{name} is {value!r}; it must be a JSON object such as {{"bucket_name": "league"}}.'
        )
    return found


def database(name: str) -> dict[str, Any]:
    """Return Django's settings for the database at a URL."""
    try:
        parts = conninfo_to_dict(secret(name))
    except ProgrammingError as error:
        raise ImproperlyConfigured(
            f"{name} is not a PostgreSQL URL such as postgresql://user@host/name: {error}"
        ) from None
    known = {
        "dbname": "NAME",
        "user": "USER",
        "password": "PASSWORD",
        "host": "HOST",
        "port": "PORT",
    }
    return {
        "ENGINE": "config.postgres",
        **{
            django: str(parts.pop(psycopg)) for psycopg, django in known.items() if psycopg in parts
        },
        "OPTIONS": parts,
    }


def broker(name: str) -> str:
    """Return a secret that is the URL of a Redis or Valkey server.

    Raises:
        ImproperlyConfigured: it is no such URL. The message leaves it out: it may have a password.
    """
    value = secret(name)
    try:
        parts = urlsplit(value)
        parse_url(value)  # type: ignore[no-untyped-call]
        is_known = parts.scheme == "unix" or (parts.path.strip("/") or "0").isdecimal()
    except ValueError:
        is_known = False
    if not is_known:
        raise ImproperlyConfigured(
            f"{name} is not the URL of a Redis or Valkey server, such as redis://host:6379/0."
        )
    return value


def celery_url(redis_url: str) -> str:
    """Return Celery's form of a URL of redis-py: the two differ for unix sockets."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    number = parse_qs(parts.query).get("db", ["0"])[0]
    return f"redis+socket://{parts.path}?virtual_host={number}"


def redis_database(url: str) -> int:
    """Return the number of the database in a Redis URL."""
    parts = urlsplit(url)
    number = parse_qs(parts.query).get("db", [parts.path.strip("/")])[0]
    return int(number) if number.isdigit() else 0
