"""Plays any legal move, each with the same chance.

This is the smallest complete bot, and a yardstick: a bot that does not beat it clearly contains a
mistake.

The observation alone determines the random seed, so the same observation always gets the same
answer. Such a bot gives the same answer again after a lost connection, its matches can be repeated
move for move, and an observation from a log is enough to find a fault.
"""

import json
from random import Random
from typing import Any


def choose(observation: dict[str, Any], luck: str = "") -> str:
    """Return a random legal move; ``luck`` is a part of the random seed."""
    # Sorted keys: equal observations may have different orders. A text gives Random the same seed
    # in every process; hash() would not.
    rng = Random(luck + json.dumps(observation, sort_keys=True))
    move: str = rng.choice(observation["legal_moves"])
    return move
