"""Plays any legal move, each equally likely.

The smallest whole bot, and the yardstick: one that does not beat it by far has a mistake in it.

Its luck comes from the observation alone, so the same observation always gets the same answer. A
bot like that can be asked again after a lost connection without changing its mind, its matches can
be played again move for move, and an observation from a log is all it takes to find a fault.
"""

import json
from random import Random
from typing import Any


def choose(observation: dict[str, Any], luck: str = "") -> str:
    """Return one of the legal moves; another ``luck`` draws others."""
    # Sorted keys, since two ways to the same observation may order them differently. A text seeds
    # Random alike in every process, which hash() would not.
    rng = Random(luck + json.dumps(observation, sort_keys=True))
    move: str = rng.choice(observation["legal_moves"])
    return move
