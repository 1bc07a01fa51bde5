"""Put bots and accounts in quarantine, and lift it. Owners can't lift it, organisers or not.

A bot in quarantine gets no new match: no round draws it and it enters nothing. Blocks that wait and
have no match in play become void at once; matches in play go on. Its results stay.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from league import play, ratings
from league.accounts.people import has_other_organisers
from league.accounts.quarantines import (
    account_quarantine,
    end_text,
    own_quarantine,
    quarantine_of,
)
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
from league.models.moderation import in_quarantine
from league.moderation.log import Action, note

ANY: Final = "any"
"""The caller does not state which quarantine it has seen."""
Seen = int | None | Literal["any"]
_DRAWING = timedelta(seconds=10)
"""A round that was being drawn when a quarantine began is stored this much later at most."""
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
        ValidationError: by field: the reason is empty or too long, or the end has passed. Or with a
            code: another organiser has changed it since ``seen`` (``changed-meanwhile``), or it
            holds already and is the organiser's own (``own-quarantine``).
    """
    reason = _checked(reason, ends_at)
    with transaction.atomic():
        Bot.objects.select_for_update(of=("self",), no_key=True).get(pk=bot.pk)
        before = own_quarantine(bot)
        _check_unchanged(seen, before, reason, ends_at)
        is_own = before is not None and _is_own(bot.owner, made_by)
        _lift(before)
        made = Quarantine.objects.create(bot=bot, reason=reason, ends_at=ends_at, made_by=made_by)
        decision = _note(Action.QUARANTINE, made, made_by, reason, is_own=is_own)
        transaction.on_commit(lambda: _stop_new_matches([bot.pk], decision))
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
        is_own = before is not None and _is_own(account, made_by)
        _lift(before)
        made = Quarantine.objects.create(
            account=account, reason=reason, ends_at=ends_at, made_by=made_by
        )
        decision = _note(Action.QUARANTINE, made, made_by, reason, is_own=is_own)
        bots = Bot.objects.owned_by(account).values_list("pk", flat=True)
        transaction.on_commit(lambda: _stop_new_matches(list(bots), decision))
    return made


def lift_bot_quarantine(
    *, bot: Bot, reason: str = "", made_by: User | None = None, seen: Seen = ANY
) -> None:
    """Lift the quarantine of a bot; that of its account stays.

    Args:
        bot: in quarantine.
        reason: for the moderation log.
        made_by: the organiser.
        seen: id of the quarantine that the organiser saw.

    Raises:
        ValidationError: with a code: the bot itself is not in quarantine (``not-quarantined``),
            another quarantine holds than ``seen`` (``changed-meanwhile``), or the bot is the
            organiser's own, and the league has another organiser (``own-quarantine``).
    """
    with transaction.atomic():
        Bot.objects.select_for_update(of=("self",), no_key=True).get(pk=bot.pk)
        held = own_quarantine(bot)
        _lift_or_refuse(held, bot.owner, f"The bot {bot}", reason, made_by, seen)


def lift_account_quarantine(
    *, account: User, reason: str = "", made_by: User | None = None, seen: Seen = ANY
) -> None:
    """Lift the quarantine of an account, as `lift_bot_quarantine`; those of single bots stay."""
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=account.pk)
        held = account_quarantine(account)
        _lift_or_refuse(held, account, f"The account {account}", reason, made_by, seen)


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
    theirs = f"“{stored.reason}”, {end_text(stored.ends_at)}" if stored else "no quarantine"
    raise ValidationError(
        f"Another organiser has changed this quarantine meanwhile. Now stored: {theirs}. "
        f"Yours: “{reason}”, {end_text(ends_at)}. Send yours again to replace the stored one.",
        code="changed-meanwhile",
    )


def _lift(held: Quarantine | None) -> None:
    if held is not None:
        held.lifted_at = timezone.now()
        held.save(update_fields=["lifted_at"])


def _lift_or_refuse(
    held: Quarantine | None,
    owner: User | None,
    name: str,
    reason: str,
    made_by: User | None,
    seen: Seen,
) -> None:
    if held is None:
        raise ValidationError(f"{name} is not in quarantine.", code="not-quarantined")
    if seen not in (ANY, held.pk):
        raise ValidationError(
            f"Somebody else has changed the quarantine of {name} since you read it. Now "
            f"stored: “{held.reason}”, {end_text(held.ends_at)}. Read this quarantine, then "
            "lift it if you still want to.",
            code="changed-meanwhile",
        )
    is_own = _is_own(owner, made_by)
    _lift(held)
    _note(Action.LIFT_QUARANTINE, held, made_by, reason, is_own=is_own)


def _is_own(owner: User | None, made_by: User | None) -> bool:
    """Return whether an organiser decides on their own quarantine; raise if another one could."""
    if owner is None or made_by is None or owner.pk != made_by.pk:
        return False
    if has_other_organisers(made_by):
        raise ValidationError(
            "You can't lift or change the quarantine of your own bot or account. Ask another "
            "organiser.",
            code="own-quarantine",
        )
    return True


