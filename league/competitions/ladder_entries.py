"""Entries on ladders: a bot enters or leaves a ladder at any time."""

from django.db import transaction

from league.bots import Obstacle, lock_active, require_playable, require_qualified
from league.models import Bot, Ladder, LadderEntry
from league.ratings.hiding import note_entry, note_withdrawal

_DESPITE = {Obstacle.OFFLINE}


def enter_ladder(*, ladder: Ladder, bot: Bot) -> LadderEntry:
    """Enter a bot on a ladder, so that its rounds draw the bot; a second call changes nothing.

    Raises:
        ValidationError: with a code: the bot is in quarantine (``quarantined``), is paused
            (``bot-paused``) or has no version that can play (``no-version``), its current version
            did not qualify for the ladder's game (``not-qualified``), or it was deleted meanwhile
            (``bot-retired``).
    """
    entry = ladder.entries.filter(bot=bot).first()
    if entry is not None:
        require_playable(bot, despite={*_DESPITE, Obstacle.PAUSED, Obstacle.NO_VERSION})
        require_qualified(bot, ladder.game)
        return entry
    with transaction.atomic():
        locked = Ladder.objects.select_for_update().get(pk=ladder.pk)
        # So that it is not deleted, and its version stays current, until it is entered.
        bot = lock_active(bot.pk)
        require_playable(bot, despite=_DESPITE)
        require_qualified(bot, ladder.game)
        entry, created = LadderEntry.objects.get_or_create(ladder=locked, bot=bot)
        if created:
            note_entry(locked, bot)
        return entry


def leave_ladder(*, ladder: Ladder, bot: Bot) -> None:
    """Take a bot off a ladder; if it is not on it, nothing changes.

    Rounds that have drawn the bot are played, and its rating stays. It is hidden from now on, until
    it enters again.
    """
    with transaction.atomic():
        locked = Ladder.objects.select_for_update().get(pk=ladder.pk)
        if locked.entries.filter(bot=bot).delete()[0]:
            note_withdrawal(locked, bot)


def leave_for_good(*, ladder: Ladder, bot: Bot) -> None:
    """Take a bot off a ladder and hide it there, also if only tournaments have rated it.

    A bot without an entry on the ladder can have a rating there, or get one from an open round.
    """
    with transaction.atomic():
        locked = Ladder.objects.select_for_update().get(pk=ladder.pk)
        locked.entries.filter(bot=bot).delete()
        note_withdrawal(locked, bot)
