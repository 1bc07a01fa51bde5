"""Django's settings. Values that differ between machines come from environment variables.

`docs/operate.md` lists the variables. `config.environment` reads and checks them.
"""

import logging
import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from bots_sdk.reference import HOUSE
from config import environment, schedule
from config import logging as logs
from league.log_lines import catch_the_rest

# NumPy reads it when it is loaded. More threads would take processors from matches, and
# performance fits would be no faster.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

BASE_DIR = Path(__file__).parents[1]

# -- Site ----------------------------------------------------------------------------------------

DEBUG = environment.flag("DEBUG")
SECRET_KEY = environment.secret("SECRET_KEY")
ALLOWED_HOSTS = environment.hosts("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = environment.listed("CSRF_TRUSTED_ORIGINS", "")
# Ranges of trusted reverse proxies. The client's address is the last one in X-Forwarded-For that is
# in none of them. The peer of a unix socket is always trusted.
TRUSTED_PROXIES = environment.networks("TRUSTED_PROXIES")

# -- TLS: the front or a proxy ends it, and sends X-Forwarded-Proto --------------------------------

HTTPS = environment.flag("HTTPS")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_REDIRECT_EXEMPT = [r"^healthz(/web)?$", r"^readyz$", r"^metrics$"]
hsts_seconds = environment.number("HSTS_SECONDS", 31_536_000)
SECURE_HSTS_SECONDS = hsts_seconds if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
# A domain's owner decides on the browsers' preload lists. An operator of one host cannot.
SILENCED_SYSTEM_CHECKS = ["security.W021"]

# An upload stays in memory until it is stored: the largest one has 8 MiB.
FILE_UPLOAD_MAX_MEMORY_SIZE = 9_000_000

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True

# -- Storage: PostgreSQL, and Valkey as broker, cache and for wake-ups ---------------------------

DATABASES = {
    "default": environment.database("DATABASE_URL")
    | {"CONN_MAX_AGE": 600, "CONN_HEALTH_CHECKS": True}
}
# Only the statements of `league.play.statements` are prepared, after this many runs.
DATABASES["default"]["OPTIONS"].setdefault("prepare_threshold", 5)
REDIS_URL = environment.broker("REDIS_URL")
# Redis channels are shared by all databases of a server. The database's number in their names
# keeps two leagues on one server from waking each other's bots.
REDIS_CHANNELS = f"league:{environment.redis_database(REDIS_URL)}"
CACHES = {
    "default": {
        "BACKEND": "config.cache.Cache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "league",
        "OPTIONS": {"socket_connect_timeout": 0.5, "socket_timeout": 0.5},
    },
    # Pictures for previews of links, about 40 kB each: the last ones that this process has drawn.
    "pictures": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "pictures",
        "TIMEOUT": 3600,
        "OPTIONS": {"MAX_ENTRIES": 100},
    },
    # Moments of matches, about 1 kB each, by `web.table.moments`.
    "moments": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "moments",
        "TIMEOUT": 86_400,
        "OPTIONS": {"MAX_ENTRIES": 500},
    },
    # Pages for readers without cookies, about 30 kB each, by `web.shared_pages`.
    "pages": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "pages",
        "OPTIONS": {"MAX_ENTRIES": 500},
    },
}
SHARED_PAGE_SECONDS = environment.number("SHARED_PAGE_SECONDS", 2)

# -- League --------------------------------------------------------------------------------------

# The house bots of `bots_sdk.reference.HOUSE` that a new league begins with. house-search takes
# the most CPU time.
HOUSE_BOTS = environment.listed("HOUSE_BOTS", ",".join(HOUSE))
if unknown := set(HOUSE_BOTS) - set(HOUSE):
    raise ImproperlyConfigured(
        f"HOUSE_BOTS contains {', '.join(sorted(unknown))}, which does not exist. "
        f"Choose from {', '.join(HOUSE)}."
    )
