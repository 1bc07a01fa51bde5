"""The proof of the sandbox in a process that is forked while its parent proves it."""

import os

from league.bots import jails


def test_a_process_that_is_forked_during_a_proof_can_prove_its_sandbox_too() -> None:
    with jails._lock:
        child = os.fork()
        if not child:
            os._exit(0 if jails._lock.acquire(timeout=5) else 1)
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
