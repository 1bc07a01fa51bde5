"""Settings for a public league: check --deploy finds nothing, and cookies need TLS."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import environment

CHECKOUT = Path(__file__).parents[2]
SETTINGS = """
import json
from django.conf import settings
from django.core.management import call_command
call_command("check", deploy=True, fail_level="WARNING")
names = ("SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SECURE_SSL_REDIRECT",
         "SECURE_HSTS_SECONDS", "SECURE_PROXY_SSL_HEADER", "SECRET_KEY")
print(json.dumps({name: getattr(settings, name) for name in names}))
"""


def test_a_league_behind_tls_passes_the_check_for_deployment(tmp_path: Path) -> None:
    secret = tmp_path / "secret_key"
    secret.write_text("a secret key that is long enough, and differs from all others: 1234567890\n")
    variables = {
        "HTTPS": "yes",
        "SECRET_KEY_FILE": str(secret),
        "DATABASE_URL": "postgresql:///nowhere",
        "REDIS_URL": "redis://localhost/0",
        "ALLOWED_HOSTS": "league.example",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    script = f"import django; django.setup()\n{SETTINGS}"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **variables},
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found == {
        "SESSION_COOKIE_SECURE": True,
        "CSRF_COOKIE_SECURE": True,
        "SECURE_SSL_REDIRECT": True,
        "SECURE_HSTS_SECONDS": 31_536_000,
        "SECURE_PROXY_SSL_HEADER": ["HTTP_X_FORWARDED_PROTO", "https"],
        "SECRET_KEY": secret.read_text().strip(),
    }


@pytest.mark.parametrize(
    "command",
    [
        ["manage.py", "check"],
        ["-m", "celery", "-A", "config", "worker"],
        ["-m", "celery", "-A", "config", "beat"],
        ["-m", "uvicorn", "--fd", "0", "api.play.app:application"],
        ["-c", "import config.wsgi"],
    ],
)
@pytest.mark.parametrize(
    ("variables", "begin"),
    [
        ({"SECRET_KEY": ""}, "SECRET_KEY is not set. Start the league with `make up`"),
        (
            {"RATE_PLAY": "60000/min"},
            "RATE_PLAY is '60000/min'; it must be a number of requests in a second",
        ),
    ],
)
def test_a_program_with_a_wrong_setting_ends_with_one_sentence(
    command: list[str], variables: dict[str, str], begin: str
) -> None:
    done = subprocess.run(
        [sys.executable, *command],
        env=os.environ
        | {"SECRET_KEY": "any", "LEAGUE_DIRECTORY": "/nowhere", "PYTHONPATH": str(CHECKOUT)}
        | variables,
        cwd=CHECKOUT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith(begin)


@pytest.mark.parametrize(
    ("variables", "begin"),
    [
        ({"REDIS_URL": "localhost:6379"}, "REDIS_URL is not the URL of a Redis or Valkey server"),
        ({"REDIS_URL": "redis://host:port/0"}, "REDIS_URL is not the URL"),
        ({"REDIS_URL": "redis://host/league"}, "REDIS_URL is not the URL"),
        ({"PROBE_URL": "http://[front"}, "PROBE_URL is 'http://[front'; it must be a URL"),
        ({"PROBE_URL": "http://front:port"}, "PROBE_URL is 'http://front:port'; it must be a URL"),
        ({"SENTRY_DSN": "https://key@sentry:port/7"}, "SENTRY_DSN must be like https://"),
        ({"ALLOWED_HOSTS": "https://a.example"}, "ALLOWED_HOSTS contains 'https://a.example'; it"),
        ({"ALLOWED_HOSTS": "a.example,b.example:443"}, "ALLOWED_HOSTS contains 'b.example:443'"),
        ({"MAX_CHECK_SECONDS": "0"}, "MAX_CHECK_SECONDS is '0'; it must be a whole number of 1"),
    ],
)
def test_a_wrong_setting_is_named_at_the_start(variables: dict[str, str], begin: str) -> None:
    [line] = refusal(variables)
    assert line.startswith(begin)


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"\n", "this file is empty"), (b"\xff", "this file cannot be read: it is no text in UTF-8")],
)
def test_a_file_without_its_secret_is_named_at_the_start(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    """Without a token in its file, everybody could read the metrics."""
    file = tmp_path / "token"
    file.write_bytes(content)
    [line] = refusal({"METRICS_TOKEN_FILE": str(file)})
    assert line == f"METRICS_TOKEN_FILE is {str(file)!r}, and {reason}."


def refusal(variables: dict[str, str]) -> list[str]:
    """Return the lines with which a program refuses to start."""
    done = subprocess.run(
        [sys.executable, "-c", "from config.starting import read_settings; read_settings()"],
        env=os.environ | {"SECRET_KEY": "any"} | variables,
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    return done.stderr.splitlines()


@pytest.mark.parametrize("rate", ["many", "10", "10/day", "-1/minute", "x/minute"])
def test_an_invalid_rate_is_named(monkeypatch: pytest.MonkeyPatch, rate: str) -> None:
    monkeypatch.setenv("RATE_PLAY", rate)
    with pytest.raises(ImproperlyConfigured, match=f"RATE_PLAY is '{rate}'"):
        environment.rate("RATE_PLAY", "60000/minute")


@pytest.mark.parametrize(
    ("name", "days"),
    [
        ("MAX_OUTPUT_DAYS", "36501"),
        ("ARCHIVE_DAYS", "999999999999"),
        ("PLAYER_MATCH_DAYS", "1000000"),
        ("PLAYER_MATCH_DAYS", "0"),
    ],
)
def test_a_number_of_days_out_of_range_is_refused_at_the_start(name: str, days: str) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        env=os.environ | {"SECRET_KEY": "any", "LEAGUE_DIRECTORY": "/nowhere", name: days},
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    least = 1 if name == "PLAYER_MATCH_DAYS" else 0
    assert done.stderr == f"{name} is {days}; it must be a number of days from {least} to 36500.\n"


def test_backups_and_archive_are_in_the_checkout_wherever_a_command_runs(tmp_path: Path) -> None:
    code = "from django.conf import settings as s; print(s.BACKUP_DIRECTORY, s.ARCHIVE_DIRECTORY)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ
        | {"SECRET_KEY": "any", "PYTHONPATH": str(CHECKOUT), "ARCHIVE_DIRECTORY": "kept/archive"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{CHECKOUT / 'var/backups'} {CHECKOUT / 'kept/archive'}\n"
