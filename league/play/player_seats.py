"""The seats of players: what a player sees, and handing a seat over to its substitute."""

from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from bots_sdk.statuses import UNFINISHED
from engine.games.events import Event
from engine.playback import play_back, play_on
from league.models import Match, MatchSeat
from league.play.live import start_or_look_after
from league.play.live_match import is_away
from league.play.match_logs import logs_of
from league.play.spectating import deal_of, stored_moves
from league.play.turn_clocks import Stopwatch
from league.play.turns import open_turns
from league.play.writing import change_matches, read_matches


class SeatPhase(NamedTuple):
    """A phase as the player of one seat may see it.

    Attributes:
        ply: the number of moves so far.
        events: what happened in it, without other seats' secrets.
        to_act: the seats that decide next.
    """

    ply: int
    events: Sequence[Event]
    to_act: Sequence[int]


class SeatView(NamedTuple):
    """A match in play as the player of one seat may see it.

    Attributes:
        phases: the deal and each phase so far.
        observation: of the seat, as a bot gets it.
        turn: the seat's open turn as the API's object; None if it has none.
        undecided: the seats for which the match waits.
    """

    phases: Sequence[SeatPhase]
    observation: dict[str, Any]
    turn: dict[str, Any] | None
    undecided: Sequence[int]


def seat_view(match: Match, seat: MatchSeat, now: datetime) -> SeatView | None:
    """Return what the player of a seat sees, and hand out its turn, which starts the clock.

    Args:
        match: in play; if it is not, or was finished meanwhile, the answer is None.
        seat: of the match, with its bot.
        now: the time.
    """
    if match.status != Match.Status.PLAYING:
        return None
    turn = next((t for t in open_turns(seat.bot, now) if t["match"] == match.pk), None)
    match.refresh_from_db(fields=["status", "plies"])
    if match.status != Match.Status.PLAYING:
        return None
    live = read_matches([match.pk], now).get(match.pk)
    moves = stored_moves(match, 0)
    if live is None or live.is_stale or not live.is_playing or moves is None:
        return None
    dealt = deal_of(match)
    phases = [  # one by one, because they share their state
        SeatPhase(
            phase.ply,
            [event.seen_by(seat.seat) for event in phase.events],
            list(phase.state.actors),
        )
        for phase in chain([dealt], play_on(dealt.state, moves))
    ]
    return SeatView(
        phases,
        live.log.state.observe(seat.seat),
        turn if live.waits_for(seat.seat) else None,
        live.undecided,
    )


def has_left(match: Match, seat: MatchSeat) -> bool:
    """Return whether a substitute plays a player's seat: the player left, or was away too long."""
    if seat.handed_over_at is not None:
        return True
    if match.status == Match.Status.FINISHED:
        return is_away(seat.faults)
    log = logs_of([match]).get(match.pk) if match.status == Match.Status.PLAYING else None
    return log is not None and is_away(log.faults[seat.seat])


def hand_over(match_id: int, bot_id: int, now: datetime | None = None) -> bool:
    """Hand a player's seat over to its substitute for the rest of the match.

    A worker then makes the seat's moves, first in the turn that is open.

    Args:
        match_id: id of the match.
        bot_id: id of the player's bot.
        now: the time.

    Returns:
        Whether this call handed it over; not in a match that is over.
    """
    now = now or timezone.now()
    if not _note_hand_over(match_id, bot_id, now):
        return False
    change_matches({match_id: start_or_look_after}, Stopwatch(now))
    return True


def _note_hand_over(match_id: int, bot_id: int, now: datetime) -> bool:
    """Store when a player's seat was handed over; return whether it is the first time."""
    with transaction.atomic():
        match = Match.objects.select_for_update(of=("self",), no_key=True).get(pk=match_id)
        if match.status not in UNFINISHED:
            return False
        if bot_id not in match.bot_ids or not match.substitute_ids:
            return False
        seat = match.bot_ids.index(bot_id)
        times = match.handed_over_at or [None] * match.seats
        if match.substitute_ids[seat] is None or times[seat] is not None:
            return False
        match.handed_over_at = [*times[:seat], now, *times[seat + 1 :]]
        match.save(update_fields=["handed_over_at"])
        return True


def final_phases(match: Match) -> list[Sequence[Event]]:
    """Return all events of a finished match, by phase."""
    return [events for _, events, _ in play_back(match.record)]
