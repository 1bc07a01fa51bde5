"""Fixtures of the gateway's tests: a running gateway, bots, and hints that fail."""

from collections.abc import Iterator

import pytest

from api.play import hints
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
    """No hint is ever sent."""
    monkeypatch.setattr(wakeups, "_publish", lambda *_: None)


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests are woken by hints only."""
    monkeypatch.setattr(hints, "REFRESH_SECONDS", 600)