# The URL of the front, as bots reach it. The clock probes it, and gives open turns back the time in
# which probes failed. Without it, only the time counts in which the clock itself did not run.
PROBE_URL = environment.url("PROBE_URL")
# Seconds without a worker that has a sandbox, after which a match with hosted bots counts as one
# failed attempt. The third failed attempt voids its block.
SANDBOX_PATIENCE = environment.number("SANDBOX_PATIENCE", 600)
# Whether workers fork uploaded bots from a process with Python loaded. Otherwise each bot starts a
# new Python, which takes longer.
SANDBOX_FORKS = environment.flag("SANDBOX_FORKS", True)
# Wall time of the whole check of an uploaded version; a check that takes longer refuses it.
MAX_CHECK_SECONDS = environment.number("MAX_CHECK_SECONDS", 120, minimum=1)
# Whether people may try a bot from the editor of the learn pages, without an account.
TRY_IN_BROWSER = environment.flag("TRY_IN_BROWSER", True)
# What uploaded bots print and the receipts of turns are kept for so long. Of the output only so
# much is kept in all: the oldest goes first.
MAX_OUTPUT_DAYS = environment.days("MAX_OUTPUT_DAYS", 14)
MAX_OUTPUT_MEGABYTES = environment.number("MAX_OUTPUT_MEGABYTES", 1000)
# Requests of one client (a bot, an owner, or an address without a token), and in how many seconds.
RATE_LIMITS = {
    "general": environment.rate("RATE_GENERAL", "600/minute"),
    "play": environment.rate("RATE_PLAY", "60000/minute"),
    "accounts": environment.rate("RATE_ACCOUNTS", "60/hour"),
    "exports": environment.rate("RATE_EXPORTS", "30/hour"),
    "analyses": environment.rate("RATE_ANALYSES", "30/hour"),
    "passwords": environment.rate("RATE_PASSWORDS", "30/minute"),
    # Pictures that have to be drawn.
    "pictures": environment.rate("RATE_PICTURES", "120/minute"),
    # Tables that players start and join in the browser.
    "tables": environment.rate("RATE_TABLES", "120/hour"),
    # Bots that people try from the editor of the learn pages.
    "trials": environment.rate("RATE_TRIALS", "60/hour"),
    # Wrong passwords for one account: from one address, and from all addresses together from which
    # nobody has signed in to it.
    "guesses": environment.rate("RATE_GUESSES", "20/hour"),
    "account-guesses": environment.rate("RATE_ACCOUNT_GUESSES", "100/hour"),
}
# New bots, versions that one account uploads, and new names of its bots, in 24 hours.
MAX_BOTS_PER_DAY = environment.number("MAX_BOTS_PER_DAY", 50)
MAX_UPLOADS_PER_DAY = environment.number("MAX_UPLOADS_PER_DAY", 200)
MAX_RENAMES_PER_DAY = environment.number("MAX_RENAMES_PER_DAY", 10)
MAX_CHALLENGES_PER_DAY = environment.number("MAX_CHALLENGES_PER_DAY", 100)
# Tables of players that may be open at the same time, and days after which a match is removed.
MAX_PLAYER_TABLES = environment.number("MAX_PLAYER_TABLES", 500)
PLAYER_MATCH_DAYS = environment.days("PLAYER_MATCH_DAYS", 30, minimum=1)
# Requests that may wait in one gateway process: of one bot (or of one spectator's address), of one
# address, and in all.
MAX_WAITING_REQUESTS = environment.number("MAX_WAITING_REQUESTS", 1000)
MAX_WAITING_PER_ADDRESS = environment.number("MAX_WAITING_PER_ADDRESS", 2000)
MAX_WAITING_IN_ALL = environment.number("MAX_WAITING_IN_ALL", 10_000)
# Streams among them, of one bot and of one address.
MAX_STREAMS_PER_BOT = environment.number("MAX_STREAMS_PER_BOT", 20)
MAX_STREAMS_PER_ADDRESS = environment.number("MAX_STREAMS_PER_ADDRESS", 200)
# Moves that may be queued or under way in one gateway process, and those among them of one bot or
# address while fewer than a quarter of the places are free.
MAX_QUEUED_MOVES = environment.number("MAX_QUEUED_MOVES", 2000, minimum=1)
FAIR_QUEUED_MOVES = environment.number("FAIR_QUEUED_MOVES", 300, minimum=1)
# Threads of one web process, and the threads that one address may hold while fewer than a quarter
# of them are free.
WEB_THREADS = environment.number("WEB_THREADS", 16, minimum=1)
FAIR_THREADS = environment.number("FAIR_THREADS", 4, minimum=1)
# Password hashes that one process computes at a time; as many more may wait.
MAX_HASHES = environment.number("MAX_HASHES", 2, minimum=1)

