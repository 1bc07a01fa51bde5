"""A bot's next block on a ladder, described in words: when it plays, or why it does not."""

from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from bots_sdk.durations import about
from league.accounts.quarantines import quarantine_of
from league.competitions.ladder_rounds import (
    MAX_OPEN_ROUNDS,
    SETTLED_BLOCKS,
    bots_in_live_matches,
    bots_to_draw,
    open_work,
    pause_of,
)
from league.competitions.placement import REMOTE_BLOCKS, bots_before
from league.competitions.rank_progress import rank_progress
from league.models import Bot, Ladder, Standing
from league.models.bots import BotQuerySet
from league.play.standstill import standing_still

_NUMERALS = {1: "one", 2: "two", 3: "three", 4: "four"}


def describe_next_block(standing: Standing) -> str:
    """Return a sentence or two: when the bot of a standing plays next, or why it does not.

    Costs up to twelve queries, however many bots there are.
    """
    ladder, bot = standing.ladder, standing.bot
    if (why := _why_not(ladder, bot)) is not None:
        return why
    if (placement := _placement(ladder, bot)) is not None:
        return placement
    can_play = bots_to_draw(ladder)
    count, house, owners = can_play.aggregate(
        count=Count("pk"),
        house=Count("pk", filter=Q(owner=None)),
        owners=Count("owner", distinct=True),
    ).values()
    if count < ladder.seats:
        return (
            f"It waits for more bots: a table has {ladder.seats} seats, and {count} of this "
            "ladder's bots can play now."
        )
    if (missing := ladder.seats - house - owners) > 0:
        more = "one more owner" if missing == 1 else f"{missing} more owners"
        return (
            f"It waits for bots of {more}, or for house bots: a table has {ladder.seats} seats, "
            "and an owner's bots take at most one of them."
        )
    before = bots_before(ladder, bot)
    if before == 0:
        return f"Its first blocks come next{_at_a_time(bot)}. They are played before most others."
    if before:
        others = f"{before} other bot{'' if before == 1 else 's'}"
        return f"Its first blocks come soon, after those of {others}."
    if bot.kind != Bot.Kind.REMOTE and standing_still():
        return "It waits, because the league's workers play no matches at the moment."
    fewer = _short_of(standing.blocks, can_play, ladder).count()
    house_alone = bot.kind == Bot.Kind.HOUSE and not can_play.filter(owner__isnull=False).exists()
    if house_alone and standing.blocks >= SETTLED_BLOCKS and not fewer:
        return f"It pauses: after {SETTLED_BLOCKS} blocks house bots wait until another bot enters."
    if bot.kind == Bot.Kind.REMOTE and bot.pk in bots_in_live_matches(ladder):
        return (
            "It has unfinished matches. New ones come by themselves after these. There may be a "
            "pause: remote bots get new matches together, when half of those online are free."
        )
    if fewer:
        return (
            f"Its next block comes soon. Bots with fewer blocks come first: {fewer} of the {count} "
            "that can play now."
        )
    is_quiet = house_alone or not _short_of(ladder.settled_blocks, can_play, ladder).exists()
    return f"Its next block comes {_next_round(ladder, is_quiet=is_quiet)}."


def _short_of(blocks: int, bots: BotQuerySet, ladder: Ladder) -> BotQuerySet:
    """Return the bots with fewer than so many rated blocks on a ladder."""
    if not blocks:
        return bots.none()  # a bot without a standing has 0 blocks, not fewer
    as_many = ladder.standings.filter(bot=OuterRef("pk"), blocks__gte=blocks)
    return bots.exclude(Exists(as_many))


def _why_not(ladder: Ladder, bot: Bot) -> str | None:
    if not ladder.entries.filter(bot=bot).exists():
        return "It is not on this ladder now, so only tournaments rate it."
    if ladder.set_aside:
        return (
            "An error keeps this ladder from playing new matches. Its page shows organisers the "
            "reason."
        )
    if ladder.paused:
        return "The ladder is paused."
    if quarantine_of(bot) is not None:
        return "It is in quarantine, so it gets no new matches."
    if bot.paused:
        return "Its owner has paused it."
    if bot.current_id is None:
        return "It waits for a version that passes its check."
    if not bots_to_draw(ladder).filter(pk=bot.pk).exists():
        return (
            "It is offline: it asked for no turns in the last 60 s, so it gets no matches. Start "
            "its program."
        )
    return None


def _placement(ladder: Ladder, bot: Bot) -> str | None:
    """Describe a placement that goes on; None if there is none."""
    if not ladder.rounds.open().filter(placed=bot).exists():
        return None
    progress = rank_progress(ladder, bot)
    if progress is None:
        return None
    if not progress.playing + progress.queued:
        return "The league draws its next blocks now. They are played before most others."
    still = bot.kind != Bot.Kind.REMOTE and standing_still() > 0
    if still:
        begin = "Its first blocks wait, because the league's workers play no matches at the moment."
    elif progress.playing:
        begin = f"Its first blocks are played now{_at_a_time(bot)}, before most others."
    else:
        begin = f"Its next blocks begin in a moment{_at_a_time(bot)}, before most others."
    text = (
        f"{begin} A rank needs {progress.needed} blocks; finished: {progress.finished}, in play: "
        f"{progress.playing}, queued: {progress.queued}"
    )
    later = progress.needed - progress.finished - progress.playing - progress.queued
    text += f", later: {later}." if later > 0 else "."
    if progress.seconds_left is None or still:
        return text
    return f"{text} At this pace they are over in {about(progress.seconds_left)}."


def _at_a_time(bot: Bot) -> str:
    """Return how many blocks of a bot's placement are drawn together, if not all of them."""
    return f", {_NUMERALS[REMOTE_BLOCKS]} at a time" if bot.kind == Bot.Kind.REMOTE else ""


def _next_round(ladder: Ladder, *, is_quiet: bool) -> str:
    """Return when a ladder's next round opens, as the end of a sentence."""
    work = open_work([ladder])[ladder.pk]
    pause = pause_of(ladder, is_quiet=is_quiet)
    if work.is_enough:
        if not work.waiting:
            return "after the first blocks of a new bot"
        if work.waiting == 1:
            return "after a match that waits for its start"
        return f"after {work.waiting} matches that wait for their start"
    if work.rounds >= MAX_OPEN_ROUNDS or (pause and work.rounds):
        return "after those that are drawn already"
    until = work.pause_ends(pause)
    if until is None or until <= timezone.now():
        return "now"
    return f"in {(until - timezone.now()).total_seconds():.0f} s"
