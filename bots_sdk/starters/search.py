"""NAME: a bot for twelve-days that searches.

For each legal move, `evaluate` plays many possible matches (playouts), and the bot takes the move
with the best mean result. The hidden cards are unknown, so each playout deals them in a possible
way. After the first move all seats choose at random, weighted by rules of thumb.

Rules: `twelfth-night rules twelve-days`. What a bot sees: `twelfth-night rules observations`.
"""

import json
from typing import Any
from zlib import crc32

from engine.playouts import evaluate, is_fast, rule_of_thumb

GAMES = ["twelve-days"]  # the league checks the bot for these games only
PLAYOUTS = 2_000 if is_fast() else 100
"""Playouts (simulated matches) for a decision, for all moves together. They take 10 ms with the
compiled kernel, and 50 ms without it. The league has it; `python -m pip install numpy wasmtime`
adds it here."""


def choose(observation: dict[str, Any]) -> str:
    """Return the legal move with the best mean result."""
    moves: list[str] = observation["legal_moves"]
    # The same observation gives the same random numbers. So you can repeat each fault.
    seed = crc32(json.dumps(observation, sort_keys=True).encode())
    found = evaluate(
        observation,
        max(1, PLAYOUTS // len(moves)),
        rule_of_thumb(observation["game"], observation["rules"]),
        seed,
        # In partridge, a playout stops after this round: a move hardly changes later rounds.
        this_round=True,
    )
    return max(found, key=lambda each: each.lead).move


# Three ideas. Each replaces the lines with "-" by the lines with "+". Keep the old bot in another
# file: `twelfth-night ab OLD NEW` shows which one is stronger.
#
# 1. Choose by the win share instead of the lead: the score minus the mean score of the other seats.
#    -    return max(found, key=lambda each: each.lead).move
#    +    return max(found, key=lambda each: each.pair_result).move
#
# 2. Play more playouts, which takes longer.
#    -PLAYOUTS = 2_000 if is_fast() else 100
#    +PLAYOUTS = 8_000 if is_fast() else 400
#
# 3. Use another policy (how all seats choose their moves in a playout). UNIFORM makes all moves
#    equally likely and is probably weaker. Put your own policy in its place: a `TwelveDaysTable` or
#    a `PartridgeTable` of `engine.playouts`.
#    -from engine.playouts import evaluate, is_fast, rule_of_thumb
#    +from engine.playouts import UNIFORM, evaluate, is_fast
#
#    -        rule_of_thumb(observation["game"], observation["rules"]),
#    +        UNIFORM,
#
# The bot `bots_sdk/reference/search_bot.py` drops the worse half of the moves after each round of
# playouts, and stops at a time limit.
