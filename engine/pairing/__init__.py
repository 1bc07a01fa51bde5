"""Pairing: who sits together next. The same entrants and seed give the same tables."""

from engine.pairing.ladder import Candidate, ladder_round
from engine.pairing.round_robin import MOST_TABLES, round_robin
from engine.pairing.tables import MOST_BLOCKS_A_ROUND, Table, are_owners_apart

__all__ = [
    "MOST_BLOCKS_A_ROUND",
    "MOST_TABLES",
    "Candidate",
    "Table",
    "are_owners_apart",
    "ladder_round",
    "round_robin",
]
