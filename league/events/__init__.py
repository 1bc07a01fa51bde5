"""Tournaments and rounds: who plays whom when; the one door through which they change."""

from league.events.rounds import open_round
from league.events.schedules import announce_due, announce_tournament
from league.events.tournaments import advance, cancel, enter, tournaments_to_advance, withdraw

__all__ = [
    "advance",
    "announce_due",
    "announce_tournament",
    "cancel",
    "enter",
    "open_round",
    "tournaments_to_advance",
    "withdraw",
]