# A file that workers and beat touch with each heartbeat; none by default.
ALIVE_FILE = environment.optional("ALIVE_FILE")
# Where `manage.py backup` writes, and how many backups stay; 0 keeps all. Relative paths, here
# and in ARCHIVE_DIRECTORY, start at the checkout, so that all parts find the files.
BACKUP_DIRECTORY = str(BASE_DIR / environment.text("BACKUP_DIRECTORY", "var/backups"))
KEEP_BACKUPS = environment.number("KEEP_BACKUPS", 14)
# Records of rounds that were applied so many days ago move to files; 0 keeps all in the database.
# The files are in a directory, or in another of Django's storages, such as S3.
ARCHIVE_DAYS = environment.days("ARCHIVE_DAYS", 0)
ARCHIVE_DIRECTORY = str(BASE_DIR / environment.text("ARCHIVE_DIRECTORY", "var/archive"))
archive_storage = environment.optional("ARCHIVE_STORAGE")
archive_options = environment.json_object("ARCHIVE_STORAGE_OPTIONS")
# Who sends it as a bearer token may read /metrics. Without it, everybody may.
METRICS_TOKEN = environment.optional_secret("METRICS_TOKEN")
# A collector of OpenTelemetry, and headers for it, such as "Authorization=Bearer x".
OTEL_EXPORTER_OTLP_ENDPOINT = environment.url("OTEL_EXPORTER_OTLP_ENDPOINT")
OTEL_EXPORTER_OTLP_HEADERS = environment.optional_secret("OTEL_EXPORTER_OTLP_HEADERS")
# A server that takes error reports as Sentry does, such as https://KEY@sentry.example/7.
SENTRY_DSN = environment.optional_secret("SENTRY_DSN")
if SENTRY_DSN and not environment.is_dsn(SENTRY_DSN):
    raise ImproperlyConfigured("SENTRY_DSN must be like https://KEY@sentry.example/7.")

# -- Django: apps, middleware, pages -------------------------------------------------------------

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "league",
    "web",
    "api",
    "rest_framework",
    "django_structlog",
    "drf_spectacular",
]
MIDDLEWARE = [
    "api.middleware.RequestIdMiddleware",
    "api.bounds.HostMiddleware",
    "api.bounds.FairShareMiddleware",
    "api.middleware.ApiMiddleware",
    "web.requests.refuse_nul",
    "django.middleware.security.SecurityMiddleware",
    "web.csp.content_security_policy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "web.shared_pages.share_pages",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "web.outages.OutageMiddleware",
    "web.requests.explain_method",
    "web.requests.note_activity",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "web.news.news",
            ],
            "builtins": ["web.tags", "web.match_tags"],
        },
    }
]
AUTHENTICATION_BACKENDS = ["league.accounts.passwords.PasswordBackend"]
# The second one reads older hashes. A sign-in replaces them.
PASSWORD_HASHERS = [
    "league.accounts.hashing.Argon2Hasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
    )
]
# A link with which a person sets a new password works for so many seconds.
PASSWORD_RESET_TIMEOUT = 24 * 3600
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    "archive": (
        {"BACKEND": archive_storage, "OPTIONS": archive_options}
        if archive_storage
        else {
            "BACKEND": "league.archive_files.ArchiveDirectory",
            "OPTIONS": {"location": ARCHIVE_DIRECTORY},
        }
    ),
}
STATIC_URL = "static/"
WHITENOISE_USE_FINDERS = True
LOGIN_URL = "web:sign-in"
LOGIN_REDIRECT_URL = "web:home"
LOGOUT_REDIRECT_URL = "web:home"

