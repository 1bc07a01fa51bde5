"""Playing a match whose bots all run here: one task, in memory, stored in one transaction.

Bots of the house play in this process, uploaded ones each in a sandbox of its own.

A worker leases the match first. One that dies leaves a lease that runs out; then the match is
played again, the same match, as all its luck comes from its seed. What comes in under an old
lease is dropped.
"""

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

import structlog
from django.db import transaction
from django.utils import timezone

from bots_sdk.sandbox.errors import SandboxUnavailableError
from bots_sdk.sandbox.jail import Jail
from engine.errors import MatchInterruptedError
from engine.referee import MatchClock, Outcome, Player, TimeControl, play
from league.bots import jails
from league.bots.hosted_players import HostedBot, match_info, storable
from league.models import Bot, Match, MatchSeat, SeatLog
from league.play import leases, retries
from league.play.finishing import finish
from league.play.mixed_tables import house_player

log = structlog.get_logger(__name__)

Seating = list[MatchSeat]


def play_match(match_id: int, *, players: Callable[[Seating], list[Player]] | None = None) -> bool:
    """Play a match that is due and store the result; return whether this call finished it.

    May be called any number of times, at once too: one caller gets the lease. Where no sandbox
    holds, a match with uploaded bots waits for another worker, and in the end is given up.

    Args:
        match_id: of the match.
        players: makes a player for each seat, in the place of the bots.
    """
    seating = list(
        MatchSeat.objects.filter(match=match_id).select_related("bot", "version").order_by("seat")
    )
    jail = None
    if players is None and any(seat.bot.kind == Bot.Kind.HOSTED for seat in seating):
        try:
            jail = jails.jail()
        except SandboxUnavailableError:
            retries.note_no_sandbox(match_id)
            return False
    lease = leases.take(match_id)
    if lease is None:
        return False
    match = Match.objects.get(pk=match_id)
    control = TimeControl(match.move_seconds, match.bank_seconds)
    clock = MatchClock(control, match.seats, time.monotonic)
    try:
        with leases.kept(match_id, lease), ExitStack() as stack:
            if players is not None:
                seated = players(seating)
            else:
                seated = [
                    stack.enter_context(_player(match, seat, jail, clock)) for seat in seating
                ]
                for player in seated:
                    if isinstance(player, HostedBot):
                        player.load()
            outcome = play(
                match.game,
                match.rules,
                bytes(match.deal_seed),
                seated,
                names=_names(match, seating),
                clock=clock,
            )
            printed = {
                seat.pk: player.printed_text
                for seat, player in zip(seating, seated, strict=True)
                if isinstance(player, HostedBot)
            }
    except MatchInterruptedError as error:
        log.warning("a match will be played again", match_id=match_id, error=str(error))
        leases.give_back(match_id, lease)
        jails.distrust()
        return False
    return _finish(match_id, lease, outcome, printed)


@contextmanager
def _player(
    match: Match, seat: MatchSeat, jail: Jail | None, clock: MatchClock
) -> Iterator[Player]:
    """Give the player of a seat."""
    if seat.bot.kind != Bot.Kind.HOSTED or jail is None:
        yield house_player(seat)
        return
    number = seat.seat
    with HostedBot(
        jail, seat.version, match_info(match, number), allowance=lambda: clock.allowance(number)
    ) as bot:
        yield bot


def _names(match: Match, seating: Seating) -> list[str]:
    """Return the players' names for the record: two versions of one bot are told apart."""
    if match.swap_block_id is None:
        return [seat.bot.name for seat in seating]
    return [f"{seat.bot.name} v{seat.version.number}" for seat in seating]


def _finish(match_id: int, lease: uuid.UUID, outcome: Outcome, printed: Mapping[int, str]) -> bool:
    """Store a result, and what hosted bots printed by seat, unless the lease is no longer ours."""
    with transaction.atomic():
        match = Match.objects.select_for_update(of=("self",)).get(pk=match_id)
        if match.lease != lease or match.status != Match.Status.PLAYING:
            return False
        finish(match, outcome.record, outcome.forfeited, timezone.now())
        if printed:
            _store_logs(match, outcome, printed)
    return True


def _store_logs(match: Match, outcome: Outcome, printed: Mapping[int, str]) -> None:
    reasons: dict[int, dict[int, str]] = {}
    for incident in outcome.incidents:
        of_seat = reasons.setdefault(incident.fault.seat, {})
        of_seat[incident.fault.ply] = storable(incident.reason)
    SeatLog.objects.bulk_create(
        SeatLog(seat=seat, printed=printed[seat.pk], reasons=reasons.get(seat.seat, {}))
        for seat in match.seating.filter(pk__in=printed)
        if printed[seat.pk] or seat.seat in reasons
    )
