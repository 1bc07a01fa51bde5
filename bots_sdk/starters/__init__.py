"""The files that ``twelfth-night new`` writes: a first bot for each game, and its test.

They are ordinary modules, so the checks cover them too. ``NAME`` stands for the bot's name.
"""

from importlib import resources

STARTERS = {"twelve-days": "twelve_days.py", "partridge": "partridge.py"}
"""The file of the first bot, by game."""


def bot_text(game: str, name: str) -> str:
    """Return the source of a first bot."""
    return _text(STARTERS[game], name)


def check_text(game: str, name: str) -> str:
    """Return the source of a first bot's test."""
    return _text("check.py", name).replace('"twelve-days"', f'"{game}"')


def _text(file: str, name: str) -> str:
    return (resources.files(__name__) / file).read_text().replace("NAME", name)
