"""The reference bots: worth reading, and the house bots of every league."""

from collections.abc import Callable
from functools import partial
from typing import Any

from bots_sdk.reference import counting_bot, random_bot, search_bot, thumb_bot

HOUSE = {
    "house-random": "Plays any legal move.",
    "house-thumb": "Plays by rules of thumb.",
    "house-counting": "Counts the cards still out and works out its chances.",
    "house-search": "Plays out matches as they could be and takes the move that did best.",
    "house-random-2": "The twin of house-random, with luck of its own.",
    "house-thumb-2": "The twin of house-thumb.",
}
"""House bots by name, with a sentence about each."""

_CHOOSE: dict[str, Callable[..., str]] = {
    "counting": counting_bot.choose,
    "random": random_bot.choose,
    "search": search_bot.choose,
    "thumb": thumb_bot.choose,
}
_LUCKY = ("counting", "random", "search")


def make_player(name: str, luck: str = "") -> Callable[[dict[str, Any]], str]:
    """Return a house bot as a player, good for one match at any seat of any game.

    Twins with luck have each their own: else two of them would do the same on the same cards, and
    the gap between their ratings would show no noise. So do more of them with ``luck`` set.

    Raises:
        KeyError: there is no such house bot.
    """
    if name not in HOUSE:
        raise KeyError(name)
    kind = name.split("-")[1]
    choose = _CHOOSE[kind]
    return partial(choose, luck=luck or name) if kind in _LUCKY else choose
