"""The table of settings in the docs: each variable that the settings read, with its default.

``python -m config.settings_table`` writes the table into ``docs/operate.md``. Names and defaults
come from the calls of `config.environment`; only the meanings are written here.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

from config.environment import defaults

PAGE = Path(__file__).parents[1] / "docs" / "operate.md"
_HEADING = "## Settings\n"
_COLUMNS = "| variable | default | meaning |"
_QUOTED = re.compile(r"\d+/[a-z]+|[a-z]+/[a-z/]+|[a-z]+")
_PLAIN = ("yes", "no")


class Text(NamedTuple):
    """What the docs say about a setting.

    Attributes:
        meaning: one or two sentences without a full stop; Markdown.
        default: in words, if the code's default does not show it.
    """

    meaning: str
    default: str = ""


TEXTS: dict[str, Text] = {
    "DATABASE_URL": Text(
        "PostgreSQL 14 or newer, `postgresql://user@host/name`",
        default="`make up` starts its own; elsewhere none",
    ),
    "REDIS_URL": Text(
        "Redis or Valkey 7 or newer, `redis://host:6379/0`",
        default="`make up` starts its own; elsewhere none",
    ),
    "SECRET_KEY": Text(
        "the same for all parts; a new key ends all sessions and tokens",
        default="made at the first `make up`, kept in `var/`",
    ),
    "ALLOWED_HOSTS": Text(
        "host names of the league",
        default="`localhost,127.0.0.1,[::1]`; all names if you run `make up HOST=0.0.0.0`",
    ),
    "CSRF_TRUSTED_ORIGINS": Text(
        "for example `https://league.example`, if a proxy in front of the league handles TLS"
    ),
    "SHARED_PAGE_SECONDS": Text(
        "seconds for which readers without cookies get the same copy of a page; with 0 the league "
        "makes each page anew"
    ),
    "HTTPS": Text(
        "yes if people reach the league by `https` only: cookies need TLS, browsers remember "
        "it (HSTS), and `http` is redirected"
    ),
    "HSTS_SECONDS": Text("how long browsers remember that the league needs TLS"),
    "TRUSTED_PROXIES": Text(
        "address ranges of proxies in front of the league, such as `10.0.0.0/8,192.0.2.7`; see "
        "[TLS and proxies](#tls-and-proxies)"
    ),
    "HOUSE_BOTS": Text(
        "house bots of a new league, separated by commas; `house-search` takes the most "
        "processor time",
        default="all",
    ),
    "RATE_GENERAL": Text("rate limit for most calls: by token, or by address without a token"),
    "RATE_PLAY": Text("the same for turns and moves"),
    "RATE_ACCOUNTS": Text(
        "the same for signing up; a school class that shares one address needs more"
    ),
    "RATE_PASSWORDS": Text("the same for signing in"),
    "RATE_PICTURES": Text(
        "[pictures](organise.md#show-the-league-on-another-site) that the league draws "
        "for one address; a picture from the cache does not count"
    ),
    "RATE_GUESSES": Text("wrong passwords for one account from one address"),
    "RATE_ACCOUNT_GUESSES": Text(
        "wrong passwords for one account from all addresses together; an address from which "
        "the owner has signed in within 30 days does not count"
    ),
    "RATE_EXPORTS": Text("rate limit for exports of ladders"),
    "RATE_ANALYSES": Text("rate limit for asking for [analyses](analysis.md) of matches"),
    "ALIVE_FILE": Text(
        "a file that workers and beat (the scheduler) touch every 2 s at least, for health "
        "checks of containers"
    ),
    "MAX_BOTS_PER_DAY": Text("bots that one account may create in 24 hours"),
    "MAX_UPLOADS_PER_DAY": Text("versions that one account may upload in 24 hours"),
    "MAX_RENAMES_PER_DAY": Text("new names that one account may give its bots in 24 hours"),
    "MAX_CHALLENGES_PER_DAY": Text("challenges that one account may start in 24 hours"),
    "RATE_TRIALS": Text(
        "trials of bots in the browser by one account, or from one address without an account"
    ),
    "RATE_TABLES": Text("tables that one address starts or joins to play in the browser"),
    "MAX_PLAYER_TABLES": Text("tables of players that may be open at the same time"),
    "PLAYER_MATCH_DAYS": Text("days after which a match of players is removed"),
    "MAX_WAITING_REQUESTS": Text(
        "waiting requests (long polls and streams) that one bot, or one spectator's address, may "
        "have in one process of `gateway`, the part that answers bots' calls"
    ),
    "MAX_WAITING_PER_ADDRESS": Text("the same for all bots and spectators of one address"),
    "MAX_WAITING_IN_ALL": Text("the same for all clients"),
    "MAX_STREAMS_PER_BOT": Text("how many of the waiting requests of one bot may be streams"),
    "MAX_STREAMS_PER_ADDRESS": Text("the same for all bots and spectators of one address"),
    "MAX_QUEUED_MOVES": Text("moves that may be queued or under way in one gateway process"),
    "FAIR_QUEUED_MOVES": Text(
        "if the queue is three quarters full: moves that one address or one bot may have in it"
    ),
    "WEB_THREADS": Text("threads of one web process"),
    "FAIR_THREADS": Text(
        "if three quarters of the threads are in use: threads that one address may hold"
    ),
    "MAX_HASHES": Text(
        "password hashes that one web process computes at a time; the same number of further "
        "requests may wait"
    ),
    "PROBE_URL": Text(
        "the address at which bots reach the league; the `clock` worker calls it, and if the "
        "calls fail, open turns get the lost time back",
        default="none; `make up` and `docker/compose.yaml` set the front's address",
    ),
    "SANDBOX_PATIENCE": Text(
        "if no worker has a working sandbox for this number of seconds, each waiting match of "
        "uploaded bots counts one failure; after three failures its block is void"
    ),
    "SANDBOX_FORKS": Text(
        "workers fork uploaded bots from a [zygote](sandbox.md#zygotes); with `no` each bot "
        "starts a new Python, which shares nothing with other bots but takes several times as"
        " long"
    ),
    "MAX_CHECK_SECONDS": Text(
        "wall time for the whole check of an upload; if it takes longer, the match in play "
        "fails. Then the version is refused, with one exception: if it declares no games and has "
        "passed one game, it is ready for that game"
    ),
    "TRY_IN_BROWSER": Text(
        "people may [try a bot in the browser](#trials-in-the-browser) without an account"
    ),
    "MAX_OUTPUT_DAYS": Text("days for which the output of uploaded bots is kept"),
    "MAX_OUTPUT_MEGABYTES": Text(
        "size of all output that is kept; beyond it the oldest is removed first"
    ),
    "BACKUP_DIRECTORY": Text(
        "where `manage.py backup` writes; a relative path begins at the checkout"
    ),
    "KEEP_BACKUPS": Text("how many backups stay; 0 keeps all"),
    "ARCHIVE_DAYS": Text(
        "days after which the records of a round move to a file of the [archive](#archive); 0 "
        "keeps all in the database"
    ),
    "ARCHIVE_DIRECTORY": Text(
        "where the files of the archive are; a relative path begins at the checkout"
    ),
    "ARCHIVE_STORAGE": Text(
        "another place for them: a storage class of Django, such as `league.archive_s3.S3Archive`"
    ),
    "ARCHIVE_STORAGE_OPTIONS": Text(
        'options of that class as JSON, such as `{"bucket_name": "league"}`'
    ),
    "METRICS_TOKEN": Text(
        "`/metrics` requires the header `Authorization: Bearer` with this token; if you set no "
        "token, everybody can read `/metrics`"
    ),
    "OTEL_EXPORTER_OTLP_ENDPOINT": Text(
        "URL of a collector of OpenTelemetry, such as `http://collector:4318`, for "
        "[traces](#traces-and-error-reports)"
    ),
    "OTEL_EXPORTER_OTLP_HEADERS": Text(
        "headers for the collector, such as `Authorization=Bearer x`, separated by commas"
    ),
    "SENTRY_DSN": Text(
        "a server for [error reports](#traces-and-error-reports), `https://KEY@sentry.example/7`"
    ),
    "LOG_FORMAT": Text("`json`: one object a line, with the ids of request, task, match and bot"),
    "DEBUG": Text("never switch it on where others can reach the league"),
}
"""By variable, in the order of the table."""


def table() -> str:
    """Return the table in Markdown.

    Raises:
        KeyError: `TEXTS` names a variable that no setting reads.
    """
    rows = [f"| `{name}` | {_default(name)} | {text.meaning} |" for name, text in TEXTS.items()]
    return "\n".join([_COLUMNS, "|---|---|---|", *rows])


def page(text: str) -> str:
    """Return the page of the docs with the table that the code makes, in place of its own table.

    Args:
        text: the page; the table is the first one under the heading *Settings*.
    """
    begin = text.index(_COLUMNS, text.index(_HEADING))
    end = text.index("\n\n", begin)
    return f"{text[:begin]}{table()}{text[end:]}"


def undescribed() -> set[str]:
    """Return the variables that the settings read and `TEXTS` lacks."""
    files = {f"{name}_FILE" for name in TEXTS}
    return defaults.keys() - TEXTS.keys() - files


def _default(name: str) -> str:
    """Return the default of a variable as the table shows it."""
    if TEXTS[name].default:
        return TEXTS[name].default
    default = defaults[name]
    if not default:
        return "none"
    return f"`{default}`" if _QUOTED.fullmatch(default) and default not in _PLAIN else default


def main() -> None:
    """Write the table into the page."""
    from django.conf import settings

    _ = settings.SECRET_KEY  # reads all variables
    if missing := undescribed():
        sys.exit(f"Describe {', '.join(sorted(missing))} in {__file__}.")
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    from config.starting import read_settings

    read_settings()
    main()
