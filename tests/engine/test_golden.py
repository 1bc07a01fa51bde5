"""Readable playthroughs, one per preset; a change of any rule shows as a diff.

After an intended change: python -m tests.engine.test_golden
"""

from pathlib import Path
from random import Random

import pytest

from engine.cli import simulate
from engine.games.catalogue import GAMES
from engine.show import render

GOLDEN = Path(__file__).parent / "golden"
PRESETS = [
    (game, preset.name, preset.min_seats)
    for game, state_class in GAMES.items()
    for preset in state_class.presets.values()
]


def playthrough(game: str, rules: str, seats: int) -> str:
    """Play at random with a preference for many cards, which keeps the match short."""
    random = Random(1).random
    record = simulate(
        game,
        rules,
        seats,
        bytes(range(32)),
        lambda legal: legal[-1 - int(random() ** 3 * len(legal))],
        "golden",
    )
    return "\n".join(render(record)) + "\n"


@pytest.mark.parametrize(("game", "rules", "seats"), PRESETS)
def test_a_match_of_every_preset_matches_its_golden_file(game: str, rules: str, seats: int) -> None:
    golden = (GOLDEN / f"{game}-{rules}.txt").read_text(encoding="ascii")
    assert playthrough(game, rules, seats) == golden


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for game, rules, seats in PRESETS:
        text = playthrough(game, rules, seats)
        (GOLDEN / f"{game}-{rules}.txt").write_text(text, encoding="ascii")
