"""Refuse a decision if its subject has changed since the organiser saw the preview.

What the organiser saw is a short text: the state of the block, the entry or the tournament, and the
id of the newest decision about it. So it differs too if somebody has decided and taken that back.
"""

from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.utils.text import capfirst

from league.models import Block, Bot, ModerationEntry, Tournament
from league.ratings.void_marks import is_void

NOT_ENTERED = "not-entered"


class SeenState(NamedTuple):
    """The state of a decision's subject, as an organiser sees it.

    Attributes:
        subject: the block, entry or tournament, in words.
        state: such as `finished`.
        reason: of that state; may be empty.
        decision: id of the newest row of the moderation log about the subject; None without one.
    """

    subject: str
    state: str
    reason: str
    decision: int | None

    def __str__(self) -> str:
        """Return the text that previews give and decisions take, such as `void:17`."""
        return self.state if self.decision is None else f"{self.state}:{self.decision}"

    def require(self, seen: str) -> None:
        """Raise if an organiser saw another state; "" states none, and is never refused.

        Raises:
            ValidationError: with code ``changed-meanwhile`` and both states.
        """
        if seen in ("", str(self)):
            return
        now = f"{self.state} ({self.reason})" if self.reason else self.state
        raise ValidationError(
            f"{capfirst(self.subject)} has changed since you saw its preview, so nothing was done. "
            f"Now: {now}. When you saw it: {seen.partition(':')[0]}. Read the new preview, then "
            "decide again.",
            code="changed-meanwhile",
        )


def state_of_block(block: Block) -> SeenState:
    """Return the state of a block, as it is once the ratings follow its newest void mark."""
    about = Q(block=block) | Q(void_marks__block=block)
    newest = _newest(ModerationEntry.objects.filter(about))
    if is_void(block):
        return SeenState(str(block), Block.State.VOID.value, block.void_reason, newest)
    state = Block.State.FINISHED if block.state == Block.State.VOID else Block.State(block.state)
    return SeenState(str(block), state.value, "", newest)


def state_of_entry(tournament: Tournament, bot: Bot) -> SeenState:
    """Return the state of a bot's entry in a tournament; `not-entered` without one."""
    entry = tournament.entries.filter(bot=bot).first()
    newest = _newest(ModerationEntry.objects.filter(tournament=tournament, bot=bot))
    subject = f"{bot} in {tournament}"
    if entry is None:
        return SeenState(subject, NOT_ENTERED, "", newest)
    return SeenState(subject, str(entry.state), entry.reason, newest)


def state_of_tournament(tournament: Tournament) -> SeenState:
    """Return the state of a tournament."""
    of_it = ModerationEntry.objects.filter(tournament=tournament, bot=None, block=None)
    return SeenState(
        str(tournament), str(tournament.state), tournament.cancel_reason, _newest(of_it)
    )


def _newest(rows: QuerySet[ModerationEntry]) -> int | None:
    newest: int | None = rows.order_by("-pk").values_list("pk", flat=True).first()
    return newest