def _note(
    action: Action, of: Quarantine, made_by: User | None, reason: str, *, is_own: bool
) -> ModerationEntry:
    subject = f"bot {of.bot}" if of.bot else f"account {of.account}"
    details: dict[str, Any] = {"ends_at": of.ends_at.isoformat() if of.ends_at else None}
    if is_own:
        details["own"] = True
    return note(
        action,
        made_by=made_by,
        subject=subject,
        reason=reason,
        bot=of.bot,
        account=of.account,
        **details,
    )


def bots_to_stop() -> list[int]:
    """Return the ids of bots in quarantine that have blocks or matches which have not begun."""
    held = set(Bot.objects.filter(in_quarantine(timezone.now())).values_list("pk", flat=True))
    if not held:
        return []
    found = set(_blocks_not_begun(held).values_list("bots__bot", flat=True))
    for matches in (_unrated_not_begun(held), _swaps_not_begun(held)):
        found.update(matches.values_list("seating__bot", flat=True))
    found.update(Comparison.objects.running().filter(bot__in=held).values_list("bot", flat=True))
    return sorted(held & found)


def stop_new_matches(bot_id: int) -> None:
    """Void what waits for a bot in quarantine and was drawn before it.

    It repeats the work of a process that was killed after it stored the quarantine. Later blocks
    stay: an organiser had them played again, or a knockout decides a table.
    """
    held = quarantine_of(Bot.objects.get(pk=bot_id))
    if held is None:
        return
    decisions = ModerationEntry.objects.filter(action=Action.QUARANTINE)
    decision = decisions.filter(bot=held.bot, account=held.account).order_by("pk").last()
    drawn_until = held.begun_at + _DRAWING
    drawn = Match.objects.filter(block__bots__bot=bot_id, created_at__lte=drawn_until)
    blocks = _blocks_not_begun([bot_id]).filter(pk__in=drawn.values("block"))
    for ladder_id in set(blocks.values_list("round__ladder", flat=True)):
        _void_blocks(ladder_id, blocks, decision)
    _void_matches([bot_id])


def _stop_new_matches(bots: Collection[int], decision: ModerationEntry) -> None:
    """Void what waits for these bots and has not begun; end the comparisons of their versions.

    The quarantine is committed before, even if the request has an ``Idempotency-Key`` and so is one
    transaction. A round that is being drawn holds its ladder's lock, so this function finds the
    round's blocks once it has the lock. Every later round leaves these bots out. If the process
    ends meanwhile, upkeep does the rest.
    """
    for ladder_id in Ladder.objects.order_by("pk").values_list("pk", flat=True):
        _void_blocks(ladder_id, _blocks_not_begun(bots), decision)
    _void_matches(bots)


def _void_blocks(ladder_id: int, blocks: QuerySet[Block], decision: ModerationEntry | None) -> None:
    """Void the blocks of a ladder, which are read under its lock."""
    with transaction.atomic():
        Ladder.objects.select_for_update().get(pk=ladder_id)
        of_ladder = blocks.filter(round__ladder=ladder_id).order_by("pk").distinct()
        for block_id in list(of_ladder.values_list("pk", flat=True)):
            ratings.mark_void(
                block_id=block_id,
                reason=VOID_REASON,
                made_by=decision.made_by if decision else None,
                decision=decision,
            )


def _void_matches(bots: Collection[int]) -> None:
    """Void matches outside rounds, and end the comparisons of the bots' versions."""
    for comparison in Comparison.objects.running().filter(bot__in=bots):
        cancel_comparison(comparison)
    for matches in (_unrated_not_begun(bots), _swaps_not_begun(bots)):
        for match in matches.order_by("pk").distinct():
            play.void_match(match, VOID_REASON)


def _blocks_not_begun(bots: Collection[int]) -> QuerySet[Block]:
    begun = Match.objects.begun().filter(block__isnull=False)
    waiting = Block.objects.playing().filter(bots__bot__in=bots)
    return waiting.exclude(pk__in=begun.values("block"))


def _unrated_not_begun(bots: Collection[int]) -> QuerySet[Match]:
    begun = Match.objects.begun().filter(challenge__isnull=False)
    waiting = Match.objects.waiting().filter(block=None, swap_block=None).with_any_bot(bots)
    return waiting.exclude(challenge__in=begun.values("challenge"))


def _swaps_not_begun(bots: Collection[int]) -> QuerySet[Match]:
    """Return waiting matches of swap blocks, the bots' own and others that they are opponents in.

    A swap block counts only as a whole, so both of its matches wait.
    """
    begun = Match.objects.begun().of_comparisons()
    waiting = Match.objects.waiting().of_comparisons().with_any_bot(bots)
    return waiting.exclude(swap_block__in=begun.values("swap_block"))
