"""Checks: an uploaded version plays one qualifying match of each game, in the sandbox.

Checks have workers of their own, and a check has a wall limit. One version of an owner is checked
at a time, so that no owner takes all workers.
"""

from collections.abc import Sequence
from datetime import timedelta

import structlog
from django.core.cache import cache
from django.core.exceptions import ObjectDoesNotExist
from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone

from bots_sdk.refusals import SourceRefusedError
from bots_sdk.sandbox.declarations import declared_games
from bots_sdk.sandbox.errors import SandboxUnavailableError
from bots_sdk.sandbox.sources import read_source
from engine.errors import MatchInterruptedError
from league import durations
from league.bots import check_attempts, jails
from league.bots.games_played import games_entered
from league.bots.hosted_players import storable
from league.bots.promoting import make_current, takes_over
from league.bots.qualifying import (
    CheckTooLongError,
    WallLimit,
    match_settings,
    play_qualifying_match,
)
from league.models import Bot, BotVersion, QualifyingMatch
from league.queueing import queue
from league.single_workers import Work, single_worker

log = structlog.get_logger(__name__)

QUEUE_AGAIN_AFTER = timedelta(seconds=60)
"""A version that is unchecked for so long is put into the queue again."""


def versions_to_check() -> list[int]:
    """Return the ids of unchecked versions whose task may be lost; each at most once in 60 s."""
    waiting = BotVersion.objects.checking().filter(
        created_at__lte=timezone.now() - QUEUE_AGAIN_AFTER
    )
    found = waiting.order_by("pk").values_list("pk", flat=True)[:20]
    seconds = QUEUE_AGAIN_AFTER.total_seconds()
    return [pk for pk in found if cache.add(f"check-version:{pk}", True, timeout=seconds)]


def check_version(version_id: int) -> bool:
    """Check a version and make it ready or refuse it; return whether this call decided.

    It must play the games that it declares. If it declares none, it must play each game of the
    ladders and tournaments that its bot is in; if the bot is in none, any game. Safe to call any
    number of times, also in parallel. If there is no sandbox, or it breaks, the version waits for
    another worker; if the database is away, it waits too. If its bot is deleted meanwhile, there is
    no result.
    """
    version = BotVersion.objects.select_related("bot").filter(pk=version_id).first()
    if version is None or version.state != BotVersion.State.CHECKING:
        return False
    try:
        with single_worker(Work.CHECK_OF_OWNER, version.bot.owner_id or 0) as free:
            if not free:
                return False  # the check that runs queues this one when it ends
            decided = _attempt(version)
        if decided:
            _note_duration(version_id)
        if decided or not _is_unchecked(version_id):
            _queue_next(version.bot.owner_id)
    except (OperationalError, InterfaceError) as error:
        log.warning("a check was lost with the database", error=" ".join(str(error).split()))
        check_attempts.end(version_id)
        return False
    return decided


def _attempt(version: BotVersion) -> bool:
    """Check a version, and count an attempt that ends without a result."""
    if check_attempts.is_pausing(version.pk):
        return False
    if (reason := check_attempts.reason_to_refuse(version.pk)) is not None:
        return _refuse(version, reason)
    check_attempts.begin(version.pk)
    try:
        decided = _check(version)
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:
        if isinstance(error, ObjectDoesNotExist) and not _is_unchecked(version.pk):
            log.info("a version was deleted during its check", version=str(version))
            check_attempts.end(version.pk)
            return False
        check_attempts.note_failure(version.pk)
        raise
    check_attempts.end(version.pk)
    return decided


def _note_duration(version_id: int) -> None:
    version = BotVersion.objects.filter(pk=version_id).first()
    if version is not None:
        waited = timezone.now() - version.created_at
        durations.note("check", waited.total_seconds(), version.state)


def _is_unchecked(version_id: int) -> bool:
    return BotVersion.objects.checking().filter(pk=version_id).exists()


def _check(version: BotVersion) -> bool:
    try:
        games = declared_games(read_source(bytes(version.source.data)))
        limit = WallLimit()
        matches: list[QualifyingMatch] = []
        # After an error the list has the matches before it.
        matches.extend(
            play_qualifying_match(version, setting, limit) for setting in match_settings(games)
        )
    except SourceRefusedError as error:
        return _refuse(version, f"This can't be a bot: {error}.")
    except CheckTooLongError as error:
        # A version that declares no games needs to play only one, and it may have done so.
        has_passed = any(match.passed for match in matches)
        needed = games if games or has_passed else [error.match.game]
        return _decide(version.pk, [*matches, error.match], needed=needed)
    except (SandboxUnavailableError, MatchInterruptedError) as error:
        log.warning("a version could not be checked", version=str(version), error=str(error))
        jails.distrust()
        return False
    return _decide(version.pk, matches, needed=games)


def _refuse(version: BotVersion, reason: str) -> bool:
    """Refuse a version without a qualifying match; return whether this call decided."""
    log.warning("a version was refused without a match", version=str(version), reason=reason)
    refused = BotVersion.objects.checking().filter(pk=version.pk)
    return bool(refused.update(state=BotVersion.State.REFUSED, reason=storable(reason)[:500]))


def _decide(
    version_id: int, matches: Sequence[QualifyingMatch], needed: Sequence[str] = ()
) -> bool:
    """Store the qualifying matches and the version's state, unless another call has done so.

    Args:
        version_id: id of the version.
        matches: its qualifying matches.
        needed: the games that it must play, beside those that the bot has entered.
    """
    with transaction.atomic():
        # The bot first, as its deletion does.
        bot_id = BotVersion.objects.values_list("bot", flat=True).get(pk=version_id)
        bot = Bot.objects.select_for_update(of=("self",), no_key=True).get(pk=bot_id)
        version = BotVersion.objects.select_for_update(of=("self",)).get(pk=version_id)
        if version.state != BotVersion.State.CHECKING:
            return False
        entered = games_entered(bot)
        failed = [match for match in matches if not match.passed]
        decisive = [match for match in failed if match.game in entered.union(needed)]
        if not entered and len(failed) == len(matches):
            decisive = failed
        reasons = [f"{match.game}: {match.reason}" for match in decisive]
        played = {match.game for match in matches}
        reasons += [
            f"{game}: {bot} is on a ladder or in a tournament of this game, but GAMES in the file "
            f"does not have it. Add {game} to GAMES, or withdraw {bot} from there"
            for game in sorted(entered - played)
            if not decisive
        ]
        version.state = BotVersion.State.REFUSED if reasons else BotVersion.State.READY
        version.reason = "; ".join(reasons)[:500]
        version.save(update_fields=["state", "reason"])
        QualifyingMatch.objects.bulk_create(matches)
        if not reasons and takes_over(version, bot.current):
            make_current(bot, version)
    return True


def _queue_next(owner_id: int | None) -> None:
    """Queue the check of an owner's oldest unchecked version, which may have waited for another."""
    waiting = BotVersion.objects.checking().filter(bot__owner=owner_id).order_by("pk")
    if (version := waiting.first()) is not None:
        queue("check_version", version.pk)
