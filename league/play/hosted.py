"""Hosted matches: one task plays a match in memory and stores it in one transaction.

House bots play in this process, hosted bots each in their own sandbox.

A worker leases the match first. If the worker dies, its lease runs out and another worker plays
the match again; it is the same match, as all luck comes from its seed. A result under an old lease
is dropped. If the match becomes void or gets another worker, its first worker stops at the next
move and ends the sandboxes.
"""

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

import structlog
from django.db import InterfaceError, OperationalError, models, transaction
from django.db.models import QuerySet
from django.utils import timezone

from bots_sdk.reference import make_player
from bots_sdk.sandbox.errors import SandboxUnavailableError
from bots_sdk.sandbox.jail import Jail
from bots_sdk.sandbox.sources import Source, read_source
from engine.errors import MatchInterruptedError
from engine.referee import MatchClock, Outcome, Player, play
from league.bots import jails
from league.bots.hosted_clocks import HostedClock, HouseBot
from league.bots.hosted_players import HostedBot, info_for
from league.models import Bot, BotSource, Match, MatchSeat
from league.models.built_once import Given, objects_built_once
from league.play import alone, leases, retries, sandbox_failures
from league.play.finishing import finish
from league.play.seat_logs import store_logs

log = structlog.get_logger(__name__)

_MATCH = Given("match", models.BigIntegerField())

Seating = list[MatchSeat]
MakePlayers = Callable[[Seating], list[Player]]


def play_match(match_id: int, *, players: MakePlayers | None = None) -> bool:
    """Play a due match and store the result; return whether this call finished it.

    It may be called any number of times, at once too: one caller gets the lease. If this worker
    has no sandbox, a match with hosted bots waits for another worker. After too long it is void.

    Args:
        match_id: id of the match.
        players: if given, makes the players of the seats in place of their bots.
    """
    free = leases.find_free(match_id)
    if free is None:  # a copy of a task that was queued twice ends here
        return False
    if players is None and free.has_uploaded:
        try:
            jails.jail()
        except SandboxUnavailableError:
            sandbox_failures.note_no_sandbox(match_id)
            return False
    lease = leases.take(match_id)
    if lease is None:
        return False
    if lease.is_alone and players is None:
        return alone.play_alone(match_id, lease.id)
    with leases.kept(match_id, lease.id):
        return play_leased(
            match_id, lease.id, match=lease.match, is_alone=lease.is_alone, players=players
        )


def play_leased(
    match_id: int,
    lease: uuid.UUID,
    *,
    match: Match | None = None,
    is_alone: bool = False,
    players: MakePlayers | None = None,
) -> bool:
    """Play a leased match and store the result; return whether this call finished it.

    Args:
        match_id: id of the match.
        lease: its lease, which the caller keeps.
        match: the match, if the caller has read it under this lease.
        is_alone: whether nothing else runs in this process.
        players: as for `play_match`.
    """
    try:
        outcome, printed = _play(match or Match.objects.get(pk=match_id), lease, players)
        return _finish(match_id, lease, outcome, printed)
    except leases.LeaseLostError as error:
        log.info("a match was stopped", reason=str(error))
    except MatchInterruptedError as error:
        log.warning("a match was interrupted by its sandbox", error=str(error))
        jails.distrust()
        if is_alone:
            retries.note_failure(match_id, "the sandbox, in which uploaded bots run, broke", lease)
        else:
            retries.note_loss(match_id, lease)
    except (OperationalError, InterfaceError) as error:
        # The lease runs out, which counts as a loss.
        log.warning("a match was lost with the database", error=" ".join(str(error).split()))
    except Exception as error:
        log.exception("a match failed")
        retries.note_failure(match_id, type(error).__name__, lease)
    return False


def _play(
    match: Match, lease: uuid.UUID, players: MakePlayers | None
) -> tuple[Outcome, dict[int, str]]:
    """Play a match; return the outcome and, by seat, what hosted bots printed.

    Raises:
        LeaseLostError: the match became void, or another worker has taken it over.
    """
    seating = _seating(match=match.pk)
    sources = _sources(seating) if players is None else {}
    jail = jails.jail() if sources else None
    clock = HostedClock(match)
    watch = leases.Watch(match.pk, lease)
    with ExitStack() as stack:
        if players is not None:
            seated = players(seating)
        else:
            seated = [
                stack.enter_context(_player(match, seat, jail, clock, sources)) for seat in seating
            ]
            for player in seated:
                if isinstance(player, HostedBot):
                    player.load()
        clock.players = dict(enumerate(seated))
        outcome = play(
            match.game,
            match.rules,
            match.deal_seed,
            [watch.watched(player) for player in seated],
            names=_names(match, seating),
            clock=clock,
        )
        printed = {
            seat.seat: player.printed_text
            for seat, player in zip(seating, seated, strict=True)
            if isinstance(player, HostedBot)
        }
    return outcome, printed


def _seats() -> QuerySet[MatchSeat]:
    return MatchSeat.objects.filter(match=_MATCH).order_by("seat")


_seating = objects_built_once(_seats, "bot", "version")


def _sources(seating: Seating) -> dict[int, Source]:
    """Return the files of the hosted bots by version."""
    versions = {seat.version_id for seat in seating if seat.bot.kind == Bot.Kind.HOSTED}
    if not versions:
        return {}
    found = BotSource.objects.filter(version__in=versions)
    return {source.version_id: read_source(bytes(source.data)) for source in found}


@contextmanager
def _player(
    match: Match,
    seat: MatchSeat,
    jail: Jail | None,
    clock: MatchClock,
    sources: Mapping[int, Source],
) -> Iterator[Player]:
    """Give the player of a seat while the context lasts."""
    number = seat.seat

    def allowance() -> float:
        return clock.allowance(number)

    if seat.bot.kind != Bot.Kind.HOSTED or jail is None:
        yield HouseBot(make_player(seat.bot.name, allowance=allowance))
        return
    source = sources[seat.version_id]
    with HostedBot(jail, source, info_for(match, number), allowance=allowance) as bot:
        yield bot


def _names(match: Match, seating: Seating) -> list[str]:
    """Return the players' names for the record; two versions of one bot get their numbers."""
    if match.swap_block_id is None:
        return [seat.bot.name for seat in seating]
    return [f"{seat.bot.name} v{seat.version.number}" for seat in seating]


@objects_built_once
def _under_lease() -> QuerySet[Match]:
    """Return a match that is played under a lease, under its lock."""
    lease = Given("lease", models.UUIDField())
    found = Match.objects.filter(pk=_MATCH, lease=lease, status=Match.Status.PLAYING)
    return found.select_for_update(of=("self",))


def _finish(match_id: int, lease: uuid.UUID, outcome: Outcome, printed: Mapping[int, str]) -> bool:
    """Store a result and, by seat, the output of hosted bots, unless the lease was lost."""
    with transaction.atomic():
        match = next(iter(_under_lease(match=match_id, lease=lease)), None)
        if match is None:
            return False
        finish(match, outcome.record, outcome.forfeited, timezone.now())
        if printed:
            store_logs(match, outcome, printed)
    return True
