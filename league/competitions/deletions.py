"""Delete a bot: take it out of ladders, tournaments and comparisons first."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Exists, OuterRef, ProtectedError, Q, QuerySet
from django.utils import timezone

from league import bots
from league.competitions.comparisons import cancel_comparison
from league.competitions.ladder_entries import leave_for_good
from league.competitions.tournament_entries import withdraw_for_good
from league.models import Bot, BotVersion, Comparison, Ladder, Tournament, TournamentEntry

REASONS_KEPT = timedelta(hours=1)
"""How long the owner of a bot whose uploads were all refused can read the reasons."""


def delete_bot(bot: Bot) -> bool:
    """Delete a bot; return whether it is retired, because it has results that stay.

    A retired bot leaves its ladders and running tournaments, and its owner can't change it any
    more. A bot that has never played vanishes, and its name is free.

    Raises:
        ValidationError: it is a house bot (code ``not-your-bot``).
    """
    if bot.kind == Bot.Kind.HOUSE:
        raise ValidationError(f"{bot} is a house bot, so you can't delete it.", code="not-your-bot")
    while True:
        with transaction.atomic():
            locked = _lock_places(bot)
            # Under this lock no match with the bot opens, and the bot enters nothing.
            if Bot.objects.select_for_update(of=("self",)).filter(pk=bot.pk).first() is None:
                return False  # another call has deleted it
            if not _ids(_places(bot)) <= locked:
                # The bot entered meanwhile. Begin again, to take the locks in their order.
                transaction.set_rollback(True)
                continue
            _leave_all(bot)
            if not bots.has_played(bot):
                try:
                    with transaction.atomic():
                        bots.remove(bot)
                    return False
                except ProtectedError:
                    pass  # a round has drawn it
            bots.retire(bot, timezone.now())
            return True


def _places(bot: Bot) -> list[QuerySet[Any]]:
    """Return the ladders, tournaments and comparisons that a bot has to leave."""
    entered = _tournament_entries(bot)
    unrated = bot.blocks.filter(block__round__applied_at=None)
    ladders = Ladder.objects.filter(
        Q(pk__in=bot.ladder_entries.values("ladder"))
        | Q(pk__in=bot.standings.values("ladder"))
        | Q(pk__in=unrated.values("block__round__ladder"))
        | Q(pk__in=entered.values("tournament__ladder"))
    )
    tournaments = Tournament.objects.filter(pk__in=entered.values("tournament"))
    comparisons = Comparison.objects.running().filter(bot=bot)
    return [ladders, tournaments, comparisons]


def _lock_places(bot: Bot) -> set[tuple[type, int]]:
    """Lock what a bot has to leave, before the bot as everybody does; return it as `_ids`."""
    return _ids([rows.select_for_update(of=("self",)) for rows in _places(bot)])


def _ids(places: Sequence[QuerySet[Any]]) -> set[tuple[type, int]]:
    """Return the model and the id of each row."""
    return {(rows.model, row.pk) for rows in places for row in rows.order_by("pk").only("pk")}


def _leave_all(bot: Bot) -> None:
    """Take a bot out of its ladders, tournaments and comparisons, whose locks are held."""
    ladders, tournaments, comparisons = _places(bot)
    for ladder in ladders:
        leave_for_good(ladder=ladder, bot=bot)
    for tournament in tournaments:
        withdraw_for_good(tournament=tournament, bot=bot)
    for comparison in comparisons:
        cancel_comparison(comparison)


def _tournament_entries(bot: Bot) -> QuerySet[TournamentEntry]:
    """Return the entries of a bot in tournaments that may go on.

    An organiser can take a cancellation back.
    """
    entered = TournamentEntry.objects.filter(bot=bot, state=TournamentEntry.State.ENTERED)
    return entered.exclude(tournament__state=Tournament.State.FINISHED)


def delete_refused_bots() -> int:
    """Delete the hosted bots whose uploads were all refused or withdrawn; return how many.

    Such a bot has never played, and without a version it could enter nothing. Whatever program
    uploaded it, no bot is left behind, and its name is free again. The owner can read the reasons
    for `REASONS_KEPT`.
    """
    since = timezone.now() - REASONS_KEPT
    of_bot = BotVersion.objects.filter(bot=OuterRef("pk"))
    could_play = of_bot.exclude(state=BotVersion.State.REFUSED)
    lately = of_bot.filter(Q(created_at__gt=since) | Q(qualifying__played_at__gt=since))
    found = (
        Bot.objects.active()
        .hosted()
        .filter(Exists(of_bot), current=None)
        .exclude(Exists(could_play))
        .exclude(Exists(lately))
    )
    deleted = 0
    for pk in found.values_list("pk", flat=True):
        with transaction.atomic():
            # Under the lock that uploads take: an upload at this moment keeps the bot.
            locked = Bot.objects.select_for_update(of=("self",)).filter(pk=pk).first()
            if locked is not None and found.filter(pk=pk).exists():
                delete_bot(locked)
                deleted += 1
    return deleted
