"""Pairing: which bots sit together next. The same entrants and seed give the same tables."""

from engine.pairing.event import (
    Entrant,
    EventSettings,
    Format,
    NextRound,
    PlayedBlock,
    PlayedRound,
    count_missed_blocks,
    rounds_opened,
)
from engine.pairing.event_standings import OpponentScore, cross_table, rank_event
from engine.pairing.knockout import (
    KnockoutRound,
    advancing_from_table,
    knockout_round,
    needs_extra_block,
    places_to_advance,
    seed_entrants,
)
from engine.pairing.knockout_stages import (
    KnockoutResult,
    Stage,
    StageTable,
    advancing_bots,
    knockout_results,
    seeding,
    stages,
)
from engine.pairing.ladder import RANDOM_PERCENT, LadderEntrant, blocks_to_halve_error, ladder_round
from engine.pairing.next_round import has_too_few_entrants, next_round, swiss_round_count
from engine.pairing.placement import placement_rounds
from engine.pairing.round_robin import count_left_out, count_tables, round_robin
from engine.pairing.swiss import SwissEntrant, SwissRound, default_swiss_rounds, swiss_round
from engine.pairing.tables import (
    MAX_BLOCKS_PER_ROUND,
    MAX_EXTRA_BLOCKS,
    MAX_TABLES,
    Owners,
    Table,
    are_owners_apart,
    count_meetings,
    derive_pairing_seed,
)
from engine.pairing.tiebreaks import EventStanding, TieBreak, rank_entrants

__all__ = [
    "MAX_BLOCKS_PER_ROUND",
    "MAX_EXTRA_BLOCKS",
    "MAX_TABLES",
    "RANDOM_PERCENT",
    "Entrant",
    "EventSettings",
    "EventStanding",
    "Format",
    "KnockoutResult",
    "KnockoutRound",
    "LadderEntrant",
    "NextRound",
    "OpponentScore",
    "Owners",
    "PlayedBlock",
    "PlayedRound",
    "Stage",
    "StageTable",
    "SwissEntrant",
    "SwissRound",
    "Table",
    "TieBreak",
    "advancing_bots",
    "advancing_from_table",
    "are_owners_apart",
    "blocks_to_halve_error",
    "count_left_out",
    "count_meetings",
    "count_missed_blocks",
    "count_tables",
    "cross_table",
    "default_swiss_rounds",
    "derive_pairing_seed",
    "has_too_few_entrants",
    "knockout_results",
    "knockout_round",
    "ladder_round",
    "needs_extra_block",
    "next_round",
    "placement_rounds",
    "places_to_advance",
    "rank_entrants",
    "rank_event",
    "round_robin",
    "rounds_opened",
    "seed_entrants",
    "seeding",
    "stages",
    "swiss_round",
    "swiss_round_count",
]
