"""Pairing: who sits together next. The same entrants and seed give the same tables."""

from engine.pairing.knockout import (
    KnockoutRound,
    advancing,
    knockout_round,
    needs_extra_block,
    places_to_advance,
    seed_entrants,
)
from engine.pairing.ladder import Candidate, blocks_to_halve_error, ladder_round
from engine.pairing.round_robin import MOST_TABLES, round_robin
from engine.pairing.swiss import Entrant, SwissRound, swiss_round, swiss_rounds
from engine.pairing.tables import (
    MOST_BLOCKS_A_ROUND,
    Owners,
    Table,
    are_owners_apart,
    derive_pairing_seed,
    meetings,
)
from engine.pairing.tiebreaks import PlayedMatch, Row, TieBreak, rank_entrants

__all__ = [
    "MOST_BLOCKS_A_ROUND",
    "MOST_TABLES",
    "Candidate",
    "Entrant",
    "KnockoutRound",
    "Owners",
    "PlayedMatch",
    "Row",
    "SwissRound",
    "Table",
    "TieBreak",
    "advancing",
    "are_owners_apart",
    "blocks_to_halve_error",
    "derive_pairing_seed",
    "knockout_round",
    "ladder_round",
    "meetings",
    "needs_extra_block",
    "places_to_advance",
    "rank_entrants",
    "round_robin",
    "seed_entrants",
    "swiss_round",
    "swiss_rounds",
]
