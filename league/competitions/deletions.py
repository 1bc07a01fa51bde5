"""Delete a bot: take it out of ladders, tournaments and comparisons first."""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone

from league import bots
from league.competitions.comparisons import cancel_comparison
from league.competitions.ladder_entries import leave_ladder
from league.competitions.tournament_entries import withdraw
from league.models import Bot, Comparison, Tournament, TournamentEntry


def delete_bot(bot: Bot) -> bool:
    """Delete a bot; return whether it is retired, because it has results that stay.

    A retired bot leaves its ladders and running tournaments, and its owner can't change it any
    more. A bot that has never played vanishes, and its name is free.

    Raises:
        ValidationError: it is a house bot (code ``not-your-bot``).
    """
    if bot.kind == Bot.Kind.HOUSE:
        raise ValidationError(f"{bot} belongs to the league.", code="not-your-bot")
    with transaction.atomic():
        for entry in bot.ladder_entries.select_related("ladder"):
            leave_ladder(ladder=entry.ladder, bot=bot)
        open_states = (*Tournament.NOT_STARTED, Tournament.State.RUNNING)
        entered = TournamentEntry.objects.filter(
            bot=bot,
            state=TournamentEntry.State.ENTERED,
            tournament__state__in=open_states,
        )
        for tournament_entry in entered.select_related("tournament"):
            withdraw(tournament=tournament_entry.tournament, bot=bot, by_organiser=True)
        for comparison in bot.comparisons.filter(state=Comparison.State.RUNNING):
            cancel_comparison(comparison)
        if not bots.has_played(bot):
            try:
                with transaction.atomic():
                    bots.remove(bot)
                return False
            except ProtectedError:
                pass  # a round has drawn it
        bots.retire(bot, timezone.now())
        return True
