"""When a ladder plays with a bot next: what its pairing knows, told to people."""

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from league.competitions.ladder_rounds import (
    MAX_OPEN_ROUNDS,
    SETTLED_BLOCKS,
    bots_at_live_tables,
    bots_to_draw,
    pause_of,
    under_way,
)
from league.models import Bot, Ladder, Standing


def when_due(standing: Standing) -> str:
    """Return in a sentence or two when a bot is due on the ladder of a standing, or why it isn't.

    Costs up to nine queries, however many bots there are.
    """
    ladder, bot = standing.ladder, standing.bot
    if (why := _why_not(ladder, bot)) is not None:
        return why
    candidates = bots_to_draw(ladder)
    drawn, house, owners = candidates.aggregate(
        drawn=Count("pk"),
        house=Count("pk", filter=Q(owner=None)),
        owners=Count("owner", distinct=True),
    ).values()
    if drawn < ladder.seats:
        return (
            f"It waits for company: {drawn} of the {ladder.seats} bots that a table takes can "
            "play now."
        )
    if (missing := ladder.seats - house - owners) > 0:
        more = "one more owner" if missing == 1 else f"{missing} more owners"
        return (
            f"It waits for bots of {more}, or of the house: a table takes {ladder.seats}, no two "
            "of them of one owner."
        )
    fewer = _short_of(standing.blocks, candidates, ladder).count()
    house_alone = bot.kind == Bot.Kind.HOUSE and not candidates.filter(owner__isnull=False).exists()
    if house_alone and standing.blocks >= SETTLED_BLOCKS and not fewer:
        return f"It rests: house bots alone play {SETTLED_BLOCKS} blocks, then wait for guests."
    if bot.kind == Bot.Kind.REMOTE and bot.pk in bots_at_live_tables(ladder):
        return "It plays now. Remote bots are drawn again when half of them are done."
    order = (
        "It comes first: no bot that can play now has fewer blocks."
        if not fewer
        else f"{fewer} of the {drawn} bots that can play now have fewer blocks and come before it."
    )
    is_quiet = house_alone or not _short_of(ladder.settled_blocks, candidates, ladder).exists()
    return f"{_next_round(ladder, is_quiet=is_quiet)} {order}"


def _short_of(blocks: int, bots: QuerySet[Bot], ladder: Ladder) -> QuerySet[Bot]:
    """Return those of the bots that have fewer rated blocks on a ladder than so many."""
    as_many = ladder.standings.filter(bot=OuterRef("pk"), blocks__gte=blocks)
    return bots.exclude(Exists(as_many))


def _why_not(ladder: Ladder, bot: Bot) -> str | None:
    if not ladder.entries.filter(bot=bot).exists():
        return "It is not on this ladder now, so only tournaments rate it."
    if ladder.paused:
        return "The ladder is paused."
    if bot.paused:
        return "The bot is paused by its owner."
    if bot.current_id is None:
        return "It waits for a version that may play."
    if not bots_to_draw(ladder).filter(pk=bot.pk).exists():
        return (
            "It is offline. A remote bot is drawn when it has asked for turns in the last minute."
        )
    return None


def _next_round(ladder: Ladder, *, is_quiet: bool) -> str:
    open_now = under_way([ladder])[ladder.pk]
    pause = pause_of(ladder, is_quiet=is_quiet)
    if open_now.has_work:
        return (
            "The next round is drawn when the workers have taken what is drawn already; "
            f"{open_now.waiting} of its matches wait."
        )
    if open_now.rounds >= MAX_OPEN_ROUNDS or (pause and open_now.rounds):
        return "The next round is drawn when those before it are over."
    until = open_now.rests_until(pause)
    if until is None or until <= timezone.now():
        return "The next round is drawn at once."
    return f"The next round is drawn in {(until - timezone.now()).total_seconds():.0f} s."
