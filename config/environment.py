"""Settings from the environment, checked as they are read."""

import os
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.core.exceptions import ImproperlyConfigured
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict


def text(name: str, default: str | None = None) -> str:
    """Return a variable, or raise `ImproperlyConfigured` where it is needed and missing."""
    value = os.environ.get(name, default)
    if not value:
        raise ImproperlyConfigured(
            f"{name} is not set. Start the league with `make up`, which sets it for manage.py too, "
            "or see docs/operate.md."
        )
    return value


def flag(name: str, default: bool = False) -> bool:
    """Return whether a variable says yes."""
    value = os.environ.get(name, "yes" if default else "no").lower()
    if value not in ("1", "yes", "true", "on", "0", "no", "false", "off", ""):
        raise ImproperlyConfigured(f"{name} is {value!r}; it is yes or no.")
    return value in ("1", "yes", "true", "on")


def choice(name: str, choices: list[str]) -> str:
    """Return a variable that is one of some words, by default the first."""
    value = os.environ.get(name) or choices[0]
    if value not in choices:
        raise ImproperlyConfigured(f"{name} is {value!r}; it is {' or '.join(choices)}.")
    return value


def listed(name: str, default: str) -> list[str]:
    """Return the parts of a variable that is separated by commas."""
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


def database(name: str) -> dict[str, Any]:
    """Return Django's settings for the database that a URL names."""
    try:
        parts = conninfo_to_dict(text(name))
    except ProgrammingError as error:
        raise ImproperlyConfigured(
            f"{name} is no PostgreSQL URL, as postgresql://user@host/name is: {error}"
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


def celery_url(redis_url: str) -> str:
    """Return the URL by which Celery calls the server that redis-py calls ``redis_url``."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    number = parse_qs(parts.query).get("db", ["0"])[0]
    return f"redis+socket://{parts.path}?virtual_host={number}"


def redis_database(url: str) -> int:
    """Return the number of the database that a Redis URL names."""
    parts = urlsplit(url)
    number = parse_qs(parts.query).get("db", [parts.path.strip("/")])[0]
    return int(number) if number.isdigit() else 0
