"""Who is on a ladder: entering and leaving, at any time."""

from django.db.models import Count, Q, QuerySet

from league.models import Block, Bot, Ladder, LadderEntry, Round, Tournament


def enter_ladder(*, ladder: Ladder, bot: Bot) -> LadderEntry:
    """Let a bot be drawn for a ladder's rounds; entering it again changes nothing.

    A bot without a version that may play is drawn when it has one.
    """
    return LadderEntry.objects.get_or_create(ladder=ladder, bot=bot)[0]


def leave_ladder(*, ladder: Ladder, bot: Bot) -> None:
    """Draw a bot no more; rounds that it has been drawn for are played, its rating stays."""
    ladder.entries.filter(bot=bot).delete()


def rounds_with_counts() -> QuerySet[Round]:
    """Return all rounds, each with how many blocks it has, are finished and are void."""
    return Round.objects.select_related("ladder", "tournament").annotate(
        block_count=Count("blocks"),
        blocks_finished=Count("blocks", filter=Q(blocks__state=Block.State.FINISHED)),
        blocks_void=Count("blocks", filter=Q(blocks__state=Block.State.VOID)),
    )


def may_show_seed(round_: Round) -> bool:
    """Return whether a round's seed gives nothing away any more.

    A tournament's rounds share its seed, so it is secret until the last of them is applied.
    """
    if round_.tournament is not None:
        return round_.tournament.state == Tournament.State.FINISHED
    return round_.applied_at is not None
