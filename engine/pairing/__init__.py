"""Pairing: who sits together next. The same entrants and seed give the same tables."""

from engine.pairing.event import (
    Entrant,
    EventSettings,
    Format,
    NextRound,
    PlayedBlock,
    PlayedRound,
    rounds_opened,
)
from engine.pairing.event_standings import Met, cross_table, rank_event
from engine.pairing.knockout import (
    KnockoutRound,
    advancing,
    knockout_round,
    needs_extra_block,
    places_to_advance,
    seed_entrants,
)
from engine.pairing.ladder import RANDOM_PERCENT, LadderEntrant, blocks_to_halve_error, ladder_round
from engine.pairing.next_round import is_too_small, next_round, swiss_length
from engine.pairing.round_robin import count_tables, round_robin
from engine.pairing.stages import Stage, StageTable, going_on, seeding, stages
from engine.pairing.swiss import SwissEntrant, SwissRound, swiss_round, swiss_rounds
from engine.pairing.tables import (
    MAX_BLOCKS_PER_ROUND,
    MAX_EXTRA_BLOCKS,
    MAX_TABLES,
    Owners,
    Table,
    are_owners_apart,
    derive_pairing_seed,
    meetings,
)
from engine.pairing.tiebreaks import PlayedMatch, Row, TieBreak, rank_entrants

__all__ = [
    "MAX_BLOCKS_PER_ROUND",
    "MAX_EXTRA_BLOCKS",
    "MAX_TABLES",
    "RANDOM_PERCENT",
    "Entrant",
    "EventSettings",
    "Format",
    "KnockoutRound",
    "LadderEntrant",
    "Met",
    "NextRound",
    "Owners",
    "PlayedBlock",
    "PlayedMatch",
    "PlayedRound",
    "Row",
    "Stage",
    "StageTable",
    "SwissEntrant",
    "SwissRound",
    "Table",
    "TieBreak",
    "advancing",
    "are_owners_apart",
    "blocks_to_halve_error",
    "count_tables",
    "cross_table",
    "derive_pairing_seed",
    "going_on",
    "is_too_small",
    "knockout_round",
    "ladder_round",
    "meetings",
    "needs_extra_block",
    "next_round",
    "places_to_advance",
    "rank_entrants",
    "rank_event",
    "round_robin",
    "rounds_opened",
    "seed_entrants",
    "seeding",
    "stages",
    "swiss_length",
    "swiss_round",
    "swiss_rounds",
]
