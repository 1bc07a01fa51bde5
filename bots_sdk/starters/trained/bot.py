"""NAME: a trained bot for twelve-days.

A small neural network computes a value for each move, and the bot plays the legal move with the
highest value. `train.py` computes the weights of the network.

Rules: `twelfth-night rules twelve-days`. What a bot sees: `twelfth-night rules observations`.
"""

from pathlib import Path
from typing import Any

import numpy as np

from bots_sdk.environments import encoding

GAMES = ["twelve-days"]  # the league checks the bot for these games only
WEIGHTS = dict(np.load(Path(__file__).with_name("weights.npz")))


def choose(observation: dict[str, Any]) -> str:
    """Return the legal move with the highest value."""
    # The network takes only the first numbers of an observation, your hand among them. These do not
    # depend on the number of seats.
    numbers = encoding.features(observation)[: len(WEIGHTS["w1"])]
    hidden = np.maximum(np.array(numbers, np.float32) @ WEIGHTS["w1"] + WEIGHTS["b1"], 0)
    values = hidden @ WEIGHTS["w2"] + WEIGHTS["b2"]
    values[np.array(encoding.mask(observation)) == 0] = -np.inf  # illegal moves
    return encoding.move_of(observation, int(values.argmax()))


# Three ideas. Each replaces the line with "-" in train.py by the line with "+". Keep the old bot
# (`cp -r NAME old`), and train anew (`python NAME/train.py`). Then compare the two:
# `twelfth-night ab old/bot.py NAME/bot.py`.
#
# 1. Learn from more matches, which takes longer.
#    -MATCHES = 400
#    +MATCHES = 1_200
#
# 2. Use a larger network, which can compute finer values but needs more matches to learn them.
#    -HIDDEN = 48
#    +HIDDEN = 96
#
# 3. After the first round of the training, choose fewer moves at random.
#    -EXPLORE = 0.3
#    +EXPLORE = 0.1
