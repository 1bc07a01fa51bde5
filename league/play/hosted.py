"""Hosted matches: one task plays a match in memory and stores it in one transaction.

House bots play in this process, hosted bots each in their own sandbox.

A worker leases the match first. If the worker dies, its lease runs out and another worker plays
the match again; it is the same match, as all luck comes from its seed. A result under an old lease
is dropped.
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
from league.bots.hosted_players import HostedBot, info_for
from league.models import Bot, Match, MatchSeat
from league.play import leases, sandbox_failures
from league.play.finishing import finish
from league.play.mixed_tables import house_player
from league.play.seat_logs import store_logs

log = structlog.get_logger(__name__)

Seating = list[MatchSeat]


def play_match(match_id: int, *, players: Callable[[Seating], list[Player]] | None = None) -> bool:
    """Play a due match and store the result; return whether this call finished it.

    It may be called any number of times, at once too: one caller gets the lease. If this worker
    has no sandbox, a match with hosted bots waits for another worker. After too long it is void.

    Args:
        match_id: id of the match.
        players: if given, makes the players of the seats in place of their bots.
    """
    seating = list(
        MatchSeat.objects.filter(match=match_id).select_related("bot", "version").order_by("seat")
    )
    jail = None
    if players is None and any(seat.bot.kind == Bot.Kind.HOSTED for seat in seating):
        try:
            jail = jails.jail()
        except SandboxUnavailableError:
            sandbox_failures.note_no_sandbox(match_id)
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
    """Give the player of a seat while the context lasts."""
    if seat.bot.kind != Bot.Kind.HOSTED or jail is None:
        yield house_player(seat)
        return
    number = seat.seat
    with HostedBot(
        jail, seat.version, info_for(match, number), allowance=lambda: clock.allowance(number)
    ) as bot:
        yield bot


def _names(match: Match, seating: Seating) -> list[str]:
    """Return the players' names for the record; two versions of one bot get their numbers."""
    if match.swap_block_id is None:
        return [seat.bot.name for seat in seating]
    return [f"{seat.bot.name} v{seat.version.number}" for seat in seating]


def _finish(match_id: int, lease: uuid.UUID, outcome: Outcome, printed: Mapping[int, str]) -> bool:
    """Store a result and, by seat, the output of hosted bots, unless the lease was lost."""
    with transaction.atomic():
        match = Match.objects.select_for_update(of=("self",)).get(pk=match_id)
        if match.lease != lease or match.status != Match.Status.PLAYING:
            return False
        finish(match, outcome.record, outcome.forfeited, timezone.now())
        if printed:
            store_logs(match, outcome, printed)
    return True
