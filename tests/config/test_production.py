"""Settings for a public league: check --deploy finds nothing, and cookies need TLS."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

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
def test_a_program_without_secret_key_ends_with_one_sentence(command: list[str]) -> None:
    left = {name: value for name, value in os.environ.items() if name != "SECRET_KEY"}
    done = subprocess.run(
        [sys.executable, *command],
        env=left | {"LEAGUE_DIRECTORY": "/nowhere", "PYTHONPATH": str(CHECKOUT)},
        cwd=CHECKOUT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith("SECRET_KEY is not set. Start the league with `make up`")
