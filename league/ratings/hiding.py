"""Hiding: bots that are idle or have left a ladder are not shown among the others.

No rating, block or row of the ledger changes by it, and no sum: it is about lists alone. Whoever
hides or shows holds the ladder's lock, as does who applies a round.
"""

from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, Subquery
from django.utils import timezone

from league.models import Bot, Fit, Ladder, Standing, Withdrawal
from league.models.ladders import Hidden, StandingNumbers

SHOWN = ""
"""What a standing has as ``hidden`` that isn't."""

_DAY = timedelta(days=1)


def ladders_to_hide_on() -> list[int]:
    """Return the ids of ladders where bots have become idle, or are idle no more.

    While a ladder is paused nobody can play, so nobody becomes idle.
    """
    now = timezone.now()
    times = Standing.objects.filter(ladder=OuterRef("pk")).values("active_at")
    # An end of the index each, however many bots there are.
    oldest_shown = times.filter(hidden=SHOWN).order_by("active_at")[:1]
    newest_idle = times.filter(hidden=Hidden.IDLE).order_by("-active_at")[:1]
    ladders = Ladder.objects.filter(paused=False).annotate(
        oldest_shown=Subquery(oldest_shown), newest_idle=Subquery(newest_idle)
    )
    return [
        ladder.pk
        for ladder in ladders
        if (ladder.oldest_shown and ladder.oldest_shown < now - ladder.idle_days * _DAY)
        or (ladder.newest_idle and ladder.newest_idle >= now - ladder.idle_days * _DAY)
    ]


def hide_idle(ladder_id: int) -> int:
    """Hide the bots of a ladder that are idle, show those that aren't any more; return how many.

    A bot is idle when for the ladder's ``idle_days`` no round has rated it, and it has not entered
    the ladder either. Those who were hidden come back when a round rates them, or here if the
    ladder's days have become more.
    """
    with transaction.atomic():
        ladder = Ladder.objects.select_for_update().get(pk=ladder_id)
        if ladder.paused:
            return 0
        now = timezone.now()
        since = now - ladder.idle_days * _DAY
        rows = ladder.standings.order_by()
        hidden = rows.filter(hidden=SHOWN, active_at__lt=since).update(
            hidden=Hidden.IDLE, hidden_at=now, band=None
        )
        back = rows.filter(hidden=Hidden.IDLE, active_at__gte=since).update(
            hidden=SHOWN, hidden_at=None
        )
        if hidden or back:
            _have_fitted_again(ladder)
    return hidden + back


def note_withdrawal(ladder: Ladder, bot: Bot) -> None:
    """Hide a bot that leaves a ladder; call it in a transaction that holds the ladder's lock."""
    Withdrawal.objects.get_or_create(ladder=ladder, bot=bot)
    if hide_withdrawn(ladder):
        _have_fitted_again(ladder)


def note_entry(ladder: Ladder, bot: Bot) -> None:
    """Show a bot that enters a ladder again; call it in a transaction with the ladder's lock."""
    Withdrawal.objects.filter(ladder=ladder, bot=bot).delete()
    row = ladder.standings.filter(bot=bot).first()
    if row is None:
        return
    was_hidden, row.hidden, row.hidden_at = row.hidden, SHOWN, None
    row.active_at = timezone.now()
    row.save(update_fields=["active_at", "hidden", "hidden_at"])
    if was_hidden:
        _have_fitted_again(ladder)


def hide_withdrawn(ladder: Ladder) -> int:
    """Hide all who have left a ladder, those too that are rated only now; return how many.

    Call it in a transaction that holds the ladder's lock.
    """
    left = Withdrawal.objects.filter(ladder=OuterRef("ladder"), bot=OuterRef("bot"))
    rows = ladder.standings.filter(~Q(hidden=Hidden.WITHDRAWN), Exists(left)).order_by()
    return rows.update(
        hidden=Hidden.WITHDRAWN,
        hidden_at=Subquery(left.values("withdrawn_at")[:1]),
        band=None,
    )


def why_hidden(row: StandingNumbers, ladder: Ladder) -> str:
    """Return in two sentences why a standing is hidden and what shows it again; "" if it isn't."""
    if row.hidden == Hidden.WITHDRAWN:
        return "It has left the ladder. When it enters again, it is back."
    if row.hidden == Hidden.IDLE:
        days = "a day" if ladder.idle_days == 1 else f"{ladder.idle_days} days"
        return f"No round had rated it for {days}. With the next that does, it is back."
    return ""


def _have_fitted_again(ladder: Ladder) -> None:
    """Have the last fit made anew: rank bands are among the bots that are shown.

    One under way takes the ladder's lock for its end, and sees then who is shown.
    """
    last = ladder.rounds.filter(applied_at__isnull=False).order_by("-number")
    Fit.objects.filter(
        round__in=list(last.values_list("pk", flat=True)[:1]), finished_at__isnull=False
    ).delete()
