"""The frozen coefficients of luck with the cards; see `luck` for what they multiply.

`benchmarks/card_luck.py --matches 2400 --quick-matches 40000 --coefficients` fitted them to 40 000
matches of bots that follow rules of thumb, on 2026-11-22. They are published, and they never change
without a new fit of all performances: the league stores a match's luck when it rates the match.
"""

from collections.abc import Mapping

UNIT = 1e-4
"""A coefficient of 1, in win share for a card."""

COEFFICIENTS: Mapping[tuple[str, str, int], tuple[int, ...]] = {
    ("twelve-days", "calliope", 4): (
        # Dealt, by rank from 0 to 12.
        *(-354, 677, 531, 364, 19, -34, -97, -145, -137, -171, -212, -219, -223),
        # Drawn.
        *(-429, 837, 670, 443, -104, -132, -151, -160, -184, -209, -219, -188, -173),
        # Dealt to the giver.
        *(-98, 199, 117, 81, 22, -24, -54, -83, -42, -47, -19, -17, -35),
        # Drawn by the giver.
        *(-196, 411, 331, 195, 213, 4, -75, -118, -156, -169, -157, -145, -137),
    ),
}
"""By game, preset and number of seats. Without an entry there is no correction."""
