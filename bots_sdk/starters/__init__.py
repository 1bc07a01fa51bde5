"""What ``twelfth-night new`` writes: a first bot for each game, and a test for it.

They are ordinary files, so that they are checked like the rest; ``NAME`` stands for the bot's.
"""

from importlib import resources

STARTERS = {"twelve-days": "twelve_days.py", "partridge": "partridge.py"}
"""By game, the file with a first bot."""


def bot_text(game: str, name: str) -> str:
    """Return the source of a first bot."""
    return _text(STARTERS[game], name)


def check_text(game: str, name: str) -> str:
    """Return the source of its test."""
    return _text("check.py", name).replace('"twelve-days"', f'"{game}"')


def _text(file: str, name: str) -> str:
    return (resources.files(__name__) / file).read_text().replace("NAME", name)
