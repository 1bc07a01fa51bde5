"""A slow second implementation of both games, written from the rules document alone.

The code is plain on purpose: hands are lists, it tries every combination, and a sort puts legal
moves in order. It imports nothing from the engine.
"""

from tests.engine.naive.deals import commitment, fallback
from tests.engine.naive.records import GAMES, PRESETS, replay, simulate, verify

__all__ = ["GAMES", "PRESETS", "commitment", "fallback", "replay", "simulate", "verify"]
