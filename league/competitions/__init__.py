"""Competitions: which bots play each other, and when, on ladders, in tournaments and A/B tests."""

from league.competitions.challenges import challenge
from league.competitions.comparisons import (
    advance_comparison,
    cancel_comparison,
    compare,
    comparisons_to_advance,
)
from league.competitions.deletions import delete_bot, delete_refused_bots
from league.competitions.entry_windows import note_open_entries
from league.competitions.event_settings import check_event_settings, settings_of
from league.competitions.ladder_entries import enter_ladder, leave_ladder
from league.competitions.ladder_rounds import ladders_to_pair, open_ladder_round
from league.competitions.ladder_settings import check_ladder
from league.competitions.next_block import describe_next_block
from league.competitions.placement import ladders_to_place_on, open_placements
from league.competitions.player_tables import (
    join_table,
    keep_table,
    leave_table,
    open_table,
    remove_old_tables,
    start_table,
)
from league.competitions.rank_progress import BlockCounts, RankProgress, count_blocks, rank_progress
from league.competitions.rounds import open_round
from league.competitions.schedules import announce_scheduled, check_schedule, store_schedule
from league.competitions.setting_aside import check_stored, rows_aside, set_aside_failed
from league.competitions.tournament_announcements import (
    announce_tournament,
    cancel_tournament,
    change_tournament,
    check_times,
    check_tournament,
    plan_tournament,
    restore_tournament,
)
from league.competitions.tournament_entries import (
    disqualify,
    enter,
    reinstate,
    takes_entries,
    withdraw,
)
from league.competitions.tournament_rounds import (
    advance_tournament,
    opens_or_starts_soon,
    tournaments_to_advance,
)

__all__ = [
    "BlockCounts",
    "RankProgress",
    "advance_comparison",
    "advance_tournament",
    "announce_scheduled",
    "announce_tournament",
    "cancel_comparison",
    "cancel_tournament",
    "challenge",
    "change_tournament",
    "check_event_settings",
    "check_ladder",
    "check_schedule",
    "check_stored",
    "check_times",
    "check_tournament",
    "compare",
    "comparisons_to_advance",
    "count_blocks",
    "delete_bot",
    "delete_refused_bots",
    "describe_next_block",
    "disqualify",
    "enter",
    "enter_ladder",
    "join_table",
    "keep_table",
    "ladders_to_pair",
    "ladders_to_place_on",
    "leave_ladder",
    "leave_table",
    "note_open_entries",
    "open_ladder_round",
    "open_placements",
    "open_round",
    "open_table",
    "opens_or_starts_soon",
    "plan_tournament",
    "rank_progress",
    "reinstate",
    "remove_old_tables",
    "restore_tournament",
    "rows_aside",
    "set_aside_failed",
    "settings_of",
    "start_table",
    "store_schedule",
    "takes_entries",
    "tournaments_to_advance",
    "withdraw",
]
