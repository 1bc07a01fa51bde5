"""Django's settings; what differs between machines comes from the environment."""

import os
from pathlib import Path

from celery.schedules import crontab
from django.core.exceptions import ImproperlyConfigured

from bots_sdk.reference import HOUSE
from config import environment

# Read when NumPy is loaded: fits are no faster with more threads than the machine has free.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

BASE_DIR = Path(__file__).parents[1]

DEBUG = environment.flag("DEBUG")
SECRET_KEY = environment.text("SECRET_KEY")
ALLOWED_HOSTS = environment.listed("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = environment.listed("CSRF_TRUSTED_ORIGINS", "")

DATABASES = {"default": {**environment.database("DATABASE_URL"), "CONN_MAX_AGE": 60}}
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
# Of the statements that ask for it only: those of a move.
DATABASES["default"]["OPTIONS"].setdefault("prepare_threshold", 5)
REDIS_URL = environment.text("REDIS_URL")
# Publishing knows no databases: two leagues on one server must not wake each other's bots.
REDIS_CHANNELS = f"league:{environment.redis_database(REDIS_URL)}"

# Which of `bots_sdk.reference.HOUSE` a new league begins with; house-search takes the most CPU.
HOUSE_BOTS = environment.listed("HOUSE_BOTS", ",".join(HOUSE))
if unknown := set(HOUSE_BOTS) - set(HOUSE):
    raise ImproperlyConfigured(
        f"HOUSE_BOTS names {', '.join(sorted(unknown))}; there are {', '.join(HOUSE)}."
    )

# Seconds without a sandbox after which a match with uploaded bots counts as tried; three void it.
SANDBOX_PATIENCE = int(environment.text("SANDBOX_PATIENCE", "600"))

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
    "django_filters",
    "drf_spectacular",
]
MIDDLEWARE = [
    "api.middleware.RequestIdMiddleware",
    "api.middleware.ApiMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "web.csp.content_security_policy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "web.outages.OutageMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["web.tags"],
        },
    }
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
    )
]

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "static/"
WHITENOISE_USE_FINDERS = True
LOGIN_URL = "web:sign-in"
LOGIN_REDIRECT_URL = "web:home"
LOGOUT_REDIRECT_URL = "web:home"

CELERY_BROKER_URL = environment.celery_url(REDIS_URL)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_TIME_LIMIT = 600
# Longer than any task may run, or the broker would hand it out a second time meanwhile.
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 1200}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_DEFAULT_QUEUE = "control"
CELERY_TASK_ROUTES = {
    "league.tasks.play_match": {"queue": "play"},
    # Not behind matches: somebody waits for it.
    "league.tasks.qualify": {"queue": "seats"},
    "league.tasks.prove_sandbox": {"queue": "play"},
    "league.tasks.play_house_turns": {"queue": "seats"},
    "league.tasks.tick": {"queue": "clock"},
    "league.tasks.expire_overdue": {"queue": "clock"},
}
CELERY_BEAT_SCHEDULE = {
    # A tick that was not taken up in time is worth nothing: the next one does its work.
    "tick": {"task": "league.tasks.tick", "schedule": 1.0, "options": {"expires": 5}},
    # Each worker proves its sandbox again when it next needs it; this is for those that don't.
    "prove-sandbox": {
        "task": "league.tasks.prove_sandbox",
        "schedule": 300.0,
        "options": {"expires": 60},
    },
    "expire-overdue": {
        "task": "league.tasks.expire_overdue",
        "schedule": 1.0,
        "options": {"expires": 5},
    },
    "check-ratings": {
        "task": "league.tasks.check_ratings",
        "schedule": crontab(hour="3", minute="30"),
    },
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"request_id": {"()": "api.request_ids.RequestIdFilter"}},
    "formatters": {
        "line": {"format": "%(levelname)s %(name)s [%(request_id)s] %(message)s"},
        "json": {"()": "config.logs.JsonFormatter"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "filters": ["request_id"],
            "formatter": environment.choice("LOG_FORMAT", ["line", "json"]),
        }
    },
    "root": {"handlers": ["console"], "level": "INFO"},
    # What a client did wrong is in the log of requests already, with more about it.
    "loggers": {"django.request": {"level": "ERROR"}},
}

# -- The API: DRF, its schema, request ids, rate limits ----------------------------------------

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "league",
        "OPTIONS": {"socket_connect_timeout": 0.5, "socket_timeout": 0.5},
    }
}
# How many proxies of ours stand in front: the address before them is the client's.
PROXIES = int(environment.text("PROXIES", "0"))
API_RATES = {
    "general": environment.text("RATE_GENERAL", "600/minute"),
    "play": environment.text("RATE_PLAY", "60000/minute"),
    "accounts": environment.text("RATE_ACCOUNTS", "60/hour"),
    "exports": environment.text("RATE_EXPORTS", "30/hour"),
    "passwords": environment.text("RATE_PASSWORDS", "30/minute"),
}
# Requests that wait in one process of the waiting app, of one bot, or of an address that watches.
MAX_WAITING = int(environment.text("MAX_WAITING", "1000"))
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["api.authentication.BearerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_THROTTLE_CLASSES": ["api.throttling.RateLimit"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["api.parsers.JsonParser"],
    "DEFAULT_SCHEMA_CLASS": "api.schema.ApiSchema",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "api.problems.handle",
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
        "drf_spectacular.hooks.postprocess_schema_enums",
        "api.schema.add_the_rest",
    ],
    "ENUM_NAME_OVERRIDES": {
        "AcceptedStatus": ["accepted"],
        "BotKind": "league.models.Bot.Kind",
        "MatchStatus": "league.models.Match.Status",
        "NewBotKind": ["remote", "hosted"],
        "ComparisonState": "league.models.Comparison.State",
        "VersionState": "league.models.BotVersion.State",
    },
}
