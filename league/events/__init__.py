"""Tournaments and rounds: who plays whom when; the one door through which they change."""

from league.events.arrangements import arrangement_of, check_arrangement
from league.events.comparisons import (
    advance_comparison,
    cancel_comparison,
    compare,
    comparisons_to_advance,
)
from league.events.drawing import ladders_to_pair, open_ladder_round
from league.events.due import when_due
from league.events.entries import disqualify, enter, takes_entries, withdraw
from league.events.ladders import (
    enter_ladder,
    leave_ladder,
    may_show_seed,
    rounds_with_counts,
    with_tables,
)
from league.events.organising import (
    change_tournament,
    plan_tournament,
    tournaments_with_counts,
)
from league.events.rounds import open_round
from league.events.schedules import announce_due, announce_tournament
from league.events.tournaments import advance, cancel, tournaments_to_advance

__all__ = [
    "advance",
    "advance_comparison",
    "announce_due",
    "announce_tournament",
    "arrangement_of",
    "cancel",
    "cancel_comparison",
    "change_tournament",
    "check_arrangement",
    "compare",
    "comparisons_to_advance",
    "disqualify",
    "enter",
    "enter_ladder",
    "ladders_to_pair",
    "leave_ladder",
    "may_show_seed",
    "open_ladder_round",
    "open_round",
    "plan_tournament",
    "rounds_with_counts",
    "takes_entries",
    "tournaments_to_advance",
    "tournaments_with_counts",
    "when_due",
    "with_tables",
    "withdraw",
]
