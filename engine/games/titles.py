"""The titles of games and presets, as people call them."""

from collections.abc import Mapping

from engine.games.partridge import Partridge
from engine.games.twelve_days import TwelveDays

GAME_TITLES: Mapping[str, str] = {
    TwelveDays.game: "12 Days",
    Partridge.game: "12 Days of Christmas",
}
"""Titles by the name of the game."""

SCORE_UNITS: Mapping[str, str] = {TwelveDays.game: "points", Partridge.game: "gifts"}
"""What a score counts, by the name of the game."""

_PLURALS = {"match": "matches"}

_EDITIONS: Mapping[tuple[str, str], str] = {
    (TwelveDays.game, "calliope"): "",
    (TwelveDays.game, "cheapass"): "Cheapass edition",
    (TwelveDays.game, "eight-nights"): "8 Nights",
    (TwelveDays.game, "eight-players"): "8 Players",
    (TwelveDays.game, "cheapass-eight-players"): "Cheapass edition for 8 players",
    (TwelveDays.game, "eight-nights-eight-players"): "8 Nights for 8 players",
    (Partridge.game, "eagle"): "",
    (Partridge.game, "eagle-short"): "short game",
    (Partridge.game, "mathpickle"): "MathPickle edition",
    (Partridge.game, "mathpickle-short"): "MathPickle edition, short game",
}
"""What a preset adds to the title of its game, by game and preset."""


def title(game: str, rules: str) -> str:
    """Return the title of a game with its preset, such as "12 Days of Christmas, short game".

    A name that has no title, such as that of a preset that is gone, stands for itself.
    """
    edition = _EDITIONS.get((game, rules), rules)
    called = GAME_TITLES.get(game, game)
    return f"{called}, {edition}" if edition else called


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, such as "1 gift", "2 gifts" or "0 matches"."""
    return f"{count} {noun if count == 1 else _PLURALS.get(noun, f'{noun}s')}"


def unit_of(game: str, score: int) -> str:
    """Return what a score counts, such as "gift" for 1 and "gifts" for 2."""
    unit = SCORE_UNITS[game]
    return unit.removesuffix("s") if score == 1 else unit
