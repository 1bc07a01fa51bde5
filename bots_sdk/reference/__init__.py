"""The house bots of every league, which are also examples to read."""

from collections.abc import Callable
from functools import partial
from typing import Any

from bots_sdk.reference import counting_bot, random_bot, search_bot, thumb_bot

HOUSE = {
    "house-random": "Plays any legal move.",
    "house-thumb": "Plays by rules of thumb.",
    "house-counting": "Counts the unseen cards and computes its chances.",
    "house-search": "Simulates many possible matches and takes the best move.",
    "house-random-2": "The same program as house-random, with another random seed.",
    "house-thumb-2": "The same program as house-thumb.",
}
"""A sentence about each house bot, by name."""

_CHOOSE: dict[str, Callable[..., str]] = {
    "counting": counting_bot.choose,
    "random": random_bot.choose,
    "search": search_bot.choose,
    "thumb": thumb_bot.choose,
}
_LUCKY = ("counting", "random", "search")


def make_player(
    name: str, luck: str = "", *, allowance: Callable[[], float] | None = None
) -> Callable[[dict[str, Any]], str]:
    """Return a house bot as a player for one match, at any seat of any game.

    Bots with random moves use their name as a part of the random seed. So twins play differently
    with the same cards, and the gap between their ratings shows the noise.

    Args:
        name: the house bot.
        luck: another random seed, if the same bot takes several seats of a match.
        allowance: returns the seconds that are left for a move, the bank included. House bots that
            search fit their search to it.

    Raises:
        KeyError: no such house bot exists.
    """
    if name not in HOUSE:
        raise KeyError(name)
    kind = name.split("-")[1]
    choose = _CHOOSE[kind]
    if kind == "search" and allowance is not None:
        return partial(_search_in_time, luck or name, allowance)
    return partial(choose, luck=luck or name) if kind in _LUCKY else choose


def _search_in_time(luck: str, allowance: Callable[[], float], observation: dict[str, Any]) -> str:
    seconds = search_bot.SHARE * allowance()
    return search_bot.choose(observation, luck, seconds=seconds)