# -- Logging -------------------------------------------------------------------------------------

logs.configure_structlog()
catch_the_rest()
LOGGING = logs.django_logging(
    environment.choice("LOG_FORMAT", logs.FORMATS), reports=bool(SENTRY_DSN)
)
# django-structlog binds the ids of tasks. Its own lines, several a task, are at level DEBUG.
DJANGO_STRUCTLOG_CELERY_ENABLED = True
DJANGO_STRUCTLOG_CELERY_DEFAULT_LOG_LEVEL = logging.DEBUG
DJANGO_STRUCTLOG_CELERY_TASK_RETRY_LOG_LEVEL = logging.DEBUG

# -- Workers: Celery's tasks, queues and schedule ------------------------------------------------

CELERY_BROKER_URL = environment.celery_url(REDIS_URL)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# Seconds in which a new process of a worker must be ready. With Celery's 4 s, a busy machine kills
# and starts the processes again and again, which makes it busier.
CELERY_WORKER_PROC_ALIVE_TIMEOUT = 60.0
CELERY_TASK_TIME_LIMIT = 600
# Seconds. If a task could run for longer, the broker would start it a second time meanwhile.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 1200,
    # In seconds. Without a limit, a thread that sends a task to a hanging broker never ends, and
    # moves of other matches wait for it. A busy broker answers sooner.
    "socket_timeout": 5.0,
    "socket_connect_timeout": 5.0,
    # A worker of several queues empties them in the order in which they are named.
    "queue_order_strategy": "priority",
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False  # nothing uses it, and each worker would subscribe
CELERY_BEAT_SCHEDULER = "config.beat:Scheduler"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_DEFAULT_QUEUE = "control"
PLAY_QUEUES = ("placement", "play")
"""Hosted matches; the workers that play take those of the first queue before the others."""
CELERY_TASK_ROUTES = schedule.TASK_ROUTES
CELERY_BEAT_SCHEDULE = schedule.BEAT_SCHEDULE

# -- API: DRF and its schema ---------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["api.authentication.BearerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_THROTTLE_CLASSES": ["api.throttling.RateLimit"],
    "DEFAULT_RENDERER_CLASSES": ["api.renderers.Renderer"],
    "DATETIME_FORMAT": None,  # the renderer writes times
    "DEFAULT_PARSER_CLASSES": ["api.parsers.JsonParser"],
    "DEFAULT_SCHEMA_CLASS": "api.schema.ApiSchema",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "api.exceptions.handle",
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Twelfth Night: the API",
    "DESCRIPTION": (
        "Send the header Authorization: Bearer TOKEN. An owner token manages, a bot token plays. "
        "Lists are paged by cursor, times are ISO 8601 in UTC, errors are problem documents "
        "(RFC 9457)."
    ),
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_PATCH": False,
    "POSTPROCESSING_HOOKS": [
        "api.play.schema.add_gateway_paths",
        "drf_spectacular.hooks.postprocess_schema_enums",
        "api.schema.add_the_rest",
        "api.shapes.add_shapes",
        "api.links.add_links",
        "api.examples.in_schema.add_examples",
    ],
    "ENUM_NAME_OVERRIDES": {
        "AcceptedStatus": ["accepted"],
        "BlockState": "league.models.Block.State",
        "BotKind": ["house", "remote", "hosted"],
        "MatchStatus": "league.models.Match.Status",
        "NewBotKind": ["remote", "hosted"],
        "ComparisonState": "league.models.Comparison.State",
        "OwnerScope": ["manage", "read", "organise"],
        "TokenScope": "league.models.Token.Scope",
        "VersionState": "league.models.BotVersion.State",
    },
}
