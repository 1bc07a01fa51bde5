"""Qualifying: a version plays each game once, in the sandbox, before it may play in the league."""

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

from bots_sdk.reference import make_player
from bots_sdk.sandbox.errors import SandboxUnavailableError
from engine.errors import MatchInterruptedError
from engine.games import catalogue
from engine.referee import MatchClock, TimeControl, play
from league.bots import jails
from league.bots.hosted_players import HostedBot, storable
from league.models import Bot, BotVersion, Ladder, Trial

log = structlog.get_logger(__name__)

LATER = timedelta(seconds=60)
"""After so long a version that is still to be checked is queued again."""
_OPPONENT = "house-random"


class Setting(NamedTuple):
    """What is played to qualify for a game."""

    game: str
    rules: str
    seats: int
    control: TimeControl


def versions_to_qualify() -> list[int]:
    """Return the ids of versions that wait to be checked and may have been forgotten."""
    waiting = BotVersion.objects.filter(
        state=BotVersion.State.CHECKING, created_at__lte=timezone.now() - LATER
    )
    found = waiting.order_by("pk").values_list("pk", flat=True)[:20]
    seconds = LATER.total_seconds()
    return [pk for pk in found if cache.add(f"qualify:{pk}", True, timeout=seconds)]


def check_qualified(bot: Bot, game: str, version: BotVersion | None = None) -> None:
    """Look whether a bot may be entered for a game.

    Args:
        bot: that shall play.
        game: its name.
        version: of the bot; None: the current one.

    Raises:
        ValidationError: the version failed to qualify for it (code ``not-qualified``).
    """
    wanted = bot.current_id if version is None else version.pk
    failed = Trial.objects.filter(version=wanted, game=game, passed=False).first()
    if failed is not None:
        raise ValidationError(
            f"{version or bot} did not qualify for {game}: {failed.reason}. "
            "Upload a version that plays it.",
            code="not-qualified",
        )


def qualify(version_id: int) -> bool:
    """Check a version, which then is ready or refused; return whether this call decided that.

    It must play every game that its bot has entered a ladder of; one that has entered none, any
    game. May be called any number of times, at once too. Where no sandbox holds, or the one that
    there is breaks, the version waits for another worker.
    """
    version = BotVersion.objects.select_related("bot").filter(pk=version_id).first()
    if version is None or version.state != BotVersion.State.CHECKING:
        return False
    try:
        trials = [_try(version, setting) for setting in _settings()]
    except (SandboxUnavailableError, MatchInterruptedError) as error:
        log.warning("a version could not be checked", version=str(version), error=str(error))
        jails.distrust()
        return False
    return _decide(version_id, trials)


def _settings() -> list[Setting]:
    """Return what is played: for each game what its first ladder plays, else any preset."""
    settings = []
    for game, state in catalogue.GAMES.items():
        ladder = Ladder.objects.filter(game=game).order_by("pk").first()
        if ladder is not None:
            control = TimeControl(ladder.move_seconds, ladder.bank_seconds)
            settings.append(Setting(game, ladder.rules, ladder.seats, control))
        else:
            rules, preset = next(iter(state.presets.items()))
            settings.append(Setting(game, rules, preset.min_seats, TimeControl(1.0, 30.0)))
    return settings


def _try(version: BotVersion, setting: Setting) -> Trial:
    game, rules, seats, control = setting
    clock = MatchClock(control, seats, time.monotonic)
    bot = HostedBot(
        jails.jail(),
        version,
        {
            "game": game,
            "rules": rules,
            "seats": seats,
            "seat": 0,
            "move_seconds": control.move_seconds,
            "bank_seconds": control.bank_seconds,
        },
        allowance=lambda: clock.allowance(0),
    )
    with bot:
        bot.load()
        others = [make_player(_OPPONENT) for _ in range(seats - 1)]
        seed = hashlib.sha256(f"qualify {version.pk} {game}".encode()).digest()
        outcome = play(game, rules, seed, [bot, *others], clock=clock)
        printed = bot.printed_text
    failed = next((incident for incident in outcome.incidents if incident.fault.seat == 0), None)
    return Trial(
        version=version,
        game=game,
        passed=failed is None,
        reason=storable(f"{failed.fault.kind}: {failed.reason}")[:500] if failed else "",
        observation=failed.observation if failed else None,
        printed=printed,
    )


def _decide(version_id: int, trials: Sequence[Trial]) -> bool:
    """Store the trials and what they come to, unless that was done meanwhile."""
    with transaction.atomic():
        version = BotVersion.objects.select_for_update(of=("self",)).get(pk=version_id)
        if version.state != BotVersion.State.CHECKING:
            return False
        bot = Bot.objects.select_for_update(of=("self",), no_key=True).get(pk=version.bot_id)
        entered = set(bot.ladder_entries.values_list("ladder__game", flat=True))
        failed = [trial for trial in trials if not trial.passed]
        wanted = [trial for trial in failed if trial.game in entered]
        if not entered and len(failed) == len(trials):
            wanted = failed
        version.state = BotVersion.State.REFUSED if wanted else BotVersion.State.READY
        version.reason = "; ".join(f"{trial.game}: {trial.reason}" for trial in wanted)[:500]
        version.save(update_fields=["state", "reason"])
        Trial.objects.bulk_create(trials)
        current = bot.current
        takes_over = current is None or (current.number < version.number and not version.held)
        if not wanted and takes_over:
            bot.current = version
            bot.save(update_fields=["current"])
    return True
