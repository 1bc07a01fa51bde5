"""Fixtures of the gateway's tests: a running gateway, bots, and hints that fail."""

import pytest

from api.play import hints
from league.play import wakeups
from tests.api.play.sites import served
from tests.league.play.live import remote_bots


@pytest.fixture
def site():
    with served() as site:
        yield site


@pytest.fixture
def bots():
    return remote_bots(3)


@pytest.fixture
def deaf(monkeypatch):
    """No hint is ever sent."""
    monkeypatch.setattr(wakeups, "_publish", lambda *_: None)


@pytest.fixture
def blind(monkeypatch):
    """Requests are woken by hints only."""
    monkeypatch.setattr(hints, "REFRESH_SECONDS", 600)
