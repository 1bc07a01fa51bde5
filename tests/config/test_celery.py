"""What a worker leaves behind when it is killed."""

import subprocess
import sys
from pathlib import Path

KILLED_WORKER = """
import os, signal
from billiard import Value
from config import celery
celery.note_worker()
Value("i")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_worker_leaves_no_temporary_file(tmp_path: Path) -> None:
    environment = {
        "TMPDIR": str(tmp_path),
        "SECRET_KEY": "x" * 50,
        "DATABASE_URL": "postgresql:///x",
        "REDIS_URL": "redis://localhost/0",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    done = subprocess.run([sys.executable, "-c", KILLED_WORKER], env=environment, check=False)
    assert done.returncode == -9
    assert list(tmp_path.iterdir()) == []
