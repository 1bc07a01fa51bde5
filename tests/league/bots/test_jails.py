"""When a process proves its sandbox."""

import os
import time

import pytest

from bots_sdk.sandbox.jail import Jail
from league.bots import jails

STRONGEST, WEAKER = Jail(1, ("bwrap",), None, forks=True), Jail(1, ("bwrap",), None)


@pytest.fixture
def _unproven(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process has proven nothing so far, and forgets what it proves in the test."""
    monkeypatch.setattr(jails, "_known", None)
    monkeypatch.setattr(jails, "_strongest", None)


def test_a_process_that_is_forked_during_a_proof_can_prove_its_sandbox_too() -> None:
    with jails._lock:
        child = os.fork()
        if not child:
            os._exit(0 if jails._lock.acquire(timeout=5) else 1)
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.usefixtures("_unproven")
def test_a_weaker_sandbox_than_before_is_soon_proven_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.monotonic()
    found = iter([STRONGEST, WEAKER, STRONGEST])
    monkeypatch.setattr(jails, "proven_jail", lambda **_: next(found))
    monkeypatch.setattr(time, "monotonic", lambda: now)
    assert jails.jail() == STRONGEST
    jails.distrust()
    assert jails.jail() == WEAKER
    now += jails.TRY_AGAIN_AFTER
    assert jails.jail() == STRONGEST


@pytest.mark.usefixtures("_unproven")
def test_a_machine_with_only_the_weaker_sandbox_proves_it_as_rarely(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = time.monotonic()
    found = iter([WEAKER, STRONGEST])
    monkeypatch.setattr(jails, "proven_jail", lambda **_: next(found))
    monkeypatch.setattr(time, "monotonic", lambda: now)
    assert jails.jail() == WEAKER
    now += jails.PROVE_EVERY - 1
    assert jails.jail() == WEAKER
    now += 1
    assert jails.jail() == STRONGEST
