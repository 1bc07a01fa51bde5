"""The game ``twelve-days`` for PettingZoo: ``env()``, ``raw_env()``, ``parallel_env()``."""

from typing import Any

from pettingzoo.utils.wrappers import OrderEnforcingWrapper  # type: ignore[import-untyped]

from bots_sdk.environments.together import WAIT, TogetherEnv
from bots_sdk.environments.turns import TurnsEnv

__all__ = ["WAIT", "env", "parallel_env", "raw_env"]


def raw_env(rules: str = "calliope", seats: int = 4, **options: Any) -> TurnsEnv:
    """Return an AEC environment; see `table.TableOfAgents` for the options."""
    return TurnsEnv("twelve-days", rules, seats, **options)


def env(rules: str = "calliope", seats: int = 4, **options: Any) -> Any:
    """Return an AEC environment that raises an error if it is used in the wrong order."""
    return OrderEnforcingWrapper(raw_env(rules, seats, **options))


def parallel_env(rules: str = "calliope", seats: int = 4, **options: Any) -> TogetherEnv:
    """Return a parallel environment, which has the additional action `WAIT`."""
    return TogetherEnv(rules, seats, **options)
