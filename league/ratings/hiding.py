"""Hide bots from a ladder's standings: idle bots, and bots that have left the ladder.

Hiding changes no rating, block, ledger row or sum; it only changes lists. Every function that
hides or shows a bot holds the ladder's lock, as the application of a round does.
"""

from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, Subquery
from django.utils import timezone

from league.models import Bot, Fit, Ladder, Standing, Withdrawal
from league.models.standings import SHOWN, Hidden, StandingNumbers

_DAY = timedelta(days=1)


def ladders_to_hide_on() -> list[int]:
    """Return the ids of ladders where a bot has become idle, or is idle no longer.

    While a ladder is paused no bot can play, so no bot becomes idle.
    """
    now = timezone.now()
    rows = Standing.objects.filter(ladder=OuterRef("pk"))
    idle_rows = rows.filter(hidden=Hidden.IDLE)
    # Each subquery reads one end of an index, however many bots there are.
    oldest_shown = rows.shown().order_by("active_at").values("active_at")[:1]
    newest_idle = idle_rows.order_by("-active_at").values("active_at")[:1]
    ladders = (
        Ladder.objects.active()
        .annotate(oldest_shown=Subquery(oldest_shown), newest_idle=Subquery(newest_idle))
        .values_list("pk", "idle_days", "oldest_shown", "newest_idle")
    )
    return [
        pk
        for pk, idle_days, shown, idle in ladders
        if (shown and shown < now - idle_days * _DAY) or (idle and idle >= now - idle_days * _DAY)
    ]


def hide_idle(ladder_id: int) -> int:
    """Hide the idle bots of a ladder and show those that are idle no longer; return their number.

    If another transaction holds the ladder's lock, this is left to a later call.

    A bot is idle if for the ladder's ``idle_days`` no round has rated it and it has not entered the
    ladder. It is shown again when a round rates it, or here if ``idle_days`` has grown.
    """
    with transaction.atomic():
        ladder = Ladder.objects.lock_free(pk=ladder_id)
        if ladder is None or ladder.paused:
            return 0
        now = timezone.now()
        since = now - ladder.idle_days * _DAY
        rows = ladder.standings.order_by()
        hidden = (
            rows.shown()
            .filter(active_at__lt=since)
            .update(hidden=Hidden.IDLE, hidden_at=now, band=None, best_chance=None)
        )
        back = rows.filter(hidden=Hidden.IDLE, active_at__gte=since).update(
            hidden=SHOWN, hidden_at=None
        )
        if hidden or back:
            request_new_fit(ladder)
    return hidden + back


def note_resumed(ladder_id: int) -> None:
    """Let the idle days of a ladder's bots begin again: they could not play while it was paused."""
    with transaction.atomic():
        ladder = Ladder.objects.select_for_update(no_key=True).get(pk=ladder_id)
        ladder.standings.shown().order_by().update(active_at=timezone.now())


def note_withdrawal(ladder: Ladder, bot: Bot) -> None:
    """Hide a bot that leaves a ladder; call it in a transaction that holds the ladder's lock."""
    Withdrawal.objects.get_or_create(ladder=ladder, bot=bot)
    if hide_withdrawn(ladder):
        request_new_fit(ladder)


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
        request_new_fit(ladder)


def hide_withdrawn(ladder: Ladder) -> int:
    """Hide the bots that have left a ladder, also newly rated ones; return their number.

    Call it in a transaction that holds the ladder's lock.
    """
    left = Withdrawal.objects.filter(ladder=OuterRef("ladder"), bot=OuterRef("bot"))
    rows = ladder.standings.filter(~Q(hidden=Hidden.WITHDRAWN), Exists(left)).order_by()
    return rows.update(
        hidden=Hidden.WITHDRAWN,
        hidden_at=Subquery(left.values("withdrawn_at")[:1]),
        band=None,
        best_chance=None,
    )


def why_hidden(row: StandingNumbers, ladder: Ladder) -> str:
    """Return why a standing is hidden and what shows it again; "" if it is shown."""
    if row.hidden == Hidden.WITHDRAWN:
        return "The bot has left the ladder. It is shown again when it enters again."
    if row.hidden == Hidden.IDLE:
        days = "a day" if ladder.idle_days == 1 else f"{ladder.idle_days} days"
        return f"No round has rated the bot for {days}. It is shown again when a round rates it."
    return ""


def request_new_fit(ladder: Ladder) -> None:
    """Delete the last finished fit so that it is made again: bands hold only bots that are shown.

    A running fit takes the ladder's lock before it writes, and then reads which bots are shown.
    """
    last = ladder.rounds.applied().order_by("-applied_number").values_list("pk", flat=True)[:1]
    Fit.objects.finished().filter(round__in=list(last)).delete()
