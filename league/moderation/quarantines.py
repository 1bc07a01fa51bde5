"""Put bots and accounts in quarantine, and lift it. Owners can do neither.

A bot in quarantine gets no new match: no round draws it and it enters nothing. Blocks that wait and
have no match in play become void at once; matches in play go on. Its results stay.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Final, Literal

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from league import play, ratings
from league.accounts.quarantines import account_quarantine, end_text, own_quarantine
from league.competitions import cancel_comparison
from league.models import (
    Block,
    Bot,
    Comparison,
    Ladder,
    Match,
    ModerationEntry,
    Quarantine,
)
from league.moderation.log import Action, note

ANY: Final = "any"
"""The caller does not state which quarantine it has seen."""
Seen = int | None | Literal["any"]
VOID_REASON = "A bot of this table is in quarantine."
"""The public reason of blocks that become void; the reason of the quarantine is not public."""


def quarantine_bot(
    *,
    bot: Bot,
    reason: str,
    ends_at: datetime | None = None,
    made_by: User | None = None,
    seen: Seen = ANY,
) -> Quarantine:
    """Put a bot in quarantine, or change the reason and end of its quarantine.

    Args:
        bot: any bot, house bots too.
        reason: shown to its owner and to organisers.
        ends_at: the end; None: it holds until it is lifted.
        made_by: the organiser.
        seen: id of the quarantine that the organiser saw, None for none.

    Raises:
        ValidationError: by field: the reason is empty or too long, or the end has passed. Or with
            code ``changed-meanwhile``: another organiser has changed it since ``seen``.
    """
    reason = _checked(reason, ends_at)
    with transaction.atomic():
        Bot.objects.select_for_update(of=("self",), no_key=True).get(pk=bot.pk)
        before = own_quarantine(bot)
        _check_unchanged(seen, before, reason, ends_at)
        _lift(before)
        made = Quarantine.objects.create(bot=bot, reason=reason, ends_at=ends_at, made_by=made_by)
        decision = _note(Action.QUARANTINE, made, made_by, reason)
    _stop_new_matches([bot.pk], decision)
    return made


def quarantine_account(
    *,
    account: User,
    reason: str,
    ends_at: datetime | None = None,
    made_by: User | None = None,
    seen: Seen = ANY,
) -> Quarantine:
    """Put an account with all its bots in quarantine, as `quarantine_bot`; later bots too."""
    reason = _checked(reason, ends_at)
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=account.pk)
        before = account_quarantine(account)
        _check_unchanged(seen, before, reason, ends_at)
        _lift(before)
        made = Quarantine.objects.create(
            account=account, reason=reason, ends_at=ends_at, made_by=made_by
        )
        decision = _note(Action.QUARANTINE, made, made_by, reason)
    bots = Bot.objects.owned_by(account).values_list("pk", flat=True)
    _stop_new_matches(list(bots), decision)
    return made


def lift_bot_quarantine(*, bot: Bot, reason: str = "", made_by: User | None = None) -> None:
    """Lift the quarantine of a bot; that of its account stays.

    Raises:
        ValidationError: the bot itself is not in quarantine (code ``not-quarantined``).
    """
    with transaction.atomic():
        Bot.objects.select_for_update(of=("self",), no_key=True).get(pk=bot.pk)
        _lift_or_refuse(own_quarantine(bot), f"The bot {bot}", reason, made_by)


def lift_account_quarantine(
    *, account: User, reason: str = "", made_by: User | None = None
) -> None:
    """Lift the quarantine of an account; quarantines of its single bots stay.

    Raises:
        ValidationError: the account is not in quarantine (code ``not-quarantined``).
    """
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=account.pk)
        _lift_or_refuse(account_quarantine(account), f"The account {account}", reason, made_by)


def _checked(reason: str, ends_at: datetime | None) -> str:
    """Return the reason without spaces around it."""
    reason = reason.strip()
    if not reason:
        raise ValidationError({"reason": "Give a reason; the owner sees it."})
    if len(reason) > 500:
        raise ValidationError({"reason": "A reason has at most 500 characters."})
    if ends_at is not None and ends_at <= timezone.now():
        raise ValidationError({"ends_at": "This time has passed; choose a later time, or none."})
    return reason


def _check_unchanged(
    seen: Seen, stored: Quarantine | None, reason: str, ends_at: datetime | None
) -> None:
    if seen == ANY or seen == (stored.pk if stored else None):
        return
    theirs = f"{end_text(stored.ends_at)}: {stored.reason}" if stored else "none"
    raise ValidationError(
        f"Another organiser has changed this quarantine meanwhile. Stored: {theirs} "
        f"Yours: {end_text(ends_at)}: {reason} Send yours again to replace the stored one.",
        code="changed-meanwhile",
    )


def _lift(held: Quarantine | None) -> None:
    if held is not None:
        held.lifted_at = timezone.now()
        held.save(update_fields=["lifted_at"])


def _lift_or_refuse(held: Quarantine | None, name: str, reason: str, made_by: User | None) -> None:
    if held is None:
        raise ValidationError(f"{name} is not in quarantine.", code="not-quarantined")
    _lift(held)
    _note(Action.LIFT_QUARANTINE, held, made_by, reason)


def _note(action: Action, of: Quarantine, made_by: User | None, reason: str) -> ModerationEntry:
    subject = f"bot {of.bot}" if of.bot else f"account {of.account}"
    ends_at = of.ends_at.isoformat() if of.ends_at else None
    return note(
        action,
        made_by=made_by,
        subject=subject,
        reason=reason,
        bot=of.bot,
        account=of.account,
        ends_at=ends_at,
    )


def _stop_new_matches(bots: Collection[int], decision: ModerationEntry) -> None:
    """Void what waits for these bots and has not begun; end the comparisons of their versions.

    The quarantine is committed already. A round that was being drawn holds its ladder's lock, so
    this sees its blocks once it has the lock, and every later round sees the quarantine.
    """
    for ladder_id in Ladder.objects.order_by("pk").values_list("pk", flat=True):
        with transaction.atomic():
            Ladder.objects.select_for_update().get(pk=ladder_id)
            for block_id in _blocks_not_begun(ladder_id, bots):
                ratings.void_block(
                    block_id=block_id,
                    reason=VOID_REASON,
                    made_by=decision.made_by,
                    decision=decision,
                )
    alone = Match.objects.waiting().outside_comparisons().filter(block=None)
    for match in alone.filter(seating__bot__in=bots).distinct():
        play.void_match(match, VOID_REASON)
    for comparison in Comparison.objects.running().filter(bot__in=bots):
        cancel_comparison(comparison)


def _blocks_not_begun(ladder_id: int, bots: Collection[int]) -> list[int]:
    begun = Match.objects.exclude(status=Match.Status.WAITING).filter(block__isnull=False)
    waiting = Block.objects.playing().filter(round__ladder=ladder_id, bots__bot__in=bots)
    found = waiting.exclude(pk__in=begun.values("block")).order_by("pk").distinct()
    return list(found.values_list("pk", flat=True))
