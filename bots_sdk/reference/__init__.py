"""The reference bots: worth reading, and the house bots of every league."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

HOUSE = {
    "house-random": "Plays any legal move.",
    "house-thumb": "Plays by rules of thumb.",
    "house-random-2": "The twin of house-random.",
    "house-thumb-2": "The twin of house-thumb.",
}
"""House bots by name, with a sentence about each."""


def make_player(name: str) -> Callable[[dict[str, Any]], str]:
    """Return a house bot as a player.

    Raises:
        KeyError: there is no such house bot.
    """
    if name not in HOUSE:
        raise KeyError(name)
    kind = name.split("-")[1]
    player: Callable[[dict[str, Any]], str] = import_module(f"bots_sdk.reference.{kind}_bot").choose
    return player
