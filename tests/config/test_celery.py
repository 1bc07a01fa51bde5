"""What a worker leaves behind when it is killed, and what its processes inherit."""

import subprocess
import sys
from pathlib import Path

ENVIRONMENT = {
    "SECRET_KEY": "x" * 50,
    "DATABASE_URL": "postgresql:///x",
    "REDIS_URL": "redis://localhost/0",
    "PYTHONPATH": str(Path(__file__).parents[2]),
}
KILLED_WORKER = """
import os, signal
from billiard import Value
from config import celery
celery.note_worker()
Value("i")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_worker_leaves_no_temporary_file(tmp_path: Path) -> None:
    environment = {**ENVIRONMENT, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", KILLED_WORKER], env=environment, check=False)
    assert done.returncode == -9
    assert list(tmp_path.iterdir()) == []


def test_the_processes_of_a_worker_visit_no_object_that_they_inherit() -> None:
    program = """
import gc
from celery.signals import worker_before_create_process
from config import celery
worker_before_create_process.send(sender=None)
print(gc.get_freeze_count() > 10_000, len(gc.get_objects()) < 1_000)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=ENVIRONMENT,
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["True", "True"]
