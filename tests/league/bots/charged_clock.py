"""A clock that goes on only while bots compute, so that a busy machine reaches no limit sooner."""

from types import SimpleNamespace

import pytest

from engine.games.game import Observation
from league.bots import qualifying
from league.bots.hosted_players import HostedBot


def count_charged_seconds_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count only the seconds that a bot is charged towards the wall limit of its check."""
    now = 0.0
    choose = HostedBot.__call__

    def choose_by_clock(bot: HostedBot, observation: Observation) -> str:
        nonlocal now
        try:
            return choose(bot, observation)
        finally:
            if bot.move_time is not None:
                now += bot.move_time.charged_seconds

    monkeypatch.setattr(HostedBot, "__call__", choose_by_clock)
    monkeypatch.setattr(qualifying, "time", SimpleNamespace(monotonic=lambda: now))
