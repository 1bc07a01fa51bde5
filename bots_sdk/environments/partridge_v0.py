"""The game ``partridge`` for PettingZoo: ``env()`` and ``raw_env()``."""

from typing import Any

from pettingzoo.utils.wrappers import OrderEnforcingWrapper  # type: ignore[import-untyped]

from bots_sdk.environments.turns import TurnsEnv

__all__ = ["env", "raw_env"]


def raw_env(rules: str = "eagle", seats: int = 4, **options: Any) -> TurnsEnv:
    """Return an AEC environment; see `table.TableOfAgents` for the options."""
    return TurnsEnv("partridge", rules, seats, **options)


def env(rules: str = "eagle", seats: int = 4, **options: Any) -> Any:
    """Return an AEC environment that raises an error if it is used in the wrong order."""
    return OrderEnforcingWrapper(raw_env(rules, seats, **options))
