"""When a ladder plays with a bot next: what its pairing knows, told to people."""

from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from league.events.ladders import SETTLED_BLOCKS, bots_to_draw
from league.models import Block, Bot, Ladder, Standing


def when_due(standing: Standing) -> str:
    """Return in a sentence or two when a bot is due on the ladder of a standing, or why it isn't.

    Costs up to seven queries, however many bots there are.
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
    as_many = ladder.standings.filter(bot=OuterRef("pk"), blocks__gte=standing.blocks)
    fewer = candidates.exclude(Exists(as_many)).count()
    if bot.kind == Bot.Kind.HOUSE and standing.blocks >= SETTLED_BLOCKS:
        guests = candidates.filter(owner__isnull=False)
        if not guests.exists() and not fewer:
            return f"It rests: house bots alone play {SETTLED_BLOCKS} blocks, then wait for guests."
    order = (
        "It comes first: no bot that can play now has fewer blocks."
        if not fewer
        else f"{fewer} of the {drawn} bots that can play now have fewer blocks and come before it."
    )
    return f"{_next_round(ladder)} {order}"


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


def _next_round(ladder: Ladder) -> str:
    own = ladder.rounds.filter(tournament=None)
    under_way = own.filter(applied_at=None).order_by("number").first()
    if under_way is not None:
        open_blocks = under_way.blocks.filter(state=Block.State.PLAYING).count()
        return (
            f"The next round is drawn when round {under_way.number} is over; "
            f"{open_blocks} of its blocks are still played."
        )
    last = own.order_by("-number").first()
    if last is None or last.applied_at is None:
        return "The next round is drawn at once."
    seconds = ladder.round_pause_seconds - (timezone.now() - last.applied_at).total_seconds()
    return f"The next round is drawn in {max(seconds, 1):.0f} s."
