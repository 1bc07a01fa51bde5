"""Checks: an uploaded version plays one qualifying match of each game, in the sandbox."""

import hashlib
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

import structlog
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from bots_sdk.bot import match_info
from bots_sdk.reference import make_player
from bots_sdk.sandbox.errors import SandboxUnavailableError
from engine.errors import MatchInterruptedError
from engine.games import catalogue
from engine.referee import MatchClock, TimeControl, play
from league.bots import jails
from league.bots.hosted_players import HostedBot, storable
from league.models import Bot, BotVersion, Ladder, QualifyingMatch

log = structlog.get_logger(__name__)

QUEUE_AGAIN_AFTER = timedelta(seconds=60)
"""A version that is unchecked for so long is put into the queue again."""
_OPPONENT = "house-random"


class MatchSetting(NamedTuple):
    """The preset, seats and clock of a game's qualifying match."""

    game: str
    rules: str
    seats: int
    control: TimeControl


def versions_to_check() -> list[int]:
    """Return the ids of unchecked versions whose task may be lost; each at most once in 60 s."""
    waiting = BotVersion.objects.checking().filter(
        created_at__lte=timezone.now() - QUEUE_AGAIN_AFTER
    )
    found = waiting.order_by("pk").values_list("pk", flat=True)[:20]
    seconds = QUEUE_AGAIN_AFTER.total_seconds()
    return [pk for pk in found if cache.add(f"check-version:{pk}", True, timeout=seconds)]


def require_qualified(bot: Bot, game: str, version: BotVersion | None = None) -> None:
    """Raise if a bot did not qualify for a game.

    Args:
        bot: to enter.
        game: its name.
        version: of the bot; None: the current version.

    Raises:
        ValidationError: the version failed to qualify for it (code ``not-qualified``).
    """
    wanted = bot.current_id if version is None else version.pk
    failed = QualifyingMatch.objects.filter(version=wanted, game=game, passed=False).first()
    if failed is not None:
        raise ValidationError(
            f"{version or bot} failed its check for {game}: {failed.reason}. "
            f"Upload a version that plays {game}.",
            code="not-qualified",
        )


def check_version(version_id: int) -> bool:
    """Check a version and make it ready or refuse it; return whether this call decided.

    It must play each game of the ladders that its bot is on; if the bot is on none, any game. Safe
    to call any number of times, also in parallel. If there is no sandbox, or it breaks, the version
    waits for another worker.
    """
    version = BotVersion.objects.select_related("bot").filter(pk=version_id).first()
    if version is None or version.state != BotVersion.State.CHECKING:
        return False
    try:
        matches = [_play(version, setting) for setting in _settings()]
    except (SandboxUnavailableError, MatchInterruptedError) as error:
        log.warning("a version could not be checked", version=str(version), error=str(error))
        jails.distrust()
        return False
    return _decide(version_id, matches)


def _settings() -> list[MatchSetting]:
    """Return a setting for each game: that of its first ladder, or of any preset."""
    settings = []
    for game, state in catalogue.GAMES.items():
        ladder = Ladder.objects.filter(game=game).order_by("pk").first()
        if ladder is not None:
            control = TimeControl(ladder.move_seconds, ladder.bank_seconds)
            settings.append(MatchSetting(game, ladder.rules, ladder.seats, control))
        else:
            rules, preset = next(iter(state.presets.items()))
            settings.append(MatchSetting(game, rules, preset.min_seats, TimeControl(1.0, 30.0)))
    return settings


def _play(version: BotVersion, setting: MatchSetting) -> QualifyingMatch:
    game, rules, seats, control = setting
    clock = MatchClock(control, seats, time.monotonic)
    bot = HostedBot(
        jails.jail(),
        version,
        match_info(game, rules, seats, 0, control),
        allowance=lambda: clock.allowance(0),
    )
    with bot:
        bot.load()
        others = [make_player(_OPPONENT) for _ in range(seats - 1)]
        seed = hashlib.sha256(f"qualify {version.pk} {game}".encode()).digest()
        outcome = play(game, rules, seed, [bot, *others], clock=clock)
        printed = bot.printed_text
    failed = next((report for report in outcome.fault_reports if report.fault.seat == 0), None)
    return QualifyingMatch(
        version=version,
        game=game,
        passed=failed is None,
        reason=storable(f"{failed.fault.kind}: {failed.reason}")[:500] if failed else "",
        observation=failed.observation if failed else None,
        printed=printed,
    )


def _decide(version_id: int, matches: Sequence[QualifyingMatch]) -> bool:
    """Store the qualifying matches and the version's state, unless another call has done so."""
    with transaction.atomic():
        version = BotVersion.objects.select_for_update(of=("self",)).get(pk=version_id)
        if version.state != BotVersion.State.CHECKING:
            return False
        bot = Bot.objects.select_for_update(of=("self",), no_key=True).get(pk=version.bot_id)
        entered = set(bot.ladder_entries.values_list("ladder__game", flat=True))
        failed = [match for match in matches if not match.passed]
        decisive = [match for match in failed if match.game in entered]
        if not entered and len(failed) == len(matches):
            decisive = failed
        version.state = BotVersion.State.REFUSED if decisive else BotVersion.State.READY
        version.reason = "; ".join(f"{match.game}: {match.reason}" for match in decisive)[:500]
        version.save(update_fields=["state", "reason"])
        QualifyingMatch.objects.bulk_create(matches)
        current = bot.current
        takes_over = current is None or (current.number < version.number and not version.held)
        if not decisive and takes_over:
            bot.current = version
            bot.save(update_fields=["current"])
    return True
