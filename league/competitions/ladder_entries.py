"""Entries on ladders: a bot enters or leaves a ladder at any time."""

from django.core.exceptions import ValidationError
from django.db import transaction

from league.accounts.quarantines import require_free
from league.bots import require_active, require_qualified
from league.models import Bot, BotVersion, Ladder, LadderEntry
from league.ratings.hiding import note_entry, note_withdrawal


def enter_ladder(*, ladder: Ladder, bot: Bot) -> LadderEntry:
    """Enter a bot on a ladder, so that its rounds draw the bot; a second call changes nothing.

    Raises:
        ValidationError: with a code: the bot is in quarantine (``quarantined``), is paused
            (``bot-paused``) or has no version that can play (``no-version``), or its current
            version did not qualify for the ladder's game (``not-qualified``).
    """
    require_active(bot)
    require_free(bot)
    require_qualified(bot, ladder.game)
    if (entry := ladder.entries.filter(bot=bot).first()) is not None:
        return entry
    _require_able(bot)
    with transaction.atomic():
        locked = Ladder.objects.select_for_update().get(pk=ladder.pk)
        entry, created = LadderEntry.objects.get_or_create(ladder=locked, bot=bot)
        if created:
            note_entry(locked, bot)
        return entry


def _require_able(bot: Bot) -> None:
    """Raise if a bot can't play whatever happens on the ladder."""
    if bot.paused:
        raise ValidationError(
            f"{bot} is paused, so it can't enter. Resume it first: `twelfth-night bot resume "
            f"{bot}`, or the button on the page My bots.",
            code="bot-paused",
        )
    if bot.current_id is not None:
        return
    last = bot.versions.order_by("-number").first()
    if last is None:
        why = "has no version yet. Upload one first"
    elif last.state == BotVersion.State.CHECKING:
        why = f"can't enter yet: version {last.number} is still being checked. Try again soon"
    else:
        why = f"has no version that can play: version {last.number} is {last.state}. Upload another"
    raise ValidationError(f"{bot} {why}.", code="no-version")


def leave_ladder(*, ladder: Ladder, bot: Bot) -> None:
    """Take a bot off a ladder; if it is not on it, nothing changes.

    Rounds that have drawn the bot are played, and its rating stays. It is hidden from now on, until
    it enters again.
    """
    with transaction.atomic():
        locked = Ladder.objects.select_for_update().get(pk=ladder.pk)
        if locked.entries.filter(bot=bot).delete()[0]:
            note_withdrawal(locked, bot)
