"""Fixtures of the gateway's tests: a running gateway, bots, and wake-ups that fail."""

from collections.abc import Iterator

import pytest

from api.play import wakeup_listener
from league.models import Bot
from league.play import wakeups
from tests.api.play.sites import Site, served
from tests.league.play.live import remote_bots


@pytest.fixture
def site() -> Iterator[Site]:
    with served() as site:
        yield site


@pytest.fixture
def bots() -> list[Bot]:
    return remote_bots(3)


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> None:
    """No wake-up is ever sent."""
    monkeypatch.setattr(wakeups, "publish", lambda *_, **__: None)


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests are woken by wake-ups only."""
    monkeypatch.setattr(wakeup_listener, "REFRESH_SECONDS", 600)
