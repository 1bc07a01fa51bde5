"""Tournaments and rounds: who plays whom when; the one door through which they change."""

from league.competitions.comparisons import (
    advance_comparison,
    cancel_comparison,
    compare,
    comparisons_to_advance,
)
from league.competitions.event_settings import check_event_settings, settings_of
from league.competitions.ladder_entries import (
    enter_ladder,
    leave_ladder,
    rounds_with_counts,
    with_tables,
)
from league.competitions.ladder_rounds import ladders_to_pair, open_ladder_round
from league.competitions.next_block import when_due
from league.competitions.planning import (
    change_tournament,
    plan_tournament,
    tournaments_with_counts,
)
from league.competitions.rounds import open_round
from league.competitions.schedules import announce_due, announce_tournament
from league.competitions.tournament_entries import disqualify, enter, takes_entries, withdraw
from league.competitions.tournaments import advance, cancel, tournaments_to_advance

__all__ = [
    "advance",
    "advance_comparison",
    "announce_due",
    "announce_tournament",
    "cancel",
    "cancel_comparison",
    "change_tournament",
    "check_event_settings",
    "compare",
    "comparisons_to_advance",
    "disqualify",
    "enter",
    "enter_ladder",
    "ladders_to_pair",
    "leave_ladder",
    "open_ladder_round",
    "open_round",
    "plan_tournament",
    "rounds_with_counts",
    "settings_of",
    "takes_entries",
    "tournaments_to_advance",
    "tournaments_with_counts",
    "when_due",
    "with_tables",
    "withdraw",
]
