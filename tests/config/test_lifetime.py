"""Worker processes end with the process that started them."""

import os
import signal
import subprocess
import sys

from tests.devserver.test_supervisor import lives
from tests.journeys.running import CHECKOUT, wait_for

SERVER = """
import multiprocessing, os, time
from config.lifetime import end_with_parent

def work():
    end_with_parent(multiprocessing.parent_process().pid)
    print(os.getpid(), flush=True)
    time.sleep(60)

multiprocessing.get_context("fork").Process(target=work).start()
time.sleep(60)
"""


def test_a_worker_ends_with_a_server_that_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        cwd=CHECKOUT,
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        stdout=subprocess.PIPE,
    ) as server:
        assert server.stdout
        worker = int(server.stdout.readline())
        server.send_signal(signal.SIGKILL)
        server.wait()
        wait_for(lambda: not lives(worker))


def test_a_worker_whose_server_has_ended_already_ends_at_once() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from config.lifetime import end_with_parent; end_with_parent(0)"],
        cwd=CHECKOUT,
        check=False,
    )
    assert done.returncode == 1
