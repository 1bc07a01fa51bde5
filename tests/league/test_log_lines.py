"""Lines that programs write without the standard library's logging: with JSON they are JSON too."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.documents import ROOT

BIN = Path(sys.executable).parent
ENVIRONMENT = os.environ | {
    "SECRET_KEY": "x" * 50,
    "DATABASE_URL": "postgresql:///x",
    "REDIS_URL": "redis://localhost/0",
    "PYTHONPATH": str(ROOT),
}


def values_of(line: str) -> dict[str, str]:
    """Return the values of a JSON line without its time."""
    values: dict[str, str] = json.loads(line)
    assert values.pop("timestamp").endswith("Z")
    return values


@pytest.mark.parametrize("log_format", ["json", "line"])
def test_the_parent_process_of_granian_writes_lines_of_the_log(
    log_format: str, tmp_path: Path
) -> None:
    """The worker ends at once, because the application does not exist: the parent logs that."""
    command = [
        *(str(BIN / "granian"), "--interface", "wsgi", "--uds", str(tmp_path / "at")),
        *("--log-level", "error", "--log-config", str(ROOT / "config" / "granian.json")),
        "tests.league:missing",
    ]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=ENVIRONMENT | {"LOG_FORMAT": log_format},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    lines = [line for line in done.stderr.splitlines() if "Unexpected exit" in line]
    assert lines, done.stderr
    if log_format == "json":
        values = values_of(lines[0])
        assert (values["level"], values["logger"]) == ("error", "granian")
        assert "Unexpected exit" in values["message"]
    else:
        assert "Z [error] Unexpected exit" in lines[0]
        assert lines[0].endswith("[granian]")


PROGRAM = """
import warnings, threading
from config import celery
from celery.apps import worker
import django
django.setup()
celery.say_in_the_form_of_the_log()
worker.safe_say("worker: Warm shutdown (MainProcess)", None)
warnings.warn("a thing will go", stacklevel=1)
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
raise KeyError("gold")
"""


def test_the_end_of_a_worker_warnings_and_errors_that_nothing_catches_are_json() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=ENVIRONMENT | {"LOG_FORMAT": "json"},
        capture_output=True,
        text=True,
        check=False,
    )
    said, warned, in_thread, error = map(values_of, done.stderr.splitlines())
    assert said["message"] == "worker: Warm shutdown (MainProcess)"
    assert "a thing will go" in warned["message"]
    assert "ZeroDivisionError" in in_thread["exception"]
    assert "KeyError: 'gold'" in error["exception"]
    assert (done.returncode, done.stdout) == (1, "")


def test_a_wrong_setting_is_one_json_line() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import config"],
        env=ENVIRONMENT | {"LOG_FORMAT": "json", "WEB_THREADS": "many"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert values_of(line)["message"].startswith("WEB_THREADS is 'many'")
